package diff

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// PrivilegeChanges are the differences of privileges on what both sides have. What comes or goes with its object is no difference of its own.
type PrivilegeChanges struct {
	Grants            []Change[model.Grant]
	DefaultPrivileges []Change[model.DefaultPrivilege]
}

func (p *PrivilegeChanges) empty() bool { return len(p.Grants)+len(p.DefaultPrivileges) == 0 }

func comparePrivileges(from, to *model.Database) PrivilegeChanges {
	both := func(key model.Dependency, column string) bool {
		return hasColumn(from, key, column) && hasColumn(to, key, column)
	}
	return PrivilegeChanges{
		Grants: slices.DeleteFunc(changes(from.Grants, to.Grants, (*model.Grant).CompareKey), func(c Change[model.Grant]) bool {
			either := either(c)
			return !both(either.Key(), either.Column)
		}),
		DefaultPrivileges: slices.DeleteFunc(changes(from.DefaultPrivileges, to.DefaultPrivileges, (*model.DefaultPrivilege).CompareKey), func(c Change[model.DefaultPrivilege]) bool {
			schema := either(c).Schema
			return schema != "" && !both(model.Dependency{Object: model.Object{Kind: model.KindSchema, Name: schema}}, "")
		}),
	}
}

func either[T any](c Change[T]) *T {
	if c.New != nil {
		return c.New
	}
	return c.Old
}

func hasColumn(d *model.Database, key model.Dependency, column string) bool {
	if !d.Has(key) {
		return false
	}
	if t := d.Table(model.Name{Schema: key.Schema, Name: key.Name}); column != "" && key.Kind == model.KindTable && t != nil {
		return t.Column(column) != nil
	}
	return true
}

// privileges count each role and object once. What the vocabulary calls a role's modification is the closest word for what a role gains or loses.
// Nothing is lost by either, and both change who can do what.
func (t tally) privileges(d *PrivilegeChanges) {
	for range len(d.Grants) + len(d.DefaultPrivileges) {
		t.add("roles_modified", Warning)
	}
}
