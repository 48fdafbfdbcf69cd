package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// An object built in Go must not send zero values where the API server would fill in a default or admission a binding.
func TestZeroValuesAreNotSent(t *testing.T) {
	cases := map[string]struct {
		object any
		want   string
	}{
		"schema": {
			object: &v1alpha1.PtahSchema{
				ObjectMeta: metav1.ObjectMeta{Name: "ledger"},
				Spec: v1alpha1.PtahSchemaSpec{
					Target: v1alpha1.Target{
						Engine: v1alpha1.EnginePostgreSQL, CoordinationKey: "prod/ledger",
						URLFrom: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "url"},
					},
					Desired: v1alpha1.Source{
						OCIRef:                 "oci://registry.internal/ledger:stable",
						VerificationPolicyFrom: corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "policy"}, Key: "policy.yaml"},
					},
				},
			},
			want: `{"metadata":{"name":"ledger"},"spec":{
				"target":{"engine":"PostgreSQL","coordinationKey":"prod/ledger","urlFrom":{"name":"db","key":"url"}},
				"desired":{"ociRef":"oci://registry.internal/ledger:stable","verificationPolicyFrom":{"name":"policy","key":"policy.yaml"}}}}`,
		},
		"schema approval": {
			object: &v1alpha1.PtahSchemaApproval{Spec: v1alpha1.PtahSchemaApprovalSpec{
				SchemaRef: v1alpha1.ObjectRef{Name: "ledger", UID: "1"}, PlanRef: v1alpha1.ObjectRef{Name: "ptah-plan-1", UID: "2"}, PlanFingerprint: "sha256:0",
			}},
			want: `{"metadata":{},"spec":{"schemaRef":{"name":"ledger","uid":"1"},"planRef":{"name":"ptah-plan-1","uid":"2"},"planFingerprint":"sha256:0"}}`,
		},
		"migration approval": {
			object: &v1alpha1.PtahMigrationApproval{Spec: v1alpha1.PtahMigrationApprovalSpec{
				MigrationRef: v1alpha1.ObjectRef{Name: "ledger", UID: "1"}, PlanRef: v1alpha1.ObjectRef{Name: "ptah-mplan-1", UID: "2"}, PlanFingerprint: "sha256:0",
			}},
			want: `{"metadata":{},"spec":{"migrationRef":{"name":"ledger","uid":"1"},"planRef":{"name":"ptah-mplan-1","uid":"2"},"planFingerprint":"sha256:0"}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			plain, err := json.Marshal(c.object)
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(plain))

			generic, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.object)
			require.NoError(t, err)
			converted, err := json.Marshal(generic)
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(converted), "the unstructured converter must agree")
		})
	}
}

func TestSchemeKnowsEveryKind(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	for _, kind := range []string{"PtahSchema", "PtahSchemaPlan", "PtahSchemaApproval", "PtahMigration", "PtahMigrationPlan", "PtahMigrationApproval"} {
		assert.True(t, scheme.Recognizes(v1alpha1.GroupVersion.WithKind(kind)), kind)
		assert.True(t, scheme.Recognizes(v1alpha1.GroupVersion.WithKind(kind+"List")), kind)
	}
}
