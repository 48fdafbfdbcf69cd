package engine_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/gentest"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// TestGeneratedPrivileges converges random schemas with random privileges, as TestGeneratedRoundTrip does without them. Default privileges of the
// connected role fire on what the plans create.
func TestGeneratedPrivileges(t *testing.T) {
	s := pgtest.Start(t)
	makeGrantRoles(t, s)
	gentest.Few(t, 6)
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.Custom(func(t *rapid.T) *drawn {
			a, b := gentest.Pair(t)
			d := &drawn{a: &drawer{Chooser: a}, b: &drawer{Chooser: b}}
			for _, one := range []*drawer{d.a, d.b} {
				one.draw()
				one.within("grants", one.drawGrants)
			}
			return d
		}).Draw(rt, "pair")
		target, drop := s.TemporaryDatabase(t)
		defer drop()
		for _, want := range []*model.Database{d.a.db, d.b.db, d.a.db} {
			privilegesRoundTrip(rt, engine.Options{URL: target}, want)
		}
	})
}

func privilegesRoundTrip(rt *rapid.T, opts engine.Options, want *model.Database) {
	ctx := rt.Context()
	result, err := engine.Plan(ctx, opts, want)
	if refusalOf(err) != "" {
		return
	}
	if err != nil {
		rt.Fatalf("planning: %v", err)
	}
	if !result.NoChange {
		if _, err := engine.Apply(ctx, opts, result.Document); err != nil {
			rt.Fatalf("applying: %v\n%s\n%s", err, joinLines(statements(result.Document)), whatWentWrong(ctx, opts.URL, result.Document, want))
		}
	}
	got, err := engine.InspectPrivileges(ctx, opts.URL)
	if err != nil {
		rt.Fatalf("inspecting: %v", err)
	}
	if got = got.WithPrivileges(want.ManagedPrivileges()); model.Fingerprint(got) != model.Fingerprint(want) {
		rt.Fatalf("read back something else\n%s", factDifference(got, want))
	}
	again, err := engine.Plan(ctx, opts, want)
	if err != nil || !again.NoChange {
		rt.Fatalf("planning again: %v %v", err, statements(again.Document))
	}
}

// drawRights draws privileges of one role. PUBLIC cannot grant on, and only it loses what it has by itself.
func (d *drawer) drawRights(words, own []string, public bool) model.Rights {
	var r model.Rights
	for _, w := range words {
		switch n := d.pick(4); {
		case n == 0 && public && slices.Contains(own, w):
			r.Revoked = append(r.Revoked, w)
		case n == 1 && (!public || !slices.Contains(own, w)):
			r.Privileges = append(r.Privileges, w)
		case n == 2 && !public:
			r.Grantable = append(r.Grantable, w)
		}
	}
	return r
}

func none(r *model.Rights) bool { return len(r.Privileges)+len(r.Grantable)+len(r.Revoked) == 0 }

func (d *drawer) drawGrants() {
	on := func(kind, schema, name, column string, words, own []string) {
		for _, grantee := range []string{"", "g_app", grantRoles[2]} {
			g := model.Grant{Object: model.Object{Kind: kind, Schema: schema, Name: name}, Column: column, Grantee: grantee}
			if g.Rights = d.drawRights(words, own, grantee == ""); d.yes() && !none(&g.Rights) {
				d.db.Grants = append(d.db.Grants, g)
			}
		}
	}
	usage := []string{"USAGE"}
	for _, s := range d.db.Schemas {
		if s.Name != "public" {
			on(model.KindSchema, "", s.Name, "", []string{"CREATE", "USAGE"}, nil)
		}
	}
	for i := range d.db.Tables {
		t := &d.db.Tables[i]
		on(model.KindTable, t.Schema, t.Name.Name, "", []string{"DELETE", "SELECT", "UPDATE"}, nil)
		if len(t.Columns) > 0 && d.yes() {
			on(model.KindTable, t.Schema, t.Name.Name, t.Columns[d.pick(len(t.Columns))].Name, []string{"INSERT", "SELECT"}, nil)
		}
	}
	for i := range d.db.Sequences {
		on(model.KindSequence, d.db.Sequences[i].Schema, d.db.Sequences[i].Name.Name, "", []string{"SELECT", "USAGE"}, nil)
	}
	for i := range d.db.Enums {
		on(model.KindEnum, d.db.Enums[i].Schema, d.db.Enums[i].Name.Name, "", usage, usage)
	}
	for i := range d.db.Domains {
		on(model.KindDomain, d.db.Domains[i].Schema, d.db.Domains[i].Name.Name, "", usage, usage)
	}
	d.drawDefaultPrivileges()
	d.db.Normalise()
}

func (d *drawer) drawDefaultPrivileges() {
	schemas := []string{""}
	for _, s := range d.db.Schemas {
		schemas = append(schemas, s.Name)
	}
	for _, schema := range schemas {
		for _, class := range []string{model.ClassTable, model.ClassSequence, model.ClassType} {
			words, own := []string{"SELECT", "UPDATE"}, []string(nil)
			if class == model.ClassType {
				words = []string{"USAGE"}
				if schema == "" {
					own = words
				}
			}
			for _, grantee := range []string{"", "g_app"} {
				p := model.DefaultPrivilege{Role: pgtest.User, Schema: schema, Class: class, Grantee: grantee}
				if p.Rights = d.drawRights(words, own, grantee == ""); d.rarely() && !none(&p.Rights) {
					d.db.DefaultPrivileges = append(d.db.DefaultPrivileges, p)
				}
			}
		}
	}
}
