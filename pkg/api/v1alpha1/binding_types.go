package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ExecutionIdentity is the seven components that evidence, plans and approvals are bound to. Two identities are the same exactly when
// they are equal with ==.
type ExecutionIdentity struct {
	// Digest reference of the manager image.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	ControllerImage string `json:"controllerImage,omitempty"`

	// Source revision of the manager.
	// +required
	// +kubebuilder:validation:MaxLength=256
	ControllerRevision string `json:"controllerRevision,omitempty"`

	// Version of the manager's stored-state semantics.
	// +required
	// +kubebuilder:validation:Minimum=1
	ControllerStateVersion int32 `json:"controllerStateVersion,omitempty"`

	// Version of Ptah, at most 128 bytes.
	// +required
	// +kubebuilder:validation:MaxLength=128
	PtahVersion string `json:"ptahVersion,omitempty"`

	// Digest-pinned executor image.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	ExecutorImage string `json:"executorImage,omitempty"`

	// Digest-pinned runner image.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	RunnerImage string `json:"runnerImage,omitempty"`

	// Protocol of the result frame.
	// +required
	// +kubebuilder:validation:Minimum=1
	RunnerProtocolVersion int32 `json:"runnerProtocolVersion,omitempty"`
}

// ExecutionBinding is the current evidence epoch and the identity that opened it.
type ExecutionBinding struct {
	// Opaque name of this transition; it changes with every component, also on the way back to identical bytes.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Epoch string `json:"epoch"`

	ExecutionIdentity `json:",inline"`
}

// SourceBinding is an artifact as an operation fetches it: resolved, with selectors and never with Secret contents.
type SourceBinding struct {
	// Digest of the artifact's manifest.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest"`

	// Reference with the tag replaced by the digest.
	// +required
	// +kubebuilder:validation:MaxLength=1200
	ResolvedReference string `json:"resolvedReference"`

	// Selector of the registry credentials.
	// +optional
	RegistryAuthFrom *RegistryAuth `json:"registryAuthFrom,omitempty"`

	// How the registry is reached.
	// +optional
	Transport *Transport `json:"transport,omitempty"`
}

// TargetBinding is the database that an operation opens. The coordination key is deliberately not part of it.
type TargetBinding struct {
	// Database engine.
	// +required
	Engine string `json:"engine"`

	// Key of the Secret that holds the connection URL.
	// +required
	URLFrom corev1.SecretKeySelector `json:"urlFrom"`
}

// LockRelease is the exact database Lease acquisition whose release is still owed. It is retried first in every pass.
type LockRelease struct {
	// Digest of the database realm.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	CoordinationDigest string `json:"coordinationDigest"`

	// Operation that holds the Lease.
	// +required
	OperationID string `json:"operationID"`

	// Acquisition that the release belongs to.
	// +required
	LeaseEpoch string `json:"leaseEpoch"`

	// Length of the Lease, in seconds.
	// +required
	LeaseDurationSeconds int32 `json:"leaseDurationSeconds"`
}

// SchemaPlanBindings is everything that a schema plan was computed under. The plan carries it, its approval repeats it, and the
// schema's record of it copies it; two sets bind the same plan exactly when they are equal with ==.
type SchemaPlanBindings struct {
	// Digest of the source artifact.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	ArtifactDigest string `json:"artifactDigest,omitempty"`

	// Fingerprint of the declared state.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	DesiredStateFingerprint string `json:"desiredStateFingerprint,omitempty"`

	// Fingerprint of the state that the database was in.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	ActualStateFingerprint string `json:"actualStateFingerprint,omitempty"`

	PlanBindings `json:",inline"`
}

// PlanBindings is what the plans of both families are bound to.
type PlanBindings struct {
	// Fingerprint of the spec.policy that the plan was computed under.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	PolicyFingerprint string `json:"policyFingerprint,omitempty"`

	// UID of the verification policy's ConfigMap.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	VerificationPolicyUID types.UID `json:"verificationPolicyUID,omitempty"`

	// Digest of the verification policy's bytes.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	VerificationPolicyDigest string `json:"verificationPolicyDigest,omitempty"`

	// Digest of the database realm: engine and coordination key.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	CoordinationDigest string `json:"coordinationDigest,omitempty"`

	// Identity of the database that the connection URL led to.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	TargetIdentityDigest string `json:"targetIdentityDigest,omitempty"`

	// Evidence epoch (status.executionBinding.epoch of the resource).
	// +required
	// +kubebuilder:validation:MaxLength=128
	ExecutionBindingID string `json:"executionBindingID,omitempty"`

	ExecutionIdentity `json:",inline"`
}

// ApprovalRecord is the decision that authorised a plan.
type ApprovalRecord struct {
	// Name of the approval.
	// +required
	Name string `json:"name"`

	// UID of the approval.
	// +required
	UID types.UID `json:"uid"`

	// When admission stamped the approval.
	// +required
	ApprovedAt metav1.Time `json:"approvedAt"`

	// Authenticated identity that created the approval.
	// +required
	Approver Approver `json:"approver"`
}
