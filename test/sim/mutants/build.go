package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build compiles the model checker with one bug in pkg/operation, beside the source and without touching it, and returns the binary.
func (m Mutant) Build(ctx context.Context, root, dir string) (string, error) {
	source := filepath.Join(root, "pkg", "operation", m.File)
	text, err := os.ReadFile(source) //nolint:gosec // a file of this repository
	if err != nil {
		return "", fmt.Errorf("reading the source of %q: %w", m.Name, err)
	}
	if n := strings.Count(string(text), m.Old); n != 1 {
		return "", fmt.Errorf("mutating %s: %q stands there %d times, want once; the list has to follow the code", m.File, m.Old, n)
	}
	changed := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), m.Old, m.New, 1)), 0o600); err != nil {
		return "", fmt.Errorf("writing mutant: %w", err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err != nil {
		return "", fmt.Errorf("writing overlay: %w", err)
	}
	file, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "check")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", fmt.Errorf("writing overlay: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-overlay", file, "-o", binary, "./test/sim/check") //nolint:gosec // fixed arguments
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building mutant %q: %w\n%s", m.Name, err, out)
	}
	return binary, nil
}
