package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MigrationPlanContractVersion is the publication contract of the migration plans that this version writes.
const MigrationPlanContractVersion = 1

// PtahMigrationPlan is the exact ordered sequence that a PtahMigration has left to run. It stores no SQL and never changes. Only the
// controller writes plans.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=ptahmigrationplans,scope=Namespaced,shortName=ptahmplan,categories=ptah
// +kubebuilder:printcolumn:name="Migration",type=string,JSONPath=`.spec.migrationRef.name`
// +kubebuilder:printcolumn:name="Fingerprint",type=string,JSONPath=`.spec.fingerprint`,description="What an approval names"
// +kubebuilder:printcolumn:name="From",type=integer,JSONPath=`.spec.currentVersion`,description="Version that the history stood at"
// +kubebuilder:printcolumn:name="First",type=integer,JSONPath=`.spec.migrations[0].version`,description="First version that it runs"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PtahMigrationPlan struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The plan; it never changes.
	// +required
	Spec PtahMigrationPlanSpec `json:"spec"`

	// Reserved; the controller publishes no conditions here.
	// +optional
	Status PtahMigrationPlanStatus `json:"status,omitzero"`
}

// PtahMigrationPlanList is a list of PtahMigrationPlan.
//
// +kubebuilder:object:root=true
type PtahMigrationPlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PtahMigrationPlan `json:"items"`
}

// PtahMigrationPlanSpec identifies a migration plan and everything it was computed under.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable: a plan never changes, the controller publishes another"
type PtahMigrationPlanSpec struct {
	// Migration that the plan belongs to.
	// +required
	MigrationRef ObjectRef `json:"migrationRef"`

	// Complete approval identity of the plan.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Fingerprint string `json:"fingerprint"`

	// Contract that the plan was published under; 1 is current.
	// +required
	// +kubebuilder:validation:Minimum=1
	ContractVersion int32 `json:"contractVersion"`

	// When the plan was published.
	// +required
	CreatedAt metav1.Time `json:"createdAt"`

	// Version that the history stood at; 0 when it was empty.
	// +required
	// +kubebuilder:validation:Minimum=0
	CurrentVersion int64 `json:"currentVersion"`

	// Reading of the history that the plan was computed against.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	HistoryFingerprint string `json:"historyFingerprint"`

	// Migrations in the order in which they run; the order is content.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4096
	Migrations []PlannedMigration `json:"migrations"`

	// Digest of the source artifact.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	ArtifactDigest string `json:"artifactDigest"`

	PlanBindings `json:",inline"`
}

// PlannedMigration is one file of the sequence.
type PlannedMigration struct {
	// Numeric version; it need not be unique.
	// +required
	// +kubebuilder:validation:Minimum=0
	Version int64 `json:"version"`

	// Exact identity of the revision, such as "0013" or an opaque token.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	VersionKey string `json:"versionKey,omitempty"`

	// Description as the artifact spells it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// Hash of the file, as the revision table records it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Checksum string `json:"checksum"`

	// Mode that the file declares for this dialect; absent when it declares none.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self in ['file', 'none']",message="transactionMode of a migration must be file or none"
	TransactionMode TransactionMode `json:"transactionMode,omitempty"`

	// The file is the cumulative schema at that version: it covers the versions below it and is run itself.
	// +optional
	Checkpoint bool `json:"checkpoint,omitempty"`
}

// PtahMigrationPlanStatus is reserved.
type PtahMigrationPlanStatus struct {
	// Reserved; the controller publishes none.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}
