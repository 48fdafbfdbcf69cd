package unresolved

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// ErrNoRecord says that there is nothing to clear.
var ErrNoRecord = errors.New("the resource carries no run that nobody accounted for")

// Patch is the one write that clears: record and Blocked condition go together, or the record comes back. It is a merge patch of the status
// subresource, bound to the exact version that was read. The other conditions are the stored ones byte for byte, so that what a newer
// operator wrote into them stays.
func Patch(stored []byte) ([]byte, error) {
	var object struct {
		Metadata struct {
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Status struct {
			UnresolvedRun json.RawMessage   `json:"unresolvedRun"`
			Conditions    []json.RawMessage `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(stored, &object); err != nil {
		return nil, fmt.Errorf("reading the stored status: %w", err)
	}
	if len(object.Status.UnresolvedRun) == 0 || string(object.Status.UnresolvedRun) == "null" {
		return nil, ErrNoRecord
	}
	if object.Metadata.UID == "" || object.Metadata.ResourceVersion == "" {
		return nil, errors.New("the stored object has no UID or no resource version to bind the write to")
	}
	kept := []json.RawMessage{}
	for _, raw := range object.Status.Conditions {
		var condition struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(raw, &condition); err != nil {
			return nil, fmt.Errorf("reading a stored condition: %w", err)
		}
		if condition.Type != string(v1alpha1.ConditionBlocked) {
			kept = append(kept, raw)
		}
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": object.Metadata.UID, "resourceVersion": object.Metadata.ResourceVersion},
		"status":   map[string]any{"unresolvedRun": nil, "conditions": kept},
	})
}

// maxReason bounds a person's reason, in bytes: an Event's message has 1024, and the identifiers come first.
const maxReason = 400

// Reason makes a person's words fit to be stored: one line, no control characters, bounded.
func Reason(text string) string {
	text = strings.Map(func(char rune) rune {
		if unicode.IsControl(char) || unicode.Is(unicode.Cf, char) {
			return ' '
		}
		return char
	}, strings.ToValidUTF8(text, " "))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxReason {
		text = strings.TrimSpace(strings.ToValidUTF8(text[:maxReason], "")) + "..."
	}
	return text
}

// maxMessage is the API's bound on an Event's message, in bytes.
const maxMessage = 1024

// RequestMessage keeps who is about to clear what and why: it is stored before the record goes, so that whatever happens in between, somebody
// can be asked.
func RequestMessage(run *v1alpha1.UnresolvedRun, who, reason string) string {
	return message("is about to clear", run, who, reason)
}

// EventMessage keeps who cleared what and why. The record is gone once this is written, so everything that it named is here.
func EventMessage(run *v1alpha1.UnresolvedRun, who, reason string) string {
	return message("cleared", run, who, reason)
}

func message(did string, run *v1alpha1.UnresolvedRun, who, reason string) string {
	plan := "none"
	if run.PlanRef != nil {
		plan = run.PlanRef.Name
	}
	none := func(text string) string {
		if text == "" {
			return "none"
		}
		return text
	}
	who = Reason(who)
	if len(who) > 128 {
		who = strings.ToValidUTF8(who[:128], "") + "..."
	}
	message := fmt.Sprintf("%s %s the record of a run nobody accounted for: %s. Outcome %s, operation %s, plan %s, Job %s, database %s.",
		who, did, Reason(reason), run.Outcome, none(run.OperationID), plan, none(run.JobName), none(run.TargetIdentityDigest))
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "")
	}
	return message
}

// Outcome is what a later look at the resource says about the write.
type Outcome string

// Outcomes.
const (
	Pending  Outcome = "Pending"  // no pass has looked at it yet
	Stayed   Outcome = "Stayed"   // a pass wrote Blocked whole, and no record
	Returned Outcome = "Returned" // the record is back
	Blocked  Outcome = "Blocked"  // a pass refused for a reason that brings the record back
	Replaced Outcome = "Replaced" // it is another resource now
)

// Look compares a resource with what the write left. A pass has been there when it wrote a Blocked condition, or when it read the history.
func Look(written, now *v1alpha1.PtahMigration) Outcome {
	blocked := meta.FindStatusCondition(now.Status.Conditions, string(v1alpha1.ConditionBlocked))
	read := now.Status.History != nil && (written.Status.History == nil || now.Status.History.ObservedAt.After(written.Status.History.ObservedAt.Time))
	switch {
	case now.UID != written.UID:
		return Replaced
	case now.Status.UnresolvedRun != nil:
		return Returned
	case blocked != nil && blocked.Status == metav1.ConditionTrue && len(rebuilt(now, Census{})) > 0:
		return Blocked
	case blocked != nil, read:
		return Stayed
	}
	return Pending
}
