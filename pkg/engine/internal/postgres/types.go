package postgres

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// typeKey identifies a type of the model: kinds share their names, and a type may come back as another kind.
type typeKey struct {
	kind string
	name model.Name
}

// typeNode is one type in the graph of types.
type typeNode struct {
	typeKey
	names []model.Name // by which others may mention it: its own, and that of its multirange
	texts []string     // the printed types and expressions that it is made of
	uses  map[model.Name]bool
}

// typeGraph lists the types of a database: enums, collations, domains, composite types and ranges, each kind by name.
func typeGraph(db *model.Database) []*typeNode {
	var nodes []*typeNode
	add := func(kind string, n model.Name, texts []string, more ...model.Name) {
		node := &typeNode{typeKey: typeKey{kind, n}, names: append([]model.Name{n}, more...), texts: texts, uses: map[model.Name]bool{}}
		for _, text := range texts {
			qualifiedNames(text, node.uses)
		}
		nodes = append(nodes, node)
	}
	for i := range db.Collations {
		add(model.KindCollation, db.Collations[i].Name, nil)
	}
	for i := range db.Enums {
		add(model.KindEnum, db.Enums[i].Name, nil)
	}
	for i := range db.Domains {
		x := &db.Domains[i]
		texts := []string{x.Type, x.Collation, x.Default}
		for _, k := range x.Checks {
			texts = append(texts, k.Expression)
		}
		add(model.KindDomain, x.Name, texts)
	}
	for i := range db.Composites {
		var texts []string
		for _, a := range db.Composites[i].Attributes {
			texts = append(texts, a.Type, a.Collation)
		}
		add(model.KindComposite, db.Composites[i].Name, texts)
	}
	for i := range db.Ranges {
		x := &db.Ranges[i]
		add(model.KindRange, x.Name, []string{x.Subtype, x.Opclass, x.Collation}, x.Multirange)
	}
	return nodes
}

// usesNode reports whether one type mentions another.
func (n *typeNode) usesNode(m *typeNode) bool {
	return n != m && slices.ContainsFunc(m.names, func(name model.Name) bool { return n.uses[name] })
}

// sortTypes puts every type behind those that it uses, and keeps the order otherwise.
func sortTypes(nodes []*typeNode) []*typeNode {
	byName := map[model.Name][]*typeNode{}
	for _, n := range nodes {
		for _, name := range n.names {
			byName[name] = append(byName[name], n)
		}
	}
	out := make([]*typeNode, 0, len(nodes))
	done := map[*typeNode]bool{}
	var visit func(n *typeNode)
	visit = func(n *typeNode) {
		if done[n] {
			return
		}
		done[n] = true
		for _, name := range sortedNames(n.uses) {
			for _, m := range byName[name] {
				visit(m)
			}
		}
		out = append(out, n)
	}
	for _, n := range nodes {
		visit(n)
	}
	return out
}

func sortedNames(set map[model.Name]bool) []model.Name {
	names := make([]model.Name, 0, len(set))
	for n := range set {
		names = append(names, n)
	}
	slices.SortFunc(names, model.Name.Compare)
	return names
}

// qualifiedNames adds every "schema.name" of a deparsed text. Without a search path the server qualifies all names but its own, so that
// nothing of the database's own is missed; a column behind a table's name may be among them. Strings are skipped.
func qualifiedNames(text string, found map[model.Name]bool) {
	last, dotted := "", false
	for i := 0; i < len(text); {
		c := text[i]
		end := i + 1
		switch {
		case c == '\'':
			end = skipQuoted(text, i)
			last, dotted = "", false
		case c == '"' || isWord(c):
			if c == '"' {
				end = skipQuoted(text, i)
			} else {
				for end < len(text) && isWord(text[end]) {
					end++
				}
			}
			word := unquote(text[i:end])
			if dotted && last != "" {
				found[model.Name{Schema: last, Name: word}] = true
			}
			last, dotted = word, false
		case c == '.':
			dotted = true
		default:
			last, dotted = "", false
		}
		i = end
	}
}

// tableTexts are the printed types and expressions of a table, without the columns that skip names.
func tableTexts(t *model.Table, skip func(column string) bool) []string {
	var texts []string
	for i := range t.Columns {
		c := &t.Columns[i]
		if skip(c.Name) {
			continue
		}
		texts = append(texts, c.Type, c.Collation, c.Default)
		if c.Generated != nil {
			texts = append(texts, c.Generated.Expression)
		}
	}
	for i := range t.Constraints {
		texts = append(texts, t.Constraints[i].Expression)
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		texts = append(texts, x.Predicate)
		for _, k := range x.Keys {
			texts = append(texts, k.Expression, k.Collation, k.Opclass)
		}
	}
	return texts
}

// tableMentions reports whether a table mentions one of the names.
func tableMentions(t *model.Table, names []model.Name, skip func(column string) bool) bool {
	found := map[model.Name]bool{}
	for _, text := range tableTexts(t, skip) {
		qualifiedNames(text, found)
	}
	return slices.ContainsFunc(names, func(n model.Name) bool { return found[n] })
}
