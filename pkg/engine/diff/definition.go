package diff

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

func (c DefinitionChange) differs() bool {
	return c.Old == nil || c.New == nil || c.Redefined() || c.Old.Comment != c.New.Comment || !slices.Equal(c.Old.Properties, c.New.Properties)
}

// Redefined reports that both sides have the object and create it differently.
func (c DefinitionChange) Redefined() bool {
	return c.Old != nil && c.New != nil && c.Old.Create != c.New.Create
}

// InPlace reports a redefinition that the server can make without dropping the object.
func (c DefinitionChange) InPlace() bool { return c.Redefined() && c.New.Replaces(c.Old) }

// behaving are the kinds that change what a query or a write does as soon as they exist.
var behaving = []string{
	model.KindTrigger, model.KindConstraintTrigger, model.KindRule, model.KindPolicy, model.KindRowSecurity, model.KindForcedRowSecurity, model.KindEventTrigger,
}

// Severity of a definition's change. Whatever goes is destructive, even to be created again, except what only makes queries fast; what changes
// the behaviour of queries and writes is a warning.
func (c DefinitionChange) Severity() string {
	added, removed, changed := Safe, Destructive, Safe
	either := c.New
	if either == nil {
		either = c.Old
	}
	if slices.Contains(behaving, either.Kind) {
		added = Warning
	}
	if c.Old != nil && (c.Old.Kind == model.KindStatistics || c.Old.Kind == model.KindIndex && !strings.HasPrefix(c.Old.Create, "CREATE UNIQUE")) {
		removed = Warning
	}
	switch {
	case c.Redefined() && !c.InPlace():
		changed = removed
	case c.Redefined(), c.Old != nil && c.New != nil && !slices.Equal(c.Old.Properties, c.New.Properties):
		changed = Warning
	}
	return bySide(c.Old, c.New, added, removed, changed)
}

// modifiable are the stems of the closed vocabulary that have a word for a change in place.
var modifiable = []string{"extensions", "functions", "rls_policies"}

func (t tally) definition(c DefinitionChange) {
	either := c.New
	if either == nil {
		either = c.Old
	}
	stem := stemOf(&either.Object)
	changed := "columns_modified"
	if slices.Contains(modifiable, stem) {
		changed = stem + "_modified"
	}
	t.add(bySide(c.Old, c.New, stem+"_added", stem+"_removed", changed), c.Severity())
}
