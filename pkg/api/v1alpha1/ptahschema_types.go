package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PtahSchema keeps one database in the state that an OCI artifact declares. It resolves, verifies, observes and plans on its interval,
// publishes an immutable plan, waits for a person where the policy says so, applies exactly that plan and believes only a fresh reading
// of the database.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=`.spec.target.coordinationKey`
// +kubebuilder:resource:path=ptahschemas,scope=Namespaced,shortName=ptahs,categories=ptah
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="One-word summary"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="True when the database is proven to match"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="What it is waiting for"
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextReconciliationTime`,description="Earliest next scheduled look at the database"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Engine",type=string,priority=1,JSONPath=`.spec.target.engine`
// +kubebuilder:printcolumn:name="Plan",type=string,priority=1,JSONPath=`.status.plan.name`,description="Plan that is waiting or running"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name must be at most 63 characters: it is repeated in a label of everything made for this resource"
type PtahSchema struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the database should look like and how it gets there.
	// +required
	Spec PtahSchemaSpec `json:"spec"`

	// What Ptah last saw and did; written by the controller only.
	// +optional
	Status PtahSchemaStatus `json:"status,omitzero"`
}

// PtahSchemaList is a list of PtahSchema.
//
// +kubebuilder:object:root=true
type PtahSchemaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PtahSchema `json:"items"`
}

// PtahSchemaSpec is what the author of a schema writes. An edit retires work that depends on what it changed.
// +kubebuilder:validation:XValidation:rule="!has(self.policy) || !has(self.policy.lockTimeout) || !has(self.execution) || !has(self.execution.activeDeadlineSeconds) || duration(self.policy.lockTimeout).getMilliseconds() <= self.execution.activeDeadlineSeconds * 1000",message="policy.lockTimeout must not exceed execution.activeDeadlineSeconds: shorten the one or raise the other",fieldPath=".policy.lockTimeout"
type PtahSchemaSpec struct {
	// Database to converge.
	// +required
	Target Target `json:"target"`

	// OCI artifact that declares structure and reference rows.
	// +required
	Desired Source `json:"desired"`

	// Scratch database for comparisons, for artifacts that need one.
	// +optional
	Dev *Dev `json:"dev,omitempty"`

	// How often the artifact is resolved and the database observed again, as "10m"; at least 1s.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+([.][0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="interval must be at least 1s"
	Interval metav1.Duration `json:"interval,omitzero"`

	// Starts no new Jobs. An Apply that is running is still observed to its end.
	// +optional
	// +kubebuilder:default=false
	Suspend bool `json:"suspend,omitempty"`

	// What may happen without a person.
	// +optional
	// +kubebuilder:default={}
	Policy SchemaPolicy `json:"policy,omitzero"`

	// Shape of the Jobs that carry out operations.
	// +optional
	// +kubebuilder:default={}
	Execution Execution `json:"execution,omitzero"`
}

// DriftSeverityPolicy says which differences count as drift worth applying.
// +kubebuilder:validation:Enum=all;destructive
type DriftSeverityPolicy string

// Drift severity policies.
const (
	DriftAll         DriftSeverityPolicy = "all"         // every difference
	DriftDestructive DriftSeverityPolicy = "destructive" // only destructive ones
)

// SchemaPolicy says what may happen to a schema's database without a person.
type SchemaPolicy struct {
	// When a current plan may run: Never, OnApproval, or Always for safe plans.
	// +optional
	// +kubebuilder:default=OnApproval
	Apply ApplyPolicy `json:"apply,omitempty"`

	// Permits plans that drop or rewrite something. They still need an approval.
	// +optional
	// +kubebuilder:default=false
	AllowDestructive bool `json:"allowDestructive,omitempty"`

	// Which differences count as drift worth applying: all, or only destructive ones.
	// +optional
	// +kubebuilder:default=all
	DriftSeverity DriftSeverityPolicy `json:"driftSeverity,omitempty"`

	// What planning leaves out of the managed scope. Raw observation ignores it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	Exclude []string `json:"exclude,omitempty"`

	// Tables that no plan may change, as table or schema.table, compared without regard to case. There is no override; an entry whose table
	// already agrees refuses nothing.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=257
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[^.]+([.][^.]+)?$')",message="protectedTables entries must be written table or schema.table"
	ProtectedTables []string `json:"protectedTables,omitempty"`

	// Wait for the database's own lock, as "30s"; at most execution.activeDeadlineSeconds.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+([.][0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="lockTimeout must be longer than zero, for example 30s"
	LockTimeout metav1.Duration `json:"lockTimeout,omitzero"`

	// How statements are wrapped in transactions. The engine's own refusal wins.
	// +optional
	// +kubebuilder:default=file
	TransactionMode TransactionMode `json:"transactionMode,omitempty"`
}
