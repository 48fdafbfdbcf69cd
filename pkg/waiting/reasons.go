package waiting

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

var (
	suspended = Answer{Party: Author, Text: "a person: suspended (spec.suspend)", Reason: v1alpha1.ReasonSuspended}
	start     = Answer{Party: Ptah, Text: "the manager, to begin"}
)

// standing are the reasons that name a person, in the words that the person reads. A reason that is not here holds nothing by itself.
var standing = map[v1alpha1.ConditionReason]Answer{
	v1alpha1.ReasonApplyDisabled:              {Party: Author, Text: "a person: policy.apply is Never"},
	v1alpha1.ReasonPolicyBlocked:              {Party: Author, Text: "a person: the plan is destructive and policy.allowDestructive is false"},
	v1alpha1.ReasonDestructiveChangesDisabled: {Party: Author, Text: "a person: the plan is destructive and policy.allowDestructive is false"},
	v1alpha1.ReasonProtectedTable:             {Party: Author, Text: "a person: the plan would change a protected table"},
	v1alpha1.ReasonPolicyRefused:              {Party: Author, Text: "an artifact that the verification policy accepts"},
	v1alpha1.ReasonRealmConflict:              {Party: Author, Text: "a person: other resources claim this database, and not all declare sharedRealm"},
	v1alpha1.ReasonConfigurationError:         {Party: Author, Text: "a person: the configuration is wrong"},
	v1alpha1.ReasonHistoryAhead:               {Party: Author, Text: "an artifact that carries the versions that the database has"},
	v1alpha1.ReasonHistoryDirty:               {Party: Operator, Text: "a person: an interrupted run's revision row has to be repaired"},
	v1alpha1.ReasonHistoryModified:            {Party: Author, Text: "a person: a recorded migration's file was changed"},
	v1alpha1.ReasonHistoryOutOfOrder:          {Party: Author, Text: "a person: a late, lower-numbered version is pending"},
	v1alpha1.ReasonSuspended:                  suspended,
	v1alpha1.ReasonInSync:                     {Party: Nobody},
	v1alpha1.ReasonHistoryMatched:             {Party: Nobody},
}

// held answers from the condition that carries the holding reason.
func held(condition *metav1.Condition, target v1alpha1.Target) (Answer, bool) {
	if condition == nil {
		return Answer{}, false
	}
	reason := v1alpha1.ConditionReason(condition.Reason)
	if reason == v1alpha1.ReasonUnsupportedEngine {
		return Answer{Party: Author, Text: fmt.Sprintf("a person: engine %q is not supported", target.Engine), Reason: reason}, true
	}
	answer, ok := standing[reason]
	answer.Reason = reason
	return answer, ok
}

// unseen is a resource, or an edit of it, that the manager has not taken up.
func unseen(generation, observed int64, conditions []metav1.Condition) (Answer, bool) {
	switch {
	case observed == 0 && len(conditions) == 0:
		return Answer{Party: Ptah, Text: "the manager, to look at it for the first time"}, true
	case observed < generation:
		return Answer{Party: Ptah, Text: fmt.Sprintf("the manager, to take up generation %d", generation)}, true
	default:
		return Answer{}, false
	}
}

func approvalOf(plan string) Answer {
	return Answer{Party: Approver, Text: "approval of " + plan, Reason: v1alpha1.ReasonAwaitingApproval}
}

// fallback says what is known when nothing above knows the state: a newer manager may use words that this program does not have.
func fallback(ready *metav1.Condition) Answer {
	if ready == nil {
		return Answer{Party: Ptah, Text: "the manager"}
	}
	if ready.Status == metav1.ConditionTrue {
		return Answer{Party: Nobody, Reason: v1alpha1.ConditionReason(ready.Reason)}
	}
	return Answer{Party: Ptah, Text: "what condition Ready says: " + ready.Reason, Reason: v1alpha1.ConditionReason(ready.Reason)}
}
