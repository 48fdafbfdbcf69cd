package mysql_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata instead of comparing with it")

// probeFile is what the comparison with other software reads: two databases that differ in one thing, as the statements that make them.
type probeFile struct {
	Name string   `json:"name"`
	A    []string `json:"a"`
	B    []string `json:"b"`
}

// TestProbesFile keeps testdata/probes.json, from which test/bench/engine fills the table of docs/reference/engine-probes.md, equal to the probes.
func TestProbesFile(t *testing.T) {
	var all []probeFile
	for name, p := range probes {
		all = append(all, probeFile{Name: name, A: append([]string{}, cut(p.a)...), B: append([]string{}, cut(p.b)...)})
	}
	slices.SortFunc(all, func(a, b probeFile) int { return strings.Compare(a.Name, b.Name) })
	require.GreaterOrEqual(t, len(all), 43)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	require.NoError(t, encoder.Encode(all))
	const path = "testdata/probes.json"
	if *update {
		require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644)) //nolint:gosec // part of the sources
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, out.Bytes()), "%s is out of date: run go test ./pkg/engine/internal/mysql -run TestProbesFile -update", path)
}
