package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PtahSchemaApproval lets exactly one plan of a PtahSchema run once. A person writes schemaRef, planRef and planFingerprint; admission
// fills in everything else from the live plan and from the authenticated request.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=`.spec.schemaRef.name`
// +kubebuilder:resource:path=ptahschemaapprovals,scope=Namespaced,shortName=ptahapprove,categories=ptah
// +kubebuilder:selectablefield:JSONPath=`.spec.planRef.name`
// +kubebuilder:printcolumn:name="Schema",type=string,JSONPath=`.spec.schemaRef.name`
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.spec.planRef.name`
// +kubebuilder:printcolumn:name="Approver",type=string,JSONPath=`.spec.approver.username`
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`,description="True while it fits the current plan"
// +kubebuilder:printcolumn:name="Consumed",type=string,JSONPath=`.status.conditions[?(@.type=="Consumed")].status`,description="True once it was spent on a dispatch"
// +kubebuilder:printcolumn:name="Stale",type=string,JSONPath=`.status.conditions[?(@.type=="Stale")].status`,description="True once its plan is no longer current"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Fingerprint",type=string,priority=1,JSONPath=`.spec.planFingerprint`
type PtahSchemaApproval struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The decision; it never changes.
	// +required
	Spec PtahSchemaApprovalSpec `json:"spec"`

	// What became of the decision.
	// +optional
	Status ApprovalStatus `json:"status,omitzero"`
}

// PtahSchemaApprovalList is a list of PtahSchemaApproval.
//
// +kubebuilder:object:root=true
type PtahSchemaApprovalList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PtahSchemaApproval `json:"items"`
}

// PtahSchemaApprovalSpec is the decision. Only schemaRef, planRef and planFingerprint are written by a person.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable: create another approval instead"
type PtahSchemaApprovalSpec struct {
	// Schema whose plan is approved.
	// +required
	SchemaRef ObjectRef `json:"schemaRef"`

	// Exact plan that is approved.
	// +required
	PlanRef ObjectRef `json:"planRef"`

	// spec.fingerprint of that plan.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	PlanFingerprint string `json:"planFingerprint"`

	ApprovalStamp `json:",inline"`

	SchemaPlanBindings `json:",inline"`
}

// ApprovalStamp is who decided and when. Admission writes it and overwrites whatever a client sent.
type ApprovalStamp struct {
	// Authenticated identity. Filled in by admission: leave it out.
	// +required
	Approver Approver `json:"approver,omitzero"`

	// Time of the decision. Filled in by admission: leave it out.
	// +required
	ApprovedAt metav1.Time `json:"approvedAt,omitzero"`

	// UID of the mutating admission request. Filled in by admission: leave it out.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	MutationRequestUID types.UID `json:"mutationRequestUID,omitempty"`
}

// ApprovalStatus is what became of an approval.
type ApprovalStatus struct {
	// Accepted, Consumed and Stale.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}
