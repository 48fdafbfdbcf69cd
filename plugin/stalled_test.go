package plugin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/ptah-run/ptah/plugin/options"
)

// Ten times as many resources need no more memory: what is on time is forgotten before the next object is read.
func TestFindStalledForgetsWhatIsOnTime(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds the program and reads its peak memory as Linux reports it")
	}
	binary := buildPlugin(t)
	peak := map[int]int64{}
	for _, count := range []int{2000, 20000} {
		server := httptest.NewServer(manySchemas(count))
		kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
		writeKubeconfig(t, kubeconfig, &rest.Config{Host: server.URL})
		command := exec.Command(binary, "find-stalled", "-A", "--kubeconfig", kubeconfig)
		output, err := command.Output()
		server.Close()
		require.NoError(t, err)
		require.Contains(t, string(output), fmt.Sprintf("0 of %d resources are stalled", count))
		peak[count] = command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	}
	t.Logf("peak in MiB: %v", peak)
	assert.Less(t, peak[20000], peak[2000]+16, "MiB")
}

// manySchemas serves copies of one schema, page by page, without keeping them.
func manySchemas(count int) http.HandlerFunc {
	schema := newSchema("app", "orders", 1)
	future := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	schema.Status.NextReconciliationTime.Time = future
	item, err := json.Marshal(schema)
	must(err)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		total := count
		if !strings.HasSuffix(r.URL.Path, "/ptahschemas") {
			total = 0
		}
		start, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		end := min(start+limit, total)
		_, _ = fmt.Fprint(w, `{"apiVersion":"operator.ptah.run/v1alpha1","items":[`)
		for i := start; i < end; i++ {
			if i > start {
				_, _ = fmt.Fprint(w, ",")
			}
			_, _ = w.Write(item)
		}
		next := ""
		if end < total {
			next = strconv.Itoa(end)
		}
		_, _ = fmt.Fprintf(w, `],"kind":"PtahSchemaList","metadata":{"continue":%q,"resourceVersion":"1"}}`, next)
	}
}

// A list that breaks off is not an answer: what was seen counts, and the exit code says that it is not all.
func TestFindStalledSaysThatAListBrokeOff(t *testing.T) {
	whole := manySchemas(10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			whole(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"apiVersion":"operator.ptah.run/v1alpha1","items":[`)
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, kubeconfig, &rest.Config{Host: server.URL})
	got := invoke(scenario{}, []string{"find-stalled", "-A", "--chunk-size", "4", "--kubeconfig", kubeconfig})
	assert.Equal(t, options.Failed, got.code)
	assert.Contains(t, got.stdout, "0 of 4 resources that could be seen are stalled")
	assert.Contains(t, got.stderr, "listing ptahschemas in all namespaces")
	assert.Contains(t, got.stderr, "broke off")
}
