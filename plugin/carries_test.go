package plugin_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// identifier is a name, a digest, a reference or a person: what only an object can have said, and not a label of ours.
var identifier = regexp.MustCompile(`[A-Za-z0-9][-A-Za-z0-9_./:@]{7,}[A-Za-z0-9]`)

var date = regexp.MustCompile(`^\d{4}-\d\d-\d\d`)

// Whatever identifier text shows of a cluster, the JSON of the same command has.
func TestJSONCarriesWhatTextShows(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*/case.yaml")
	require.NoError(t, err)
	compared, found := 0, 0
	for _, file := range files {
		c := readScenario(t, file)
		if !hasTwin(c) {
			continue
		}
		t.Run(strings.TrimPrefix(filepath.Dir(file), "testdata/"), func(t *testing.T) {
			run := func(command string) result {
				s := c
				s.Command = command
				s.dir = t.TempDir()
				against := &stubServer{}
				against.load(t, readCluster(t, s.Cluster), s)
				return s.run(t, against)
			}
			format := " -o json"
			if strings.HasPrefix(c.Command, "plan ") {
				format = " -o yaml" // its JSON is the stored document, byte for byte; what the command knows beside it is in the YAML
			}
			text, document := run(c.Command), run(c.Command+format)
			assert.Equal(t, text.code, document.code, document.stderr)
			objects := read(t, clusterPath(c.Cluster))
			for _, value := range identifier.FindAllString(text.stdout, -1) {
				if strings.ContainsAny(value, "0123456789@") && !date.MatchString(value) && strings.Contains(objects, value) {
					assert.Contains(t, document.stdout, value, "text shows it")
					found++
				}
			}
		})
		compared++
	}
	require.Greater(t, compared, 100)
	require.Greater(t, found, 200)
}

// hasTwin leaves out what has no JSON of its own, what is JSON already, and what waits for a change.
func hasTwin(c scenario) bool {
	verb, _, _ := strings.Cut(c.Command, " ")
	asked := slices.ContainsFunc(words(c.Command), func(w string) bool {
		return strings.HasPrefix(w, "-o") || strings.HasPrefix(w, "--output") || strings.HasPrefix(w, "--jq") || w == "--watch" || w == "-w" || strings.HasPrefix(w, "--format") || w == "--for"
	})
	return c.Cluster != "" && c.Terminal == 0 && !asked && c.Becomes == "" && len(c.After) == 0 && c.Program == "" && (c.Exit == 0 || c.Exit == 1 || c.Exit == 4) &&
		!slices.Contains([]string{"completion", "__complete", "__completeNoDesc", "export", "support-bundle", "wait", "find-stalled"}, verb) &&
		!strings.HasPrefix(verb, "-")
}
