package plugin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
		{"stalled", "find-stalled -A"}, {"stalled", "find-stalled -A -o wide"}, {"stalled", "find-stalled -A --for cron"}, {"stalled", "find-stalled -A -o prometheus"},
		{"fleet", "status -A -o wide"}, {"fleet", "status orders -n app"}, {"fleet", "status ledger -n app"}, {"fleet", "migration ledger -n app"},
		{"unresolved", "clear-unresolved ledger -n app"}, {"unresolved-suspended", "resume ledger -n app --dry-run=server"}, {"applying", "status orders -n app"},
		{"retention", "prune -A -o wide"}, {"retention", "prune -A"}, {"eventful", "events orders -n app"}, {"installed", "preflight --for upgrade"},
		{"ready", "preflight schema/orders -n app"}, {"waiting", "reject orders -n app --reason no"}, {"waiting", "plan orders -n app"},
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
