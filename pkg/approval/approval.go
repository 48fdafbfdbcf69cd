// Package approval is what one approval binds: what a person writes, what admission fills in and stamps, when it counts, when it is spent
// and when it is stale. Admission, the controller (before its claim and again before its dispatch) and the plugin ask the same Judge.
package approval

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// ConflictError refuses a value that a person wrote and that the live plan contradicts. It is never corrected silently.
type ConflictError struct {
	Field       string // below spec, e.g. "artifactDigest"
	Given, Live string
}

// Error names the field and both values.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("spec.%s is %s, but the plan says %s: leave it out, or approve the plan that you mean", e.Field, e.Given, e.Live)
}

// MissingError is a field without which an approval does not say what it approves.
type MissingError struct{ Field string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("spec.%s is missing: an approval names resource, plan and fingerprint as they were read; \"kubectl ptah approve\" writes them", e.Field)
}

// Bind completes a schema approval from the plan that it names: omitted fields are filled in, and one that says something else is refused
// with a *ConflictError; the three that a person writes are demanded (*MissingError). On error the approval may be half filled; it is not to be used.
func Bind(a *v1alpha1.PtahSchemaApproval, plan *v1alpha1.PtahSchemaPlan) error {
	if err := bindRefs(&a.Spec.PlanRef, &a.Spec.PlanFingerprint, plan.Name, plan.UID, plan.Spec.Fingerprint); err != nil {
		return err
	}
	if err := bindRef("schemaRef", &a.Spec.SchemaRef, plan.Spec.SchemaRef); err != nil {
		return err
	}
	b, live := &a.Spec.SchemaPlanBindings, plan.Spec.SchemaPlanBindings
	return first(
		fill("artifactDigest", &b.ArtifactDigest, live.ArtifactDigest),
		fill("desiredStateFingerprint", &b.DesiredStateFingerprint, live.DesiredStateFingerprint),
		fill("actualStateFingerprint", &b.ActualStateFingerprint, live.ActualStateFingerprint),
		bindShared(&b.PlanBindings, live.PlanBindings),
	)
}

// BindMigration does for a migration approval what Bind does for a schema's.
func BindMigration(a *v1alpha1.PtahMigrationApproval, plan *v1alpha1.PtahMigrationPlan) error {
	if err := bindRefs(&a.Spec.PlanRef, &a.Spec.PlanFingerprint, plan.Name, plan.UID, plan.Spec.Fingerprint); err != nil {
		return err
	}
	if err := bindRef("migrationRef", &a.Spec.MigrationRef, plan.Spec.MigrationRef); err != nil {
		return err
	}
	return first(
		fill("historyFingerprint", &a.Spec.HistoryFingerprint, plan.Spec.HistoryFingerprint),
		fill("artifactDigest", &a.Spec.ArtifactDigest, plan.Spec.ArtifactDigest),
		bindShared(&a.Spec.PlanBindings, plan.Spec.PlanBindings),
	)
}

func bindRefs(ref *v1alpha1.ObjectRef, fingerprint *string, name string, uid types.UID, live string) error {
	return first(bindRef("planRef", ref, v1alpha1.ObjectRef{Name: name, UID: uid}), written("planFingerprint", fingerprint, live))
}

func bindRef(field string, ref *v1alpha1.ObjectRef, live v1alpha1.ObjectRef) error {
	return first(written(field+".name", &ref.Name, live.Name), written(field+".uid", &ref.UID, live.UID))
}

// written is a field that only the person may write: it says which plan was read, so it is never filled in.
func written[T ~string](field string, given *T, live T) error {
	if *given == "" {
		return &MissingError{Field: field}
	}
	return fill(field, given, live)
}

func bindShared(b *v1alpha1.PlanBindings, live v1alpha1.PlanBindings) error {
	return first(
		fill("policyFingerprint", &b.PolicyFingerprint, live.PolicyFingerprint),
		fill("verificationPolicyUID", &b.VerificationPolicyUID, live.VerificationPolicyUID),
		fill("verificationPolicyDigest", &b.VerificationPolicyDigest, live.VerificationPolicyDigest),
		fill("coordinationDigest", &b.CoordinationDigest, live.CoordinationDigest),
		fill("targetIdentityDigest", &b.TargetIdentityDigest, live.TargetIdentityDigest),
		fill("executionBindingID", &b.ExecutionBindingID, live.ExecutionBindingID),
		fill("controllerImage", &b.ControllerImage, live.ControllerImage),
		fill("controllerRevision", &b.ControllerRevision, live.ControllerRevision),
		fill("controllerStateVersion", &b.ControllerStateVersion, live.ControllerStateVersion),
		fill("ptahVersion", &b.PtahVersion, live.PtahVersion),
		fill("executorImage", &b.ExecutorImage, live.ExecutorImage),
		fill("runnerImage", &b.RunnerImage, live.RunnerImage),
		fill("runnerProtocolVersion", &b.RunnerProtocolVersion, live.RunnerProtocolVersion),
	)
}

func fill[T comparable](field string, into *T, live T) error {
	var omitted T
	if *into == omitted {
		*into = live
	}
	if *into != live {
		return &ConflictError{field, fmt.Sprint(*into), fmt.Sprint(live)}
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// User is an identity as the API server authenticated it.
type User struct {
	Username, UID string
	Groups        []string
}

// Stamp writes who decides and when, over whatever a client sent. The time is kept in UTC and whole seconds, as the API stores it.
func Stamp(s *v1alpha1.ApprovalStamp, user User, request types.UID, now time.Time) {
	s.Approver = v1alpha1.Approver{Username: user.Username, UID: user.UID, Groups: slices.Clone(user.Groups)}
	s.ApprovedAt = metav1.NewTime(now.UTC().Truncate(time.Second))
	s.MutationRequestUID = request
}

// CheckStamp says what is wrong with a stamp in the eyes of validating admission, which sees the same user under another request; "" when
// nothing is.
func CheckStamp(s v1alpha1.ApprovalStamp, user User) string {
	switch {
	case s.Approver.Username == "" || s.Approver.Username != user.Username || s.Approver.UID != user.UID || !slices.Equal(s.Approver.Groups, user.Groups):
		return "spec.approver is not the authenticated user"
	case s.ApprovedAt.IsZero():
		return "spec.approvedAt is missing"
	case s.MutationRequestUID == "":
		return "spec.mutationRequestUID is missing: the approval did not pass mutating admission"
	}
	return ""
}

// Record is the resource's own copy of an accepted decision.
func Record(name string, uid types.UID, s v1alpha1.ApprovalStamp) v1alpha1.ApprovalRecord {
	return v1alpha1.ApprovalRecord{Name: name, UID: uid, ApprovedAt: s.ApprovedAt, Approver: *s.Approver.DeepCopy()}
}
