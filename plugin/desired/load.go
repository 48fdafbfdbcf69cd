// Package desired reads a declared schema from files, SQL, YAML and HCL mixed, and loads it through a dev server: what "push schema" publishes
// and "schema" shows.
package desired

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/plugin/options"
)

// Schema is a declared schema that was read and checked, and not loaded yet.
type Schema struct {
	Files []artifact.File

	statements []engine.Declared
	rows       []engine.DeclaredRows
	renames    []engine.Rename
	sql        []engine.Source
}

// Parse reads the declarations among the files for a dialect of declare. Variables are those of HCL, each as NAME=VALUE.
func Parse(files []artifact.File, variables []string, dialect string) (*Schema, error) {
	values, err := assignments(variables)
	if err != nil {
		return nil, err
	}
	s := &Schema{Files: files}
	var declarations []declare.File
	for _, f := range files {
		if declare.IsSource(f.Name) {
			declarations = append(declarations, declare.File{Name: f.Name, Data: f.Data})
		} else {
			s.sql = append(s.sql, engine.Source{Name: f.Name, Data: f.Data})
		}
	}
	if len(declarations) == 0 && len(values) > 0 {
		return nil, options.Usagef("--var is for HCL files, and there is none")
	}
	tree, err := declare.Read(declarations, declare.Options{Dialect: dialect, Variables: values})
	if err != nil {
		return nil, err
	}
	statements, err := tree.Render()
	if err != nil {
		return nil, err
	}
	for i := range statements {
		s.statements = append(s.statements, rendered(&statements[i]))
	}
	for _, set := range tree.Rows() {
		s.rows = append(s.rows, managedRows(&set))
	}
	for _, r := range tree.Renames() {
		s.renames = append(s.renames, engine.Rename{Table: model.Name{Schema: r.Schema, Name: r.Table}, Column: r.Column, Index: r.Index, From: r.From, At: r.At.String()})
	}
	return s, nil
}

func rendered(s *declare.Statement) engine.Declared {
	return engine.Declared{
		SQL: s.SQL, At: s.At.String(), Where: func(offset int) string { return s.Where(offset).String() },
		Object: model.Object{Kind: string(s.Key.Kind), Schema: s.Key.Schema, Table: s.Key.Table, Name: s.Key.Name},
	}
}

func managedRows(set *declare.RowSet) engine.DeclaredRows {
	out := engine.DeclaredRows{Table: model.Name{Schema: set.Schema, Name: set.Table}, Keys: set.Keys, Columns: set.Columns, At: set.At.String()}
	for i := range set.Rows {
		row := engine.DeclaredRow{At: set.Rows[i].At.String()}
		for _, v := range set.Rows[i].Values {
			value := engine.DeclaredValue{JSON: v.Nested, At: v.At.String()}
			if !v.Null {
				value.Text = &v.Text
			}
			row.Values = append(row.Values, value)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func assignments(variables []string) (map[string]string, error) {
	values := map[string]string{}
	for _, v := range variables {
		name, value, ok := strings.Cut(v, "=")
		if _, twice := values[name]; !ok || name == "" || twice {
			return nil, options.Usagef("--var wants NAME=VALUE, each name once")
		}
		values[name] = value
	}
	return values, nil
}

// Load runs the schema in a fresh scratch database on a dev server and reads it back. Errors carry file, line and column and never the URL. A warning
// names the tables whose rows get lost.
func (s *Schema) Load(ctx context.Context, devURL string, warn func(format string, arguments ...any)) (*model.Database, error) {
	left := func(tables []model.Name) {
		if len(tables) > 0 {
			warn("rows that SQL files write are no part of a schema and are left out, as those of %s; rows that belong to it are declared under data in YAML or HCL", someOf(tables))
		}
	}
	return engine.LoadDeclared(ctx, devURL, engine.Declarations{Statements: s.statements, Rows: s.rows, Renames: s.renames, Left: left}, s.sql)
}

// someOf names the first tables and counts the others.
func someOf(tables []model.Name) string {
	const most = 3
	names := make([]string, min(len(tables), most))
	for i := range names {
		names[i] = strings.TrimPrefix(tables[i].Schema+"."+tables[i].Name, ".")
	}
	text := "table " + strings.Join(names, ", ")
	if len(names) > 1 {
		text = "tables " + strings.Join(names, ", ")
	}
	if more := len(tables) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// IsEmpty reports whether a schema declares nothing: a database that follows it loses every object.
func IsEmpty(database *model.Database) bool {
	return !slices.ContainsFunc(model.Facts(database), func(f model.Fact) bool { return f.Kind != model.KindSchema || f.Name != "public" })
}

// Unmanaged says what a model holds and the engine does not manage; empty where there is nothing.
func Unmanaged(database *model.Database) string {
	if err := engine.CheckSupported(database, nil); err != nil {
		return err.Error() + "; planning will refuse it, unless policy.exclude leaves it out"
	}
	return ""
}

// FromHCL reads the one layer of an artifact of the public toolkit.
func FromHCL(data []byte, dialect string) (*Schema, error) {
	s, err := Parse([]artifact.File{{Name: "schema.hcl", Data: data}}, nil, dialect)
	var fault *declare.Error
	if errors.As(err, &fault) {
		return nil, fmt.Errorf("the artifact's own declaration cannot be read: %w", err)
	}
	return s, err
}
