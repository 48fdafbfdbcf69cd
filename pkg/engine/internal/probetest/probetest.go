// Package probetest keeps files of probes, from which test/bench/engine fills the table of docs/reference/engine-probes.md, equal to the probes of the
// tests.
package probetest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata instead of comparing with it")

// Probe is what the comparison with other software reads: two databases that differ in one thing, as the statements that make them.
type Probe struct {
	Name string   `json:"name"`
	A    []string `json:"a"`
	B    []string `json:"b"`
}

// CheckFile compares testdata/probes.json of the package under test with all its probes, of which there are not fewer than known before.
func CheckFile(t *testing.T, all []Probe, known int) {
	t.Helper()
	slices.SortFunc(all, func(a, b Probe) int { return strings.Compare(a.Name, b.Name) })
	require.GreaterOrEqual(t, len(all), known)
	for i := range all {
		for _, list := range []*[]string{&all[i].A, &all[i].B} {
			if *list == nil {
				*list = []string{} // no null in the file
			}
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	require.NoError(t, encoder.Encode(all))
	path := filepath.Join("testdata", "probes.json")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644)) //nolint:gosec // part of the sources
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, out.Bytes()), "%s is out of date: run go test on this package with -run TestProbesFile -update", path)
}
