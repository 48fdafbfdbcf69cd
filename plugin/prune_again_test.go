package plugin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/plugin/options"
)

// However many approvals there are, what is asked for before a deletion are those that name the plan.
func TestPruneAsksForTheApprovalsOfThePlanThatGoes(t *testing.T) {
	const approvals = "GET /apis/operator.ptah.run/v1alpha1/namespaces/app/ptahschemaapprovals"
	one := func(s *stub) (whole, selected int) {
		for _, request := range s.requests {
			switch {
			case request == approvals:
				whole++
			case strings.HasPrefix(request, approvals+" where spec.planRef.name=ptah-plan-"):
				selected++
			}
		}
		return whole, selected
	}
	run := func(copies int) (whole, selected int) {
		s, kubeconfig := manyGoing(t, copies)
		_, stderr, code := prune(t, kubeconfig, "--yes")
		require.Equal(t, options.Done, code, stderr)
		assert.Zero(t, s.metadata["ptahschemaapprovals"])
		return one(s)
	}
	fewWhole, fewSelected := run(1)
	manyWhole, manySelected := run(40)
	assert.Equal(t, 2, fewWhole, "the first look and the last")
	assert.Equal(t, fewWhole, manyWhole)
	assert.Equal(t, 39, manySelected-fewSelected, "once for each plan")
}

// With the CRDs of an older operator the approvals are read whole once, and again whole only when something was written; versions are read
// before every deletion.
func TestPruneReadsTheApprovalsWholeOnlyWhenTheyChange(t *testing.T) {
	run := func(copies int) (wholes, versions, refused int) {
		s, kubeconfig := manyGoing(t, copies)
		s.unselectable = []string{"ptahschemaapprovals"}
		_, stderr, code := prune(t, kubeconfig, "--yes")
		require.Equal(t, options.Done, code, stderr)
		for _, request := range s.requests {
			switch {
			case request == "GET /apis/operator.ptah.run/v1alpha1/namespaces/app/ptahschemaapprovals":
				wholes++
			case strings.Contains(request, " where "):
				refused++
			}
		}
		return wholes, s.metadata["ptahschemaapprovals"], refused
	}
	fewWhole, fewVersions, _ := run(1)
	manyWhole, manyVersions, refused := run(40)
	assert.Equal(t, fewWhole, manyWhole)
	assert.GreaterOrEqual(t, manyVersions-fewVersions, 39, "once for each plan")
	assert.Equal(t, 1, refused, "asked once")
}

// With the CRDs of an older operator a plan that is approved meanwhile stays just as well.
func TestPruneReadsThePinsAgainWithAnOlderOperator(t *testing.T) {
	s, kubeconfig := retentionStub(t)
	s.unselectable = []string{"ptahschemaapprovals"}
	older, newer := goingPlans()
	s.beforeDelete = func(resource, name string) {
		if resource == "ptahschemaplans" && name == older {
			s.put(toUnstructured(newApproval(retentionCleanCluster()[5].(*v1alpha1.PtahSchemaPlan), "just-now", 70)))
		}
	}
	report, stderr, code := prune(t, kubeconfig, "--yes")
	assert.Equal(t, options.Refused, code, stderr)
	assert.Equal(t, "spared: a person authorized these exact bytes (spec.planRef of PtahSchemaApproval just-now)", verdicts(report)[newer])
}

// manyGoing is a cluster with more plans that nothing names.
func manyGoing(t *testing.T, copies int) (*stub, string) {
	t.Helper()
	s, kubeconfig := retentionStub(t)
	template := toUnstructured(retentionCleanCluster()[3])
	for i := range copies {
		another := template.DeepCopy()
		another.SetName(fmt.Sprintf("ptah-plan-%024d", i))
		another.SetUID(uid(9000 + i))
		setChunkName(another.Object, another.GetName())
		s.put(another)
	}
	return s, kubeconfig
}

// recorder stands between a command and a real server, and notes what was asked and how it was answered.
type recorder struct {
	mu       sync.Mutex
	requests []string
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.requests
	r.requests = nil
	return taken
}

func (r *recorder) answered(response *http.Response) error {
	request := response.Request
	line := fmt.Sprintf("%d %s %s", response.StatusCode, request.Method, request.URL.Path)
	if fields := request.URL.Query().Get("fieldSelector"); fields != "" {
		line += " where " + fields
	}
	if strings.Contains(request.Header.Get("Accept"), "PartialObjectMetadataList") {
		line += ", versions"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, line)
	return nil
}

// recorded gives a kubeconfig for a real server that notes all requests.
func (s *realServer) recorded(t *testing.T) (*recorder, string) {
	t.Helper()
	transport, err := rest.TransportFor(s.rest)
	require.NoError(t, err)
	host := s.rest.Host
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	target, err := url.Parse(host)
	require.NoError(t, err)
	r := &recorder{}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) }, Transport: transport, ModifyResponse: r.answered,
	})
	t.Cleanup(proxy.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, kubeconfig, &rest.Config{Host: proxy.URL})
	return r, kubeconfig
}

// selectsApprovals has a real server select approvals by their plan, first with our CRDs and then with those of an older operator. It leaves the
// older ones behind.
func (s *realServer) selectsApprovals(t *testing.T) {
	const list = " GET /apis/operator.ptah.run/v1alpha1/namespaces/app/ptahschemaapprovals"
	older, newer := goingPlans()
	r, kubeconfig := s.recorded(t)
	run := func() string {
		s.load(t, readCluster(t, "retention-clean"), scenario{})
		r.take()
		report, stderr, code := prune(t, kubeconfig, "--yes")
		require.Equal(t, options.Done, code, stderr)
		for _, name := range []string{older, newer} {
			assert.Contains(t, verdicts(report)[name], "deleted")
		}
		return strings.Join(r.take(), "\n") + "\n"
	}
	count := func(requests, line string) int { return strings.Count(requests, line+"\n") }

	asked := run()
	assert.Equal(t, 2, count(asked, "200"+list), "the first look and the last")
	assert.Zero(t, count(asked, "200"+list+", versions"))
	for _, name := range []string{older, newer} {
		assert.Equal(t, 2, count(asked, "200"+list+" where spec.planRef.name="+name), "before the plan and before its chunks")
	}

	s.makeUnselectable(t, "ptahschemaapprovals")
	asked = run()
	assert.Equal(t, 1, strings.Count(asked, "400"+list+" where "), "asked once")
	assert.Equal(t, 3, count(asked, "200"+list), "the first look, the one before the deletions and the last")
	assert.Equal(t, 4, count(asked, "200"+list+", versions"), "before each plan and before its chunks")
}

// makeUnselectable takes the selectable fields out of a CRD, which older operators did not declare.
func (s *realServer) makeUnselectable(t *testing.T, resource string) {
	t.Helper()
	client := s.client.Discovery().RESTClient()
	err := client.Patch(types.JSONPatchType).AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + resource + "." + v1alpha1.GroupName).
		Body([]byte(`[{"op":"remove","path":"/spec/versions/0/selectableFields"}]`)).Do(t.Context()).Error()
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		code := 0
		client.Get().AbsPath("/apis/"+v1alpha1.GroupVersion.String()+"/"+resource).Param("fieldSelector", "spec.planRef.name=x").Do(t.Context()).StatusCode(&code)
		return code == http.StatusBadRequest
	}, 60*time.Second, 100*time.Millisecond)
}
