package declare_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/declare"
)

// plainRows are the values alone, NULL as "NULL" and nested ones behind "json ".
func plainRows(set declare.RowSet) [][]string {
	var out [][]string
	for _, row := range set.Rows {
		var values []string
		for _, v := range row.Values {
			switch {
			case v.Null:
				values = append(values, "NULL")
			case v.Nested:
				values = append(values, "json "+v.Text)
			default:
				values = append(values, v.Text)
			}
		}
		out = append(out, values)
	}
	return out
}

const rowsOfHCL = `table "countries" {
  schema = schema.app
  column "code" {
    type = char(2)
  }
  column "name" {
    type = text
  }
  column "rate" {
    type = numeric
  }
  column "tags" {
    type = sql("text[]")
  }
  primary_key {
    columns = [column.code]
  }
}

schema "app" {
}

data {
  table = table.countries
  keys  = [column.code]
  rows = [
    { code = "de", name = "Germany", rate = 19.00000000000000000001, tags = ["eu", "a \"b\""] },
    { code = "fr", name = null, rate = -0.10, tags = [] },
  ]
}
`

const rowsOfYAML = `schemas: {app: }
tables:
  app.countries:
    columns:
      code: {type: char(2), primary: true}
      name: {type: text, not_null: true}
      rate: {type: numeric, not_null: true}
      tags: {type: "text[]", not_null: true}
data:
  countries:
    keys: [code]
    rows:
      - {code: de, rate: 19.00000000000000000001, name: Germany, tags: [eu, 'a "b"']}
      - {code: fr, name: null, rate: -0.10, tags: []}
`

// TestRowsInBothLanguages says the same rows in both, with every digit.
func TestRowsInBothLanguages(t *testing.T) {
	for name, text := range map[string]string{"a.hcl": rowsOfHCL, "a.yaml": rowsOfYAML} {
		sets := read(t, declare.File{Name: name, Data: []byte(text)}).Rows()
		require.Len(t, sets, 1)
		set := sets[0]
		assert.Equal(t, [2]string{"app", "countries"}, [2]string{set.Schema, set.Table})
		assert.Equal(t, []string{"code"}, set.Keys)
		assert.Equal(t, []string{"code", "name", "rate", "tags"}, set.Columns)
		assert.Equal(t, [][]string{{"de", "Germany", "19.00000000000000000001", `json ["eu", "a \"b\""]`}, {"fr", "NULL", "-0.10", "json []"}}, plainRows(set))
	}
	both := read(t, declare.File{Name: "a.yaml", Data: []byte(rowsOfYAML)}, declare.File{Name: "b.yaml", Data: []byte(rowsOfYAML)})
	assert.Len(t, both.Rows(), 1, "the same rows twice are one set")
}

// TestRowsOfFiles takes rows from files beside the declaration, in whatever order the files come.
func TestRowsOfFiles(t *testing.T) {
	declaration := declare.File{Name: "schema/a.hcl", Data: []byte("data {\n  table = \"app.t\"\n  keys  = [\"id\"]\n  file  = \"../data/t.yaml\"\n}\n")}
	rows := declare.File{Name: "data/t.yaml", Data: []byte("# what is for sale\n- id: 007\n  at: 2026-11-30 10:00:00+02\n  meta: {b: [1.50, yes], a: null}\n")}
	options := declare.Options{Dialect: declare.Postgres}
	assert.Equal(t, []string{"data/t.yaml"}, declare.RowFiles([]declare.File{declaration}, options))
	for _, files := range [][]declare.File{{declaration, rows}, {rows, declaration}} {
		set := read(t, files...).Rows()[0]
		assert.Equal(t, []string{"id", "at", "meta"}, set.Columns)
		assert.Equal(t, [][]string{{"007", "2026-11-30 10:00:00+02", `json {"b": [1.50, "yes"], "a": null}`}}, plainRows(set))
		assert.Equal(t, "data/t.yaml:3:7", set.Rows[0].Values[1].At.String())
	}
	empty := declare.File{Name: "data/t.yaml", Data: []byte("[]")}
	set := read(t, declaration, empty).Rows()[0]
	assert.Equal(t, []string{"id"}, set.Columns)
	assert.Empty(t, set.Rows)
	_, err := declare.Read([]declare.File{declaration, {Name: "data/t.yaml", Data: []byte("# nothing\n")}}, options)
	assert.ErrorContains(t, err, `schema/a.hcl:4:11: managed rows: file "../data/t.yaml" is not there, or holds no list of rows`)
}

// TestRowsOfTwoFilesDiffer names both places.
func TestRowsOfTwoFilesDiffer(t *testing.T) {
	one := declare.File{Name: "a.yaml", Data: []byte("data: {t: {keys: [id], rows: [{id: 1}]}}")}
	two := declare.File{Name: "b.yaml", Data: []byte("data: {t: {keys: [id], rows: [{id: 2}]}}")}
	_, err := declare.Read([]declare.File{one, two}, declare.Options{Dialect: declare.Postgres})
	assert.ErrorContains(t, err, `b.yaml:1:30: managed rows of table "public"."t" is declared differently at a.yaml:1:30: property rows`)
}
