package postgres

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// onTable are the kinds whose statement names its table once, so that the new name can be put there. The others count as redefined: the server
// follows the rename in them too, but the words it then prints are its own.
var onTable = []string{model.KindTrigger, model.KindConstraintTrigger, model.KindPolicy, model.KindRowSecurity, model.KindForcedRowSecurity, model.KindStatistics}

// renameUnder makes definitions stand on a table under its new name.
func (r *renamer) renameUnder(old, name model.Name) {
	text := func(s string) string {
		return strings.NewReplacer(qualified(old), qualified(name), " ON "+bareName(old)+" ", " ON "+bareName(name)+" ").Replace(s)
	}
	for i := range r.db.Definitions {
		d := &r.db.Definitions[i]
		for j := range d.DependsOn {
			dep := &d.DependsOn[j]
			switch {
			case dep.Kind == model.KindTable && dep.Schema == old.Schema && dep.Name == old.Name:
				dep.Name = name.Name
			case dep.Kind == "constraint" && dep.Schema == old.Schema && dep.Table == old.Name:
				dep.Table = name.Name
			}
		}
		if d.Schema != name.Schema || d.Table != name.Name || !slices.Contains(onTable, d.Kind) {
			continue
		}
		if d.Kind == model.KindRowSecurity || d.Kind == model.KindForcedRowSecurity {
			d.Name = name.Name
		}
		d.Create, d.Alter = text(d.Create), text(d.Alter)
		if d.Kind == model.KindStatistics {
			d.Create = strings.Replace(d.Create, " FROM "+bareName(old), " FROM "+bareName(name), 1)
		}
		for j := range d.Properties {
			d.Properties[j].Set, d.Properties[j].Unset = text(d.Properties[j].Set), text(d.Properties[j].Unset)
		}
	}
}

func bareName(n model.Name) string { return bare(n.Schema) + "." + bare(n.Name) }
