package v1alpha1

// SchemaPhase is the one-word summary of a PtahSchema. It summarises the conditions and is an authority for nothing.
// +kubebuilder:validation:Enum=Pending;Resolving;Verifying;Observing;Planning;ReadyToApply;AwaitingApproval;Blocked;Applying;VerifyingConvergence;InSync;Suspended;Failed
type SchemaPhase string

// Phases of a PtahSchema.
const (
	SchemaPhasePending              SchemaPhase = "Pending"              // nothing claimed yet
	SchemaPhaseResolving            SchemaPhase = "Resolving"            // pinning the reference to a digest
	SchemaPhaseVerifying            SchemaPhase = "Verifying"            // evaluating the verification policy
	SchemaPhaseObserving            SchemaPhase = "Observing"            // reading the database
	SchemaPhasePlanning             SchemaPhase = "Planning"             // computing the scoped plan
	SchemaPhaseReadyToApply         SchemaPhase = "ReadyToApply"         // a plan may run and is about to
	SchemaPhaseAwaitingApproval     SchemaPhase = "AwaitingApproval"     // a person decides
	SchemaPhaseBlocked              SchemaPhase = "Blocked"              // something a person has to change
	SchemaPhaseApplying             SchemaPhase = "Applying"             // the plan is running
	SchemaPhaseVerifyingConvergence SchemaPhase = "VerifyingConvergence" // reading the database again after an Apply
	SchemaPhaseInSync               SchemaPhase = "InSync"               // proven converged
	SchemaPhaseSuspended            SchemaPhase = "Suspended"            // no new Jobs
	SchemaPhaseFailed               SchemaPhase = "Failed"               // the last operation failed; retried after failureRetryInterval
)

// MigrationPhase is the one-word summary of a PtahMigration. It summarises the conditions and is an authority for nothing.
// +kubebuilder:validation:Enum=Pending;Resolving;Verifying;Reading;Planning;AwaitingApproval;Blocked;Applying;VerifyingHistory;InSync;Suspended;Failed
type MigrationPhase string

// Phases of a PtahMigration.
const (
	MigrationPhasePending          MigrationPhase = "Pending"          // nothing claimed yet
	MigrationPhaseResolving        MigrationPhase = "Resolving"        // pinning the reference to a digest
	MigrationPhaseVerifying        MigrationPhase = "Verifying"        // evaluating the verification policy
	MigrationPhaseReading          MigrationPhase = "Reading"          // reading the revision table
	MigrationPhasePlanning         MigrationPhase = "Planning"         // publishing the pending sequence
	MigrationPhaseAwaitingApproval MigrationPhase = "AwaitingApproval" // a person decides
	MigrationPhaseBlocked          MigrationPhase = "Blocked"          // something a person has to change
	MigrationPhaseApplying         MigrationPhase = "Applying"         // migrations are running
	MigrationPhaseVerifyingHistory MigrationPhase = "VerifyingHistory" // reading the revision table again after an Apply
	MigrationPhaseInSync           MigrationPhase = "InSync"           // nothing pending
	MigrationPhaseSuspended        MigrationPhase = "Suspended"        // no new Jobs
	MigrationPhaseFailed           MigrationPhase = "Failed"           // the last operation failed; retried after failureRetryInterval
)
