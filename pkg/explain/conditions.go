package explain

var conditions = []Entry{
	{Condition, "Ready", "all but approvals", "The summary: the resource is where it should be, or, for a plan, stored and verified. Read it first; when it is False its reason is what holds the resource.", itself, "its reason says how", look},
	{Condition, "EngineSupported", "PtahSchema", "The engine that the target names is implemented by this operator.", author, "set spec.target.engine to a supported engine", look},
	{Condition, "ArtifactResolved", "PtahSchema", "The reference leads to content, and is pinned to its digest. Unknown while it is resolved again.", itself, "resolved again in every reading", look},
	{Condition, "ArtifactVerified", "PtahSchema, PtahMigration", "The artifact has the right type and satisfies the verification policy.", author, "publish an artifact that the policy accepts, or change the policy", check},
	{Condition, "DatabaseReachable", "PtahSchema", "The database was read under the current execution binding.", operator, "read again in every reading", check},
	{Condition, "DriftDetected", "PtahSchema", "Something inside the managed scope differs from what is declared. Unknown while it is read.", itself, "a plan that is applied, or a database that is repaired", plan},
	{Condition, "PlanReady", "PtahSchema", "The exact bytes of a plan are stored in chunks and were read back. False with NoChanges is good news.", itself, "made in every reading that finds a difference", plan},
	{Condition, "ApprovalRequired", "PtahSchema, PtahMigration", "The current plan waits for an approval that names its fingerprint.", approver, "somebody approves exactly this plan", approve},
	{Condition, "Applying", "PtahSchema", "The exact current plan is running against the database.", itself, "the Job ends; a fresh reading then proves what it did", look},
	{Condition, "InSync", "PtahSchema", "A separate read-only plan inside the managed scope is empty: the database is what the artifact says.", itself, "a reading", look},
	{Condition, "ReconciliationFailed", "PtahSchema", "The latest operation did not succeed. The message begins with the failure code.", itself, "the next operation that succeeds; tried again after spec.execution.failureRetryInterval", events},
	{Condition, "Suspended", "PtahSchema", "The author asked to suspend: no new Job starts.", author, "spec.suspend is set to false", resume},
	{Condition, "Blocked", "PtahMigration", "The history cannot be continued, a run's outcome is unknown, or something is refused. The reason says which.", operator, "its reason says how", show},
	{Condition, "Progressing", "PtahMigration", "Something comes by itself, and nobody has to act.", itself, "it ends by itself", show},
	{Condition, "Accepted", "PtahSchemaApproval", "The approval fits the plan that is current.", itself, "the plan stops being current", look},
	{Condition, "Consumed", "PtahSchemaApproval, PtahMigrationApproval", "The approval was used for one Apply. It authorises nothing more.", nobody, "never", ""},
	{Condition, "Stale", "PtahSchemaApproval, PtahMigrationApproval", "The plan that the approval names is no longer current.", approver, "never; approve the current plan instead", plan},
}
