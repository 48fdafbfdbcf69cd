package v1alpha1_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

var update = flag.Bool("update", false, "rewrite golden files")

// constants evaluates every exported constant of the package from its source, so that none can be left out of the frozen list.
func constants(t *testing.T) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	notTest := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(fset, ".", notTest, 0) //nolint:staticcheck // the package's own directory, no build tags to honour
	require.NoError(t, err)
	var files []*ast.File
	for _, f := range packages["v1alpha1"].Files {
		files = append(files, f)
	}
	// Imported types are of no interest; constants only refer to each other.
	config := types.Config{Importer: importer.Default(), Error: func(error) {}, FakeImportC: true}
	pkg, _ := config.Check("v1alpha1", fset, files, nil)
	require.NotNil(t, pkg)

	found := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok || !c.Exported() {
			continue
		}
		if c.Val().Kind() == constant.String {
			found[name] = constant.StringVal(c.Val())
		} else {
			found[name] = c.Val().ExactString()
		}
	}
	return found
}

func TestEveryConstantIsFrozen(t *testing.T) {
	found := constants(t)
	var lines []string
	for name, value := range found {
		lines = append(lines, fmt.Sprintf("%s = %s\n", name, value))
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	if *update {
		require.NoError(t, os.WriteFile("testdata/constants.golden", []byte(got), 0o644))
	}
	want, err := os.ReadFile("testdata/constants.golden")
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "a published name, reason or version changed: other programs compare it; run with -update only when that is meant")
}

func TestVocabulariesAreComplete(t *testing.T) {
	count := map[string]int{}
	for name, value := range constants(t) {
		for _, prefix := range []string{"Reason", "Event", "Condition", "SchemaPhase", "MigrationPhase", "Drift"} {
			rest, ok := strings.CutPrefix(name, prefix)
			if !ok {
				continue
			}
			count[prefix]++
			if prefix != "Drift" {
				assert.Equal(t, rest, value, "constant %s is named for its value", name)
			}
		}
	}
	// Event: the 21 documented ones, the two refusals that would otherwise have only a condition (RealmConflict and UnsupportedEngine), and the two
	// decisions that the plugin records, before and after it carries them out (PlanRejectionRequested and PlanRejected, UnresolvedRunClearRequested and
	// UnresolvedRunCleared).
	// Drift: 34 categories and the two values of driftSeverity.
	want := map[string]int{"Reason": 66, "Event": 27, "Condition": 17, "SchemaPhase": 13, "MigrationPhase": 12, "Drift": 36}
	assert.Equal(t, want, count)
}

func TestNamesAreValid(t *testing.T) {
	for name, value := range constants(t) {
		var problems []string
		switch {
		case strings.HasSuffix(name, "Label"), strings.HasSuffix(name, "Finalizer"),
			strings.HasSuffix(name, "Annotation") && strings.HasPrefix(value, v1alpha1.GroupName):
			problems = validation.IsQualifiedName(value)
		case strings.HasSuffix(name, "Env"):
			problems = validation.IsCIdentifier(value)
		case strings.HasSuffix(name, "Container"), strings.HasSuffix(name, "Volume"):
			problems = validation.IsDNS1123Label(value)
		case strings.HasSuffix(name, "Prefix"):
			problems = validation.IsDNS1123Label(value + "0")
		case strings.HasSuffix(name, "Lease"):
			problems = validation.IsDNS1123Subdomain(value)
		}
		assert.Empty(t, problems, "%s = %q", name, value)
	}
}
