package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SchemaPlanContractVersion is the publication contract of the plans that this version writes.
const SchemaPlanContractVersion = 3

// PtahSchemaPlan is one immutable plan of a PtahSchema. Its statements lie in immutable ConfigMaps that spec.chunks lists; joined in
// order, their bytes have the digest spec.contentDigest. Only the controller writes plans.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=ptahschemaplans,scope=Namespaced,shortName=ptahplan,categories=ptah
// +kubebuilder:printcolumn:name="Schema",type=string,JSONPath=`.spec.schemaRef.name`
// +kubebuilder:printcolumn:name="Fingerprint",type=string,JSONPath=`.spec.fingerprint`,description="What an approval names"
// +kubebuilder:printcolumn:name="Statements",type=integer,JSONPath=`.spec.statementCount`
// +kubebuilder:printcolumn:name="Destructive",type=boolean,JSONPath=`.spec.destructive`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Ready",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="True when every chunk is stored and verified"
type PtahSchemaPlan struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The plan; it never changes.
	// +required
	Spec PtahSchemaPlanSpec `json:"spec"`

	// Whether the plan's bytes are stored.
	// +optional
	Status PtahSchemaPlanStatus `json:"status,omitzero"`
}

// PtahSchemaPlanList is a list of PtahSchemaPlan.
//
// +kubebuilder:object:root=true
type PtahSchemaPlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PtahSchemaPlan `json:"items"`
}

// PtahSchemaPlanSpec identifies a plan, everything it was computed under, and where its bytes are.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable: a plan never changes, the controller publishes another"
// +kubebuilder:validation:XValidation:rule="self.chunks.map(c, c.index).isSorted() && self.chunks[0].index == 0 && self.chunks[size(self.chunks) - 1].index == size(self.chunks) - 1",message="chunks must be numbered 0, 1, 2 … in order",fieldPath=".chunks"
// +kubebuilder:validation:XValidation:rule="self.chunks.all(c, c.index == size(self.chunks) - 1 || c.size == 524288)",message="chunks must hold exactly 524288 bytes each, except the last",fieldPath=".chunks"
// +kubebuilder:validation:XValidation:rule="self.chunks.map(c, c.size).sum() == self.size",message="size must be the sum of the sizes of all chunks",fieldPath=".size"
type PtahSchemaPlanSpec struct {
	// Schema that the plan belongs to. The fingerprint binds its UID, not its name.
	// +required
	SchemaRef ObjectRef `json:"schemaRef"`

	// Complete approval identity of the plan.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Fingerprint string `json:"fingerprint"`

	// Contract that the plan was published under; 3 is current.
	// +required
	// +kubebuilder:validation:Minimum=1
	ContractVersion int32 `json:"contractVersion"`

	// SQL dialect, such as postgres.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Dialect string `json:"dialect"`

	// Whether the plan drops or rewrites something. Such a plan needs allowDestructive and an approval.
	// +required
	Destructive bool `json:"destructive"`

	// Number of statements.
	// +required
	// +kubebuilder:validation:Minimum=0
	StatementCount int32 `json:"statementCount"`

	// Bytes of all chunks together, the closing newline included; at most 8 MiB.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=8388608
	Size int64 `json:"size"`

	// Digest of the joined bytes.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	ContentDigest string `json:"contentDigest"`

	// Pieces of the plan, in join order; at most 16.
	// +required
	// +listType=map
	// +listMapKey=index
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Chunks []ChunkRef `json:"chunks"`

	SchemaPlanBindings `json:",inline"`
}

// ChunkRef says where one piece of a plan is and what it must be.
type ChunkRef struct {
	// Position of the piece, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=15
	Index int32 `json:"index"`

	// Name of the immutable ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key in the ConfigMap's binaryData.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`

	// Bytes of the piece; at most 512 KiB, and exactly that for every piece but the last.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=524288
	Size int64 `json:"size"`

	// Digest of the piece.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest"`
}

// PtahSchemaPlanStatus says whether a plan's bytes are stored.
type PtahSchemaPlanStatus struct {
	// Only Ready: every chunk is stored and was read back.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Chunks that were read back, recorded before Ready turns True.
	// +optional
	// +listType=map
	// +listMapKey=index
	// +kubebuilder:validation:MaxItems=16
	PublishedChunks []PublishedChunk `json:"publishedChunks,omitempty"`
}

// PublishedChunk is the concrete ConfigMap that holds one piece of a plan.
type PublishedChunk struct {
	// Position of the piece.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=15
	Index int32 `json:"index"`

	// Name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID of the ConfigMap.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid"`
}
