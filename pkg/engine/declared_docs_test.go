package engine_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	declarations "github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

var fenced = regexp.MustCompile("(?ms)^```(yaml|hcl|sql)\n(.*?)^```$")

// TestDocumentedDeclarations loads every example of docs/declared-schemas.md. The first of each language say the same.
func TestDocumentedDeclarations(t *testing.T) {
	s := pgtest.Start(t)
	page, err := os.ReadFile("../../docs/declared-schemas.md")
	require.NoError(t, err)
	first := map[string][]model.Fact{}
	examples := fenced.FindAllStringSubmatch(string(page), -1)
	require.Len(t, examples, 11)
	dev := s.URL("postgres") + "&options=-c%20ptah.disposable%3Don" // the examples name roles
	for _, e := range examples {
		language, text := e[1], []byte(e[2])
		var got *model.Database
		if language == "sql" {
			got, err = engine.LoadSQL(testContext(t), dev, []engine.Source{{Name: "a.sql", Data: text}})
		} else {
			got, err = engine.LoadDeclared(testContext(t), dev, declaredOf(t, declarations.File{Name: "a." + language, Data: text}), nil)
			formatted, ferr := declarations.Format("a."+language, text)
			require.NoError(t, ferr)
			assert.Equal(t, string(text), string(formatted), "examples are formatted")
		}
		require.NoError(t, err, "%s", text)
		if _, later := first[language]; !later {
			first[language] = model.Facts(got)
		}
	}
	assert.Equal(t, first["sql"], first["yaml"])
	assert.Equal(t, first["sql"], first["hcl"])
}
