package plan

import (
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
)

// FingerprintInputs is everything that a schema plan rests on, besides the contract version. A change of any of it makes another plan;
// the schema's name is not part of it.
type FingerprintInputs struct {
	SchemaUID     string
	ContentDigest string
	Bindings      v1alpha1.SchemaPlanBindings
}

// Fingerprint is the identity that a person approves: a digest over the contract version and every input.
func Fingerprint(in FingerprintInputs) string {
	members := []string{digest.Int(v1alpha1.SchemaPlanContractVersion), in.SchemaUID, in.ContentDigest}
	for _, m := range bindingMembers(in.Bindings) {
		members = append(members, m.value)
	}
	return digest.Tuple("ptah-schema-plan", members...)
}

type member struct{ name, value string }

// bindingMembers lists every member of the bindings, in the fixed order that the fingerprint hashes them in.
func bindingMembers(b v1alpha1.SchemaPlanBindings) []member {
	return []member{
		{"artifactDigest", b.ArtifactDigest},
		{"desiredStateFingerprint", b.DesiredStateFingerprint},
		{"actualStateFingerprint", b.ActualStateFingerprint},
		{"policyFingerprint", b.PolicyFingerprint},
		{"verificationPolicyUID", string(b.VerificationPolicyUID)},
		{"verificationPolicyDigest", b.VerificationPolicyDigest},
		{"coordinationDigest", b.CoordinationDigest},
		{"targetIdentityDigest", b.TargetIdentityDigest},
		{"executionBindingID", b.ExecutionBindingID},
		{"controllerImage", b.ControllerImage},
		{"controllerRevision", b.ControllerRevision},
		{"controllerStateVersion", nonZero(b.ControllerStateVersion)},
		{"ptahVersion", b.PtahVersion},
		{"executorImage", b.ExecutorImage},
		{"runnerImage", b.RunnerImage},
		{"runnerProtocolVersion", nonZero(b.RunnerProtocolVersion)},
	}
}

// nonZero writes a version, and a missing one as nothing.
func nonZero(n int32) string {
	if n == 0 {
		return ""
	}
	return digest.Int(int64(n))
}

// missing names the first input that is empty; "" when all are there.
func (in FingerprintInputs) missing() string {
	for _, m := range append([]member{{"schema UID", in.SchemaUID}, {"contentDigest", in.ContentDigest}}, bindingMembers(in.Bindings)...) {
		if m.value == "" {
			return m.name
		}
	}
	return ""
}

// PolicyFingerprint is the identity of spec.policy, every field of it. The order of a list is content.
func PolicyFingerprint(p v1alpha1.SchemaPolicy) string {
	return digest.Tuple("ptah-schema-policy-v1",
		string(p.Apply), digest.Bool(p.AllowDestructive), string(p.DriftSeverity), digest.List(p.Exclude), digest.List(p.ProtectedTables),
		p.LockTimeout.Duration.String(), string(p.TransactionMode))
}

// SchemaPlanName is the name of the plan object with this fingerprint.
func SchemaPlanName(fingerprint string) (string, error) {
	hex := digest.Hex(fingerprint)
	if hex == "" {
		return "", fmt.Errorf("naming plan: fingerprint %q is not a digest", fingerprint)
	}
	return v1alpha1.SchemaPlanPrefix + hex[:24], nil
}
