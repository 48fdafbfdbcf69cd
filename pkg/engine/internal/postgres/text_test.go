package postgres

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

func TestParseIndexKeys(t *testing.T) {
	definition := `CREATE INDEX "i (x" ON public."t (y" USING gist ("a, (b" COLLATE "C" public.gist_trgm_ops (siglen='3,)2') DESC NULLS LAST, lower(s) text_pattern_ops, ((n + 1)) NULLS FIRST) INCLUDE (z) WHERE (s = '(,'::text)`
	keys, err := parseIndexKeys(definition, []string{`"a, (b"`, "lower(s)", "((n + 1))"})
	require.NoError(t, err)
	assert.Equal(t, []model.IndexKey{
		{Expression: `"a, (b"`, Collation: `"C"`, Opclass: "public.gist_trgm_ops (siglen='3,)2')", Order: "DESC NULLS LAST"},
		{Expression: "lower(s)", Opclass: "text_pattern_ops"},
		{Expression: "((n + 1))", Order: "NULLS FIRST"},
	}, keys)
	_, err = parseIndexKeys(definition, []string{"other"})
	assert.Error(t, err)
}

func TestParseType(t *testing.T) {
	for printed, want := range map[string]typeName{
		"integer":                     {name: "integer"},
		"character varying(10)":       {name: "character varying", modifier: "(10)"},
		"timestamp(3) with time zone": {name: "timestamp with time zone", modifier: "(3)"},
		"numeric(10,2)[]":             {name: "numeric", modifier: "(10,2)", dimensions: 1},
		`public."My ""Enum"[]`:        {schema: "public", name: `My "Enum`, dimensions: 1},
		`"a.b"."c.d"`:                 {schema: "a.b", name: "c.d"},
		"ext.vector(3)":               {schema: "ext", name: "vector", modifier: "(3)"},
	} {
		assert.Equal(t, want, parseType(printed), printed)
	}
}

func TestMentions(t *testing.T) {
	assert.Equal(t, map[string]bool{"a": true, `b"c`: true, "lower": true, "text": true, "E": true},
		mentions(`lower(a) || "b""c" || 'not_this "nor this"'::text || E'\'nor_this'`))
}

func TestDisplayIsOneLine(t *testing.T) {
	assert.Equal(t, `a\nb.c"d`, display("a\nb", `c"d`))
	assert.LessOrEqual(t, len(display(strings.Repeat("\x01", 63), strings.Repeat("\x01", 63), strings.Repeat("\x01", 63))), 410)
}

// FuzzSplit holds that the statements of a file, put together again, are the file without what stands between them, and that cutting a statement
// again changes nothing.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"SELECT 1; SELECT 2", "SELECT 'a;b'; -- c;\nSELECT \"x;y\"", "DO $$ a; b $$; SELECT 1", "/* ; /* ; */ ; */ SELECT E'\\';'",
		"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END; SELECT 2", "CREATE RULE r AS ON DELETE TO t DO (SELECT 1; SELECT 2)", "\\d", "SELECT $1; SELECT a$b$; SELECT $b$",
	} {
		f.Add(seed)
	}
	accept := func(string) string { return "" }
	f.Fuzz(func(t *testing.T, src string) {
		out, problem := splitSQL(src, accept)
		if problem != nil {
			assert.LessOrEqual(t, problem.offset, len(src))
			position(src, problem.offset)
			return
		}
		last := 0
		for _, s := range out {
			require.GreaterOrEqual(t, s.start, last)
			require.Equal(t, s.text, src[s.start:s.start+len(s.text)])
			last = s.start + len(s.text)
			again, problem := splitSQL(s.text, accept)
			require.Nil(t, problem)
			require.Len(t, again, 1)
			require.Equal(t, s.text, again[0].text)
			refusedStatement(s.text)
		}
	})
}

func FuzzIndexDefinition(f *testing.F) {
	f.Add("CREATE INDEX i ON t USING btree (a, lower(b) DESC)", "a", "lower(b)")
	f.Fuzz(func(t *testing.T, definition, one, two string) {
		keys, err := parseIndexKeys(definition, []string{one, two})
		if err == nil {
			assert.Len(t, keys, 2)
		}
		parseType(definition)
		assert.NotContains(t, mentions(definition), "")
	})
}
