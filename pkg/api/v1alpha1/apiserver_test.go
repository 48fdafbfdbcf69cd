package v1alpha1_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

const (
	strict = client.FieldValidation("Strict")
	dryRun = dryRunAll("")
)

// dryRunAll is client.DryRunAll as a constant.
type dryRunAll string

func (dryRunAll) ApplyToCreate(o *client.CreateOptions) { client.DryRunAll.ApplyToCreate(o) }

var server struct {
	once   sync.Once
	env    *envtest.Environment
	config *rest.Config
	client client.Client
	err    error
}

// apiServer returns a client of a real kube-apiserver with the six CRDs, started once for the package. KUBEBUILDER_ASSETS names the
// directory that holds kube-apiserver and etcd; without it the test is skipped.
func apiServer(t *testing.T) client.Client {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip("KUBEBUILDER_ASSETS is not set: it names a directory with kube-apiserver and etcd; make test sets it")
	}
	server.once.Do(func() { server.err = startServer() })
	require.NoError(t, server.err)
	return server.client
}

func startServer() error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, apiextensionsv1.AddToScheme, admissionv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	server.env = &envtest.Environment{CRDDirectoryPaths: []string{crdDir}, ErrorIfCRDPathMissing: true, Scheme: scheme}
	var err error
	if server.config, err = server.env.Start(); err != nil {
		return fmt.Errorf("starting kube-apiserver and etcd of KUBEBUILDER_ASSETS: %w", err)
	}
	server.client, err = client.New(server.config, client.Options{Scheme: scheme})
	return err
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.env != nil {
		if err := server.env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the API server:", err)
		}
	}
	os.Exit(code)
}

func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func digest(fill rune) string { return "sha256:" + strings.Repeat(string(fill), 64) }
