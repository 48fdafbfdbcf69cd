package diff

import "slices"

func (c DefinitionChange) differs() bool {
	return c.Old == nil || c.New == nil || c.Redefined() || c.Old.Comment != c.New.Comment || !slices.Equal(c.Old.Properties, c.New.Properties)
}

// Redefined reports that both sides have the object and create it differently.
func (c DefinitionChange) Redefined() bool {
	return c.Old != nil && c.New != nil && c.Old.Create != c.New.Create
}

// Severity of a definition's change.
func (c DefinitionChange) Severity() string {
	changed := Safe
	if c.Old != nil && c.New != nil && (c.Redefined() || !slices.Equal(c.Old.Properties, c.New.Properties)) {
		changed = Warning
	}
	return bySide(c.Old, c.New, Safe, Destructive, changed)
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
