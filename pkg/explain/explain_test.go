package explain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/explain"
	"github.com/ptah-run/ptah/pkg/waiting"
)

// vocabulary is where each kind of word is declared: the Go types of its constants.
var vocabulary = map[explain.Kind][]string{
	explain.Condition: {"ConditionType"},
	explain.Reason:    {"ConditionReason"},
	explain.Event:     {"EventReason"},
	explain.Failure:   {"Code"},
	explain.Phase:     {"SchemaPhase", "MigrationPhase"},
}

// constants reads the string constants of the given types out of a package's source, so that none can be forgotten here.
func constants(t *testing.T, directory string, types []string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "*.go"))
	require.NoError(t, err)
	var values []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || spec.Type == nil {
				return true
			}
			name, ok := spec.Type.(*ast.Ident)
			if !ok || !slices.Contains(types, name.Name) {
				return true
			}
			for _, value := range spec.Values {
				if literal, ok := value.(*ast.BasicLit); ok {
					text, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					values = append(values, text)
				}
			}
			return true
		})
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func TestEveryWordIsExplainedAndNoOther(t *testing.T) {
	for kind, types := range vocabulary {
		declared := slices.Concat(constants(t, "../api/v1alpha1", types), constants(t, "../frame", types))
		slices.Sort(declared)
		require.NotEmpty(t, declared, kind)
		var explained []string
		for _, entry := range explain.All() {
			if entry.Kind == kind {
				explained = append(explained, entry.Name)
			}
		}
		assert.Equal(t, declared, explained, "every %s needs exactly one entry", kind)
	}
}

func TestEntriesSayEverything(t *testing.T) {
	parties := []waiting.Party{waiting.Nobody, waiting.Ptah, waiting.Approver, waiting.Author, waiting.Operator}
	for _, e := range explain.All() {
		what := string(e.Kind) + " " + e.Name
		assert.NotEmpty(t, e.Where, what)
		assert.True(t, strings.HasSuffix(e.Meaning, "."), what)
		assert.Contains(t, parties, e.By, what)
		assert.False(t, strings.HasSuffix(e.Clears, "."), what)
		if e.By != waiting.Nobody && e.By != waiting.Ptah {
			assert.NotEmpty(t, e.Clears, "%s needs somebody, who has to know what to do", what)
		}
		assert.True(t, e.Command == "" || strings.HasPrefix(e.Command, "kubectl ptah "), what)
		assert.NotContains(t, e.Meaning+e.Clears, "|", "%s: the reference is a table", what)
	}
}

func TestFind(t *testing.T) {
	names := func(word string) []string {
		var list []string
		for _, e := range explain.Find(word) {
			list = append(list, string(e.Kind)+" "+e.Name)
		}
		return list
	}
	assert.Equal(t, []string{"reason ProtectedTable", "failure ProtectedTable"}, names("protectedtable"))
	assert.Equal(t, []string{"condition Ready", "reason PolicyBlocked"}, names("Ready=False/PolicyBlocked"))
	assert.Equal(t, []string{"condition Blocked", "phase Blocked", "reason HistoryDirty"}, names("Blocked/HistoryDirty"))
	assert.Empty(t, names("Nonsense"))
	assert.Equal(t, []string{"HistoryDirty"}, explain.Near("HistroyDirty"))
	assert.Empty(t, explain.Near("Nonsense"))
}

func TestReferencePageIsUpToDate(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/reasons.md")
	require.NoError(t, err)
	assert.Equal(t, explain.Markdown(), string(page), "run: go generate ./pkg/explain")
}
