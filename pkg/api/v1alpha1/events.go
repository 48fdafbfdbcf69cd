package v1alpha1

// EventReason is the reason of a Kubernetes Event. An Event goes on the object whose author has to act, and only when something changed.
type EventReason string

// Event reasons. The comment says Normal or Warning, on which kind, and what happened.
const (
	// EventApplyOutcomeUnknown: Warning, PtahSchema; an Apply ended without proof and read-only observation starts.
	EventApplyOutcomeUnknown EventReason = "ApplyOutcomeUnknown"
	// EventApprovalAccepted: Normal, PtahSchema; an authenticated approval of the current plan was accepted.
	EventApprovalAccepted EventReason = "ApprovalAccepted"
	// EventApprovalRequired: Normal, PtahSchema; the current plan needs an approval.
	EventApprovalRequired EventReason = "ApprovalRequired"
	// EventApprovalRevoked: Warning, PtahSchema; the recorded approval became invalid before a Job was made.
	EventApprovalRevoked EventReason = "ApprovalRevoked"
	// EventApprovalStale: Warning, PtahSchemaApproval; it no longer matches its plan.
	EventApprovalStale EventReason = "ApprovalStale"
	// EventArtifactVerificationRefused: Warning, PtahSchema; verification refused the artifact and there is no plan.
	EventArtifactVerificationRefused EventReason = "ArtifactVerificationRefused"
	// EventExecutionBindingChanged: Warning, PtahSchema and PtahMigration; the epoch was retired.
	EventExecutionBindingChanged EventReason = "ExecutionBindingChanged"
	// EventLeaseContinuityLost: Warning, PtahSchema; the lock was not continuous and the result was discarded.
	EventLeaseContinuityLost EventReason = "LeaseContinuityLost"
	// EventMigrationJobCleanupDeferred: Warning, PtahMigration; cleanup could not be scheduled and the Job keeps its own deadline.
	EventMigrationJobCleanupDeferred EventReason = "MigrationJobCleanupDeferred"
	// EventMigrationRunFinished: PtahMigration; Normal for Applied and UpToDate, Warning for Failed, Partial and Unknown.
	EventMigrationRunFinished EventReason = "MigrationRunFinished"
	// EventMigrationRunUncertain: Warning, PtahMigration; the run ended without establishing what it committed.
	EventMigrationRunUncertain EventReason = "MigrationRunUncertain"
	// EventOperationCompleted: Normal, PtahSchema; the result of an operation was accepted.
	EventOperationCompleted EventReason = "OperationCompleted"
	// EventOperationFailed: Warning, PtahSchema and PtahMigration; an operation failed (code, colon, text).
	EventOperationFailed EventReason = "OperationFailed"
	// EventOperationRetried: Warning, PtahMigration; an attempt failed and another follows.
	EventOperationRetried EventReason = "OperationRetried"
	// EventOperationStarted: Normal, PtahSchema and PtahMigration; a Job was created.
	EventOperationStarted EventReason = "OperationStarted"
	// EventPlanRejected: Warning, PtahSchema and PtahMigration, by kubectl ptah; a person decided against the current plan and withdrew its approvals.
	EventPlanRejected EventReason = "PlanRejected"
	// EventPlanRejectionRequested: Warning, PtahSchema and PtahMigration, by kubectl ptah; a person is about to withdraw the approvals of the current plan.
	EventPlanRejectionRequested EventReason = "PlanRejectionRequested"
	// EventPlanStale: Warning, PtahSchema; the plan stopped matching its inputs.
	EventPlanStale EventReason = "PlanStale"
	// EventProtectedTableRefused: Warning, PtahSchema; the plan would change a protected table and was not published.
	EventProtectedTableRefused EventReason = "ProtectedTableRefused"
	// EventRealmConflict: Warning, PtahSchema; more than one resource claims the database and not all declare it shared.
	EventRealmConflict EventReason = "RealmConflict"
	// EventResultReadTimedOut: Warning, PtahSchema and PtahMigration; reading a result took longer than its bound.
	EventResultReadTimedOut EventReason = "ResultReadTimedOut"
	// EventTargetLockReleaseOwed: Warning, PtahMigration; the database lock was not released and will be tried again.
	EventTargetLockReleaseOwed EventReason = "TargetLockReleaseOwed"
	// EventUnresolvedRunClearRequested: Warning, PtahMigration, by kubectl ptah; a person is about to clear the record of a run nobody accounted for.
	EventUnresolvedRunClearRequested EventReason = "UnresolvedRunClearRequested"
	// EventUnresolvedRunCleared: Warning, PtahMigration, by kubectl ptah; a person cleared the record of a run nobody accounted for.
	EventUnresolvedRunCleared EventReason = "UnresolvedRunCleared"
	// EventUnresolvedRunDiscarded: Warning, PtahMigration; deletion discarded the record of a run nobody accounted for.
	EventUnresolvedRunDiscarded EventReason = "UnresolvedRunDiscarded"
	// EventUnsupportedEngine: Warning, PtahSchema; the target's engine is not implemented, nothing will run.
	EventUnsupportedEngine EventReason = "UnsupportedEngine"
	// EventVerificationPolicyInvalidated: Warning, PtahSchema; the policy stopped matching, and with it artifact and plan.
	EventVerificationPolicyInvalidated EventReason = "VerificationPolicyInvalidated"
)
