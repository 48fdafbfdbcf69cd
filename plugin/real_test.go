package plugin_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistration "k8s.io/api/admissionregistration/v1"
	authorization "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// realServer is a real API server with Ptah's CRDs. Objects go straight into its etcd, so that UIDs and times are those of the scenario.
type realServer struct {
	environment *envtest.Environment
	rest        *rest.Config
	client      *kubernetes.Clientset
	store       *clientv3.Client

	mu      sync.Mutex
	objects []*unstructured.Unstructured // as loaded, for admission

	alias string // who plays every scenario, whatever it says
}

// startReal starts the API server that KUBEBUILDER_ASSETS points at, and skips without one.
func startReal(t *testing.T) *realServer {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		t.Skip("KUBEBUILDER_ASSETS names no directory with kube-apiserver and etcd: run through \"make test-unit\"")
	}
	ctrllog.SetLogger(logr.Discard())
	s := &realServer{environment: &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		CRDDirectoryPaths:        []string{filepath.Join("..", "charts", "ptah-operator", "crds")},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 3 * time.Minute, ControlPlaneStopTimeout: time.Minute,
	}}
	var err error
	s.rest, err = s.environment.Start()
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.environment.Stop() })
	s.client, err = kubernetes.NewForConfig(s.rest)
	require.NoError(t, err)
	s.store, err = clientv3.New(clientv3.Config{Endpoints: []string{s.environment.ControlPlane.Etcd.URL.String()}, DialTimeout: 10 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.store.Close() })
	s.prepare(t)
	return s
}

func (s *realServer) prepare(t *testing.T) {
	t.Helper()
	for _, name := range []string{"app", "shop"} {
		_, err := s.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	s.admission(t)
	s.person(t, "alice", nil)
}

func (s *realServer) config() *rest.Config { return s.rest }

func (s *realServer) user(c scenario) string {
	if s.alias != "" {
		return s.alias
	}
	if c.Admin {
		return ""
	}
	if len(c.Forbid) == 0 {
		return "alice"
	}
	return "without-" + strings.ReplaceAll(strings.Join(c.Forbid, "-"), "/", ".")
}

var plurals = []string{"ptahschemas", "ptahschemaplans", "ptahschemaapprovals", "ptahmigrations", "ptahmigrationplans", "ptahmigrationapprovals"}

// grants are what verbs need beyond reading and creating Ptah's own kinds, one resource a rule, so that a scenario can forbid it. Files that
// test a verb append theirs.
var grants []rbac.PolicyRule

// stored are further prefixes in etcd that scenarios may fill, emptied before each.
var stored []string

// person grants a user what the plugin's verbs need, without some resources, and waits until the server goes by it.
func (s *realServer) person(t *testing.T, name string, without []string) {
	t.Helper()
	allowed := func(resource string) bool { return !slices.Contains(without, resource) }
	role := &rbac.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, resource := range slices.DeleteFunc(slices.Clone(plurals), func(r string) bool { return !allowed(r) }) {
		role.Rules = append(role.Rules, rbac.PolicyRule{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{resource}, Verbs: []string{"get", "list", "create", "delete"}})
	}
	if allowed("configmaps") {
		role.Rules = append(role.Rules, rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "delete"}})
	}
	for _, rule := range grants {
		if allowed(rule.Resources[0]) {
			role.Rules = append(role.Rules, rule)
		}
	}
	_, err := s.client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	require.NoError(t, err)
	binding := &rbac.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbac.Subject{{APIGroup: rbac.GroupName, Kind: rbac.UserKind, Name: name}},
	}
	_, err = s.client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.may(t, name, plurals, allowed) }, 20*time.Second, 50*time.Millisecond, "authorization of %s", name)
}

func (s *realServer) may(t *testing.T, name string, resources []string, allowed func(string) bool) bool {
	t.Helper()
	for _, resource := range resources {
		review := &authorization.SubjectAccessReview{Spec: authorization.SubjectAccessReviewSpec{
			User: name, ResourceAttributes: &authorization.ResourceAttributes{Group: v1alpha1.GroupName, Resource: resource, Verb: "list"},
		}}
		review, err := s.client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil || review.Status.Allowed != allowed(resource) {
			return false
		}
	}
	return true
}

// load replaces everything below Ptah's group and the chunk ConfigMaps.
func (s *realServer) load(t *testing.T, objects []*unstructured.Unstructured, c scenario) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	prefixes := []string{"/registry/" + v1alpha1.GroupName + "/", "/registry/configmaps/app/ptah-", "/registry/configmaps/shop/ptah-"}
	for _, prefix := range append(prefixes, stored...) {
		_, err := s.store.Delete(ctx, prefix, clientv3.WithPrefix())
		require.NoError(t, err)
	}
	objects = s.stampCRDs(t, objects, c)
	for _, object := range objects {
		data, err := json.Marshal(object.Object)
		require.NoError(t, err)
		_, err = s.store.Put(ctx, key(object), string(data))
		require.NoError(t, err)
	}
	s.mu.Lock()
	s.objects = objects
	s.mu.Unlock()
	if user := s.user(c); user != "" && user != "alice" && s.alias == "" && !s.exists(t, user) {
		s.person(t, user, c.Forbid)
	}
}

func (s *realServer) exists(t *testing.T, role string) bool {
	t.Helper()
	_, err := s.client.RbacV1().ClusterRoles().Get(t.Context(), role, metav1.GetOptions{})
	return err == nil
}

// key is where the API server keeps an object.
func key(object *unstructured.Unstructured) string {
	group := v1alpha1.GroupName + "/"
	if object.GetAPIVersion() != v1alpha1.GroupVersion.String() {
		group = ""
	}
	namespace := object.GetNamespace()
	if namespace != "" {
		namespace += "/"
	}
	return "/registry/" + group + resourceOf(object) + "/" + namespace + object.GetName()
}

// admission stands in for the operator's webhook: the same functions behind the same API of the server.
func (s *realServer) admission(t *testing.T) {
	t.Helper()
	hook := httptest.NewTLSServer(http.HandlerFunc(s.mutate))
	t.Cleanup(hook.Close)
	bundle := pemOf(hook.Certificate().Raw)
	configuration := &admissionregistration.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "test"},
		Webhooks: []admissionregistration.MutatingWebhook{{
			Name: "mapproval." + v1alpha1.GroupName, AdmissionReviewVersions: []string{"v1"},
			ClientConfig:  admissionregistration.WebhookClientConfig{URL: ptr.To(hook.URL + "/mutate-approval"), CABundle: bundle},
			SideEffects:   ptr.To(admissionregistration.SideEffectClassNone),
			FailurePolicy: ptr.To(admissionregistration.Fail),
			Rules: []admissionregistration.RuleWithOperations{{
				Operations: []admissionregistration.OperationType{admissionregistration.Create},
				Rule:       admissionregistration.Rule{APIGroups: []string{v1alpha1.GroupName}, APIVersions: []string{"v1alpha1"}, Resources: []string{"ptahschemaapprovals"}},
			}},
		}},
	}
	_, err := s.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), configuration, metav1.CreateOptions{})
	require.NoError(t, err)
}

func (s *realServer) mutate(w http.ResponseWriter, r *http.Request) {
	review := &admissionv1.AdmissionReview{}
	must(json.NewDecoder(r.Body).Decode(review))
	wanted := &v1alpha1.PtahSchemaApproval{}
	must(json.Unmarshal(review.Request.Object.Raw, wanted))
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if err := admit(wanted, s.plan(wanted), review.Request.UserInfo.Username); err != nil {
		review.Response.Allowed = false
		review.Response.Result = &metav1.Status{Message: err.Error()}
	} else {
		patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec", "value": wanted.Spec}})
		must(err)
		review.Response.Patch, review.Response.PatchType = patch, ptr.To(admissionv1.PatchTypeJSONPatch)
	}
	answer(w, http.StatusOK, review)
}

func (s *realServer) plan(wanted *v1alpha1.PtahSchemaApproval) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, object := range s.objects {
		if object.GetKind() == "PtahSchemaPlan" && object.GetName() == wanted.Spec.PlanRef.Name && object.GetNamespace() == wanted.Namespace {
			return object
		}
	}
	return nil
}

func pemOf(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
}
