package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PtahMigration keeps one database at the head of an ordered migration sequence that an OCI artifact carries. It reads the revision table,
// publishes what is pending as an immutable plan, waits for a person where the policy says so, and runs exactly those migrations.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=`.spec.target.coordinationKey`
// +kubebuilder:resource:path=ptahmigrations,scope=Namespaced,shortName=ptahm,categories=ptah
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="One-word summary"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="True when the history matches and nothing is pending"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="What it is waiting for"
// +kubebuilder:printcolumn:name="Version",type=integer,JSONPath=`.status.history.currentVersion`,description="Highest version recorded in the database"
// +kubebuilder:printcolumn:name="Pending",type=integer,JSONPath=`.status.history.pendingCount`,description="Migrations left to run"
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextReconciliationTime`,description="Earliest next scheduled look at the database"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Engine",type=string,priority=1,JSONPath=`.spec.target.engine`
// +kubebuilder:printcolumn:name="Plan",type=string,priority=1,JSONPath=`.status.plan.name`,description="Current published plan"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name must be at most 63 characters: it is repeated in a label of everything made for this resource"
type PtahMigration struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Which sequence the database should have run.
	// +required
	Spec PtahMigrationSpec `json:"spec"`

	// What Ptah last saw and did; written by the controller only.
	// +optional
	Status PtahMigrationStatus `json:"status,omitzero"`
}

// PtahMigrationList is a list of PtahMigration.
//
// +kubebuilder:object:root=true
type PtahMigrationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PtahMigration `json:"items"`
}

// PtahMigrationSpec is what the author of a migration sequence writes.
// +kubebuilder:validation:XValidation:rule="!has(self.policy) || !has(self.policy.lockTimeout) || !has(self.execution) || !has(self.execution.activeDeadlineSeconds) || duration(self.policy.lockTimeout).getMilliseconds() <= self.execution.activeDeadlineSeconds * 1000",message="policy.lockTimeout must not exceed execution.activeDeadlineSeconds: shorten the one or raise the other",fieldPath=".policy.lockTimeout"
type PtahMigrationSpec struct {
	// Database to migrate.
	// +required
	Target Target `json:"target"`

	// OCI artifact that carries the migration directory.
	// +required
	Artifact Source `json:"artifact"`

	// How often the artifact is resolved and the history read again, as "10m"; at least 1s.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+([.][0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="interval must be at least 1s"
	Interval metav1.Duration `json:"interval,omitzero"`

	// Starts no new Jobs. A migration that is running is never abandoned.
	// +optional
	// +kubebuilder:default=false
	Suspend bool `json:"suspend,omitempty"`

	// What may happen without a person.
	// +optional
	// +kubebuilder:default={}
	Policy MigrationPolicy `json:"policy,omitzero"`

	// Shape of the Jobs that carry out operations.
	// +optional
	// +kubebuilder:default={}
	Execution Execution `json:"execution,omitzero"`
}

// MigrationPolicy says what may happen to a migration's database without a person.
type MigrationPolicy struct {
	// When the current plan may run: Never, OnApproval or Always.
	// +optional
	// +kubebuilder:default=OnApproval
	Apply ApplyPolicy `json:"apply,omitempty"`

	// Wait for the engine's migration lock, as "5m"; at most execution.activeDeadlineSeconds.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+([.][0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="lockTimeout must be longer than zero, for example 5m"
	LockTimeout metav1.Duration `json:"lockTimeout,omitzero"`

	// How migrations are wrapped in transactions. Left out, the engine decides, and that is a choice of its own.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self in ['file', 'none']",message="transactionMode of a migration must be file or none"
	TransactionMode TransactionMode `json:"transactionMode,omitempty"`
}

// PtahMigrationStatus is what the controller last saw and did.
type PtahMigrationStatus struct {
	// One-word summary; the conditions are the authority.
	// +optional
	Phase MigrationPhase `json:"phase,omitempty"`

	// Generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions; compare type, status and reason, and read Ready first.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// When the database is looked at again.
	// +optional
	NextReconciliationTime *metav1.Time `json:"nextReconciliationTime,omitempty"`

	// Evidence epoch that everything below belongs to.
	// +optional
	ExecutionBinding *ExecutionBinding `json:"executionBinding,omitempty"`

	// Artifact as this cycle resolved it.
	// +optional
	Artifact *SourceBinding `json:"artifact,omitempty"`

	// Last reading of the revision table.
	// +optional
	History *HistoryStatus `json:"history,omitempty"`

	// Current published plan; absent once its sequence is gone.
	// +optional
	Plan *ObjectRef `json:"plan,omitempty"`

	// Evidence of the last execution.
	// +optional
	LastRun *MigrationRun `json:"lastRun,omitempty"`

	// Run that nobody accounted for. No migration is started while it stands.
	// +optional
	UnresolvedRun *UnresolvedRun `json:"unresolvedRun,omitempty"`

	// Database lock that still has to be released. Never written for a run that may still execute.
	// +optional
	PendingLockRelease *LockRelease `json:"pendingLockRelease,omitempty"`

	// Claim of the running operation, written before its Job exists.
	// +optional
	ActiveOperation *MigrationOperation `json:"activeOperation,omitempty"`
}

// HistoryStatus is one reading of the revision table.
type HistoryStatus struct {
	// Version of the engine's status document.
	// +required
	ContractVersion int32 `json:"contractVersion"`

	// Highest recorded version.
	// +required
	CurrentVersion int64 `json:"currentVersion"`

	// Number of recorded versions.
	// +required
	AppliedCount int32 `json:"appliedCount"`

	// Number of migrations that the engine selects to run.
	// +required
	PendingCount int32 `json:"pendingCount"`

	// Version of the covering checkpoint, if there is one.
	// +optional
	CheckpointVersion int64 `json:"checkpointVersion,omitempty"`

	// Whether a failed or interrupted row is present.
	// +optional
	Dirty bool `json:"dirty,omitempty"`

	// Recorded versions whose files no longer match.
	// +optional
	// +listType=atomic
	ModifiedVersions []int64 `json:"modifiedVersions,omitempty"`

	// Versions of the artifact below the recorded head.
	// +optional
	// +listType=atomic
	OutOfOrderVersions []int64 `json:"outOfOrderVersions,omitempty"`

	// Identity of this reading.
	// +required
	Fingerprint string `json:"fingerprint"`

	// Identity of the database that was read.
	// +required
	TargetIdentityDigest string `json:"targetIdentityDigest"`

	// When it was read.
	// +required
	ObservedAt metav1.Time `json:"observedAt"`
}

// RunOutcome is the verdict on a migration run.
// +kubebuilder:validation:Enum=UpToDate;Applied;Failed;Partial;Unknown
type RunOutcome string

// Verdicts on a migration run. Partial and Unknown are never retried.
const (
	RunUpToDate RunOutcome = "UpToDate" // nothing was left to run
	RunApplied  RunOutcome = "Applied"  // every selected version is recorded
	RunFailed   RunOutcome = "Failed"   // failed and committed nothing
	RunPartial  RunOutcome = "Partial"  // committed a part
	RunUnknown  RunOutcome = "Unknown"  // the evidence cannot be read
)

// MigrationRun is the evidence of one execution.
type MigrationRun struct {
	// Verdict on the run.
	// +required
	Outcome RunOutcome `json:"outcome"`

	// When it was claimed.
	// +required
	StartedAt metav1.Time `json:"startedAt"`

	// When its result was read.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`

	// Selected versions that were recorded afterwards.
	// +optional
	// +listType=atomic
	AppliedVersions []int64 `json:"appliedVersions,omitempty"`

	// Name of the Job.
	// +optional
	JobName string `json:"jobName,omitempty"`

	// UID of the Job.
	// +optional
	JobUID types.UID `json:"jobUID,omitempty"`

	// What happened, without rows and without SQL.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

// UnresolvedRun is a run that nobody accounted for.
type UnresolvedRun struct {
	// Verdict on the run: Partial or Unknown.
	// +required
	// +kubebuilder:validation:XValidation:rule="self in ['Partial', 'Unknown']",message="outcome of an unresolved run must be Partial or Unknown"
	Outcome RunOutcome `json:"outcome"`

	// When the record was written.
	// +required
	RecordedAt metav1.Time `json:"recordedAt"`

	// Apply claim; empty on adopted records.
	// +optional
	OperationID string `json:"operationID,omitempty"`

	// Plan that was carried out; absent on adopted records.
	// +optional
	PlanRef *ObjectRef `json:"planRef,omitempty"`

	// Name of the Job; empty when its create was never confirmed.
	// +optional
	JobName string `json:"jobName,omitempty"`

	// UID of the Job; empty when its create was never confirmed.
	// +optional
	JobUID types.UID `json:"jobUID,omitempty"`

	// Database that the run reported, or else the one planned against.
	// +optional
	TargetIdentityDigest string `json:"targetIdentityDigest,omitempty"`
}

// MigrationOperationType names one operation of a migration.
// +kubebuilder:validation:Enum=Resolve;Verify;History;Apply
type MigrationOperationType string

// Operations of a migration.
const (
	MigrationResolve MigrationOperationType = "Resolve" // pins the reference to a digest
	MigrationVerify  MigrationOperationType = "Verify"  // evaluates the verification policy
	MigrationHistory MigrationOperationType = "History" // reads the revision table
	MigrationApply   MigrationOperationType = "Apply"   // runs the pending migrations
)

// MigrationOperation is the claim of one operation: durable before its Job exists, and all that a restarted manager needs to go on.
type MigrationOperation struct {
	// Operation that is claimed.
	// +required
	Type MigrationOperationType `json:"type"`

	// Identity of this attempt.
	// +required
	ID string `json:"id"`

	// Everything that the claim was computed from.
	// +required
	InputFingerprint string `json:"inputFingerprint"`

	// Name of the Job, reserved before it is created.
	// +required
	JobName string `json:"jobName"`

	// Number of this attempt.
	// +required
	Attempt int32 `json:"attempt"`

	// When the claim was made.
	// +required
	StartedAt metav1.Time `json:"startedAt"`

	// UID of the Job, once known.
	// +optional
	JobUID types.UID `json:"jobUID,omitempty"`

	// Evidence epoch that authorised the operation.
	// +optional
	ExecutionBindingID string `json:"executionBindingID,omitempty"`

	// Digest of the database realm.
	// +optional
	CoordinationDigest string `json:"coordinationDigest,omitempty"`

	// Lock acquisition that the operation belongs to.
	// +optional
	LeaseEpoch string `json:"leaseEpoch,omitempty"`

	// Length of the lock's Lease, in seconds.
	// +optional
	LeaseDurationSeconds int32 `json:"leaseDurationSeconds,omitempty"`

	// The lock was not held without interruption, so the result must not be read.
	// +optional
	LeaseContinuityLost bool `json:"leaseContinuityLost,omitempty"`

	// Set just before the one permitted create of the Job.
	// +optional
	DispatchStarted bool `json:"dispatchStarted,omitempty"`

	// Latest time at which the child process may start.
	// +optional
	DispatchNotAfter *metav1.Time `json:"dispatchNotAfter,omitempty"`

	// Deadline of the child process.
	// +optional
	ExecutionNotAfter *metav1.Time `json:"executionNotAfter,omitempty"`

	// Delay that a retried attempt waits out; absent on a first attempt.
	// +optional
	RetryNotBefore *metav1.Time `json:"retryNotBefore,omitempty"`

	// Plan that an Apply carries out.
	// +optional
	PlanRef *ObjectRef `json:"planRef,omitempty"`

	// Approval that authorised an Apply.
	// +optional
	ApprovalRef *ObjectRef `json:"approvalRef,omitempty"`

	// Artifact; every operation after Resolve has one.
	// +optional
	Source *SourceBinding `json:"source,omitempty"`

	// Database.
	// +optional
	Target *TargetBinding `json:"target,omitempty"`

	// What the API server is going to do to the Pod.
	// +optional
	AdmissionSnapshot *AdmissionSnapshot `json:"admissionSnapshot,omitempty"`
}
