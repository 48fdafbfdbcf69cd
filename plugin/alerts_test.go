package plugin_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/ptah-run/ptah/plugin/options"
)

// TestAlertsPage runs the crontab line and the script of docs/alerts.md as they are printed there, as cron would: by sh, with cron's few
// variables, the program found by kubectl, against a real API server. hack/alerts has Prometheus judge the rules.
func TestAlertsPage(t *testing.T) {
	server := startReal(t)
	blocks := fenced(read(t, filepath.Join("..", "docs", "alerts.md")))
	require.Len(t, blocks["crontab"], 1)
	require.Len(t, blocks["sh"], 1)
	binary := buildPlugin(t)
	machine := newCronMachine(t, binary, server.config())
	line := cronCommand(t, blocks["crontab"][0])
	script := blocks["sh"][0]
	fine := func() { server.load(t, dueIn(time.Hour), scenario{}) }
	stalled := func() { server.load(t, dueIn(-2*time.Hour), scenario{}) }

	t.Run("by mail: nothing stalled, no mail", func(t *testing.T) {
		fine()
		assert.Equal(t, result{}, machine.run(t, line))
	})
	t.Run("by mail: overdue, but not for as long as the line says", func(t *testing.T) {
		server.load(t, dueIn(-20*time.Minute), scenario{})
		assert.Equal(t, result{}, machine.run(t, line))
	})
	t.Run("by mail: one stalled, one line", func(t *testing.T) {
		stalled()
		got := machine.run(t, line)
		assert.Regexp(t, `^app/orders schema InSync, overdue 2h \(deadline 15m\)[^\n]*\n$`, got.stdout)
		assert.Empty(t, got.stderr)
		assert.EqualValues(t, 4, got.code)
	})
	t.Run("by mail: no server, an error and no all-clear", func(t *testing.T) {
		got := newCronMachine(t, binary, &rest.Config{Host: "https://127.0.0.1:1"}).run(t, line)
		assert.Empty(t, got.stdout)
		assert.Contains(t, got.stderr, "connection refused")
		assert.EqualValues(t, 1, got.code)
	})
	t.Run("textfile: nothing stalled", func(t *testing.T) {
		fine()
		machine.run(t, script)
		assert.Equal(t, []float64{1, 1}, machine.values(t, "ptah_find_stalled_complete"))
		assert.Empty(t, machine.values(t, "ptah_resource_stalled"))
	})
	t.Run("textfile: one stalled", func(t *testing.T) {
		stalled()
		machine.run(t, script)
		assert.Equal(t, []float64{1}, machine.values(t, "ptah_resource_stalled"))
		assert.Equal(t, []float64{1, 0}, machine.values(t, "ptah_find_stalled_stalled"))
	})
	t.Run("textfile: the server is gone, and the old file stays", func(t *testing.T) {
		before := read(t, machine.file)
		writeKubeconfig(t, machine.kubeconfig, &rest.Config{Host: "https://127.0.0.1:1"})
		defer writeKubeconfig(t, machine.kubeconfig, server.config())
		got := machine.run(t, script)
		assert.Contains(t, got.stderr, "connection refused")
		assert.Equal(t, before, read(t, machine.file))
		assert.Equal(t, []float64{1}, machine.values(t, "ptah_resource_stalled"))
	})
	t.Run("textfile: nothing may be listed, and the file says so", func(t *testing.T) {
		forbidden := rest.CopyConfig(server.config())
		forbidden.Impersonate.UserName = "nobody"
		writeKubeconfig(t, machine.kubeconfig, forbidden)
		defer writeKubeconfig(t, machine.kubeconfig, server.config())
		machine.run(t, script)
		assert.Equal(t, []float64{0, 0}, machine.values(t, "ptah_find_stalled_complete"))
	})
	t.Run("the rules speak of series and labels that exist", func(t *testing.T) {
		stalled()
		machine.run(t, script)
		checkRules(t, blocks["yaml"], machine.series(t))
	})
}

// dueIn is a schema whose next look is due then, by the clock of this machine, and a migration that is on time.
func dueIn(d time.Duration) []*unstructured.Unstructured {
	orders, ledger := newSchema("app", "orders", 1), newMigration("shop", "ledger", 2)
	orders.Status.NextReconciliationTime = &metav1.Time{Time: time.Now().Add(d - time.Second).UTC().Truncate(time.Second)}
	ledger.Status.NextReconciliationTime = &metav1.Time{Time: time.Now().Add(time.Hour).UTC().Truncate(time.Second)}
	var objects []*unstructured.Unstructured
	for _, object := range append([]runtime.Object{orders, ledger}, operatorObjects(time.Until(now))...) {
		objects = append(objects, toUnstructured(object))
	}
	return objects
}

// fenced collects a page's code blocks by language.
func fenced(page string) map[string][]string {
	blocks := map[string][]string{}
	for _, match := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		blocks[match[1]] = append(blocks[match[1]], match[2])
	}
	return blocks
}

// cronCommand is what cron takes for the command of a line: all behind five fields of times. A % would be a line break to cron.
func cronCommand(t *testing.T, line string) string {
	t.Helper()
	parts := regexp.MustCompile(`^(?:[-*/,0-9]+\s+){5}(.*)\n$`).FindStringSubmatch(line)
	require.NotNil(t, parts, "a crontab line: %q", line)
	require.NotContains(t, parts[1], "%")
	return parts[1]
}

// cronMachine is a home with a kubeconfig where kubectl looks for it, and a kubectl that finds its plugins on PATH.
type cronMachine struct{ home, kubeconfig, file string }

func newCronMachine(t *testing.T, binary string, config *rest.Config) cronMachine {
	t.Helper()
	m := cronMachine{home: t.TempDir()}
	m.kubeconfig, m.file = filepath.Join(m.home, ".kube", "config"), filepath.Join(m.home, "ptah.prom")
	require.NoError(t, os.MkdirAll(filepath.Dir(m.kubeconfig), 0o700))
	writeKubeconfig(t, m.kubeconfig, config)
	require.NoError(t, os.Symlink(binary, filepath.Join(m.home, "kubectl-ptah")))
	kubectl := "#!/bin/sh\nplugin=$1; shift\nexec \"kubectl-$plugin\" \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(m.home, "kubectl"), []byte(kubectl), 0o755)) //nolint:gosec // to be run
	return m
}

func (m cronMachine) run(t *testing.T, command string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	shell := exec.Command("sh", "-c", command) //nolint:gosec // the page's own words
	shell.Dir = m.home
	shell.Env = []string{"SHELL=/bin/sh", "LOGNAME=monitor", "PATH=" + m.home + ":/usr/bin:/bin", "HOME=" + m.home, "TEXTFILE_DIR=" + m.home}
	shell.Stdout, shell.Stderr = &stdout, &stderr
	if err := shell.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return result{stdout.String(), stderr.String(), options.Code(shell.ProcessState.ExitCode())}
}

// sample is one line of the file.
type sample struct {
	labels map[string]string
	value  float64
}

// series reads the file as a collector does.
func (m cronMachine) series(t *testing.T) map[string][]sample {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(read(t, m.file)))
	require.NoError(t, err)
	series := map[string][]sample{}
	for name, family := range families {
		assert.Equal(t, "GAUGE", family.GetType().String(), name)
		for _, metric := range family.GetMetric() {
			one := sample{labels: map[string]string{}, value: metric.GetGauge().GetValue()}
			for _, label := range metric.GetLabel() {
				one.labels[label.GetName()] = label.GetValue()
			}
			series[name] = append(series[name], one)
		}
	}
	return series
}

// values are those of one series, in the order of the file.
func (m cronMachine) values(t *testing.T, name string) []float64 {
	t.Helper()
	var values []float64
	for _, one := range m.series(t)[name] {
		values = append(values, one.value)
	}
	return values
}

func checkRules(t *testing.T, documents []string, series map[string][]sample) {
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
			require.NotEmpty(t, series[name], "%s of alert %s", name, rule.Alert)
		}
		for _, text := range rule.Annotations {
			for _, label := range regexp.MustCompile(`\$labels\.([a-z_]+)`).FindAllStringSubmatch(text, -1) {
				assert.Contains(t, series[names[0]][0].labels, label[1], "%s uses a label that the series lacks", rule.Alert)
			}
		}
	}
}
