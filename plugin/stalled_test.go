package plugin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

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

// The pages of docs/alerts.md are run as they stand there.
func TestAlertsPage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "docs", "alerts.md"))
	require.NoError(t, err)
	blocks := fenced(string(data))
	script, rules := blocks["sh"], blocks["yaml"]
	require.NotEmpty(t, script)
	require.NotEmpty(t, rules)
	samples := runTextfileScript(t, script[0])
	t.Run("the script leaves a file that the collector takes", func(t *testing.T) {
		require.Contains(t, samples, "ptah_resource_stalled")
		require.NotEmpty(t, samples["ptah_resource_stalled"])
		assert.Equal(t, "gauge", strings.ToLower(samples["type ptah_resource_stalled"][0]))
	})
	t.Run("the rules speak of series that exist", func(t *testing.T) { checkRules(t, rules, samples) })
}

// fenced collects a page's code blocks by language.
func fenced(page string) map[string][]string {
	blocks := map[string][]string{}
	for _, match := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		blocks[match[1]] = append(blocks[match[1]], match[2])
	}
	return blocks
}

// runTextfileScript runs the page's shell script with a real program against a stub, and reads back what it left.
func runTextfileScript(t *testing.T, script string) map[string][]string {
	t.Helper()
	s := newStub()
	t.Cleanup(s.Close)
	for _, object := range stalledCluster() {
		s.put(toUnstructured(object))
	}
	directory := t.TempDir()
	kubeconfig := filepath.Join(directory, "kubeconfig")
	writeKubeconfig(t, kubeconfig, &rest.Config{Host: s.URL})
	require.NoError(t, os.Rename(buildPlugin(t), filepath.Join(directory, "kubectl-ptah")))
	kubectl := "#!/bin/sh\ncommand=$1; shift\nexec " + directory + "/kubectl-$command \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(directory, "kubectl"), []byte(kubectl), 0o755))
	command := exec.Command("sh", "-c", script)
	command.Env = []string{"PATH=" + directory + ":/usr/bin:/bin", "KUBECONFIG=" + kubeconfig, "TEXTFILE_DIR=" + directory, "HOME=" + directory}
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	file, err := os.Open(filepath.Join(directory, "ptah.prom"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(file)
	require.NoError(t, err)
	samples := map[string][]string{}
	for name, family := range families {
		samples["type "+name] = []string{family.GetType().String()}
		for _, metric := range family.GetMetric() {
			labels := ""
			for _, label := range metric.GetLabel() {
				labels += label.GetName() + " "
			}
			samples[name] = append(samples[name], labels)
		}
	}
	return samples
}

func checkRules(t *testing.T, documents []string, samples map[string][]string) {
	t.Helper()
	var groups struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	for _, document := range documents {
		if strings.HasPrefix(strings.TrimSpace(document), "groups:") {
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), &groups))
		}
	}
	require.Len(t, groups.Groups, 1)
	require.Len(t, groups.Groups[0].Rules, 4)
	for _, rule := range groups.Groups[0].Rules {
		names := regexp.MustCompile(`ptah_[a-z_]+`).FindAllString(rule.Expr, -1)
		require.NotEmpty(t, names, rule.Alert)
		for _, name := range names {
			require.Contains(t, samples, name, "%s of alert %s", name, rule.Alert)
		}
		if rule.For != "" {
			_, err := model.ParseDuration(rule.For)
			require.NoError(t, err, rule.Alert)
		}
		for _, text := range rule.Annotations {
			for _, label := range regexp.MustCompile(`\$labels\.([a-z_]+)`).FindAllStringSubmatch(text, -1) {
				assert.Contains(t, samples[names[0]][0], label[1], "%s uses a label that the series lacks", rule.Alert)
			}
		}
	}
}
