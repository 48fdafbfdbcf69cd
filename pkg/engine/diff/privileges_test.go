package diff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// TestPrivilegesAreDifferencesOfWhatBothSidesHave counts each role and object once, and nothing that comes or goes with its object.
func TestPrivilegesAreDifferencesOfWhatBothSidesHave(t *testing.T) {
	name := model.Name{Schema: "app", Name: "t"}
	database := func(columns []string, tables bool, grants ...model.Grant) *model.Database {
		d := model.New(model.Postgres)
		d.Schemas = []model.Schema{{Name: "app"}}
		if tables {
			x := model.Table{Name: name}
			for _, c := range columns {
				x.Columns = append(x.Columns, model.Column{Name: c, Type: "integer"})
			}
			d.Tables = []model.Table{x}
		}
		d.Grants = grants
		d.Normalise()
		return d
	}
	on := func(column, grantee string, privileges ...string) model.Grant {
		return model.Grant{Object: model.Object{Kind: model.KindTable, Schema: "app", Name: "t"}, Column: column, Grantee: grantee, Rights: model.Rights{Privileges: privileges}}
	}
	both := []string{"a", "b"}
	changed := []diff.Finding{{Category: "roles_modified", Count: 2, Severity: diff.Warning}}
	for _, c := range []struct {
		name     string
		from, to *model.Database
		want     []diff.Finding
	}{
		{"equal", database(both, true, on("", "r", "SELECT")), database(both, true, on("", "r", "SELECT")), []diff.Finding{}},
		{"granted and revoked", database(both, true, on("", "r", "SELECT")), database(both, true, on("", "r", "INSERT"), on("a", "", "SELECT")), changed},
		{"with its table", database(nil, false), database(both, true, on("", "r", "SELECT")), []diff.Finding{{Category: "tables_added", Count: 1, Severity: diff.Safe}}},
		{"with its column", database(both, true, on("b", "r", "SELECT")), database([]string{"a"}, true), []diff.Finding{{Category: "columns_removed", Count: 1, Severity: diff.Destructive}}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, diff.Compare(c.from, c.to).Findings()) })
	}
}
