package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PtahSchemaStatus is what the controller last saw and did.
type PtahSchemaStatus struct {
	// One-word summary; the conditions are the authority.
	// +optional
	Phase SchemaPhase `json:"phase,omitempty"`

	// Generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions; compare type, status and reason, and read Ready first.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Last attempt at anything.
	// +optional
	LastAttemptTime *metav1.Time `json:"lastAttemptTime,omitempty"`

	// End of the last cycle that left nothing to do.
	// +optional
	LastSuccessfulReconciliation *metav1.Time `json:"lastSuccessfulReconciliation,omitempty"`

	// Durable earliest time of the next scheduled read-only pass.
	// +optional
	NextReconciliationTime *metav1.Time `json:"nextReconciliationTime,omitempty"`

	// Evidence epoch that everything below belongs to.
	// +optional
	ExecutionBinding *ExecutionBinding `json:"executionBinding,omitempty"`

	// Artifact as it was resolved and verified.
	// +optional
	Source *SourceStatus `json:"source,omitempty"`

	// Summary of the last raw observation of the database.
	// +optional
	Target *TargetStatus `json:"target,omitempty"`

	// Published plan that is waiting or being applied.
	// +optional
	Plan *SchemaPlanRecord `json:"plan,omitempty"`

	// Last Apply that was independently proven to have converged.
	// +optional
	Applied *AppliedRecord `json:"applied,omitempty"`

	// Claim of the running operation, written before its Job exists.
	// +optional
	ActiveOperation *SchemaOperation `json:"activeOperation,omitempty"`

	// Proof that is owed after an Apply.
	// +optional
	PendingObservation *PendingObservation `json:"pendingObservation,omitempty"`

	// Database lock that still has to be released.
	// +optional
	PendingLockRelease *LockRelease `json:"pendingLockRelease,omitempty"`
}

// SourceStatus is an artifact as it was resolved and verified.
type SourceStatus struct {
	// Reference as asked for, tag included.
	// +optional
	RequestedReference string `json:"requestedReference,omitempty"`

	// Reference pinned to the digest.
	// +optional
	ResolvedReference string `json:"resolvedReference,omitempty"`

	// Digest of the manifest.
	// +optional
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`

	// Media type of the manifest.
	// +optional
	MediaType string `json:"mediaType,omitempty"`

	// Ptah artifact type.
	// +optional
	ArtifactType string `json:"artifactType,omitempty"`

	// Size of the manifest, in bytes.
	// +optional
	Size int64 `json:"size,omitempty"`

	// Last resolution.
	// +optional
	ResolvedAt *metav1.Time `json:"resolvedAt,omitempty"`

	// Whether the current policy accepted the artifact; false again once the policy changes.
	// +optional
	Verified bool `json:"verified,omitempty"`

	// Last acceptance.
	// +optional
	VerifiedAt *metav1.Time `json:"verifiedAt,omitempty"`

	// UID of the policy ConfigMap that accepted it.
	// +optional
	VerificationPolicyUID types.UID `json:"verificationPolicyUID,omitempty"`

	// Digest of the policy bytes that accepted it.
	// +optional
	VerificationPolicyDigest string `json:"verificationPolicyDigest,omitempty"`
}

// TargetStatus summarises the last raw observation. A scoped plan does not replace it.
type TargetStatus struct {
	// Database engine.
	// +optional
	Engine string `json:"engine,omitempty"`

	// Digest of the database realm: engine and coordination key.
	// +optional
	CoordinationDigest string `json:"coordinationDigest,omitempty"`

	// Identity of the database that the connection URL led to.
	// +optional
	IdentityDigest string `json:"identityDigest,omitempty"`

	// When the database was observed.
	// +optional
	LastObservedAt *metav1.Time `json:"lastObservedAt,omitempty"`

	// Identity of the raw report.
	// +optional
	DriftReportDigest string `json:"driftReportDigest,omitempty"`

	// Kinds of difference, without names and without SQL: at most 64, severity descending, then category.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	DriftFindings []DriftFinding `json:"driftFindings,omitempty"`

	// Number of differences in the whole report: the counts of all kinds, not just of those in the list.
	// +optional
	DriftFindingCount int32 `json:"driftFindingCount,omitempty"`

	// Whether driftFindings is only a prefix of the report.
	// +optional
	DriftFindingsTruncated bool `json:"driftFindingsTruncated,omitempty"`

	// Worst severity in the report.
	// +optional
	HighestDriftSeverity DriftSeverity `json:"highestDriftSeverity,omitempty"`
}

// DriftSeverity rates a kind of difference.
// +kubebuilder:validation:Enum=safe;info;warning;error;destructive
type DriftSeverity string

// Drift severities, ascending.
const (
	SeveritySafe        DriftSeverity = "safe"
	SeverityInfo        DriftSeverity = "info"
	SeverityWarning     DriftSeverity = "warning"
	SeverityError       DriftSeverity = "error"
	SeverityDestructive DriftSeverity = "destructive"
)

// DriftFinding counts one kind of structural difference.
type DriftFinding struct {
	// Kind of difference, of a closed vocabulary.
	// +required
	Category DriftCategory `json:"category"`

	// How many there are; positive.
	// +required
	// +kubebuilder:validation:Minimum=1
	Count int32 `json:"count"`

	// Rating of this kind.
	// +required
	Severity DriftSeverity `json:"severity"`
}

// SchemaPlanRecord is the schema's own copy of what identifies a published plan.
type SchemaPlanRecord struct {
	// Name of the PtahSchemaPlan.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID that the PtahSchemaPlan had.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid"`

	// Complete approval identity of the plan.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Fingerprint string `json:"fingerprint"`

	// Digest of the joined plan bytes.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	ContentDigest string `json:"contentDigest"`

	// Creation time of the plan object.
	// +required
	CreatedAt metav1.Time `json:"createdAt"`

	// Whether the plan drops or rewrites something.
	// +required
	Destructive bool `json:"destructive"`

	// Number of statements.
	// +required
	// +kubebuilder:validation:Minimum=0
	StatementCount int32 `json:"statementCount"`

	SchemaPlanBindings `json:",inline"`

	// Decision that authorised the plan.
	// +optional
	Approval *ApprovalRecord `json:"approval,omitempty"`
}

// AppliedRecord is an Apply that a later reading of the database proved to have converged.
type AppliedRecord struct {
	// Plan that ran.
	// +required
	PlanRef ObjectRef `json:"planRef"`

	// Fingerprint of that plan.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	PlanFingerprint string `json:"planFingerprint"`

	// Digest of the artifact.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	ArtifactDigest string `json:"artifactDigest"`

	// Digest of the database realm.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	CoordinationDigest string `json:"coordinationDigest"`

	// Identity of the database.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	TargetIdentityDigest string `json:"targetIdentityDigest"`

	// When convergence was proven; not when the Job ended.
	// +required
	CompletedAt metav1.Time `json:"completedAt"`

	// Evidence epoch of the Apply.
	// +required
	// +kubebuilder:validation:MaxLength=128
	ExecutionBindingID string `json:"executionBindingID"`

	ExecutionIdentity `json:",inline"`
}

// SchemaOperationType names one operation of a schema.
// +kubebuilder:validation:Enum=Resolve;Verify;Observe;Plan;Apply
type SchemaOperationType string

// Operations of a schema.
const (
	SchemaResolve SchemaOperationType = "Resolve" // pins the reference to a digest
	SchemaVerify  SchemaOperationType = "Verify"  // evaluates the verification policy
	SchemaObserve SchemaOperationType = "Observe" // reads the database
	SchemaPlan    SchemaOperationType = "Plan"    // computes the scoped plan
	SchemaApply   SchemaOperationType = "Apply"   // runs the plan
)

// SchemaOperation is the claim of one operation: durable before its Job exists, and all that a restarted manager needs to go on.
type SchemaOperation struct {
	// Operation that is claimed.
	// +required
	Type SchemaOperationType `json:"type"`

	// Identity of this attempt.
	// +required
	ID string `json:"id"`

	// Number of this attempt.
	// +required
	Attempt int32 `json:"attempt"`

	// Everything that the claim was computed from.
	// +required
	InputFingerprint string `json:"inputFingerprint"`

	// Name of the Job, reserved before it is created.
	// +required
	JobName string `json:"jobName"`

	// UID of the Job, once known.
	// +optional
	JobUID types.UID `json:"jobUID,omitempty"`

	// When the claim was made; for an Apply the one instant at which it was authorised.
	// +required
	StartedAt metav1.Time `json:"startedAt"`

	// Set just before the one permitted create of the Job.
	// +optional
	DispatchStarted bool `json:"dispatchStarted,omitempty"`

	// Latest time at which the child process may start.
	// +optional
	DispatchNotAfter *metav1.Time `json:"dispatchNotAfter,omitempty"`

	// Deadline of the child process.
	// +optional
	ExecutionNotAfter *metav1.Time `json:"executionNotAfter,omitempty"`

	// Grace of the Pod, in seconds.
	// +optional
	TerminationGracePeriodSeconds int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// Evidence epoch that authorised the operation.
	// +optional
	ExecutionBindingID string `json:"executionBindingID,omitempty"`

	// Digest of the database realm.
	// +optional
	CoordinationDigest string `json:"coordinationDigest,omitempty"`

	// Identity of the database.
	// +optional
	TargetIdentityDigest string `json:"targetIdentityDigest,omitempty"`

	// Lock acquisition that the operation belongs to.
	// +optional
	LeaseEpoch string `json:"leaseEpoch,omitempty"`

	// Length of the lock's Lease, in seconds.
	// +optional
	LeaseDurationSeconds int32 `json:"leaseDurationSeconds,omitempty"`

	// The lock was not held without interruption, so the result must not be read.
	// +optional
	LeaseContinuityLost bool `json:"leaseContinuityLost,omitempty"`

	// UID of the policy ConfigMap inspected before a Verify.
	// +optional
	VerificationPolicyUID types.UID `json:"verificationPolicyUID,omitempty"`

	// Digest of the policy bytes inspected before a Verify.
	// +optional
	VerificationPolicyDigest string `json:"verificationPolicyDigest,omitempty"`

	// Artifact, for the observation after an Apply.
	// +optional
	Source *SourceBinding `json:"source,omitempty"`

	// Database, for the observation after an Apply.
	// +optional
	Target *TargetBinding `json:"target,omitempty"`

	// Scratch database, for the observation after an Apply.
	// +optional
	ObservationDev *Dev `json:"observationDev,omitempty"`

	// Copy of policy.exclude.
	// +optional
	// +listType=atomic
	ObservationExclude []string `json:"observationExclude,omitempty"`

	// Copy of policy.protectedTables.
	// +optional
	// +listType=atomic
	ObservationProtectedTables []string `json:"observationProtectedTables,omitempty"`

	// Copy of policy.driftSeverity.
	// +optional
	ObservationSeverity DriftSeverityPolicy `json:"observationSeverity,omitempty"`

	// Copy of policy.lockTimeout.
	// +optional
	ObservationLockTimeout metav1.Duration `json:"observationLockTimeout,omitzero"`

	// Copy of execution.connectTimeout.
	// +optional
	ObservationConnectTimeout metav1.Duration `json:"observationConnectTimeout,omitzero"`

	// What the API server is going to do to the Pod.
	// +optional
	AdmissionSnapshot *AdmissionSnapshot `json:"admissionSnapshot,omitempty"`
}

// ObservationOutcome is what is known of an Apply whose proof is owed.
// +kubebuilder:validation:Enum=ApplySucceeded;OutcomeUnknown
type ObservationOutcome string

// Outcomes of an Apply whose proof is owed.
const (
	OutcomeApplySucceeded ObservationOutcome = "ApplySucceeded" // the Job reported success
	OutcomeUnknown        ObservationOutcome = "OutcomeUnknown" // nobody knows what the Job did
)

// PendingObservation is the proof owed after an Apply, with everything that it needs frozen when the Apply ended.
type PendingObservation struct {
	// What is known of the Apply.
	// +required
	Outcome ObservationOutcome `json:"outcome"`

	// Plan that is being proven.
	// +required
	Plan SchemaPlanRecord `json:"plan"`

	// Identity of the Apply attempt.
	// +required
	ApplyOperationID string `json:"applyOperationID"`

	// Generation of the spec that the Apply belonged to.
	// +required
	ApplyGeneration int64 `json:"applyGeneration"`

	// Name of the Apply's Job.
	// +optional
	ApplyJobName string `json:"applyJobName,omitempty"`

	// UID of the Apply's Job.
	// +optional
	ApplyJobUID types.UID `json:"applyJobUID,omitempty"`

	// UIDs of the Apply's Pods, at most 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	ApplyPodUIDs []types.UID `json:"applyPodUIDs,omitempty"`

	// Number of Pods seen; more than one makes the outcome unknown.
	// +optional
	ApplyPodCount int32 `json:"applyPodCount,omitempty"`

	// Digest of the database realm.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	CoordinationDigest string `json:"coordinationDigest"`

	// Lock acquisition, held without interruption.
	// +optional
	LeaseEpoch string `json:"leaseEpoch,omitempty"`

	// Length of the lock's Lease, in seconds; it never changes.
	// +required
	LeaseDurationSeconds int32 `json:"leaseDurationSeconds"`

	// Earliest time of the proof when the identity of the Job is uncertain.
	// +optional
	ObserveAfter *metav1.Time `json:"observeAfter,omitempty"`

	// The raw reading is done and the scoped plan is still needed.
	// +optional
	PlanRequired bool `json:"planRequired,omitempty"`

	// Artifact that was applied.
	// +required
	Source SourceBinding `json:"source"`

	// Database that was changed.
	// +required
	Target TargetBinding `json:"target"`

	// Scratch database.
	// +optional
	Dev *Dev `json:"dev,omitempty"`

	// Copy of policy.exclude.
	// +optional
	// +listType=atomic
	Exclude []string `json:"exclude,omitempty"`

	// Copy of policy.protectedTables.
	// +optional
	// +listType=atomic
	ProtectedTables []string `json:"protectedTables,omitempty"`

	// Copy of policy.driftSeverity.
	// +optional
	DriftSeverity DriftSeverityPolicy `json:"driftSeverity,omitempty"`

	// Copy of policy.lockTimeout.
	// +optional
	LockTimeout metav1.Duration `json:"lockTimeout,omitzero"`

	// Copy of execution.connectTimeout.
	// +optional
	ConnectTimeout metav1.Duration `json:"connectTimeout,omitzero"`

	// Envelope of the Apply's Pod, needed to clean up exactly that Job.
	// +optional
	AdmissionSnapshot *AdmissionSnapshot `json:"admissionSnapshot,omitempty"`
}
