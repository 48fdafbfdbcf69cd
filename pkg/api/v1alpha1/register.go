package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every kind here, and the domain of every label, annotation and finalizer in names.go.
const GroupName = "operator.ptah.run"

var (
	// GroupVersion identifies this version of the API.
	GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}
	// SchemeGroupVersion is GroupVersion under the name that generated clients expect.
	SchemeGroupVersion = GroupVersion
	// SchemeBuilder collects the functions that add these types to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)
	// AddToScheme adds the six kinds and their lists to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
	// Install is AddToScheme under the name that scheme installers use.
	Install = AddToScheme
)

// Kind qualifies an unqualified kind with the group.
func Kind(kind string) schema.GroupKind { return GroupVersion.WithKind(kind).GroupKind() }

// Resource qualifies an unqualified plural resource with the group.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(
		GroupVersion,
		&PtahSchema{}, &PtahSchemaList{},
		&PtahSchemaPlan{}, &PtahSchemaPlanList{},
		&PtahSchemaApproval{}, &PtahSchemaApprovalList{},
		&PtahMigration{}, &PtahMigrationList{},
		&PtahMigrationPlan{}, &PtahMigrationPlanList{},
		&PtahMigrationApproval{}, &PtahMigrationApprovalList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
