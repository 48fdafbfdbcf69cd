package explain

const (
	schemaOnly    = "PtahSchema"
	migrationOnly = "PtahMigration"
	bothKinds     = "PtahSchema, PtahMigration"
)

var phases = []Entry{
	{Phase, "Pending", bothKinds, "Nothing is claimed yet, or everything begins again.", itself, "the manager begins; if it does not, nothing works on it", stalled},
	{Phase, "Resolving", bothKinds, "The reference is pinned to a digest.", itself, "it ends", look},
	{Phase, "Verifying", bothKinds, "The verification policy is evaluated.", itself, "it ends", look},
	{Phase, "Observing", schemaOnly, "The database is read.", itself, "it ends", look},
	{Phase, "Reading", migrationOnly, "The revision table is read.", itself, "it ends", show},
	{Phase, "Planning", bothKinds, "The plan is made, under the database's lock for a schema.", itself, "it ends", look},
	{Phase, "ReadyToApply", schemaOnly, "A plan may run, and is about to.", itself, "the Apply starts", look},
	{Phase, "AwaitingApproval", bothKinds, "A plan waits for somebody's decision.", approver, "somebody approves it", approve},
	{Phase, "Blocked", bothKinds, "Somebody has to change something. Condition Ready says what.", author, "its reason says how", look},
	{Phase, "Applying", bothKinds, "The plan is running against the database.", itself, "the Job ends", look},
	{Phase, "VerifyingConvergence", schemaOnly, "The database is read again, to prove what an Apply did.", itself, "the proof ends", look},
	{Phase, "VerifyingHistory", migrationOnly, "The revision table is read again, to prove what an Apply did.", itself, "the proof ends", show},
	{Phase, "InSync", bothKinds, "The database is what the artifact says, proven by a reading.", nobody, "drift, or a change of the spec or the artifact", ""},
	{Phase, "Suspended", bothKinds, "No new Jobs start.", author, "resume", resume},
	{Phase, "Failed", bothKinds, "The last operation failed. It is tried again after spec.execution.failureRetryInterval.", itself, "the next one that succeeds", events},
}
