package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// release is one version of an extension that the server could install.
type release struct {
	version     string
	standard    bool   // what CREATE EXTENSION installs by itself
	schema      string // empty where any will do
	relocatable bool
	requires    []string
	comment     string
}

// shelf is what the server knows of extensions. It is empty where nothing about extensions differs.
type shelf struct {
	releases map[string][]release
	members  map[model.Name]string // types, functions, tables and operator classes of installed extensions
	updates  map[string][]string   // the versions that an installed extension can be brought to
}

func (s *shelf) find(name, version string) *release {
	for i := range s.releases[name] {
		if r := &s.releases[name][i]; r.version == version {
			return r
		}
	}
	return nil
}

const releasesQuery = `SELECT v.name::text, v.version, v.version = a.default_version, COALESCE(v.schema::text, ''), v.relocatable, COALESCE(v.requires::text[], '{}'), COALESCE(v.comment, '')
FROM pg_available_extension_versions v JOIN pg_available_extensions a ON a.name = v.name`

const updatesQuery = `SELECT e.extname::text, p.target FROM pg_extension e JOIN pg_available_extensions a ON a.name = e.extname
CROSS JOIN LATERAL pg_extension_update_paths(e.extname) p WHERE p.source = e.extversion AND p.path IS NOT NULL`

const membersQuery = `SELECT e.extname::text, n.nspname::text, x.name FROM (
 SELECT 'pg_type'::regclass AS class, oid, typname::text AS name, typnamespace AS namespace FROM pg_type
 UNION ALL SELECT 'pg_proc'::regclass, oid, proname::text, pronamespace FROM pg_proc
 UNION ALL SELECT 'pg_opclass'::regclass, oid, opcname::text, opcnamespace FROM pg_opclass
 UNION ALL SELECT 'pg_class'::regclass, oid, relname::text, relnamespace FROM pg_class) x
JOIN pg_depend d ON d.classid = x.class AND d.objid = x.oid AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
JOIN pg_extension e ON e.oid = d.refobjid JOIN pg_namespace n ON n.oid = x.namespace`

// readShelf asks the server about extensions, where the declared ones are not the installed ones.
func (s *session) readShelf(ctx context.Context, live, desired *model.Database) (*shelf, error) {
	out := &shelf{releases: map[string][]release{}, members: map[model.Name]string{}, updates: map[string][]string{}}
	if slices.Equal(live.Extensions, desired.Extensions) {
		return out, nil
	}
	err := s.readOnly(ctx, func(ctx context.Context) error {
		r := &reader{session: s}
		if err := r.each(ctx, func(rows pgx.Rows) error {
			var name string
			var v release
			err := rows.Scan(&name, &v.version, &v.standard, &v.schema, &v.relocatable, &v.requires, &v.comment)
			out.releases[name] = append(out.releases[name], v)
			return err
		}, releasesQuery); err != nil {
			return err
		}
		if err := r.each(ctx, func(rows pgx.Rows) error {
			var name, version string
			err := rows.Scan(&name, &version)
			out.updates[name] = append(out.updates[name], version)
			return err
		}, updatesQuery); err != nil {
			return err
		}
		return r.each(ctx, func(rows pgx.Rows) error {
			var extension string
			var n model.Name
			err := rows.Scan(&extension, &n.Schema, &n.Name)
			out.members[n] = extension
			return err
		}, membersQuery)
	})
	if err != nil {
		return nil, queryFault(ctx, err, "reading the extensions that the server has")
	}
	return out, nil
}

// settleVersions gives every declared extension without a version the one that is installed, or that the server would install.
func settleVersions(live, desired *model.Database, s *shelf) *model.Database {
	d := *desired
	d.Extensions = slices.Clone(desired.Extensions)
	for i := range d.Extensions {
		x := &d.Extensions[i]
		if x.Version != "" {
			continue
		}
		if j := slices.IndexFunc(live.Extensions, func(e model.Extension) bool { return e.Name == x.Name }); j >= 0 {
			x.Version = live.Extensions[j].Version
			continue
		}
		if s == nil {
			continue
		}
		for _, v := range s.releases[x.Name] {
			if v.standard {
				x.Version = v.version
			}
		}
	}
	return &d
}

// refuseExtension names an extension that the server cannot bring to where it is declared.
func (p *planner) refuseExtension(c diff.Change[model.Extension]) error {
	if c.New == nil {
		for i := range p.excluded.Tables {
			t := &p.excluded.Tables[i]
			if n, ok := p.usedMember(t, c.Old.Name, func(string) bool { return false }); ok {
				return refuseObject("the excluded table %q.%q uses %q.%q of extension %q, which the plan would drop: the plan never cascades into what is excluded", t.Schema, t.Name.Name, n.Schema, n.Name, c.Old.Name)
			}
		}
		return nil
	}
	r := p.shelf.find(c.New.Name, c.New.Version)
	switch {
	case len(p.shelf.releases[c.New.Name]) == 0:
		return refuseObject("extension %q is not available on the server: install its package there", c.New.Name)
	case r == nil && (c.Old == nil || c.Old.Version != c.New.Version):
		return refuseObject("extension %q is not available in version %q on the server", c.New.Name, c.New.Version)
	case c.Old != nil && c.Old.Version != c.New.Version && !slices.Contains(p.shelf.updates[c.New.Name], c.New.Version):
		return refuseObject("extension %q is in version %q and the server knows no way to %q", c.New.Name, c.Old.Version, c.New.Version)
	case c.Old == nil && r.schema != "" && r.schema != c.New.Schema:
		return refuseObject("extension %q is declared in schema %q and can only be in %q", c.New.Name, c.New.Schema, r.schema)
	case c.Old == nil || c.Old.Schema == c.New.Schema:
		return nil
	case r != nil && !r.relocatable:
		return refuseObject("extension %q is declared in schema %q, is in %q and cannot be moved", c.New.Name, c.New.Schema, c.Old.Schema)
	}
	for _, db := range []*model.Database{p.from, p.excluded} {
		for i := range db.Tables {
			t := &db.Tables[i]
			if n, ok := p.usedMember(t, c.Old.Name, func(string) bool { return false }); ok {
				return refuseObject("extension %q moves to schema %q and table %q.%q uses its %q.%q: move it by hand, together with what uses it", c.New.Name, c.New.Schema, t.Schema, t.Name.Name, n.Schema, n.Name)
			}
		}
	}
	return nil
}

// usedMember finds something of an extension that a table mentions.
func (p *planner) usedMember(t *model.Table, extension string, skip func(string) bool) (model.Name, bool) {
	found := map[model.Name]bool{}
	for _, text := range tableTexts(t, skip) {
		qualifiedNames(text, found)
	}
	for _, n := range sortedNames(found) {
		if p.shelf.members[n] == extension {
			return n, true
		}
	}
	return model.Name{}, false
}

// planExtensions installs extensions behind those that they require, and drops them in reverse.
func (p *planner) planExtensions() {
	order := p.extensionOrder()
	for _, name := range order {
		for _, c := range p.diff.Extensions {
			if c.New != nil && c.New.Name == name {
				p.bringExtension(c)
			}
		}
	}
	for _, name := range slices.Backward(order) {
		for _, c := range p.diff.Extensions {
			if c.New == nil && c.Old.Name == name {
				p.extensionStep(phaseDropExtensions, name, "DROP EXTENSION "+ident(name), "drop_extension", diff.Destructive,
					"the extension exists and is not declared", "fails if anything outside of the plan uses it")
			}
		}
	}
}

func (p *planner) extensionStep(ph phase, name, sql, kind, severity, reason, hazard string) {
	p.add(ph, step{Statement: plan.Statement{SQL: sql, Severity: severity, Kind: kind, Object: display(name), Reason: reason, Hazard: hazard}})
}

func (p *planner) bringExtension(c diff.Change[model.Extension]) {
	n := c.New
	r := p.shelf.find(n.Name, n.Version)
	var own string
	if r != nil {
		own = r.comment
	}
	old := ""
	if c.Old == nil {
		sql := "CREATE EXTENSION " + ident(n.Name) + " WITH"
		if r.schema == "" {
			sql += " SCHEMA " + ident(n.Schema)
		}
		p.extensionStep(phaseExtensions, n.Name, sql+" VERSION "+literal(n.Version), "create_extension", diff.Safe, "the extension is declared and does not exist", "")
	} else {
		old = c.Old.Comment
		if c.Old.Version != n.Version {
			p.extensionStep(phaseExtensions, n.Name, "ALTER EXTENSION "+ident(n.Name)+" UPDATE TO "+literal(n.Version), "update_extension", diff.Warning, "the extension is declared in another version", "its objects may change what they do")
		}
		if c.Old.Schema != n.Schema {
			p.extensionStep(phaseExtensions, n.Name, "ALTER EXTENSION "+ident(n.Name)+" SET SCHEMA "+ident(n.Schema), "move_extension", diff.Warning, "the extension is declared in another schema", "what names its objects with their schema no longer finds them")
		}
	}
	comment := n.Comment
	if comment == "" && old != "" {
		comment = own // the extension's own words again
	}
	p.comment("EXTENSION "+ident(n.Name), model.Name{}, display(n.Name), old, comment)
}

// extensionOrder lists the extensions of both sides, each behind those that it requires.
func (p *planner) extensionOrder() []string {
	names := map[string]string{} // with their versions
	for _, c := range p.diff.Extensions {
		for _, x := range []*model.Extension{c.Old, c.New} {
			if x != nil {
				names[x.Name] = x.Version
			}
		}
	}
	var out []string
	seen := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		version, ours := names[name]
		if seen[name] || !ours {
			return
		}
		seen[name] = true
		if r := p.shelf.find(name, version); r != nil {
			for _, required := range r.requires {
				visit(required)
			}
		}
		out = append(out, name)
	}
	for _, c := range p.diff.Extensions {
		for _, x := range []*model.Extension{c.Old, c.New} {
			if x != nil {
				visit(x.Name)
			}
		}
	}
	return out
}
