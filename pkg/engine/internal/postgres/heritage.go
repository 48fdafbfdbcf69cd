package postgres

import (
	"maps"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// heritage is what tables of the target have from their parents. It is no part of the model.
type heritage struct {
	// inherited holds, table by table, constraints and indexes that the table has from them alone, and since PostgreSQL 18 the columns with a NOT NULL.
	inherited map[model.Name]*model.Table
	// ownNotNulls are the columns that would stay NOT NULL without the parents.
	ownNotNulls map[model.ColumnRef]bool
	orphans
}

func newHeritage() heritage {
	return heritage{inherited: map[model.Name]*model.Table{}, ownNotNulls: map[model.ColumnRef]bool{}, orphans: newOrphans()}
}

// cloneHeritage makes a copy that renames may change.
func cloneHeritage(h *heritage) heritage {
	c := heritage{inherited: maps.Clone(h.inherited), ownNotNulls: maps.Clone(h.ownNotNulls), orphans: h.cloneOrphans()}
	for name, t := range c.inherited {
		copied := *t
		cloneParts(&copied)
		c.inherited[name] = &copied
	}
	return c
}

func (h *heritage) renameTable(old, name model.Name) {
	if t := h.inherited[old]; t != nil {
		t.Name = name
		h.inherited[name] = t
		delete(h.inherited, old)
	}
	h.orphans.renameTable(old, name)
	for _, refs := range []map[model.ColumnRef]bool{h.ownNotNulls, h.notNulls} {
		for ref := range maps.Clone(refs) {
			if ref.Table == old {
				delete(refs, ref)
				ref.Table = name
				refs[ref] = true
			}
		}
	}
}

func (h *heritage) renameColumn(table model.Name, old, name string) {
	for _, refs := range []map[model.ColumnRef]bool{h.ownNotNulls, h.notNulls} {
		if ref := (model.ColumnRef{Table: table, Column: old}); refs[ref] {
			delete(refs, ref)
			refs[model.ColumnRef{Table: table, Column: name}] = true
		}
	}
	if t := h.inherited[table]; t != nil {
		if c := t.Column(old); c != nil {
			c.Name = name
		}
		renameInParts(t, old, name)
	}
}

// hasNotNull reports whether a table has a NOT NULL from its parents alone. Of a database that was not read nobody knows.
func (h *heritage) hasNotNull(t *model.Table, column string) bool {
	return h.ownNotNulls != nil && len(t.Parents()) > 0 && !h.ownNotNulls[model.ColumnRef{Table: t.Name, Column: column}]
}

// nameNotNull keeps the name of such a NOT NULL, which was the server's choice and is it no more.
func (h *heritage) nameNotNull(table model.Name, column, name string) {
	t := h.inherited[table]
	if t == nil {
		t = &model.Table{Name: table}
		h.inherited[table] = t
	}
	if t.Column(column) == nil {
		t.Columns = append(t.Columns, model.Column{Name: column, ColumnExtras: model.ColumnExtras{NotNullRule: &model.NotNullRule{Name: name}}})
	}
}
