package postgres

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// asidePrefix starts the name that an enum has while it is built again.
const asidePrefix = "ptah_old_"

// aside is an enum that loses values or has them in another order: PostgreSQL has no statement for that. It is renamed out of the way, and the plan
// goes on from there: the declared enum is new, everything that used the old one is changed to it, and the old one is dropped.
type aside struct {
	name, old model.Name // as declared, and out of the way
	hazard    string
}

// setAside renames such enums and returns the database as it is behind that.
func setAside(from, to, excluded *model.Database) (*model.Database, []aside, []step, error) {
	var all []aside
	var steps []step
	db := from
	for i := range to.Enums {
		n := &to.Enums[i]
		j, found := slices.BinarySearchFunc(from.Enums, n.Name, func(e model.Enum, k model.Name) int { return e.Compare(k) })
		if !found || diff.Subsequence(from.Enums[j].Values, n.Values) {
			continue
		}
		a := aside{name: n.Name, hazard: lostValues(from.Enums[j].Values, n.Values)}
		if user := enumUser(excluded, n.Name); user != "" {
			return nil, nil, nil, refuseObject("enum %q.%q loses values or has them in another order, and the excluded %s uses it: the plan never changes what is excluded", n.Schema, n.Name.Name, user)
		}
		a.old = freeName(n.Name, db, to, excluded)
		steps = append(steps, step{Statement: plan.Statement{
			SQL: "ALTER TYPE " + qualified(a.name) + " RENAME TO " + ident(a.old.Name), Severity: diff.Destructive, Kind: "rename_enum", Object: display(a.name.Schema, a.name.Name),
			Reason: "the enum is built again, because PostgreSQL cannot remove or reorder values in place", Hazard: a.hazard,
		}})
		db = renameEnum(db, a.name, a.old)
		all = append(all, a)
	}
	return db, all, steps, nil
}

// lostValues says what becomes of the values.
func lostValues(o, n []string) string {
	var gone []string
	for _, v := range o {
		if !slices.Contains(n, v) {
			gone = append(gone, fmt.Sprintf("%q", display(v)))
		}
	}
	if len(gone) == 0 {
		return "values compare and sort in another order"
	}
	const limit = 20
	if len(gone) > limit {
		gone = append(gone[:limit], fmt.Sprintf("%d more", len(gone)-limit))
	}
	return "removes " + strings.Join(gone, ", ") + ": a row that holds one stops the plan, and nothing is changed"
}

// enumUser names something that uses an enum; empty where there is nothing.
func enumUser(db *model.Database, enum model.Name) string {
	for i := range db.Tables {
		if t := &db.Tables[i]; tableMentions(t, []model.Name{enum}, func(string) bool { return false }) {
			return fmt.Sprintf("table %q.%q", t.Schema, t.Name.Name)
		}
	}
	for _, n := range typeGraph(db) {
		if n.uses[enum] {
			return fmt.Sprintf("%s %q.%q", n.kind, n.name.Schema, n.name.Name)
		}
	}
	for i := range db.Definitions {
		d := &db.Definitions[i]
		if slices.ContainsFunc(d.DependsOn, func(dep model.Dependency) bool { return dependsOnEnum(dep, enum) }) {
			return fmt.Sprintf("%s %q.%q", d.Kind, d.Schema, d.Name)
		}
	}
	return ""
}

func dependsOnEnum(dep model.Dependency, enum model.Name) bool {
	return dep.Kind == model.KindEnum && dep.Schema == enum.Schema && dep.Name == enum.Name
}

// freeName is a name beside an enum that nothing has.
func freeName(enum model.Name, databases ...*model.Database) model.Name {
	const longest = 63 - len(asidePrefix) - 4
	base := asidePrefix + strings.ToValidUTF8(enum.Name[:min(len(enum.Name), longest)], "")
	for i := 0; ; i++ {
		n := model.Name{Schema: enum.Schema, Name: base}
		if i > 0 {
			n.Name = fmt.Sprintf("%s_%d", base, i)
		}
		if !slices.ContainsFunc(databases, func(db *model.Database) bool { return hasRelationOrType(db, n) }) {
			return n
		}
	}
}

func hasRelationOrType(db *model.Database, n model.Name) bool {
	return tableNamed(db, n) != nil || hasName(db.Sequences, n, sequenceName) ||
		slices.ContainsFunc(typeGraph(db), func(t *typeNode) bool { return slices.Contains(t.names, n) }) ||
		slices.ContainsFunc(db.Definitions, func(d model.Definition) bool { return d.Schema == n.Schema && d.Name == n.Name })
}

// renameEnum is a database in which an enum has another name, everywhere where the server prints it.
func renameEnum(db *model.Database, old, name model.Name) *model.Database {
	out := copied(reflect.ValueOf(db)).Interface().(*model.Database)
	r := typeRenamer{old: old, name: name}
	for i := range out.Enums {
		if out.Enums[i].Name == old {
			out.Enums[i].Name = name
		}
	}
	for i := range out.Definitions {
		for j := range out.Definitions[i].DependsOn {
			if dep := &out.Definitions[i].DependsOn[j]; dependsOnEnum(*dep, old) {
				dep.Name = name.Name
			}
		}
	}
	for _, part := range []any{&out.Tables, &out.Domains, &out.Composites, &out.Ranges, &out.Definitions} {
		r.rewrite(reflect.ValueOf(part).Elem(), "")
	}
	out.Normalise()
	return out
}

// copied is a deep copy of a model.
func copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(copied(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(copied(v.Index(i)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(copied(v.Field(i)))
		}
	default:
		out.Set(v)
	}
	return out
}

// plainFields hold names and a person's words, and no text of the server's.
var plainFields = []string{"Name", "Schema", "Table", "Kind", "Column", "Columns", "Include", "Comment", "RenamedFrom", "Options", "Inherits", "DeleteColumns"}

type typeRenamer struct{ old, name model.Name }

// rewrite puts the new name into every text that the server prints.
func (r typeRenamer) rewrite(v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.rewrite(v.Elem(), field)
		}
	case reflect.Slice:
		for i := range v.Len() {
			r.rewrite(v.Index(i), field)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); v.Field(i).Kind() == reflect.Struct || v.Field(i).Kind() == reflect.Slice && f.Name == "Columns" && v.Field(i).Type().Elem().Kind() == reflect.Struct || !slices.Contains(plainFields, f.Name) {
				r.rewrite(v.Field(i), f.Name)
			}
		}
	case reflect.String:
		if !slices.Contains(plainFields, field) {
			v.SetString(r.text(v.String()))
		}
	}
}

// text renames the type in a deparsed text. Strings stay, bodies of routines among them: the server does not look into them.
func (r typeRenamer) text(s string) string {
	if !strings.Contains(s, r.old.Name) && !strings.Contains(s, strings.ReplaceAll(r.old.Name, `"`, `""`)) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		end := i + 1
		switch c := s[i]; {
		case c == '\'':
			end = skipQuoted(s, i)
		case c == '$' && (i == 0 || !isWord(s[i-1])):
			end = skipDollar(s, i)
		case c == '"' || isWord(c):
			end = nameEnd(s[i:]) + i
			if dot := topDot(s[i:end]); dot >= 0 && unquote(s[i:i+dot]) == r.old.Schema && unquote(s[i+dot+1:end]) == r.old.Name {
				b.WriteString(s[i : i+dot+1])
				b.WriteString(bare(r.name.Name))
				i = end
				continue
			}
		}
		b.WriteString(s[i:end])
		i = end
	}
	return b.String()
}

// skipDollar is the position behind a dollar-quoted string, or behind the dollar where there is none.
func skipDollar(s string, i int) int {
	end := i + 1
	for end < len(s) && isWord(s[end]) {
		end++
	}
	if end >= len(s) || s[end] != '$' {
		return i + 1
	}
	tag := s[i : end+1]
	if at := strings.Index(s[end+1:], tag); at >= 0 {
		return end + 1 + at + len(tag)
	}
	return i + 1
}

// asideOf finds the enum that is built again under a declared name; nil where there is none.
func (p *planner) asideOf(name model.Name) *aside {
	i := slices.IndexFunc(p.asides, func(a aside) bool { return a.name == name || a.old == name })
	if i < 0 {
		return nil
	}
	return &p.asides[i]
}

// sameButAside reports whether two printed types differ only because an enum is built again.
func (p *planner) sameButAside(o, n string) bool {
	for _, a := range p.asides {
		o = typeRenamer{old: a.old, name: a.name}.text(o)
	}
	return o == n
}
