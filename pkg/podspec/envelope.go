// Package podspec builds the hardened Job of one operation, foretells what the API server's own admission will make of its Pod, and says
// whether a Job or a Pod is exactly what was asked for. It builds and compares values; the caller reads and writes them.
package podspec

import (
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/intent"
)

// Family is the kind of resource that an operation works for.
type Family int

// The families.
const (
	Schema Family = iota
	Migration
)

// Kind is the family's API kind.
func (f Family) Kind() string {
	if f == Migration {
		return "PtahMigration"
	}
	return "PtahSchema"
}

// Envelope identifies one operation's Job and Pod completely. All of it can be told again from a persisted claim.
type Envelope struct {
	Family      Family
	Namespace   string
	Name        string // of the resource
	ResourceUID types.UID

	Operation        intent.Operation
	OperationID      string
	Attempt          int32
	InputFingerprint string
	Epoch            string // of the execution binding
	Identity         v1alpha1.ExecutionIdentity

	PlanFingerprint, ContentDigest string // schema Apply only
	SnapshotDigest                 string // of the admission snapshot; "" before there is one
}

var prefixes = map[Family]map[intent.Operation]string{
	Schema: {
		intent.Resolve: v1alpha1.ResolveJobPrefix, intent.Verify: v1alpha1.VerifyJobPrefix, intent.Observe: v1alpha1.ObserveJobPrefix,
		intent.Plan: v1alpha1.PlanJobPrefix, intent.Apply: v1alpha1.ApplyJobPrefix,
	},
	Migration: {
		intent.Resolve: v1alpha1.MigrationResolveJobPrefix, intent.Verify: v1alpha1.MigrationVerifyJobPrefix,
		intent.History: v1alpha1.MigrationHistoryJobPrefix, intent.Apply: v1alpha1.MigrationApplyJobPrefix,
	},
}

// ReservedPrefix reports whether a Job of this name claims to be an operation.
func ReservedPrefix(jobName string) bool {
	for _, family := range prefixes {
		for _, p := range family {
			if strings.HasPrefix(jobName, p) {
				return true
			}
		}
	}
	return false
}

const (
	maxLabelValue = 63
	podSuffix     = 6 // "-" and the five characters that the API server adds to a Pod's generated name
	nameDigest    = 16
	maxGenerated  = maxLabelValue - 5 // longest prefix of a generated name that the API server keeps
)

// JobName is deterministic: the operation's reserved prefix, as much of the resource's name as fits, and 16 hex digits over everything that
// tells this attempt from any other. It leaves room for the Pod's suffix within 63 characters.
func (e Envelope) JobName() (string, error) {
	prefix, ok := prefixes[e.Family][e.Operation]
	if !ok {
		return "", fmt.Errorf("naming job: a %s has no operation %q", e.Family.Kind(), e.Operation)
	}
	id := digest.Tuple("ptah-job-v1", string(e.ResourceUID), string(e.Operation), e.OperationID, e.Epoch, e.InputFingerprint, digest.Int(int64(e.Attempt)))
	room := maxLabelValue - podSuffix - len(prefix) - 1 - nameDigest
	name := e.Name
	if len(name) > room {
		name = strings.TrimRight(name[:room], "-.")
	}
	return prefix + name + "-" + digest.Hex(id)[:nameDigest], nil
}

// Labels of the Job and of its Pod template: the complete managed identity.
func (e Envelope) Labels() map[string]string {
	out := map[string]string{
		v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue,
		v1alpha1.OperationLabel: strings.ToLower(string(e.Operation)),
	}
	if e.Family == Migration {
		out[v1alpha1.ComponentLabel], out[v1alpha1.MigrationLabel] = v1alpha1.ComponentMigrationOp, e.Name
	} else {
		out[v1alpha1.ComponentLabel], out[v1alpha1.SchemaLabel] = v1alpha1.ComponentSchemaOp, e.Name
	}
	return out
}

// Annotations of the Job and of its Pod template.
func (e Envelope) Annotations() map[string]string {
	out := map[string]string{
		v1alpha1.ResourceUIDAnnotation:            string(e.ResourceUID),
		v1alpha1.OperationIDAnnotation:            e.OperationID,
		v1alpha1.AttemptAnnotation:                digest.Int(int64(e.Attempt)),
		v1alpha1.InputFingerprintAnnotation:       e.InputFingerprint,
		v1alpha1.ExecutionBindingAnnotation:       e.Epoch,
		v1alpha1.ControllerImageAnnotation:        e.Identity.ControllerImage,
		v1alpha1.ControllerRevisionAnnotation:     e.Identity.ControllerRevision,
		v1alpha1.ControllerStateVersionAnnotation: digest.Int(int64(e.Identity.ControllerStateVersion)),
	}
	if e.SnapshotDigest != "" {
		out[v1alpha1.AdmissionSnapshotAnnotation] = e.SnapshotDigest
	}
	if e.Operation == intent.Apply {
		out[v1alpha1.SafeToEvictAnnotation] = "false"
	}
	if e.Operation == intent.Apply && e.Family == Schema {
		out[v1alpha1.PlanFingerprintAnnotation], out[v1alpha1.ContentDigestAnnotation] = e.PlanFingerprint, e.ContentDigest
	}
	return out
}

// Owner is the controlling owner reference of the Job.
func (e Envelope) Owner() metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: e.Family.Kind(), Name: e.Name, UID: e.ResourceUID, Controller: &yes, BlockOwnerDeletion: &yes,
	}
}

func (e Envelope) problem() string {
	switch {
	case e.Namespace == "" || e.Name == "" || e.ResourceUID == "":
		return "the resource is not named completely"
	case e.OperationID == "" || e.InputFingerprint == "" || e.Attempt < 1:
		return "the operation is not identified completely"
	case e.Epoch == "" || e.Identity == (v1alpha1.ExecutionIdentity{}):
		return "the execution binding is missing"
	case e.Operation == intent.Apply && e.Family == Schema && (e.PlanFingerprint == "" || e.ContentDigest == ""):
		return "the plan is not identified"
	}
	return ""
}

// ForSchema tells the envelope of a schema's claim. The identity is that of the claim's own epoch: the plan's on an Apply, the recorded
// execution binding's otherwise.
func ForSchema(s *v1alpha1.PtahSchema, op *v1alpha1.SchemaOperation, identity v1alpha1.ExecutionIdentity) Envelope {
	e := Envelope{
		Family: Schema, Namespace: s.Namespace, Name: s.Name, ResourceUID: s.UID,
		Operation: intent.Operation(op.Type), OperationID: op.ID, Attempt: op.Attempt, InputFingerprint: op.InputFingerprint,
		Epoch: op.ExecutionBindingID, Identity: identity,
	}
	if op.AdmissionSnapshot != nil {
		e.SnapshotDigest = op.AdmissionSnapshot.Digest
	}
	if p := s.Status.Plan; p != nil && op.Type == v1alpha1.SchemaApply {
		e.PlanFingerprint, e.ContentDigest = p.Fingerprint, p.ContentDigest
	}
	return e
}

// IdentityOf is the execution identity that a schema's claim was made under: the plan's on an Apply, which may outlive a change of the
// binding, and the recorded binding's otherwise. False where neither has the claim's epoch.
func IdentityOf(s *v1alpha1.PtahSchema, op *v1alpha1.SchemaOperation) (v1alpha1.ExecutionIdentity, bool) {
	if p := s.Status.Plan; op.Type == v1alpha1.SchemaApply && p != nil && p.ExecutionBindingID == op.ExecutionBindingID {
		return p.ExecutionIdentity, true
	}
	if b := s.Status.ExecutionBinding; b != nil && b.Epoch == op.ExecutionBindingID {
		return b.ExecutionIdentity, true
	}
	return v1alpha1.ExecutionIdentity{}, false
}

var generatedSuffix = regexp.MustCompile(`^[a-z0-9]{5}$`)

// GeneratedName reports whether the API server made this Pod name from generateName for this Job: the prefix it keeps and five characters.
func GeneratedName(podName, generateName, jobName string) bool {
	if jobName == "" || generateName != jobName+"-" {
		return false
	}
	rest, ok := strings.CutPrefix(podName, generateName[:min(len(generateName), maxGenerated)])
	return ok && generatedSuffix.MatchString(rest)
}
