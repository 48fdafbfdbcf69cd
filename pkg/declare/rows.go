package declare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// RowSet is the whole content of one table of reference data, as it is declared.
type RowSet struct {
	Schema, Table string
	Keys, Columns []string // the keys come first in the columns, the others are sorted
	Rows          []Row
	At            Position
}

// Row is one row, with a value for each column of its set.
type Row struct {
	Values []RowValue
	At     Position
}

// RowValue is the text of a value, as it is written: numbers keep every digit. Nested marks a list or a mapping, whose text is JSON.
type RowValue struct {
	Text         string
	Null, Nested bool
	At           Position
}

// Rows are the declared rows, sorted by table.
func (t *Tree) Rows() []RowSet {
	var out []RowSet
	for _, o := range t.objects {
		if o.Key.Kind != DataKind {
			continue
		}
		set := RowSet{Schema: o.Key.Schema, Table: o.Key.Table, Keys: o.attrs["keys"].texts(), At: o.At}
		set.Columns = columnsOf(o)
		for _, row := range o.attrs["rows"].list {
			r := Row{At: row.at}
			for _, name := range set.Columns {
				v, _ := row.entry(name)
				r.Values = append(r.Values, rowValue(v))
			}
			set.Rows = append(set.Rows, r)
		}
		out = append(out, set)
	}
	return out
}

// columnsOf are the keys and then what else the rows have.
func columnsOf(o *Object) []string {
	columns := o.attrs["keys"].texts()
	rows := o.attrs["rows"].list
	if len(rows) == 0 {
		return columns
	}
	for _, e := range rows[0].entries {
		if !slices.Contains(columns, e.name) {
			columns = append(columns, e.name)
		}
	}
	return columns
}

func rowValue(v Value) RowValue {
	out := RowValue{Text: v.text, At: v.at}
	switch v.form {
	case formNull:
		out.Null = true
	case formFlag:
		out.Text = fmt.Sprint(v.flag)
	case formList, formMap:
		out.Text, out.Nested = string(v.json(nil)), true
	}
	return out
}

// json writes a value as JSON, numbers as they are written.
func (v Value) json(out []byte) []byte {
	switch v.form {
	case formNull:
		return append(out, "null"...)
	case formFlag:
		return fmt.Append(out, v.flag)
	case formNumber:
		return append(out, v.text...)
	case formList:
		out = append(out, '[')
		for i, item := range v.list {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = item.json(out)
		}
		return append(out, ']')
	case formMap:
		out = append(out, '{')
		for i, e := range v.entries {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = append(append(out, jsonText(e.name)...), ": "...)
			out = e.value.json(out)
		}
		return append(out, '}')
	}
	return append(out, jsonText(v.text)...)
}

func jsonText(text string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // text always has a form
	return bytes.TrimRight(b.Bytes(), "\n")
}

// maxRows bounds the rows of one table: what has more is no reference data.
const maxRows = 100_000

// acceptRows wants a list of mappings of columns to values, and sorts each by column.
func acceptRows(v Value) (Value, string) {
	if v.form != formList {
		return v, "want a list of rows"
	}
	if len(v.list) > maxRows {
		return v, fmt.Sprintf("has %d rows; more than %d are no reference data", len(v.list), maxRows)
	}
	out := Value{at: v.at, form: formList}
	for _, row := range v.list {
		if row.form != formMap || len(row.entries) == 0 {
			return Value{at: row.at}, "want a mapping of columns to values for each row"
		}
		sorted := Value{at: row.at, form: formMap, entries: slices.Clone(row.entries)}
		slices.SortFunc(sorted.entries, func(a, b entry) int { return compareText(a.name, b.name) })
		for _, e := range sorted.entries {
			if problem := checkName(e.name, false); problem != "" {
				return Value{at: e.at}, fmt.Sprintf("the column name %q %s", e.name, problem)
			}
			if at, problem := checkRowValue(e.value, false); problem != "" {
				return Value{at: at}, fmt.Sprintf("column %q %s", e.name, problem)
			}
		}
		out.list = append(out.list, sorted)
	}
	return out, ""
}

// checkRowValue says why something cannot be a value, and where that stands.
func checkRowValue(v Value, nested bool) (at Position, problem string) {
	switch v.form {
	case formText:
		_, problem = acceptText(property{want: wantText}, v)
		return v.at, problem
	case formNumber:
		if nested && !json.Valid([]byte(v.text)) {
			return v.at, "holds a number that JSON writes in another way"
		}
	case formList:
		for _, item := range v.list {
			if at, problem := checkRowValue(item, true); problem != "" {
				return at, problem
			}
		}
	case formMap:
		for _, e := range v.entries {
			if at, problem := checkRowValue(e.value, true); problem != "" {
				return at, problem
			}
		}
	case formFlag, formNull:
	default:
		return v.at, "wants a value: text, a number, true, false, null, a list or a mapping; nothing is computed"
	}
	return v.at, ""
}

// weigh takes values and their text off two budgets, as often as they are repeated; false where one is spent.
func (v Value) weigh(values, text *int) bool {
	if *values--; *values < 0 {
		return false
	}
	if *text -= len(v.text); *text < 0 {
		return false
	}
	for _, item := range v.list {
		if !item.weigh(values, text) {
			return false
		}
	}
	for _, e := range v.entries {
		if *text -= len(e.name); *text < 0 || !e.value.weigh(values, text) {
			return false
		}
	}
	return true
}

// rowFiles are the files among the sources that hold rows: a list where a declaration is a mapping.
type rowFiles map[string]*rowFile

type rowFile struct {
	root *yaml.Node
	read *yamlReader
	used bool
}

// unused reports the files that no declaration takes rows from.
func (f rowFiles) unused() {
	for _, file := range f {
		if !file.used {
			file.read.bag.add(file.read.at(file.root), "the document: want a mapping, got a list; a file of rows is named by a declaration of managed rows")
		}
	}
}

// FileOf is the name of the file that a declaration in another one means.
func FileOf(declaring, file string) string { return path.Join(path.Dir(declaring), file) }

// checkFile says why a text cannot name a file of rows.
func checkFile(file string) string {
	switch {
	case path.IsAbs(file) || strings.ContainsAny(file, "\\:"):
		return "want a path that is relative to this file, with slashes"
	case formatOf(file) != "yaml":
		return "want a .yaml or .yml file"
	}
	return ""
}

// take puts the rows of a file in the place of its name.
func (f rowFiles) take(o *Object, b *bag) {
	v, ok := o.attrs["file"]
	if o.Key.Kind != DataKind || !ok {
		return
	}
	delete(o.attrs, "file")
	if o.has("rows") {
		b.add(v.at, "%s: file and rows exclude each other", DataKind)
		return
	}
	if problem := checkFile(v.text); problem != "" {
		b.add(v.at, "%s: %s", DataKind, problem)
		return
	}
	file, found := f[FileOf(v.at.File, v.text)]
	if !found {
		b.add(v.at, "%s: file %q is not there, or holds no list of rows; a table without rows is declared with []", DataKind, v.text)
		return
	}
	file.used = true
	file.read.property(o, "rows", property{want: wantRows}, pair{at: file.read.at(file.root), value: file.root})
}

// RowFiles are the files that managed rows of the sources are taken from, each once, by the names that they have beside the sources. What is
// wrong with the sources is Read's to say.
func RowFiles(files []File, o Options) []string {
	var b bag
	var names []string
	objects, _ := readAll(files, o, &b)
	for _, x := range objects {
		v, ok := x.attrs["file"]
		if x.Key.Kind == DataKind && ok && checkFile(v.text) == "" {
			names = append(names, FileOf(v.at.File, v.text))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// rows puts declared rows under their table and checks them against each other. A table that only SQL declares is left to the server.
func (r *resolver) rows(o *Object) {
	v := o.attrs["table"]
	t := r.tableOfRows(v)
	if t == nil && v.ref.kind != "" {
		return // reported
	}
	schema, name := o.text("schema"), v.ref.parts[len(v.ref.parts)-1]
	if len(v.ref.parts) == 2 {
		schema = v.ref.parts[0]
	}
	if schema == "" {
		schema = defaultSchema
	}
	o.Key = Key{Kind: DataKind, Schema: schema, Table: name}
	if t != nil {
		o.Key.Schema = t.Key.Schema
	}
	delete(o.attrs, "table")
	delete(o.attrs, "schema")
	r.checkRows(o, t)
}

// tableOfRows is the declared table; nil where there is none, which only a reference of HCL has reported.
func (r *resolver) tableOfRows(v Value) *Object {
	parts := v.ref.parts
	declared := slices.ContainsFunc(r.byName[parts[len(parts)-1]], func(o *Object) bool {
		return o.Key.Kind == TableKind && (len(parts) == 1 || o.Key.Schema == parts[0])
	})
	if !declared && v.ref.kind == "" {
		return nil
	}
	return r.find(v, TableKind)
}

func (r *resolver) checkRows(o, t *Object) {
	keys := o.attrs["keys"]
	if t != nil {
		r.columns(t, "keys", keys)
	}
	columns := columnsOf(o)
	seen := map[string]Position{}
	for i, row := range o.attrs["rows"].list {
		for _, e := range row.entries {
			switch {
			case t != nil && i == 0:
				r.columns(t, "rows", Value{list: []Value{textValue(e.at, e.name)}})
			case !slices.Contains(columns, e.name):
				r.bag.add(e.at, "%s: column %q stands in this row and not in the first one; each row names the same columns", o.Key, e.name)
			}
		}
		key := ""
		for _, name := range columns {
			v, ok := row.entry(name)
			isKey := slices.Contains(keys.texts(), name)
			switch {
			case !ok:
				r.bag.add(row.at, "%s: the row has no column %q; write null where that is meant", o.Key, name)
			case isKey && v.form == formNull:
				r.bag.add(v.at, "%s: key %q is null", o.Key, name)
			case isKey:
				key += Quote(rowValue(v).Text)
			}
		}
		if first, twice := seen[key]; twice {
			r.bag.add(row.at, "%s: a second row with the key (%s), the first at %s", o.Key, strings.Join(keys.texts(), ", "), first)
			continue
		}
		seen[key] = row.at
	}
}
