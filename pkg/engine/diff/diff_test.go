package diff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

func TestTypeChanges(t *testing.T) {
	for _, c := range []struct {
		from, to string
		widens   bool
	}{
		{"smallint", "integer", true},
		{"integer", "bigint", true},
		{"bigint", "integer", false},
		{"integer", "numeric", true},
		{"integer", "numeric(10,0)", true},
		{"integer", "numeric(10,2)", false},
		{"numeric(8,2)", "numeric(10,2)", true},
		{"numeric(8,2)", "numeric(10,3)", true},
		{"numeric(8,2)", "numeric(8,3)", false},
		{"numeric(10,2)", "numeric(8,2)", false},
		{"numeric(10,2)", "numeric", true},
		{"numeric", "numeric(10,2)", false},
		{"character varying(10)", "character varying(20)", true},
		{"character varying(20)", "character varying(10)", false},
		{"character varying", "character varying(10)", false},
		{"character varying(10)", "text", true},
		{"text", "character varying", true},
		{"text", "character varying(10)", false},
		{"real", "double precision", true},
		{"double precision", "real", false},
		{"timestamp(3) without time zone", "timestamp without time zone", true},
		{"timestamp without time zone", "timestamp(3) without time zone", false},
		{"timestamp without time zone", "timestamp with time zone", false},
		{"text", "integer", false},
		{"integer", "integer[]", false},
		{"json", "jsonb", false},
		{"public.a", "public.b", false},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) { assert.Equal(t, c.widens, diff.Widens(c.from, c.to)) })
	}
}

func table(t model.Table) *model.Database {
	d := model.New(model.Postgres)
	t.Name = model.Name{Schema: "public", Name: "t"}
	d.Tables = []model.Table{t}
	d.Normalise()
	return d
}

func enum(values ...string) *model.Database {
	d := model.New(model.Postgres)
	d.Enums = []model.Enum{{Name: model.Name{Schema: "public", Name: "e"}, Values: values}}
	return d
}

func TestFindings(t *testing.T) {
	id := model.Column{Name: "id", Type: "integer", NotNull: true}
	key := model.Constraint{Name: "k", Kind: model.PrimaryKey, Columns: []string{"id"}}
	named := key
	named.Name = "other"
	unique := model.Constraint{Name: "u", Kind: model.Unique, Columns: []string{"id"}}
	index := model.Index{Name: "i", Method: "btree", Keys: []model.IndexKey{{Column: "id"}}}
	uniqueIndex := index
	uniqueIndex.Unique = true
	with := func(columns ...model.Column) *model.Database { return table(model.Table{Columns: columns}) }
	for name, c := range map[string]struct {
		from, to *model.Database
		want     []diff.Finding
	}{
		"equal":                   {with(id), with(id), []diff.Finding{}},
		"table added":             {model.New(model.Postgres), with(id), []diff.Finding{{Category: "tables_added", Count: 1, Severity: "safe"}}},
		"table removed":           {with(id), model.New(model.Postgres), []diff.Finding{{Category: "tables_removed", Count: 1, Severity: "destructive"}}},
		"column needs a value":    {with(id), with(id, model.Column{Name: "n", Type: "text", NotNull: true}), []diff.Finding{{Category: "columns_added", Count: 1, Severity: "warning"}}},
		"column added":            {with(id), with(id, model.Column{Name: "n", Type: "text"}), []diff.Finding{{Category: "columns_added", Count: 1, Severity: "safe"}}},
		"column order":            {with(id, model.Column{Name: "n", Type: "text"}), with(model.Column{Name: "n", Type: "text"}, id), []diff.Finding{}},
		"not null dropped":        {with(id), with(model.Column{Name: "id", Type: "integer"}), []diff.Finding{{Category: "columns_modified", Count: 1, Severity: "destructive"}}},
		"type widened":            {with(id), with(model.Column{Name: "id", Type: "bigint", NotNull: true}), []diff.Finding{{Category: "columns_modified", Count: 1, Severity: "warning"}}},
		"primary key renamed":     {table(model.Table{Columns: []model.Column{id}, Constraints: []model.Constraint{key}}), table(model.Table{Columns: []model.Column{id}, Constraints: []model.Constraint{named}}), []diff.Finding{{Category: "table_constraints_added", Count: 1, Severity: "warning"}}},
		"unique removed":          {table(model.Table{Columns: []model.Column{id}, Constraints: []model.Constraint{unique}}), with(id), []diff.Finding{{Category: "unique_protections_removed", Count: 1, Severity: "destructive"}}},
		"unique index removed":    {table(model.Table{Columns: []model.Column{id}, Indexes: []model.Index{uniqueIndex}}), with(id), []diff.Finding{{Category: "unique_protections_removed", Count: 1, Severity: "destructive"}}},
		"index replaced":          {table(model.Table{Columns: []model.Column{id}, Indexes: []model.Index{index}}), table(model.Table{Columns: []model.Column{id}, Indexes: []model.Index{uniqueIndex}}), []diff.Finding{{Category: "indexes_added", Count: 1, Severity: "warning"}, {Category: "indexes_removed", Count: 1, Severity: "warning"}}},
		"enum values both ways":   {enum("a", "b"), enum("a", "c", "d"), []diff.Finding{{Category: "enum_values_removed", Count: 1, Severity: "destructive"}, {Category: "enum_values_added", Count: 2, Severity: "safe"}}},
		"enum reordered":          {enum("a", "b"), enum("b", "a"), []diff.Finding{{Category: "enum_values_removed", Count: 1, Severity: "destructive"}}},
		"sorted by severity":      {table(model.Table{Columns: []model.Column{id}, Constraints: []model.Constraint{unique}, Comment: "x"}), with(id, model.Column{Name: "n", Type: "text"}), []diff.Finding{{Category: "unique_protections_removed", Count: 1, Severity: "destructive"}, {Category: "columns_added", Count: 1, Severity: "safe"}, {Category: "columns_modified", Count: 1, Severity: "safe"}}},
		"absent and empty equals": {table(model.Table{Columns: []model.Column{id}, Options: []string{}}), with(id), []diff.Finding{}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, diff.Compare(c.from, c.to).Findings()) })
	}
}
