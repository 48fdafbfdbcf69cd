package export_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/declare/export"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// rowsOf are a model with rows whose names and values a language might take for its own words.
func rowsOf(schema, table string, column, value string) *model.Database {
	d := model.New(model.Postgres)
	d.Schemas = []model.Schema{{Name: "app"}, {Name: "public"}}
	for _, s := range []string{"app", "public"} {
		d.Tables = append(d.Tables, model.Table{
			Name: model.Name{Schema: s, Name: table}, Columns: []model.Column{{Name: column, Type: "text", NotNull: true}, {Name: "for", Type: "text"}},
			Constraints: []model.Constraint{{Name: "k", Kind: model.PrimaryKey, Columns: []string{column}}},
		})
	}
	d.Rows = []model.RowSet{{Table: model.Name{Schema: schema, Name: table}, Columns: []string{column, "for"}, Keys: []string{column}, Rows: [][]*string{{&value, nil}}}}
	return d
}

// TestLanguagesSayTheSame reads what each language writes. Of two tables of one name, what refers to one says which.
func TestLanguagesSayTheSame(t *testing.T) {
	for name, d := range map[string]*model.Database{
		"plain":      rowsOf("public", "t", "id", "1"),
		"other":      rowsOf("app", "t", "null", "null"),
		"words":      rowsOf("public", `column`, "true", "true"),
		"templates":  rowsOf("public", `${t} %{if}"`, `$${c.`, "%%{ if } ${x} \\ \"\n\r\t"),
		"characters": rowsOf("public", "t\u00e9\U0001f600", "\u2028\u00a0", "\u0001~\u0085"),
	} {
		t.Run(name, func(t *testing.T) {
			yaml, err := export.YAML(d)
			require.NoError(t, err)
			hcl, err := export.HCL(d)
			require.NoError(t, err)
			again, err := export.HCL(d)
			require.NoError(t, err)
			assert.Equal(t, string(hcl), string(again))
			formatted, err := declare.Format("a.hcl", hcl)
			require.NoError(t, err)
			assert.Equal(t, string(hcl), string(formatted))
			want, wantRows := read(t, declare.File{Name: "a.yaml", Data: yaml})
			got, gotRows := read(t, declare.File{Name: "a.hcl", Data: hcl})
			assert.Equal(t, want, got, "%s", hcl)
			assert.Equal(t, wantRows, gotRows, "%s", hcl)
			assert.Equal(t, *d.Rows[0].Rows[0][0], gotRows[0].Text)
		})
	}
}

// read gives the statements of a declaration, and the values of its first row.
func read(t *testing.T, file declare.File) (statements []string, row []declare.RowValue) {
	t.Helper()
	tree, err := declare.Read([]declare.File{file}, declare.Options{Dialect: declare.Postgres})
	require.NoError(t, err, "%s", file.Data)
	rendered, err := tree.Render()
	require.NoError(t, err)
	for i := range rendered {
		statements = append(statements, rendered[i].SQL)
	}
	rows := tree.Rows()
	require.Len(t, rows, 1)
	for _, v := range rows[0].Rows[0].Values {
		v.At = declare.Position{}
		row = append(row, v)
	}
	return append(statements, rows[0].Schema+"."+rows[0].Table), row
}

// TestTextThatHCLChanges is refused: HCL puts letters into their composed form.
func TestTextThatHCLChanges(t *testing.T) {
	for _, d := range []*model.Database{rowsOf("app", "e\u0301", "id", "1"), rowsOf("app", "t", "e\u0301", "1"), rowsOf("app", "t", "id", "e\u0301")} {
		_, err := export.YAML(d)
		require.NoError(t, err)
		_, err = export.HCL(d)
		require.EqualError(t, err, `HCL cannot declare the text "e\u0301", which is not in Unicode's composed form (NFC); -o sql declares everything, and SQL files can stand beside YAML and HCL`)
	}
}

func TestRoleThatReadsAsEverybody(t *testing.T) {
	d := rowsOf("app", "t", "id", "1")
	d.Grants = []model.Grant{{Object: model.Object{Kind: model.KindTable, Schema: "app", Name: "t"}, Grantee: "PUBLIC", Rights: model.Rights{Privileges: []string{"SELECT"}}}}
	_, err := export.YAML(d)
	require.ErrorContains(t, err, `privileges of role "PUBLIC", which reads as everybody`)
}

// TestSplitLeavesWhatNeedsTheRest cuts a model in which one function cannot be declared, and one table in part.
func TestSplitLeavesWhatNeedsTheRest(t *testing.T) {
	d := model.New(model.Postgres)
	d.Schemas = []model.Schema{{Name: "public"}}
	name := func(s string) model.Name { return model.Name{Schema: "public", Name: s} }
	column := func(typ, fallback string) []model.Column {
		return []model.Column{{Name: "c", Type: typ, Default: fallback}}
	}
	on := func(kind, s string) model.Dependency {
		return model.Dependency{Object: model.Object{Kind: kind, Schema: "public", Name: s}}
	}
	definition := func(kind, s, create string, needs ...model.Dependency) model.Definition {
		return model.Definition{Object: on(kind, s).Object, Create: create, DependsOn: needs}
	}
	key := model.Constraint{Name: "k", Kind: model.Unique, Columns: []string{"c"}, Period: true}
	d.Tables = []model.Table{
		{Name: name("called"), Columns: column("integer", "public.strict(1)")},
		{Name: name("partitioned"), Columns: column("integer", ""), Relation: model.Relation{PartitionBy: "RANGE (c)"}},
		{Name: name("plain"), Columns: column("integer", "")},
		{Name: name("points"), Columns: column("integer", ""), Constraints: []model.Constraint{
			{Name: "f", Kind: model.ForeignKey, Columns: []string{"c"}, Reference: &model.Reference{Table: name("partitioned"), Columns: []string{"c"}}},
			{Name: "g", Kind: model.ForeignKey, Columns: []string{"c"}, Reference: &model.Reference{Table: name("plain"), Columns: []string{"c"}}},
			{Name: "h", Kind: model.ForeignKey, Columns: []string{"c"}, Reference: &model.Reference{Table: name("weak"), Columns: []string{"c"}}},
		}},
		{Name: name("typed"), Columns: column("public.empty[]", "")},
		{Name: name("weak"), Columns: column("integer", ""), Constraints: []model.Constraint{key}, Relation: model.Relation{Unlogged: true}},
	}
	d.Enums = []model.Enum{{Name: name("empty")}}
	d.Definitions = []model.Definition{
		definition("function", "by_name", "CREATE FUNCTION public.by_name()\n RETURNS integer\n LANGUAGE sql\nAS $function$SELECT c FROM called$function$"),
		definition("function", "fine", "CREATE FUNCTION public.fine()\n RETURNS integer\n LANGUAGE sql\nAS $function$SELECT 1$function$"),
		definition("function", "strict", "CREATE FUNCTION public.strict(integer)\n RETURNS integer\n LANGUAGE sql\n STRICT\nAS $function$SELECT 1$function$"),
		definition("view", "over", `CREATE VIEW "public"."over" AS`+"\n SELECT c FROM public.upon", on("view", "upon")),
		definition("view", "seen", `CREATE VIEW "public"."seen" AS`+"\n SELECT c FROM public.plain", on("table", "plain")),
		definition("view", "upon", `CREATE VIEW "public"."upon" AS`+"\n SELECT c FROM public.called", on("table", "called")),
	}
	d.Grants = []model.Grant{{Object: on("view", "over").Object, Rights: model.Rights{Privileges: []string{"SELECT"}}}, {Object: on("view", "seen").Object, Rights: model.Rights{Privileges: []string{"SELECT"}}}}
	part := export.Split(d)
	var left []string
	for i := range part.Tables {
		left = append(left, part.Tables[i].Name.Name)
	}
	for i := range part.Definitions {
		left = append(left, part.Definitions[i].Name)
	}
	assert.Equal(t, []string{"plain", "points", "weak", "fine", "seen"}, left)
	assert.Equal(t, []string{"g"}, []string{part.Table(name("points")).Constraints[0].Name})
	assert.Len(t, part.Table(name("points")).Constraints, 1)
	assert.Empty(t, part.Table(name("weak")).Constraints)
	assert.False(t, part.Table(name("weak")).Unlogged)
	assert.Len(t, part.Grants, 1)
	assert.Empty(t, part.Enums)
	assert.Len(t, d.Table(name("points")).Constraints, 3, "the whole stays as it is")
	for _, write := range []func(*model.Database) ([]byte, error){export.YAML, export.HCL} {
		_, err := write(part)
		require.NoError(t, err)
		_, err = write(d)
		require.ErrorContains(t, err, "--rest FILE writes that as SQL")
	}
}
