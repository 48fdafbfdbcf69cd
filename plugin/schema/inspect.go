package schema

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/declare/export"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/desired"
	"github.com/ptah-run/ptah/plugin/options"
)

type inspectOptions struct {
	loader
	output *options.Output
	urlEnv string
	rest   string

	sources []string
	format  render.Format
}

func (o *inspectOptions) complete(args []string) error {
	o.sources = args
	if o.urlEnv != "" {
		if len(args) > 0 {
			return options.Usagef("--url-env stands in place of other sources")
		}
		o.sources = []string{databasePrefix + o.urlEnv}
	}
	if err := checkSources(o.sources); err != nil {
		return err
	}
	if err := o.server.Validate(); err != nil {
		return err
	}
	var err error
	if o.format, err = o.output.Format(); err != nil {
		return err
	}
	if o.rest != "" && o.format.Kind != render.YAML && o.format.Kind != render.HCL {
		return options.Usagef("--rest goes with -o yaml and -o hcl, which have no words for everything")
	}
	return o.checkRest()
}

// checkRest refuses to write the rest over what it is taken from.
func (o *inspectOptions) checkRest() error {
	if o.rest == "-" {
		return options.Usagef("--rest - names no file, and the declaration goes to the standard output")
	}
	rest, err := os.Stat(o.rest)
	if err != nil {
		return nil //nolint:nilerr // a file that is not there yet; another reason shows when it is written
	}
	for _, source := range o.sources {
		err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // no file, or one that the reader of the sources names
			}
			if info, err := entry.Info(); err == nil && os.SameFile(info, rest) {
				return options.Usagef("--rest %s would write over %s, which the schema is read from", o.rest, path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *inspectOptions) run(ctx context.Context, flags *pflag.FlagSet) error {
	defer o.close()
	s, err := o.load(ctx, o.sources, flags)
	if err != nil {
		return err
	}
	data, err := o.bytes(ctx, s.database)
	if err != nil {
		return err
	}
	if warning := desired.Unmanaged(s.database); warning != "" && o.format.Kind != render.SQL {
		o.global.Note(render.Caution, "%s", warning)
	}
	return o.output.Print(render.NewSchema(view(s), data))
}

// bytes makes what the chosen format prints in place of the view.
func (o *inspectOptions) bytes(ctx context.Context, database *model.Database) (map[render.FormatKind][]byte, error) {
	var data []byte
	var err error
	switch o.format.Kind {
	case render.JSON:
		data, err = model.Encode(database)
	case render.YAML:
		data, err = o.declaration(ctx, database, export.YAML)
	case render.HCL:
		data, err = o.declaration(ctx, database, export.HCL)
	case render.SQL:
		empty := model.New(database.Dialect)
		if database.Dialect == model.Postgres {
			empty.Schemas = []model.Schema{{Name: "public"}}
		}
		data, err = o.statements(ctx, empty, database)
	default:
		return nil, nil
	}
	return map[render.FormatKind][]byte{o.format.Kind: data}, err
}

// declaration writes a schema in a language, with --rest as far as that has words, and SQL for the rest.
func (o *inspectOptions) declaration(ctx context.Context, database *model.Database, write func(*model.Database) ([]byte, error)) ([]byte, error) {
	if o.rest == "" {
		return write(database)
	}
	if database.Dialect != model.Postgres {
		return nil, options.Usagef("--rest is for schemas of PostgreSQL")
	}
	part := export.Split(database)
	data, err := write(part)
	if err != nil {
		return nil, err
	}
	rest, err := o.statements(ctx, part, database)
	if err != nil {
		return nil, err
	}
	if err := replaceFile(o.rest, rest); err != nil {
		return nil, err
	}
	return data, nil
}

// statements plan a schema from another, in words of the dev server.
func (o *inspectOptions) statements(ctx context.Context, from, database *model.Database) ([]byte, error) {
	url, err := o.dev(ctx)
	if err != nil {
		return nil, err
	}
	server, err := engine.DialectOf(ctx, url)
	if err != nil {
		return nil, err
	}
	if (server == model.Postgres) != (database.Dialect == model.Postgres) {
		return nil, options.Usagef("-o sql asks a dev server of the schema's own kind: the schema is one of %s and the dev server speaks %s; name another one with --dev-url-env", database.Dialect, server)
	}
	result, err := engine.PlanFrom(ctx, engine.Options{URL: url}, from, database)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, s := range result.Document.Statements {
		sql := s.SQL
		if s.Kind == "set_check_function_bodies" { // files are loaded in no transaction
			sql = strings.Replace(sql, "SET LOCAL ", "SET ", 1)
		}
		out.WriteString(plan.Terminated(result.Document.Dialect, sql) + "\n")
	}
	return out.Bytes(), nil
}

// view puts a model into words.
func view(s source) render.Schema {
	d := s.database
	v := render.Schema{Source: s.label, Dialect: d.Dialect, Fingerprint: model.Fingerprint(d), Objects: []render.ObjectCount{}, Tables: []render.SchemaTable{}, Others: []string{}}
	for _, c := range []render.ObjectCount{
		{Kind: "schema", Count: len(d.Schemas)},
		{Kind: "extension", Count: len(d.Extensions)},
		{Kind: "collation", Count: len(d.Collations)},
		{Kind: "enum", Count: len(d.Enums)},
		{Kind: "domain", Count: len(d.Domains)},
		{Kind: "composite type", Count: len(d.Composites)},
		{Kind: "range type", Count: len(d.Ranges)},
		{Kind: "sequence", Count: len(d.Sequences)},
		{Kind: "table", Count: len(d.Tables)},
		{Kind: "grant", Count: len(d.Grants)},
		{Kind: "default privilege", Count: len(d.DefaultPrivileges)},
	} {
		if c.Count > 0 {
			v.Objects = append(v.Objects, c)
		}
	}
	for i := range d.Definitions {
		o := &d.Definitions[i].Object
		v.Objects = count(v.Objects, o.Kind)
		v.Others = append(v.Others, describe(o))
	}
	for i := range d.Tables {
		t := table(&d.Tables[i])
		if r := d.RowsOf(d.Tables[i].Name); r != nil {
			t.Parts = append(t.Parts, fmt.Sprintf("managed rows (%s): %d, keyed by (%s)", strings.Join(r.Columns, ", "), len(r.Rows), strings.Join(r.Keys, ", ")))
		}
		v.Tables = append(v.Tables, t)
	}
	for i := range d.Grants {
		v.Others = append(v.Others, grants(&d.Grants[i])...)
	}
	for i := range d.DefaultPrivileges {
		v.Others = append(v.Others, defaults(&d.DefaultPrivileges[i])...)
	}
	for i := range d.Unmodelled {
		v.Others = append(v.Others, describe(&d.Unmodelled[i])+" (not managed)")
	}
	return v
}

func count(objects []render.ObjectCount, kind string) []render.ObjectCount {
	if i := slices.IndexFunc(objects, func(c render.ObjectCount) bool { return c.Kind == kind }); i >= 0 {
		objects[i].Count++
		return objects
	}
	return append(objects, render.ObjectCount{Kind: kind, Count: 1})
}

func describe(o *model.Object) string {
	name := o.Name
	if o.Schema != "" {
		name = o.Schema + "." + name
	}
	text := o.Kind + " " + name
	if o.Table != "" && o.Table != o.Name {
		text += " of table " + o.Table
	}
	return text
}

func table(t *model.Table) render.SchemaTable {
	out := render.SchemaTable{Name: display(t.Name), Comment: t.Comment, Columns: []render.SchemaColumn{}, Parts: []string{}}
	for i := range t.Columns {
		c := &t.Columns[i]
		out.Columns = append(out.Columns, render.SchemaColumn{Name: c.Name, Type: c.Type, Note: note(c)})
	}
	for i := range t.Constraints {
		out.Parts = append(out.Parts, constraint(&t.Constraints[i]))
	}
	for i := range t.Indexes {
		out.Parts = append(out.Parts, index(&t.Indexes[i]))
	}
	return out
}

func display(n model.Name) string {
	if n.Schema == "" {
		return n.Name
	}
	return n.Schema + "." + n.Name
}

func note(c *model.Column) string {
	var words []string
	add := func(when bool, text string) {
		if when {
			words = append(words, text)
		}
	}
	add(c.NotNull, "not null")
	add(c.Default != "", "default "+c.Default)
	add(c.Identity != nil, "identity")
	if c.Generated != nil {
		add(true, "generated "+c.Generated.Expression)
	}
	add(c.Comment != "", "-- "+c.Comment)
	return strings.Join(words, ", ")
}

func constraint(c *model.Constraint) string {
	text := strings.ReplaceAll(string(c.Kind), "_", " ") + " " + c.Name
	switch {
	case c.Kind == model.Check:
		return text + " " + c.Expression
	case c.Reference != nil:
		return fmt.Sprintf("%s (%s) to %s (%s)", text, strings.Join(c.Columns, ", "), display(c.Reference.Table), strings.Join(c.Reference.Columns, ", "))
	}
	return text + " (" + strings.Join(c.Columns, ", ") + ")"
}

func index(x *model.Index) string {
	keys := make([]string, len(x.Keys))
	for i, k := range x.Keys {
		keys[i] = strings.TrimSpace(k.Column + k.Expression + " " + k.Order)
	}
	text := "index " + x.Name + " (" + strings.Join(keys, ", ") + ")"
	if x.Unique {
		text = "unique " + text
	}
	if x.Predicate != "" {
		text += " where " + x.Predicate
	}
	return text
}
