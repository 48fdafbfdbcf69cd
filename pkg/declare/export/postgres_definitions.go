package export

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Names as PostgreSQL prints them: in quotes where they have to be, or always, in what the engine composes.
const (
	printedName = `(?:"(?:[^"]|"")*"|[a-z_][a-z0-9_]*)`
	printedPath = printedName + `\.` + printedName
)

// The beginnings of definitions as the engine reads them. One that begins in another way cannot be declared.
var (
	pgViewHead     = regexp.MustCompile(`^CREATE (?:MATERIALIZED )?VIEW ` + printedPath + ` AS\n`)
	pgFunctionHead = regexp.MustCompile(`^CREATE FUNCTION ` + printedPath + `\(`)
	pgLanguage     = regexp.MustCompile(`(?s)^(` + printedName + `)\n(?:( IMMUTABLE| STABLE)?( SECURITY DEFINER)?\n)?AS (\$functionx*\$)(.*)$`)
	pgTriggerHead  = regexp.MustCompile(`^CREATE TRIGGER ` + printedName + ` (BEFORE|AFTER|INSTEAD OF) `)
	pgTriggerEach  = regexp.MustCompile(`^` + printedPath + ` FOR EACH (ROW|STATEMENT) `)
	pgPolicyHead   = regexp.MustCompile(`^CREATE POLICY ` + printedName + ` ON ` + printedPath + ` AS PERMISSIVE FOR (ALL|SELECT|INSERT|UPDATE|DELETE)\n  TO `)
	pgCheckOption  = regexp.MustCompile(`SET \("check_option" = '(local|cascaded)'\)$`)
	pgExclusion    = regexp.MustCompile(`^EXCLUDE USING (` + printedName + `) \(`)
	pgIndexHead    = regexp.MustCompile(`^CREATE (UNIQUE )?INDEX ` + printedName + ` ON ` + printedPath + ` USING (` + printedName + `) \(`)
	pgNameFirst    = regexp.MustCompile(`^` + printedName)
	pgOption       = regexp.MustCompile(`^(` + printedName + `)='((?:[^']|'')*)'$`)
)

// definitions writes what is described by the statement that creates it. Row security is written with its table, and indexes with their materialized view.
func (w *writer) definitions(root *node, d *model.Database) {
	functions, views, materialized, triggers, policies := newMapping(), newMapping(), newMapping(), newMapping(), newMapping()
	indexes := w.viewIndexes(d)
	for i := range d.Definitions {
		def := &d.Definitions[i]
		name := model.Name{Schema: def.Schema, Name: def.Name}
		one, ok := newMapping(), false
		switch def.Kind {
		case model.KindIndex:
			continue
		case model.KindRowSecurity:
			if d.Table(name) == nil {
				w.object(def.Object)
			}
			continue
		case model.KindFunction:
			ok = pgFunction(one, def)
			functions.putObject(named(name), one)
		case model.KindView:
			ok = w.pgView(one, d, def)
			views.putObject(named(name), one)
		case model.KindMaterializedView:
			ok = w.pgView(one, d, def)
			if of := indexes[name]; of != nil {
				one.put("indexes", of)
			}
			materialized.putObject(named(name), one)
		case model.KindTrigger:
			ok = w.pgTrigger(one, d, def)
			triggers.put(def.Name, one)
		case model.KindPolicy:
			ok = w.pgPolicy(one, def)
			policies.put(def.Name, one)
		}
		if !ok {
			w.definition(def)
			continue
		}
		for _, p := range def.Properties {
			if def.Kind != model.KindView || p.Name != checkOption {
				w.cannot("%s of %s", p.Name, describe(def.Object))
			}
		}
		one.putText("comment", def.Comment)
	}
	for _, s := range []struct {
		name  string
		value *node
	}{{"functions", functions}, {"views", views}, {"matviews", materialized}, {"triggers", triggers}, {"rls_policies", policies}} {
		root.section(s.name, s.value)
	}
}

const checkOption = "option check_option"

// definition names one that cannot be declared, a routine with its arguments.
func (w *writer) definition(def *model.Definition) {
	name := describe(def.Object)
	if model.ClassOf(def.Kind) == model.ClassFunction {
		name += "(" + def.Arguments + ")"
	}
	w.problems = append(w.problems, name)
}

// viewIndexes are the indexes of materialized views, by view.
func (w *writer) viewIndexes(d *model.Database) map[model.Name]*node {
	out := map[model.Name]*node{}
	for i := range d.Definitions {
		def := &d.Definitions[i]
		if def.Kind != model.KindIndex {
			continue
		}
		x, ok := parseIndex(def.Create)
		if !ok {
			w.definition(def)
			continue
		}
		for _, p := range def.Properties {
			w.cannot("%s of %s", p.Name, describe(def.Object))
		}
		x.Comment = def.Comment
		view := model.Name{Schema: def.Schema, Name: def.Table}
		if out[view] == nil {
			out[view] = newMapping()
		}
		out[view].put(def.Name, w.index(x))
	}
	return out
}

func (w *writer) pgView(m *node, d *model.Database, def *model.Definition) bool {
	head := pgViewHead.FindString(def.Create)
	body := def.Create[len(head):]
	if def.Kind == model.KindMaterializedView {
		var ok bool
		if body, ok = strings.CutSuffix(body, "\nWITH DATA"); !ok {
			return false
		}
	}
	if head == "" {
		return false
	}
	m.putText("body", strings.TrimSpace(body))
	for _, p := range def.Properties {
		if p.Name == checkOption {
			option := pgCheckOption.FindStringSubmatch(p.Set)
			if option == nil {
				return false
			}
			m.putText("with_check", strings.ToUpper(option[1]))
		}
	}
	m.putTexts("depends_on", w.needs(d, def, body))
	return true
}

// givers are the kinds of objects that depends_on can name.
var givers = []string{
	model.KindView, model.KindMaterializedView, model.KindTable, model.KindFunction, model.KindSequence, model.KindEnum, model.KindDomain, model.KindComposite, model.KindRange,
}

// needs is what a view stands on, where its text alone would not tell: it mentions another view or function by a word that means something else, or
// something of its own name. That word would be taken for the one, and left out for the other.
func (w *writer) needs(d *model.Database, def *model.Definition, body string) []string {
	var out []string
	known := map[model.Name]bool{{Schema: def.Schema, Name: def.Name}: true}
	unclear := false
	for _, dep := range def.DependsOn {
		name := model.Name{Schema: dep.Schema, Name: dep.Name}
		known[name] = true
		unclear = unclear || dep.Name == def.Name
		overloaded := dep.Kind == model.KindFunction && w.routines[name] > 1
		if slices.Contains(givers, dep.Kind) && !overloaded { // one of several comes early enough by itself
			out = append(out, w.refer(dep.Kind, name).String())
		}
	}
	words := declare.Mentions(body, false)
	for i := range d.Definitions {
		o := &d.Definitions[i]
		unclear = unclear || slices.Contains(givers, o.Kind) && words[o.Name] && !known[model.Name{Schema: o.Schema, Name: o.Name}]
	}
	if !unclear {
		return nil
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pgFunction takes apart what pg_get_functiondef prints.
func pgFunction(m *node, def *model.Definition) bool {
	head := pgFunctionHead.FindString(def.Create)
	if head == "" {
		return false
	}
	params, rest, ok := inParentheses(def.Create[len(head)-1:], false)
	if !ok {
		return false
	}
	rest, ok = strings.CutPrefix(rest, "\n RETURNS ")
	returns, rest, found := cutOutside(rest, "\n LANGUAGE ")
	end := pgLanguage.FindStringSubmatch(rest)
	if !ok || !found || end == nil {
		return false
	}
	language, body, tag := unquote(end[1]), end[5], end[4]
	if body, ok = strings.CutSuffix(body, tag); !ok || language != strings.ToLower(language) {
		return false
	}
	m.putText("params", params)
	m.putText("returns", returns)
	m.putText("language", language)
	m.putText("volatility", strings.TrimSpace(end[2]))
	m.putText("security", strings.TrimPrefix(end[3], " SECURITY "))
	m.put("body", textNode(body))
	return true
}

func (w *writer) pgTrigger(m *node, d *model.Database, def *model.Definition) bool {
	head := pgTriggerHead.FindStringSubmatch(def.Create)
	if head == nil {
		return false
	}
	events, rest, found := cutOutside(def.Create[len(head[0]):], " ON ")
	each := pgTriggerEach.FindStringSubmatch(rest)
	if !found || each == nil {
		return false
	}
	rest = rest[len(each[0]):]
	kind := "table"
	if d.Definition(model.Dependency{Object: model.Object{Kind: model.KindView, Schema: def.Schema, Name: def.Table}}) != nil {
		kind = "view"
	}
	m.put("table", referenceNode(w.refer(kind, model.Name{Schema: def.Schema, Name: def.Table})))
	m.putText("timing", head[1])
	event, ok := triggerEvents(events)
	if !ok {
		return false
	}
	m.put("event", event)
	if each[1] == "ROW" {
		m.putText("for", each[1])
	}
	if condition, ok := strings.CutPrefix(rest, "WHEN "); ok {
		condition, rest, ok = inParentheses(condition, false)
		rest, found = strings.CutPrefix(rest, " ")
		if !ok || !found {
			return false
		}
		m.putText("when", condition)
	}
	m.putText("body", rest)
	return strings.HasPrefix(rest, "EXECUTE FUNCTION ")
}

// triggerEvents writes one event as text and several as a list. Columns with spaces in their names cannot be declared: the reader of events cuts there.
func triggerEvents(printed string) (*node, bool) {
	events := newList()
	events.flow = true
	for printed != "" {
		var event string
		event, printed, _ = cutOutside(printed, " OR ")
		one := textNode(event)
		if columns, ok := strings.CutPrefix(event, "UPDATE OF "); ok {
			names, ok := printedNames(columns)
			if !ok || slices.ContainsFunc(names, func(name string) bool { return len(strings.Fields(name)) != 1 }) {
				return nil, false
			}
			for _, name := range names {
				one.items = append(one.items, textNode(name))
			}
		}
		events.items = append(events.items, one)
	}
	if len(events.items) == 1 {
		return events.items[0], true
	}
	return events, true
}

func (w *writer) pgPolicy(m *node, def *model.Definition) bool {
	head := pgPolicyHead.FindStringSubmatch(def.Create)
	if head == nil {
		return false
	}
	m.put("table", referenceNode(w.refer("table", model.Name{Schema: def.Schema, Name: def.Table})))
	if head[1] != "ALL" {
		m.putText("for", head[1])
	}
	roles, rest, more := cutOutside(def.Create[len(head[0]):], "\n  ")
	var to []string
	for roles != "" {
		var role string
		role, roles, _ = cutOutside(roles, ", ")
		name := unquote(role)
		if special := slices.Contains([]string{everybody, "CURRENT_USER", "CURRENT_ROLE", "SESSION_USER"}, strings.ToUpper(name)); special && role != everybody {
			return false
		}
		to = append(to, name)
	}
	if !slices.Equal(to, []string{everybody}) {
		m.putTexts("to", to)
	}
	for _, clause := range []struct{ words, key string }{{"USING ", "using"}, {"WITH CHECK ", "with_check"}} {
		text, ok := strings.CutPrefix(rest, clause.words)
		if !ok {
			continue
		}
		expression, after, ok := inParentheses(text, false)
		if !ok {
			return false
		}
		m.putText(clause.key, expression)
		rest, more = strings.CutPrefix(after, "\n  ")
	}
	return rest == "" && !more
}

// exclusion takes the text of a constraint apart.
func exclusion(m *node, definition string) bool {
	head := pgExclusion.FindStringSubmatch(definition)
	if head == nil {
		return false
	}
	elements, rest, ok := inParentheses(definition[len(head[0])-1:], false)
	if !ok {
		return false
	}
	m.putText("using", unquote(head[1]))
	m.putText("elements", elements)
	if text, found := strings.CutPrefix(rest, " WITH "); found {
		var options []string
		if options, rest, ok = printedOptions(text); !ok {
			return false
		}
		m.options(options)
	}
	if text, found := strings.CutPrefix(rest, " WHERE "); found {
		var condition string
		if condition, rest, ok = inParentheses(text, false); !ok {
			return false
		}
		m.putText("condition", condition)
	}
	rest, deferrable := strings.CutPrefix(rest, " DEFERRABLE")
	m.putFlag("deferrable", deferrable)
	rest, deferred := strings.CutPrefix(rest, " INITIALLY DEFERRED")
	if deferred {
		m.putText("initially", "DEFERRED")
	}
	return rest == ""
}

// parseIndex takes apart what pg_get_indexdef prints.
func parseIndex(create string) (*model.Index, bool) {
	head := pgIndexHead.FindStringSubmatch(create)
	if head == nil {
		return nil, false
	}
	x := &model.Index{Unique: head[1] != "", Method: unquote(head[2])}
	keys, rest, ok := inParentheses(create[len(head[0])-1:], false)
	for ok && keys != "" {
		var printed string
		printed, keys, _ = cutOutside(keys, ", ")
		var k model.IndexKey
		k, ok = parseKey(printed)
		x.Keys = append(x.Keys, k)
	}
	if text, found := strings.CutPrefix(rest, " INCLUDE "); found && ok {
		var columns string
		if columns, rest, ok = inParentheses(text, false); ok {
			x.Include, ok = printedNames(columns)
		}
	}
	rest, x.NullsNotDistinct = strings.CutPrefix(rest, " NULLS NOT DISTINCT")
	if text, found := strings.CutPrefix(rest, " WITH "); found && ok {
		x.Options, rest, ok = printedOptions(text)
	}
	if text, found := strings.CutPrefix(rest, " WHERE "); found {
		x.Predicate, rest = text, ""
	}
	return x, ok && rest == ""
}

// parseKey reads a column or an expression with its collation, operator class and order.
func parseKey(printed string) (k model.IndexKey, ok bool) {
	name := pgNameFirst.FindString(printed)
	rest := printed[len(name):]
	if name != "" && (rest == "" || rest[0] == ' ') {
		k.Column = unquote(name)
	} else {
		start := strings.Index(printed, "(")
		if start < 0 {
			return k, false
		}
		if _, rest, ok = inParentheses(printed[start:], false); !ok {
			return k, false
		}
		k.Expression = printed[:len(printed)-len(rest)]
	}
	if text, found := strings.CutPrefix(rest, " COLLATE "); found {
		k.Collation = pgCollation.FindString(text)
		rest = text[len(k.Collation):]
	}
	for _, order := range []string{" DESC NULLS LAST", " NULLS FIRST", " DESC"} {
		if before, found := strings.CutSuffix(rest, order); found {
			k.Order, rest = order[1:], before
			break
		}
	}
	k.Opclass = strings.TrimPrefix(rest, " ")
	return k, rest == "" || rest[0] == ' '
}

var pgCollation = regexp.MustCompile(`^` + printedName + `(?:\.` + printedName + `)?`)

// printedOptions reads storage parameters between parentheses.
func printedOptions(text string) (options []string, rest string, ok bool) {
	list, rest, ok := inParentheses(text, false)
	for ok && list != "" {
		var one string
		one, list, _ = cutOutside(list, ", ")
		option := pgOption.FindStringSubmatch(one)
		if option == nil {
			return nil, "", false
		}
		options = append(options, unquote(option[1])+"="+strings.ReplaceAll(option[2], "''", "'"))
	}
	return options, rest, ok
}

// printedNames reads a list of names.
func printedNames(text string) (names []string, ok bool) {
	for text != "" {
		var one string
		one, text, _ = cutOutside(text, ", ")
		if pgNameFirst.FindString(one) != one {
			return nil, false
		}
		names = append(names, unquote(one))
	}
	return names, true
}

func unquote(printed string) string {
	if inner, ok := strings.CutPrefix(printed, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
	}
	return printed
}

// cutOutside cuts where a separator stands outside of quotes and parentheses for the first time.
func cutOutside(text, separator string) (before, after string, found bool) {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], separator)
		if i < 0 {
			return text, "", false
		}
		if from += i; declare.Balanced(text[:from], false) {
			return text[:from], text[from+len(separator):], true
		}
	}
}
