package controller_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/yaml"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

const account = "ptah-operator-manager-v1"

// grant creates the chart's own roles and bindings of the manager, as a release in another namespace would.
func grant(t *testing.T) {
	t.Helper()
	answers := map[string]string{
		"ptah.fullname": "ptah-operator", "ptah.labels": "test: rights", "ptah.serviceAccountName": account, "ptah.coordinationNamespace": coordination,
	}
	source, err := os.ReadFile(filepath.Join("..", "..", "charts", "ptah-operator", "templates", "rbac.yaml"))
	require.NoError(t, err)
	text, err := template.New("rbac").Funcs(template.FuncMap{
		"include": func(name string, _ any) (string, error) {
			if answers[name] == "" {
				return "", fmt.Errorf("the chart asks for %s, and this test has no answer", name)
			}
			return answers[name], nil
		},
		"nindent": func(n int, s string) string { return "\n" + strings.Repeat(" ", n) + s },
	}).Parse(string(source))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, text.Execute(&out, map[string]any{"Release": map[string]string{"Namespace": "ptah-system"}}))
	kinds := map[string]func() client.Object{
		"ClusterRole": func() client.Object { return &rbacv1.ClusterRole{} }, "ClusterRoleBinding": func() client.Object { return &rbacv1.ClusterRoleBinding{} },
		"Role": func() client.Object { return &rbacv1.Role{} }, "RoleBinding": func() client.Object { return &rbacv1.RoleBinding{} },
	}
	for _, document := range strings.Split(out.String(), "\n---\n") {
		var kind metav1.TypeMeta
		require.NoError(t, yaml.Unmarshal([]byte(document), &kind))
		require.Contains(t, kinds, kind.Kind)
		object := kinds[kind.Kind]()
		require.NoError(t, yaml.UnmarshalStrict([]byte(document), object))
		require.NoError(t, cluster.client.Create(t.Context(), object))
		t.Cleanup(func() { _ = cluster.client.Delete(context.Background(), object) })
	}
}

// witness notes which verbs clients use on Leases, and what they are refused.
type witness struct {
	mu      sync.Mutex
	leases  map[string]bool // verb, namespace, and whose Lease
	refused map[string]bool
}

// witnessed is a transport whose requests are noted.
type witnessed struct {
	*witness
	next http.RoundTripper
}

// RoundTrip passes a request on.
func (w witnessed) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && resp.StatusCode == http.StatusForbidden {
		w.refused[r.Method+" "+r.URL.Path] = true
	}
	if _, path, lease := strings.Cut(r.URL.Path, "/apis/coordination.k8s.io/v1/"); lease {
		w.leases[verb(r, path)] = true
	}
	return resp, err
}

func verb(r *http.Request, path string) string {
	parts := strings.Split(path, "/") // namespaces/<namespace>/leases[/<name>]
	if len(parts) < 3 || parts[0] != "namespaces" {
		return r.Method + " everywhere"
	}
	verbs := map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}
	name := verbs[r.Method]
	if len(parts) == 3 && name == "get" {
		name = "list"
	}
	of := "of a realm"
	if len(parts) == 4 && parts[3] == v1alpha1.LeaderElectionLease {
		of = "of the leader"
	}
	if len(parts) == 3 {
		of = "" // the name of a new Lease is in the body
	}
	return strings.TrimSpace(strings.Join([]string{name, parts[1], of}, " "))
}

// The manager leads, takes a realm, applies and hands the realm back under the chart's roles and nothing else: it is refused nothing, and of
// Leases it uses exactly what it is granted, in the one namespace.
func TestManagerUsesExactlyItsRightsOnLeases(t *testing.T) {
	if cluster.config == nil {
		t.Skip("no API server: KUBEBUILDER_ASSETS is not set")
	}
	grant(t)
	w := &witness{leases: map[string]bool{}, refused: map[string]bool{}}
	as := rest.CopyConfig(cluster.config)
	as.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:ptah-system:" + account,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:ptah-system", "system:authenticated"},
	}
	limited, err := client.New(as, client.Options{Scheme: newScheme()})
	require.NoError(t, err)
	err = limited.List(t.Context(), &coordinationv1.LeaseList{}, client.InNamespace(coordination))
	require.True(t, apierrors.IsForbidden(err), "not even a list, where it may read each: %v", err)
	err = limited.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "l"}, &coordinationv1.Lease{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	as.Wrap(func(next http.RoundTripper) http.RoundTripper { return witnessed{w, next} })
	stop := startManagerAs(t, testIdentity(), as, manager.Options{
		LeaderElection: true, LeaderElectionID: v1alpha1.LeaderElectionLease, LeaderElectionNamespace: coordination, LeaderElectionReleaseOnCancel: true,
	})
	s := newSchema("rights", always)
	create(t, s)
	await(t, s.Name, "convergence", phase(v1alpha1.SchemaPhaseInSync))
	await(t, s.Name, "the finalizer to go", func(s *v1alpha1.PtahSchema) bool { return len(s.Finalizers) == 0 })
	stop()

	w.mu.Lock()
	defer w.mu.Unlock()
	assert.Empty(t, w.refused)
	var used []string
	for u := range w.leases {
		used = append(used, u)
	}
	slices.Sort(used)
	assert.Equal(t, []string{
		"create " + coordination, "get " + coordination + " of a realm", "get " + coordination + " of the leader",
		"update " + coordination + " of a realm", "update " + coordination + " of the leader",
	}, used)
	role := &rbacv1.Role{}
	require.NoError(t, cluster.client.Get(t.Context(), client.ObjectKey{Namespace: coordination, Name: "ptah-operator-coordination"}, role))
	assert.Equal(t, []rbacv1.PolicyRule{{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}}}, role.Rules)
	all := &rbacv1.ClusterRole{}
	require.NoError(t, cluster.client.Get(t.Context(), client.ObjectKey{Name: "ptah-operator-manager"}, all))
	for _, rule := range all.Rules {
		assert.NotContains(t, rule.Resources, "leases", "no Lease anywhere else")
		assert.NotContains(t, rule.Resources, "*")
	}
}
