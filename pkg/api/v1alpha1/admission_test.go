package v1alpha1_test

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionapi "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// The bindings of an approval are required in the schema although nobody writes them: mutating admission fills them in before the API
// server validates. So a three-field approval passes where admission works, and is refused where it does not.
func TestApprovalIsCompletedBeforeItIsValidated(t *testing.T) {
	c := apiServer(t)
	var complete v1alpha1.PtahSchemaApproval
	require.NoError(t, json.Unmarshal(readManifest(t, "schemaapproval-stored"), &complete))
	threeFields := func() *v1alpha1.PtahSchemaApproval {
		return &v1alpha1.PtahSchemaApproval{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "three-fields-", Labels: completeMe},
			Spec: v1alpha1.PtahSchemaApprovalSpec{
				SchemaRef: complete.Spec.SchemaRef, PlanRef: complete.Spec.PlanRef, PlanFingerprint: complete.Spec.PlanFingerprint,
			},
		}
	}

	err := c.Create(t.Context(), threeFields(), strict, dryRun)
	require.ErrorContains(t, err, "spec.approver: Required value")
	require.ErrorContains(t, err, "spec.executionBindingID: Required value")

	serveMutation(t, complete.Spec)
	var stored *v1alpha1.PtahSchemaApproval
	require.Eventually(t, func() bool {
		stored = threeFields()
		err = c.Create(t.Context(), stored, strict, dryRun)
		return err == nil
	}, 15*time.Second, 100*time.Millisecond, "last error: %v", err)
	assert.Equal(t, complete.Spec.SchemaPlanBindings, stored.Spec.SchemaPlanBindings)
	assert.Equal(t, "alice@example.com", stored.Spec.Approver.Username)
}

// completeMe keeps the webhook of this test away from the objects of the others: an API server forgets a webhook with a delay.
var completeMe = map[string]string{"test": "complete-me"}

// serveMutation installs a mutating webhook that replaces the spec of every schema approval labelled completeMe.
func serveMutation(t *testing.T, spec v1alpha1.PtahSchemaApprovalSpec) {
	t.Helper()
	path, fail, none, second := "/mutate", admissionv1.Fail, admissionv1.SideEffectClassNone, int32(5)
	options := envtest.WebhookInstallOptions{MutatingWebhooks: []*admissionv1.MutatingWebhookConfiguration{{
		ObjectMeta: metav1.ObjectMeta{Name: "complete-approvals"},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "mapproval.example.com", FailurePolicy: &fail, SideEffects: &none, TimeoutSeconds: &second,
			AdmissionReviewVersions: []string{"v1"}, ObjectSelector: &metav1.LabelSelector{MatchLabels: completeMe},
			ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Name: "w", Namespace: "default", Path: &path}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{v1alpha1.GroupName}, APIVersions: []string{"*"}, Resources: []string{"ptahschemaapprovals"}},
			}},
		}},
	}}}
	require.NoError(t, options.Install(server.config))
	t.Cleanup(func() { assert.NoError(t, options.Cleanup()) })

	patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec", "value": spec}})
	require.NoError(t, err)
	handler := func(w http.ResponseWriter, r *http.Request) {
		var review admissionapi.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		jsonPatch := admissionapi.PatchTypeJSONPatch
		review.Response = &admissionapi.AdmissionResponse{UID: review.Request.UID, Allowed: true, Patch: patch, PatchType: &jsonPatch}
		review.Request = nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}
	address := net.JoinHostPort(options.LocalServingHost, strconv.Itoa(options.LocalServingPort))
	httpServer := &http.Server{Addr: address, Handler: http.HandlerFunc(handler), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		_ = httpServer.ListenAndServeTLS(filepath.Join(options.LocalServingCertDir, "tls.crt"), filepath.Join(options.LocalServingCertDir, "tls.key"))
	}()
	t.Cleanup(func() { assert.NoError(t, httpServer.Close()) })
}
