package plugin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/rest"

	"github.com/ptah-run/ptah/plugin/options"
)

// hostileText clears a screen, by both kinds of control characters, and turns the direction of what follows.
const hostileText = "\x1b[2J\u009b2J\u202e"

// hostile appends to every text of an object but those that find it.
func hostile(value any, key string) any {
	switch v := value.(type) {
	case map[string]any:
		for name, item := range v {
			v[name] = hostile(item, name)
		}
	case []any:
		for i, item := range v {
			v[i] = hostile(item, key)
		}
	case string:
		switch key {
		case "apiVersion", "kind", "name", "namespace", "uid", "resourceVersion", "digest", "contentDigest", "fingerprint", "key":
			return v
		}
		if _, err := time.Parse(time.RFC3339, v); err != nil {
			return v + hostileText
		}
	}
	return value
}

// Nothing that an object says reaches a terminal as something that the terminal acts on.
func TestNoObjectSpeaksToTheTerminal(t *testing.T) {
	for _, c := range []struct{ cluster, command string }{
		{"stalled", "find-stalled -A"},
		{"stalled", "find-stalled -A -o wide"},
		{"stalled", "find-stalled -A --for cron"},
		{"stalled", "find-stalled -A -o prometheus"},
		{"fleet", "status -A -o wide"},
		{"fleet", "status orders -n app"},
		{"fleet", "status ledger -n app"},
		{"fleet", "migration ledger -n app"},
		{"unresolved", "clear-unresolved ledger -n app"},
		{"unresolved-suspended", "resume ledger -n app --dry-run=server"},
		{"applying", "status orders -n app"},
		{"retention", "prune -A -o wide"},
		{"retention", "prune -A"},
		{"eventful", "events orders -n app"},
		{"installed", "preflight --for upgrade"},
		{"ready", "preflight schema/orders -n app"},
		{"waiting", "reject orders -n app --reason no"},
		{"waiting", "plan orders -n app"},
	} {
		t.Run(c.cluster+" "+c.command, func(t *testing.T) {
			s, kubeconfig := stage(t)
			s.admin = true
			for _, object := range clusters[c.cluster]() {
				u := toUnstructured(object)
				hostile(u.Object, "")
				s.put(u)
			}
			got := invoke(scenario{}, append(strings.Fields(c.command), "--kubeconfig", kubeconfig))
			for _, char := range []string{"\x1b", "\u009b", "\u202e"} {
				assert.NotContains(t, got.stdout, char)
				assert.NotContains(t, got.stderr, char)
			}
			assert.NotEmpty(t, got.stdout+got.stderr)
		})
	}
}

// What stands in the way to the cluster may answer without being an API server. An empty object is no empty list, and says of nothing that it
// is not there.
func TestAnEmptyAnswerIsNoEmptyCluster(t *testing.T) {
	for _, body := range []string{`{}`, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}`, `{"metadata":{},"items":[]}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, body)
		}))
		defer server.Close()
		kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
		writeKubeconfig(t, kubeconfig, &rest.Config{Host: server.URL})
		for _, command := range []string{"find-stalled -A", "find-stalled -A --for cron", "status -A", "prune -A --yes", "export --all -A -o out.tar"} {
			got := invoke(scenario{}, append(strings.Fields(command), "--kubeconfig", kubeconfig))
			assert.Equal(t, options.Failed, got.code, "%s of %s: %s%s", command, body, got.stdout, got.stderr)
		}
	}
}

// A kubeconfig whose addresses carry passwords, and are wrong, is complained about without them.
func TestAddressesOfTheKubeconfigLoseTheirPasswords(t *testing.T) {
	for name, cluster := range map[string]string{
		"server":         "server: 'https://alice:hunter2@[bad'",
		"proxy":          "server: 'https://127.0.0.1:1', proxy-url: 'http://alice:hunter2@[bad'",
		"proxy's scheme": "server: 'https://127.0.0.1:1', proxy-url: 'ftp://alice:hunter2@127.0.0.1:2'",
	} {
		t.Run(name, func(t *testing.T) {
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			write(t, kubeconfig, "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- {name: k, cluster: {"+cluster+"}}\ncontexts:\n- {name: c, context: {cluster: k}}\n")
			for _, command := range []string{"status -A", "prune -n app", "version", "find-stalled"} {
				got := invoke(scenario{}, append(strings.Fields(command), "--kubeconfig", kubeconfig))
				assert.NotContains(t, got.stdout+got.stderr, "hunter2")
				assert.Contains(t, got.stderr, "://[redacted]@")
			}
		})
	}
}
