package scope_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/engine/scope"
)

func database() *model.Database {
	d := model.New(model.Postgres)
	d.Schemas = []model.Schema{{Name: "app"}, {Name: "public"}}
	d.Enums = []model.Enum{{Name: model.Name{Schema: "app", Name: "mood"}}}
	d.Sequences = []model.Sequence{
		{Name: model.Name{Schema: "public", Name: "free_seq"}},
		{Name: model.Name{Schema: "public", Name: "t_id_seq"}, Owner: &model.ColumnRef{Table: model.Name{Schema: "public", Name: "t"}, Column: "id"}},
	}
	d.Tables = []model.Table{
		{Name: model.Name{Schema: "app", Name: "t"}},
		{Name: model.Name{Schema: "public", Name: "odd.*"}},
		{Name: model.Name{Schema: "public", Name: "t"}},
		{Name: model.Name{Schema: "public", Name: "tmp_1"}},
	}
	d.Unmodelled = []model.Object{{Kind: "extension", Name: "citext"}, {Kind: "trigger", Schema: "public", Table: "t", Name: "trg"}, {Kind: "view", Schema: "app", Name: "v"}}
	d.Normalise()
	return d
}

// names lists everything in a database as "kind:schema.name".
func names(d *model.Database) []string {
	out := []string{}
	for _, s := range d.Schemas {
		out = append(out, "schema:"+s.Name)
	}
	for _, e := range d.Enums {
		out = append(out, "enum:"+e.Schema+"."+e.Name.Name)
	}
	for _, s := range d.Sequences {
		out = append(out, "sequence:"+s.Schema+"."+s.Name.Name)
	}
	for _, t := range d.Tables {
		out = append(out, "table:"+t.Schema+"."+t.Name.Name)
	}
	for _, o := range d.Unmodelled {
		out = append(out, strings.TrimSuffix(o.Kind+":"+o.Schema+"."+o.Name, "."))
	}
	return out
}

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		exclude []string
		want    []string // what is excluded
	}{
		"nothing":                        {nil, []string{}},
		"bare name of any kind":          {[]string{"t"}, []string{"sequence:public.t_id_seq", "table:app.t", "table:public.t", "trigger:public.trg"}},
		"qualified name":                 {[]string{"public.t"}, []string{"sequence:public.t_id_seq", "table:public.t", "trigger:public.trg"}},
		"contents of a schema":           {[]string{"app.*"}, []string{"enum:app.mood", "table:app.t", "view:app.v"}},
		"schema with its contents":       {[]string{"app"}, []string{"schema:app", "enum:app.mood", "table:app.t", "view:app.v"}},
		"schema alone":                   {[]string{"app[type=schema]"}, []string{"schema:app"}},
		"type":                           {[]string{"*[type=table]"}, []string{"sequence:public.t_id_seq", "table:app.t", "table:public.odd.*", "table:public.t", "table:public.tmp_1", "trigger:public.trg"}},
		"several types":                  {[]string{"*[type=view|enum|extension]"}, []string{"enum:app.mood", "extension:.citext", "view:app.v"}},
		"star inside":                    {[]string{"*mp_*"}, []string{"table:public.tmp_1"}},
		"question mark":                  {[]string{"tmp_?"}, []string{"table:public.tmp_1"}},
		"comma separated":                {[]string{"tmp_1, app.v"}, []string{"table:public.tmp_1", "view:app.v"}},
		"quoted":                         {[]string{`public."odd.*"`}, []string{"table:public.odd.*"}},
		"case matters":                   {[]string{"TMP_1"}, []string{}},
		"type with blanks":               {[]string{"*[type=materialized_view]"}, []string{}},
		"part of a table":                {[]string{"trg"}, []string{"trigger:public.trg"}},
		"qualified does not reach roots": {[]string{"*.citext"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scope.Parse(c.exclude)
			require.NoError(t, err)
			managed, excluded := s.Split(database())
			assert.Equal(t, c.want, names(excluded))
			assert.Len(t, names(managed), len(names(database()))-len(c.want))
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                 "is empty",
		"a.b.c":            "more than two parts",
		"a.":               "empty part",
		".a":               "empty part",
		`"a`:               "not closed",
		`""`:               "empty part",
		`a"b`:              "stray",
		"a[type=tabel]":    `unknown type "tabel"`,
		"a[kind=table]":    "not [type=",
		"a[type=table]x":   "not [type=",
		"a[type=table":     "not [type=",
		"a\nb":             "not one line",
		"a, ,b":            "is empty",
		"[type=extension]": "empty part",
	} {
		t.Run(pattern, func(t *testing.T) {
			_, err := scope.Parse([]string{pattern})
			assert.ErrorContains(t, err, want)
		})
	}
}

func TestSchemaItselfIsLiteral(t *testing.T) {
	d := model.New(model.Postgres)
	d.Schemas = []model.Schema{{Name: `a"*`}, {Name: `a"b`}}
	s, err := scope.Parse([]string{scope.SchemaItself(`a"*`)})
	require.NoError(t, err)
	_, excluded := s.Split(d)
	assert.Equal(t, []string{`schema:a"*`}, names(excluded))
}

func FuzzParse(f *testing.F) {
	f.Add(`a.b[type=table]`, "a")
	f.Add(`"a.""b"`, `a."b`)
	f.Add(`*a*?*b*`, "xaxxbx")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		s, err := scope.Parse([]string{pattern})
		if err != nil {
			return
		}
		again, err := scope.Parse(s.Patterns())
		require.NoError(t, err)
		assert.Equal(t, s.Patterns(), again.Patterns())
		d := model.New(model.Postgres)
		d.Tables = []model.Table{{Name: model.Name{Schema: "public", Name: name}}}
		managed, excluded := s.Split(d)
		assert.Equal(t, 1, len(managed.Tables)+len(excluded.Tables))
	})
}
