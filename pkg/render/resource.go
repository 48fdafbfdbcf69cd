package render

import "time"

// Kinds of resources, as people say them.
const (
	KindSchema    = "schema"
	KindMigration = "migration"
)

// Resource is where one PtahSchema or PtahMigration stands.
type Resource struct {
	ResourceKind       string      `json:"resourceKind"` // schema or migration
	Namespace          string      `json:"namespace"`
	Name               string      `json:"name"`
	UID                string      `json:"uid"`
	Generation         int64       `json:"generation"`
	ObservedGeneration int64       `json:"observedGeneration"`
	CreatedAt          time.Time   `json:"createdAt"`
	Deleting           bool        `json:"deleting"`
	Suspended          bool        `json:"suspended"`
	Phase              string      `json:"phase"`
	Ready              string      `json:"ready"` // True, False, Unknown, or empty before the first look
	WaitingFor         Waiting     `json:"waitingFor"`
	Problem            *Problem    `json:"problem,omitempty"`
	NextReconciliation *time.Time  `json:"nextReconciliationTime,omitempty"`
	Engine             string      `json:"engine"`
	ApplyPolicy        string      `json:"applyPolicy"`
	Source             Source      `json:"source"`
	Observation        *Reading    `json:"observation,omitempty"` // schemas
	History            *History    `json:"history,omitempty"`     // migrations
	Plan               *PlanInfo   `json:"plan,omitempty"`
	Applied            *Applied    `json:"applied,omitempty"` // schemas
	LastRun            *Run        `json:"lastRun,omitempty"` // migrations
	UnresolvedRun      *Unresolved `json:"unresolvedRun,omitempty"`
	PendingProof       *Proof      `json:"pendingProof,omitempty"` // schemas
	Operation          *Operation  `json:"operation,omitempty"`
	LockReleaseOwed    bool        `json:"lockReleaseOwed"`
	Manager            *Manager    `json:"manager,omitempty"`
	Conditions         []Condition `json:"conditions"`
}

// Problem is what the conditions call wrong.
type Problem struct {
	Condition string `json:"condition"`
	Reason    string `json:"reason"`
	Code      string `json:"code,omitempty"` // of the failure
	Message   string `json:"message"`
}

// Source is the artifact that a resource wants and what it was found to be.
type Source struct {
	Requested    string     `json:"requested"`
	Resolved     string     `json:"resolved,omitempty"`
	Digest       string     `json:"digest,omitempty"`
	ArtifactType string     `json:"artifactType,omitempty"`
	ResolvedAt   *time.Time `json:"resolvedAt,omitempty"`
	Verified     bool       `json:"verified"`
	VerifiedAt   *time.Time `json:"verifiedAt,omitempty"`
}

// Reading is the last raw observation of a schema's database: kinds of difference, never names.
type Reading struct {
	ObservedAt  time.Time `json:"observedAt"`
	Findings    []Finding `json:"findings"`
	Differences int32     `json:"differences"` // of all kinds, in the whole report
	Truncated   bool      `json:"truncated"`
	Worst       string    `json:"worst,omitempty"`
}

// Finding counts one kind of difference.
type Finding struct {
	Category string `json:"category"`
	Count    int32  `json:"count"`
	Severity string `json:"severity"`
}

// History is the last reading of a migration's revision table.
type History struct {
	CurrentVersion     int64     `json:"currentVersion"`
	CheckpointVersion  int64     `json:"checkpointVersion,omitempty"`
	Applied            int32     `json:"applied"`
	Pending            int32     `json:"pending"`
	Dirty              bool      `json:"dirty"`
	ModifiedVersions   []int64   `json:"modifiedVersions,omitempty"`
	OutOfOrderVersions []int64   `json:"outOfOrderVersions,omitempty"`
	ObservedAt         time.Time `json:"observedAt"`
}

// PlanInfo identifies a resource's current plan. A migration records only name and UID.
type PlanInfo struct {
	Name        string     `json:"name"`
	UID         string     `json:"uid"`
	Fingerprint string     `json:"fingerprint,omitempty"`
	Statements  int32      `json:"statements,omitempty"`
	Destructive bool       `json:"destructive,omitempty"`
	StoredAt    *time.Time `json:"storedAt,omitempty"`
	Approval    *Decision  `json:"approval,omitempty"`
	// FromLastReading says that a newer reading is under way, which may make another plan.
	FromLastReading bool `json:"fromLastReading,omitempty"`
	Rejected
}

// Decision is who approved a plan, and when.
type Decision struct {
	Name       string    `json:"name"`
	Approver   string    `json:"approver"`
	ApprovedAt time.Time `json:"approvedAt"`
}

// Applied is the last Apply that a reading of the database proved.
type Applied struct {
	Plan           string    `json:"plan"`
	Fingerprint    string    `json:"fingerprint"`
	ArtifactDigest string    `json:"artifactDigest"`
	CompletedAt    time.Time `json:"completedAt"`
}

// Run is the last execution of migrations.
type Run struct {
	Outcome         string     `json:"outcome"`
	StartedAt       time.Time  `json:"startedAt"`
	FinishedAt      *time.Time `json:"finishedAt,omitempty"`
	AppliedVersions []int64    `json:"appliedVersions,omitempty"`
	JobName         string     `json:"jobName,omitempty"`
	Message         string     `json:"message,omitempty"`
}

// Unresolved is a run that nobody accounted for.
type Unresolved struct {
	Outcome     string    `json:"outcome"`
	RecordedAt  time.Time `json:"recordedAt"`
	OperationID string    `json:"operationID,omitempty"`
	Plan        string    `json:"plan,omitempty"`
	JobName     string    `json:"jobName,omitempty"`
}

// phaseSuspended is the phase of both families that says by itself that spec.suspend is set.
const phaseSuspended = "Suspended"

// proofHeld says whether a proof is owed that nothing works on: spec.suspend holds it, and no reading of it runs.
func (r *Resource) proofHeld() bool {
	return r.Suspended && !r.Deleting && r.PendingProof != nil && (r.Operation == nil || !r.Operation.Dispatched)
}

// Proof is the reading that is owed after an Apply.
type Proof struct {
	Outcome      string     `json:"outcome"`
	Plan         string     `json:"plan"`
	ApplyJobName string     `json:"applyJobName,omitempty"`
	ObserveAfter *time.Time `json:"observeAfter,omitempty"`
}

// Operation is the claim of what is running.
type Operation struct {
	Type                string     `json:"type"`
	ID                  string     `json:"id"`
	Attempt             int32      `json:"attempt"`
	JobName             string     `json:"jobName"`
	StartedAt           time.Time  `json:"startedAt"`
	Dispatched          bool       `json:"dispatched"`
	ExecutionNotAfter   *time.Time `json:"executionNotAfter,omitempty"`
	RetryNotBefore      *time.Time `json:"retryNotBefore,omitempty"`
	LeaseContinuityLost bool       `json:"leaseContinuityLost"`
}

// Manager is the build that the evidence belongs to.
type Manager struct {
	PtahVersion string `json:"ptahVersion"`
	Revision    string `json:"revision"`
	Epoch       string `json:"epoch"`
}

// Condition is a Kubernetes condition.
type Condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	Reason             string    `json:"reason"`
	Message            string    `json:"message"`
	ObservedGeneration int64     `json:"observedGeneration"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
	// FromLastReading says that a newer reading is under way, and that this condition does not speak of it yet.
	FromLastReading bool `json:"fromLastReading,omitempty"`
}

// typeName is the resource as kubectl takes it.
func (r *Resource) typeName() string { return "ptah" + r.ResourceKind + ".operator.ptah.run/" + r.Name }
