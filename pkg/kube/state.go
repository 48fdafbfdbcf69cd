package kube

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/binding"
)

// StoredVersions lists every controller-state version that is stamped on stored objects: statuses of the two desired kinds, and the specs of
// plans and approvals.
func StoredVersions(ctx context.Context, reader client.Reader) ([]int32, error) {
	var out []int32
	for _, scan := range []func() error{
		func() error {
			return pages(ctx, reader, &v1alpha1.PtahSchemaList{}, func(l *v1alpha1.PtahSchemaList) {
				for i := range l.Items {
					out = append(out, binding.SchemaVersions(&l.Items[i])...)
				}
			})
		},
		func() error {
			return pages(ctx, reader, &v1alpha1.PtahMigrationList{}, func(l *v1alpha1.PtahMigrationList) {
				for i := range l.Items {
					out = append(out, binding.MigrationVersions(&l.Items[i])...)
				}
			})
		},
		func() error {
			return pages(ctx, reader, &v1alpha1.PtahSchemaPlanList{}, func(l *v1alpha1.PtahSchemaPlanList) {
				for i := range l.Items {
					out = append(out, l.Items[i].Spec.ControllerStateVersion)
				}
			})
		},
		func() error {
			return pages(ctx, reader, &v1alpha1.PtahSchemaApprovalList{}, func(l *v1alpha1.PtahSchemaApprovalList) {
				for i := range l.Items {
					out = append(out, l.Items[i].Spec.ControllerStateVersion)
				}
			})
		},
		func() error {
			return pages(ctx, reader, &v1alpha1.PtahMigrationPlanList{}, func(l *v1alpha1.PtahMigrationPlanList) {
				for i := range l.Items {
					out = append(out, l.Items[i].Spec.ControllerStateVersion)
				}
			})
		},
		func() error {
			return pages(ctx, reader, &v1alpha1.PtahMigrationApprovalList{}, func(l *v1alpha1.PtahMigrationApprovalList) {
				for i := range l.Items {
					out = append(out, l.Items[i].Spec.ControllerStateVersion)
				}
			})
		},
	} {
		if err := scan(); err != nil {
			return nil, fmt.Errorf("reading the stored state versions: %w", err)
		}
	}
	return out, nil
}
