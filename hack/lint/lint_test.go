// Package lint proves that every import rule of the architecture fires: each folder of testdata breaks exactly one of them.
package lint

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fixtures maps a folder of testdata to the words of the refusal that it must provoke.
var fixtures = map[string]string{
	"pkg/plan":         "pure-row",
	"pkg/api/v1alpha1": "api",
	"pkg/controller":   "drivers",
	"pkg/kube":         "manager",
	"pkg/executor":     "registries",
	"pkg/metrics":      "drawing",
	"plugin/status":    "plugin",
	"plugin/plan":      "plugin-publishing",
	"pkg/binding":      "the pure row has no clock",
}

type report struct {
	Issues []struct {
		FromLinter string
		Text       string
		Pos        struct{ Filename string }
	}
}

func TestEveryRuleFires(t *testing.T) {
	linter := os.Getenv("GOLANGCI_LINT")
	if linter == "" {
		t.Skip("GOLANGCI_LINT names no binary; `make lint-rules` builds it and runs this test")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	args := []string{"run", "--enable-only=depguard,forbidigo", "--output.json.path=stdout", "--output.text.path=stderr", "--show-stats=false", "--issues-exit-code=0"}
	for dir := range fixtures {
		args = append(args, "./hack/lint/testdata/"+dir)
	}
	cmd := exec.Command(linter, args...)
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	line, _, _ := strings.Cut(string(out), "\n")
	var got report
	require.NoError(t, json.Unmarshal([]byte(line), &got), "%s", out)

	found := map[string][]string{}
	for _, issue := range got.Issues {
		dir := strings.TrimPrefix(filepath.Dir(issue.Pos.Filename), "hack/lint/testdata/")
		found[dir] = append(found[dir], issue.Text)
	}
	for dir, want := range fixtures {
		t.Run(dir, func(t *testing.T) {
			assert.True(t, fires(found[dir], want), "rule %q did not fire, got %q", want, found[dir])
		})
	}
}

// fires reports whether one of the texts is a refusal by the named depguard list, or holds the words of a forbidigo message.
func fires(texts []string, want string) bool {
	for _, text := range texts {
		if strings.Contains(text, "list '"+want+"'") || strings.Contains(text, want) && strings.Contains(want, " ") {
			return true
		}
	}
	return false
}
