package v1alpha1

// ConditionType names one condition. The (type, status, reason) tuple is the API; messages are for people.
type ConditionType string

// Condition types. A comment says which kinds publish the type and what True means.
const (
	// ConditionReady: PtahSchema in sync, PtahMigration with nothing pending, PtahSchemaPlan with every chunk stored and verified. Read it first.
	ConditionReady ConditionType = "Ready"
	// ConditionEngineSupported: PtahSchema; the engine named by the target is implemented.
	ConditionEngineSupported ConditionType = "EngineSupported"
	// ConditionArtifactResolved: PtahSchema; the reference is pinned to content.
	ConditionArtifactResolved ConditionType = "ArtifactResolved"
	// ConditionArtifactVerified: PtahSchema and PtahMigration; type and policy are satisfied.
	ConditionArtifactVerified ConditionType = "ArtifactVerified"
	// ConditionDatabaseReachable: PtahSchema; the database was read under the current epoch.
	ConditionDatabaseReachable ConditionType = "DatabaseReachable"
	// ConditionDriftDetected: PtahSchema; the managed scope differs from what is declared.
	ConditionDriftDetected ConditionType = "DriftDetected"
	// ConditionPlanReady: PtahSchema; the exact plan bytes are stored in chunks.
	ConditionPlanReady ConditionType = "PlanReady"
	// ConditionApprovalRequired: PtahSchema and PtahMigration; the plan waits for an approval bound to its fingerprint.
	ConditionApprovalRequired ConditionType = "ApprovalRequired"
	// ConditionApplying: PtahSchema; the exact current plan is being applied.
	ConditionApplying ConditionType = "Applying"
	// ConditionInSync: PtahSchema; read-only scoped planning proved convergence.
	ConditionInSync ConditionType = "InSync"
	// ConditionReconciliationFailed: PtahSchema; the latest operation failed and the message says how.
	ConditionReconciliationFailed ConditionType = "ReconciliationFailed"
	// ConditionSuspended: PtahSchema; the author asked to suspend.
	ConditionSuspended ConditionType = "Suspended"
	// ConditionBlocked: PtahMigration; the history cannot be continued, or a run's outcome is unknown.
	ConditionBlocked ConditionType = "Blocked"
	// ConditionProgressing: PtahMigration; something comes on its own, nobody has to act.
	ConditionProgressing ConditionType = "Progressing"
	// ConditionAccepted: PtahSchemaApproval; the approval fits the current plan.
	ConditionAccepted ConditionType = "Accepted"
	// ConditionConsumed: both approvals; spent on one dispatch.
	ConditionConsumed ConditionType = "Consumed"
	// ConditionStale: both approvals; the plan it names is no longer current.
	ConditionStale ConditionType = "Stale"
)

// ConditionReason says why a condition has its status. A published value is never given another meaning.
type ConditionReason string

// Condition reasons.
const (
	// ReasonActive: not suspended.
	ReasonActive ConditionReason = "Active"
	// ReasonApplyDisabled: the policy records plans and forbids Apply (apply: Never).
	ReasonApplyDisabled ConditionReason = "ApplyDisabled"
	// ReasonApplyOutcomeUnknown: an Apply did not succeed and nothing proves whether the database changed.
	ReasonApplyOutcomeUnknown ConditionReason = "ApplyOutcomeUnknown"
	// ReasonApplyPending: under apply: Always a safe plan is about to start on its own.
	ReasonApplyPending ConditionReason = "ApplyPending"
	// ReasonApprovalRevoked: the approval chosen for the run stopped being valid before a Job was made.
	ReasonApprovalRevoked ConditionReason = "ApprovalRevoked"
	// ReasonApprovedPlan: the approved current plan is being applied.
	ReasonApprovedPlan ConditionReason = "ApprovedPlan"
	// ReasonArtifactUnverified: verification has not accepted the artifact, so no plan can be used.
	ReasonArtifactUnverified ConditionReason = "ArtifactUnverified"
	// ReasonAwaitingApproval: a fresh approval naming this plan is needed.
	ReasonAwaitingApproval ConditionReason = "AwaitingApproval"
	// ReasonConfigurationError: the operator's settings or the resource's own input are wrong.
	ReasonConfigurationError ConditionReason = "ConfigurationError"
	// ReasonConvergedAfterUnknownOutcome: a reading shows convergence after an Apply whose outcome is unknown; no Apply is credited.
	ReasonConvergedAfterUnknownOutcome ConditionReason = "ConvergedAfterUnknownOutcome"
	// ReasonCurrentPlan: the approval fits the plan that is published now.
	ReasonCurrentPlan ConditionReason = "CurrentPlan"
	// ReasonDesiredStateChanged: the spec moved on after older work converged.
	ReasonDesiredStateChanged ConditionReason = "DesiredStateChanged"
	// ReasonDestructiveChangesDisabled: the policy forbids the destructive plan.
	ReasonDestructiveChangesDisabled ConditionReason = "DestructiveChangesDisabled"
	// ReasonDigestPinned: the reference points at a digest.
	ReasonDigestPinned ConditionReason = "DigestPinned"
	// ReasonDispatchCommitted: the approval is spent on one Apply dispatch; terminal.
	ReasonDispatchCommitted ConditionReason = "DispatchCommitted"
	// ReasonExecutionBindingChanged: the runtime identity behind this evidence or approval was retired.
	ReasonExecutionBindingChanged ConditionReason = "ExecutionBindingChanged"
	// ReasonHistoryAhead: the database is past the artifact.
	ReasonHistoryAhead ConditionReason = "HistoryAhead"
	// ReasonHistoryDirty: an interrupted run's revision row remains; a person repairs the database.
	ReasonHistoryDirty ConditionReason = "HistoryDirty"
	// ReasonHistoryMatched: the revision table equals the artifact and nothing is left to run.
	ReasonHistoryMatched ConditionReason = "HistoryMatched"
	// ReasonHistoryModified: a recorded migration's file differs now.
	ReasonHistoryModified ConditionReason = "HistoryModified"
	// ReasonHistoryOutOfOrder: a late, lower-numbered version is pending.
	ReasonHistoryOutOfOrder ConditionReason = "HistoryOutOfOrder"
	// ReasonInputsChanged: inputs moved during the operation and its result was thrown away.
	ReasonInputsChanged ConditionReason = "InputsChanged"
	// ReasonInSync: a separate read-only plan showed convergence.
	ReasonInSync ConditionReason = "InSync"
	// ReasonJobCompleted: the Apply Job ended; convergence is shown separately.
	ReasonJobCompleted ConditionReason = "JobCompleted"
	// ReasonLeaseContinuityLost: the lock interval broke and the result is unusable.
	ReasonLeaseContinuityLost ConditionReason = "LeaseContinuityLost"
	// ReasonMigrationsPending: versions remain to be run.
	ReasonMigrationsPending ConditionReason = "MigrationsPending"
	// ReasonNoChanges: the scoped plan is empty.
	ReasonNoChanges ConditionReason = "NoChanges"
	// ReasonNotRequired: this plan asks for no approval.
	ReasonNotRequired ConditionReason = "NotRequired"
	// ReasonObserved: the database was read.
	ReasonObserved ConditionReason = "Observed"
	// ReasonOperationFailed: the last operation, read or write, did not succeed.
	ReasonOperationFailed ConditionReason = "OperationFailed"
	// ReasonOperationInProgress: work is claimed and running.
	ReasonOperationInProgress ConditionReason = "OperationInProgress"
	// ReasonOutcomeUnknown: nobody can attribute the Apply; only reads may follow.
	ReasonOutcomeUnknown ConditionReason = "OutcomeUnknown"
	// ReasonPending: the digest is known and the policy is not evaluated yet.
	ReasonPending ConditionReason = "Pending"
	// ReasonPlanNoLongerCurrent: the approval names a plan that was replaced or overtaken; terminal.
	ReasonPlanNoLongerCurrent ConditionReason = "PlanNoLongerCurrent"
	// ReasonPlanReady: the published plan can be approved.
	ReasonPlanReady ConditionReason = "PlanReady"
	// ReasonPolicyBlocked: held by allowDestructive: false.
	ReasonPolicyBlocked ConditionReason = "PolicyBlocked"
	// ReasonPolicyChanged: the verification policy object or its bytes differ from those used.
	ReasonPolicyChanged ConditionReason = "PolicyChanged"
	// ReasonPolicyRefused: the verification policy rejects the artifact.
	ReasonPolicyRefused ConditionReason = "PolicyRefused"
	// ReasonPolicySatisfied: the verification policy accepts the artifact.
	ReasonPolicySatisfied ConditionReason = "PolicySatisfied"
	// ReasonProofInputsChanged: the proof after an Apply begins again from its stored snapshot.
	ReasonProofInputsChanged ConditionReason = "ProofInputsChanged"
	// ReasonProtectedTable: the plan would change a protected table; there is no override.
	ReasonProtectedTable ConditionReason = "ProtectedTable"
	// ReasonPublished: the plan bytes are stored and verified.
	ReasonPublished ConditionReason = "Published"
	// ReasonRealmConflict: more than one resource claims the database and at least one does not declare sharedRealm.
	ReasonRealmConflict ConditionReason = "RealmConflict"
	// ReasonRefreshFailed: resolving a known source again failed.
	ReasonRefreshFailed ConditionReason = "RefreshFailed"
	// ReasonRefreshing: resolving the source again is running.
	ReasonRefreshing ConditionReason = "Refreshing"
	// ReasonRefreshSuspended: resolving the source again was cut short by suspension.
	ReasonRefreshSuspended ConditionReason = "RefreshSuspended"
	// ReasonRequested: the author asked to suspend.
	ReasonRequested ConditionReason = "Requested"
	// ReasonResolveFailed: no digest could be obtained.
	ReasonResolveFailed ConditionReason = "ResolveFailed"
	// ReasonSatisfied: the plan's approval requirement is met.
	ReasonSatisfied ConditionReason = "Satisfied"
	// ReasonScopedChanges: something differs inside the managed scope.
	ReasonScopedChanges ConditionReason = "ScopedChanges"
	// ReasonScopedConverged: nothing differs inside the managed scope.
	ReasonScopedConverged ConditionReason = "ScopedConverged"
	// ReasonScopedPlanPending: the raw reading is done and the scoped plan follows.
	ReasonScopedPlanPending ConditionReason = "ScopedPlanPending"
	// ReasonSourceFreshnessUnknown: a failed or unfinished refresh leaves it unknown whether the source is current.
	ReasonSourceFreshnessUnknown ConditionReason = "SourceFreshnessUnknown"
	// ReasonSourceRefreshPending: dependents wait for a refresh that is under way.
	ReasonSourceRefreshPending ConditionReason = "SourceRefreshPending"
	// ReasonSourceResolutionUnknown: without a digest convergence cannot be judged.
	ReasonSourceResolutionUnknown ConditionReason = "SourceResolutionUnknown"
	// ReasonSourceUnresolved: without a digest there is no plan.
	ReasonSourceUnresolved ConditionReason = "SourceUnresolved"
	// ReasonStale: the plan was overtaken before it ran.
	ReasonStale ConditionReason = "Stale"
	// ReasonStaleObservation: the reading is too old; the database is observed again before planning.
	ReasonStaleObservation ConditionReason = "StaleObservation"
	// ReasonStalePlan: readiness was withdrawn because the plan was overtaken.
	ReasonStalePlan ConditionReason = "StalePlan"
	// ReasonSucceeded: the most recent operation worked.
	ReasonSucceeded ConditionReason = "Succeeded"
	// ReasonSupersededApproval: another approval for the same plan was used instead; terminal.
	ReasonSupersededApproval ConditionReason = "SupersededApproval"
	// ReasonSupportedEngine: the engine is implemented.
	ReasonSupportedEngine ConditionReason = "SupportedEngine"
	// ReasonSuspended: held by suspension.
	ReasonSuspended ConditionReason = "Suspended"
	// ReasonUnsupportedEngine: the engine is not implemented; the author selects another.
	ReasonUnsupportedEngine ConditionReason = "UnsupportedEngine"
	// ReasonVerifyingConvergence: the proof after an Apply is under way.
	ReasonVerifyingConvergence ConditionReason = "VerifyingConvergence"
	// ReasonWaiting: waiting for the approver of the current plan.
	ReasonWaiting ConditionReason = "Waiting"
)
