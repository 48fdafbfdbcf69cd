package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// cost is the strongest lock that a statement about a definition takes on what others use, and what it may cost.
func (p *planner) cost(d *model.Definition, verb string) (lock, hazard string) {
	if isRoutine(d.Kind) {
		return "", p.routineHazard(d, verb)
	}
	switch verb {
	case "drop":
		lock = map[string]string{model.KindStatistics: lockShareUpdate, model.KindEventTrigger: ""}[d.Kind]
		if d.Kind != model.KindStatistics && d.Kind != model.KindEventTrigger {
			lock = lockExclusive
		}
	case "alter":
		lock = lockExclusive
		if light, known := map[string]string{model.KindTrigger: lockShareRow, model.KindConstraintTrigger: lockShareRow, model.KindStatistics: "", model.KindEventTrigger: ""}[d.Kind]; known {
			lock = light
		}
		return lock, ""
	default:
		lock = map[string]string{
			model.KindTrigger: lockShareRow, model.KindConstraintTrigger: lockShareRow, model.KindRule: lockExclusive, model.KindPolicy: lockExclusive,
			model.KindRowSecurity: lockExclusive, model.KindForcedRowSecurity: lockExclusive, model.KindStatistics: lockShareUpdate, model.KindIndex: lockShare,
		}[d.Kind]
		if d.Kind == model.KindView && verb == "replace" {
			lock = lockExclusive
		}
	}
	if verb == "drop" && p.fates[d.Key()] == goes {
		return lock, lostHazards[d.Kind]
	}
	if verb == "drop" {
		return lock, p.againHazard(d.Kind)
	}
	if d.Kind == model.KindMaterializedView && !p.readsLive(d) {
		return lock, "" // there is nothing to read yet
	}
	return lock, newHazards[d.Kind]
}

// readsLive reports whether the query of a declared view may read rows which are there before the plan. What a routine reads nobody knows.
func (p *planner) readsLive(d *model.Definition) bool {
	return slices.ContainsFunc(d.DependsOn, func(dep model.Dependency) bool {
		name := model.Name{Schema: dep.Schema, Name: dep.Name}
		switch dep.Kind {
		case model.KindTable:
			return p.from.Table(name) != nil || p.excluded.Table(name) != nil
		case model.KindView, model.KindMaterializedView:
			dep.Column = ""
			i := slices.IndexFunc(p.to.Definitions, func(x model.Definition) bool { return x.Key() == dep })
			return i < 0 || p.readsLive(&p.to.Definitions[i]) // an excluded one is there
		}
		return isRoutine(dep.Kind)
	})
}

// What is lost where a definition goes, where it goes and comes back, and what a new one brings.
var (
	lostHazards = map[string]string{
		model.KindView: "what reads it fails", model.KindMaterializedView: "its rows are lost, and what reads it fails", model.KindIndex: "queries that use it become slow",
		model.KindTrigger: "what it did or refused on writes is no longer done", model.KindConstraintTrigger: "what it did or refused on writes is no longer done",
		model.KindRule: "queries are no longer rewritten", model.KindPolicy: "rows may become visible and writable, or stop being so",
		model.KindRowSecurity:       "every row becomes visible and writable to all who may use the table",
		model.KindForcedRowSecurity: "the policies no longer hold for the table's owner",
		model.KindStatistics:        "queries may get worse plans", model.KindEventTrigger: "what it did or refused on DDL is no longer done",
	}
	againHazards = map[string]string{
		model.KindMaterializedView: "its rows are computed again", model.KindStatistics: "queries may get worse plans until the next ANALYZE",
	}
	newHazards = map[string]string{
		model.KindMaterializedView: "reads all the tables that its query names", model.KindIndex: "reads the whole materialized view",
		model.KindTrigger: "runs on writes from now on", model.KindConstraintTrigger: "runs on writes from now on", model.KindRule: "rewrites queries from now on",
		model.KindPolicy: "rows may become visible and writable, or stop being so", model.KindRowSecurity: "rows that no policy allows are hidden from all but the owner",
		model.KindForcedRowSecurity: "rows that no policy allows are hidden from the owner too", model.KindStatistics: "of use after the next ANALYZE", model.KindEventTrigger: "runs on DDL from now on",
	}
)

const hazardLostGrants = "it comes back without what was granted on it by hand"

// againHazard is what it costs that a definition goes and comes back. Managed privileges come back with it.
func (p *planner) againHazard(kind string) string {
	var all []string
	if h := againHazards[kind]; h != "" {
		all = append(all, h)
	}
	if (kind == model.KindView || kind == model.KindMaterializedView || isRoutine(kind)) && !p.manages(kind) {
		all = append(all, hazardLostGrants)
	}
	return strings.Join(all, ", and ")
}

func (p *planner) routineHazard(d *model.Definition, verb string) string {
	switch {
	case verb == "drop" && p.fates[d.Key()] == goes:
		return "what calls it from a string or from outside of the database fails"
	case verb == "drop":
		return p.againHazard(d.Kind)
	case verb == "replace" && p.storedCalls(d):
		return "indexes, generated columns and checks that call it keep what the old definition made of their rows"
	}
	return ""
}

// storedCalls reports whether something that holds computed results, or judged rows by them, calls a routine.
func (p *planner) storedCalls(d *model.Definition) bool {
	name := map[model.Name]bool{routineOf(d): true}
	return slices.ContainsFunc(p.to.Tables, func(t model.Table) bool {
		return slices.ContainsFunc(t.Columns, func(c model.Column) bool { return c.Generated != nil && callsAny(name, c.Generated.Expression) }) ||
			slices.ContainsFunc(t.Constraints, func(c model.Constraint) bool { return callsAny(name, c.Expression) }) ||
			slices.ContainsFunc(t.Indexes, func(x model.Index) bool { return callsAny(name, indexExpressions(&x)...) })
	})
}

// indexExpressions are the expressions of an index, its predicate included.
func indexExpressions(x *model.Index) []string {
	out := []string{x.Predicate}
	for _, k := range x.Keys {
		out = append(out, k.Expression)
	}
	return out
}

// tableExpressions hands every expression of a table to visit.
func tableExpressions(t *model.Table, visit func(string)) {
	for i := range t.Columns {
		visit(t.Columns[i].Default)
		if g := t.Columns[i].Generated; g != nil {
			visit(g.Expression)
		}
	}
	for i := range t.Constraints {
		visit(t.Constraints[i].Expression)
	}
	for i := range t.Indexes {
		for _, e := range indexExpressions(&t.Indexes[i]) {
			visit(e)
		}
	}
}

// routinesOfTables are the names of all routines that parts of tables call.
func routinesOfTables(db *model.Database) map[model.Name]bool {
	found := map[model.Name]bool{}
	for i := range db.Tables {
		tableExpressions(&db.Tables[i], func(e string) {
			for _, n := range calls(e) {
				found[n] = true
			}
		})
	}
	return found
}
