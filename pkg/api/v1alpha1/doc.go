// Package v1alpha1 is the API of Ptah: the six kinds of group operator.ptah.run, and every name, condition, reason, phase and event
// that another program may compare.
//
// A PtahSchema or PtahMigration is written by a person. Its plan is written by the controller only and never changes. Its approval is
// written by a person in three fields and completed by admission. Secrets are only ever selected here, never held.
//
// +kubebuilder:object:generate=true
// +groupName=operator.ptah.run
package v1alpha1

//go:generate go tool -modfile=../../../hack/tools/go.mod controller-gen object paths=.
//go:generate go tool -modfile=../../../hack/tools/go.mod controller-gen crd paths=. output:crd:artifacts:config=../../../charts/ptah-operator/crds
//go:generate go run ../../../hack/crds ../../../charts/ptah-operator/crds
//go:generate go run ../../../hack/apidocs ../../../charts/ptah-operator/crds ../../../docs/reference/api.md
