package engine_test

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

// TestProbesFile keeps testdata/probes.json, from which test/bench/engine fills the table of docs/reference/engine-probes.md, equal to the probes of
// the tests on the newest server: those that converge, those that are refused by name, and one for every kind that is not modelled.
func TestProbesFile(t *testing.T) {
	var all []probeFile
	here := strings.NewReplacer("{{s}}", "public", "{{n}}", "app")
	add := func(name, a, b string) {
		p := probeFile{Name: name, A: []string{}, B: []string{}}
		for list, sql := range map[*[]string]string{&p.A: a, &p.B: b} {
			if sql != "" {
				*list = append(*list, here.Replace(sql))
			}
		}
		all = append(all, p)
	}
	for name, p := range allProbes(18) {
		add(name, p.a, p.b)
	}
	for name, r := range refusals {
		add(name, r.a, r.b)
	}
	for kind, u := range unmodelled {
		add("another kind: "+kind, "CREATE SCHEMA app", "CREATE SCHEMA app; "+u.sql)
	}
	slices.SortFunc(all, func(a, b probeFile) int { return strings.Compare(a.Name, b.Name) })
	require.GreaterOrEqual(t, len(all), 72)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	require.NoError(t, encoder.Encode(all))
	const path = "testdata/probes.json"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644)) //nolint:gosec // part of the sources
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, out.Bytes()), "%s is out of date: run go test ./pkg/engine -run TestProbesFile -update", path)
}
