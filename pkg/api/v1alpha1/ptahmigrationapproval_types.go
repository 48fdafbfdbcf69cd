package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PtahMigrationApproval lets exactly one plan of a PtahMigration run once. A person writes migrationRef, planRef and planFingerprint;
// admission fills in everything else from the live plan and from the authenticated request.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=ptahmigrationapprovals,scope=Namespaced,shortName=ptahmapprove,categories=ptah
// +kubebuilder:selectablefield:JSONPath=`.spec.planRef.name`
// +kubebuilder:printcolumn:name="Migration",type=string,JSONPath=`.spec.migrationRef.name`
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.spec.planRef.name`
// +kubebuilder:printcolumn:name="Approver",type=string,JSONPath=`.spec.approver.username`
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`,description="True while it fits the current plan"
// +kubebuilder:printcolumn:name="Consumed",type=string,JSONPath=`.status.conditions[?(@.type=="Consumed")].status`,description="True once it was spent on a dispatch"
// +kubebuilder:printcolumn:name="Stale",type=string,JSONPath=`.status.conditions[?(@.type=="Stale")].status`,description="True once its plan is no longer current"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Fingerprint",type=string,priority=1,JSONPath=`.spec.planFingerprint`
type PtahMigrationApproval struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The decision; it never changes.
	// +required
	Spec PtahMigrationApprovalSpec `json:"spec"`

	// What became of the decision.
	// +optional
	Status ApprovalStatus `json:"status,omitzero"`
}

// PtahMigrationApprovalList is a list of PtahMigrationApproval.
//
// +kubebuilder:object:root=true
type PtahMigrationApprovalList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PtahMigrationApproval `json:"items"`
}

// PtahMigrationApprovalSpec is the decision. Only migrationRef, planRef and planFingerprint are written by a person.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable: create another approval instead"
type PtahMigrationApprovalSpec struct {
	// Migration whose plan is approved.
	// +required
	MigrationRef ObjectRef `json:"migrationRef"`

	// Exact plan that is approved.
	// +required
	PlanRef ObjectRef `json:"planRef"`

	// spec.fingerprint of that plan.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	PlanFingerprint string `json:"planFingerprint"`

	ApprovalStamp `json:",inline"`

	// Reading of the history that the plan was computed against. Filled in by admission: leave it out.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	HistoryFingerprint string `json:"historyFingerprint,omitempty"`

	// Digest of the source artifact. Filled in by admission: leave it out.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	ArtifactDigest string `json:"artifactDigest,omitempty"`

	PlanBindings `json:",inline"`
}
