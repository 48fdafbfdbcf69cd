package postgres

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// authority is what the model does not hold of privileges, and a plan has to know: who owns what, who granted what to whom, and which roles there are.
type authority struct {
	role     string // that is connected
	roles    map[string]bool
	inherits map[string]bool // the roles whose rights the connected one has
	objects  map[model.Dependency]*acl
	// identities are the sequences of identity columns.
	identities map[model.ColumnRef]model.Name
	// fresh is what the default privileges of the connected role give on new objects.
	fresh map[freshKey]rights
}

// acl is who owns an object and what was granted on it.
type acl struct {
	owner string
	items []aclItem
}

// aclItem is one privilege that one role gave to another.
type aclItem struct {
	holder
	privilege, grantor string
	grantable          bool
}

// holder is who holds a privilege on an object, or on one column of it. An empty grantee is PUBLIC.
type holder struct{ column, grantee string }

// held are privileges by name; true where they can be granted on.
type held map[string]bool

// rights are all privileges on one object, those of PUBLIC's own included.
type rights map[holder]held

func (r rights) give(h holder, privilege string, grantable bool) {
	if r[h] == nil {
		r[h] = held{}
	}
	r[h][privilege] = r[h][privilege] || grantable
}

// freshKey is a class and a schema; an empty schema is all of them.
type freshKey struct{ class, schema string }

// mine reports whether the connected role has the rights of another, an owner's above all.
func (a *authority) mine(role string) bool { return a == nil || role == a.role || a.inherits[role] }

// ownPrivileges are what PUBLIC has on an object by itself.
func ownPrivileges(key model.Dependency, major int) []string {
	switch class := model.ClassOf(key.Kind); {
	case class == model.ClassSchema && key.Name == publicSchema && major < 15:
		return []string{"CREATE", "USAGE"}
	case class == model.ClassSchema && key.Name == publicSchema:
		return []string{"USAGE"}
	default:
		return ownByClass(class)
	}
}

func ownByClass(class string) []string {
	switch class {
	case model.ClassFunction:
		return []string{"EXECUTE"}
	case model.ClassType:
		return []string{"USAGE"}
	}
	return nil
}

// privilegesQuery reads every privilege of the model's objects, one row each, and one without a privilege for every object that nobody was granted
// anything on. What was never granted is the server's own default.
var privilegesQuery = `WITH o AS (
SELECT 'schema' AS kind, '' AS schema, '' AS part, n.nspname::text AS name, '' AS arguments, '' AS col, n.nspowner AS owner, COALESCE(n.nspacl, acldefault('n', n.nspowner)) AS acl
FROM pg_namespace n WHERE ` + userSchema + ` AND ` + notOwned("pg_namespace", "n.oid") + `
UNION ALL
SELECT ` + relationKind + `, n.nspname::text, '', c.relname::text, '', '', c.relowner, COALESCE(c.relacl, acldefault('r', c.relowner))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't' AND ` + ownRelation + `
UNION ALL
SELECT ` + relationKind + `, n.nspname::text, '', c.relname::text, '', a.attname::text, c.relowner, a.attacl
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE a.attacl IS NOT NULL AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't' AND ` + ownRelation + `
UNION ALL
SELECT CASE WHEN x.objid IS NULL THEN 'sequence' ELSE 'identity sequence' END, n.nspname::text, COALESCE(t.relname::text, ''), COALESCE(a.attname::text, c.relname::text), '', '',
 c.relowner, COALESCE(c.relacl, acldefault('s', c.relowner))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_depend x ON x.classid = 'pg_class'::regclass AND x.objid = c.oid AND x.objsubid = 0 AND x.refclassid = 'pg_class'::regclass AND x.refobjsubid > 0 AND x.deptype = 'i'
LEFT JOIN pg_class t ON t.oid = x.refobjid LEFT JOIN pg_attribute a ON a.attrelid = x.refobjid AND a.attnum = x.refobjsubid
WHERE c.relkind = 'S' AND c.relpersistence <> 't' AND ` + ownRelation + `
UNION ALL
SELECT ` + routineKind + `, n.nspname::text, '', p.proname::text, pg_get_function_identity_arguments(p.oid), '', p.proowner, COALESCE(p.proacl, acldefault('f', p.proowner))
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE ` + ownRoutine + `
UNION ALL
SELECT CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN 'domain' WHEN 'r' THEN 'range type' WHEN 'm' THEN 'multirange type' WHEN 'b' THEN 'base type' ELSE
  CASE c.relkind WHEN 'c' THEN 'composite type' ELSE 'row type' END END,
 n.nspname::text, '', t.typname::text, '', '', t.typowner, COALESCE(t.typacl, acldefault('T', t.typowner))
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace LEFT JOIN pg_class c ON c.oid = t.typrelid
WHERE t.typtype <> 'p' AND (t.typacl IS NOT NULL OR t.typtype IN ('e', 'd', 'r') OR c.relkind = 'c') AND COALESCE(c.relpersistence <> 't' AND c.relkind NOT IN ('S', 't'), true)
 AND ` + userSchema + ` AND ` + notOwned("pg_type", "t.oid") + ` AND (c.oid IS NULL OR ` + notOwned("pg_class", "c.oid") + `)
 AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
)
SELECT o.kind, o.schema, o.part, o.name, o.arguments, o.col, pg_get_userbyid(o.owner)::text,
 COALESCE(x.grantee = 0, false), COALESCE(pg_get_userbyid(NULLIF(x.grantee, 0))::text, ''), COALESCE(pg_get_userbyid(x.grantor)::text, ''), COALESCE(x.privilege_type, ''), COALESCE(x.is_grantable, false)
FROM o LEFT JOIN LATERAL aclexplode(o.acl) x ON x.grantee <> o.owner`

// identitiesQuery reads the sequences of identity columns.
const identitiesQuery = `SELECT n.nspname::text, t.relname::text, a.attname::text, c.relname::text
FROM pg_class c JOIN pg_depend x ON x.classid = 'pg_class'::regclass AND x.objid = c.oid AND x.objsubid = 0 AND x.refclassid = 'pg_class'::regclass AND x.refobjsubid > 0 AND x.deptype = 'i'
JOIN pg_class t ON t.oid = x.refobjid JOIN pg_namespace n ON n.oid = t.relnamespace JOIN pg_attribute a ON a.attrelid = x.refobjid AND a.attnum = x.refobjsubid
WHERE c.relkind = 'S' AND ` + userSchema

// defaultPrivilegesQuery reads default privileges. Those without a schema stand in place of the server's own, those of a schema come on top.
const defaultPrivilegesQuery = `SELECT pg_get_userbyid(d.defaclrole)::text, COALESCE(n.nspname::text, ''), d.defaclobjtype::text,
 COALESCE(x.grantee = 0, false), COALESCE(pg_get_userbyid(NULLIF(x.grantee, 0))::text, ''), COALESCE(x.privilege_type, ''), COALESCE(x.is_grantable, false)
FROM pg_default_acl d LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace LEFT JOIN LATERAL aclexplode(d.defaclacl) x ON x.grantee <> d.defaclrole
WHERE d.defaclnamespace = 0 OR ` + userSchema

// classLetters are the letters of pg_default_acl.
var classLetters = map[string]string{
	"r": model.ClassTable, "S": model.ClassSequence, "f": model.ClassFunction, "T": model.ClassType, "n": model.ClassSchema, "L": model.ClassLargeObject,
}

// everything names all privileges.
var everything = model.Managed{Classes: model.Classes(), Roles: []string{""}}

// readPrivileges adds the managed privileges to a model, within the transaction that read it, and keeps who may change them. Where roles hold an empty
// name, the default privileges of every role are read.
func (s *session) readPrivileges(ctx context.Context, db *model.Database, managed model.Managed) error {
	s.authority = nil
	if managed.Empty() {
		return nil
	}
	r := &privilegeReader{
		reader: &reader{session: s, db: db}, managed: managed,
		authority: &authority{
			roles: map[string]bool{}, inherits: map[string]bool{}, objects: map[model.Dependency]*acl{}, identities: map[model.ColumnRef]model.Name{},
			fresh: map[freshKey]rights{},
		},
	}
	for _, read := range []func(context.Context) error{r.readRoles, r.readIdentities, r.readObjects, r.readDefaults} {
		if err := read(ctx); err != nil {
			return queryFault(ctx, err, "reading privileges")
		}
	}
	db.Normalise()
	s.authority = r.authority
	return nil
}

type privilegeReader struct {
	*reader
	*authority
	managed model.Managed
}

func (r *privilegeReader) readRoles(ctx context.Context) error {
	if err := r.session.conn.QueryRow(ctx, "SELECT current_user::text").Scan(&r.role); err != nil {
		return err
	}
	return r.each(ctx, func(rows pgx.Rows) error {
		var name string
		var inherits bool
		err := rows.Scan(&name, &inherits)
		r.roles[name], r.inherits[name] = true, inherits
		return err
	}, "SELECT rolname::text, pg_has_role(oid, 'USAGE') FROM pg_roles")
}

func (r *privilegeReader) readIdentities(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var column model.ColumnRef
		var name string
		err := rows.Scan(&column.Table.Schema, &column.Table.Name, &column.Column, &name)
		r.authority.identities[column] = model.Name{Schema: column.Table.Schema, Name: name}
		return err
	}, identitiesQuery)
}

func (r *privilegeReader) readObjects(ctx context.Context) error {
	err := r.each(ctx, func(rows pgx.Rows) error {
		var (
			key    model.Dependency
			item   aclItem
			owner  string
			public bool
		)
		if err := rows.Scan(&key.Kind, &key.Schema, &key.Table, &key.Name, &key.Arguments, &item.column, &owner, &public, &item.grantee, &item.grantor, &item.privilege, &item.grantable); err != nil {
			return err
		}
		if r.objects[key] == nil {
			r.objects[key] = &acl{owner: owner}
		}
		if item.privilege != "" && (public || item.grantee != "") {
			r.objects[key].items = append(r.objects[key].items, item)
		}
		return nil
	}, privilegesQuery)
	if err != nil {
		return err
	}
	for key, a := range r.objects {
		if slices.Contains(r.managed.Classes, model.ClassOf(key.Kind)) {
			r.db.Grants = append(r.db.Grants, a.rights().grants(key, ownPrivileges(key, r.session.major))...)
		}
	}
	return nil
}

func (a *acl) rights() rights {
	out := rights{}
	for _, i := range a.items {
		out.give(i.holder, i.privilege, i.grantable)
	}
	return out
}

// grants says what rights are beside what PUBLIC has by itself.
func (r rights) grants(key model.Dependency, own []string) []model.Grant {
	var out []model.Grant
	public := holder{}
	if len(own) > 0 && r[public] == nil {
		r[public] = held{}
	}
	for h, privileges := range r {
		g := model.Grant{Object: key.Object, Arguments: key.Arguments, Column: h.column, Grantee: h.grantee}
		if h == public {
			g.Rights = privileges.beside(own)
		} else {
			g.Rights = privileges.beside(nil)
		}
		if len(g.Privileges)+len(g.Grantable)+len(g.Revoked) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// beside says what is held beside what would be held anyhow.
func (h held) beside(own []string) model.Rights {
	var r model.Rights
	for _, privilege := range slices.Sorted(maps.Keys(h)) {
		switch {
		case h[privilege]:
			r.Grantable = append(r.Grantable, privilege)
		case !slices.Contains(own, privilege):
			r.Privileges = append(r.Privileges, privilege)
		}
	}
	for _, privilege := range own {
		if _, has := h[privilege]; !has {
			r.Revoked = append(r.Revoked, privilege)
		}
	}
	return r
}

// rightsOf is the whole that a model's grants on one object stand for.
func rightsOf(grants []model.Grant, own []string) rights {
	out := rights{}
	for _, privilege := range own {
		out.give(holder{}, privilege, false)
	}
	for i := range grants {
		out.take(holder{grants[i].Column, grants[i].Grantee}, &grants[i].Rights)
	}
	return out
}

// take adds what a model says of one holder.
func (r rights) take(h holder, says *model.Rights) {
	for _, privilege := range says.Privileges {
		r.give(h, privilege, false)
	}
	for _, privilege := range says.Grantable {
		r.give(h, privilege, true)
	}
	for _, privilege := range says.Revoked {
		delete(r[h], privilege)
	}
}

// defaultKey is the objects that default privileges are about.
type defaultKey struct{ role, schema, class string }

func (r *privilegeReader) readDefaults(ctx context.Context) error {
	read := map[defaultKey]rights{}
	err := r.each(ctx, func(rows pgx.Rows) error {
		var (
			key               defaultKey
			letter, privilege string
			h                 holder
			public, grantable bool
		)
		if err := rows.Scan(&key.role, &key.schema, &letter, &public, &h.grantee, &privilege, &grantable); err != nil {
			return err
		}
		key.class = classLetters[letter]
		if read[key] == nil {
			read[key] = rights{}
		}
		if privilege != "" && (public || h.grantee != "") {
			read[key].give(h, privilege, grantable)
		}
		return nil
	}, defaultPrivilegesQuery)
	if err != nil {
		return err
	}
	all := slices.Contains(r.managed.Roles, "")
	for key, rights := range read {
		if key.role == r.role {
			r.fresh[freshKey{key.class, key.schema}] = rights
		}
		if all || slices.Contains(r.managed.Roles, key.role) {
			r.db.DefaultPrivileges = append(r.db.DefaultPrivileges, defaultsOf(key, rights)...)
		}
	}
	return nil
}

// ownDefaults is what PUBLIC has on new objects by itself.
func ownDefaults(key defaultKey) []string {
	if key.schema != "" {
		return nil
	}
	return ownByClass(key.class)
}

func defaultsOf(key defaultKey, r rights) []model.DefaultPrivilege {
	var out []model.DefaultPrivilege
	for _, g := range r.grants(model.Dependency{}, ownDefaults(key)) {
		out = append(out, model.DefaultPrivilege{Role: key.role, Schema: key.schema, Class: key.class, Grantee: g.Grantee, Rights: g.Rights})
	}
	return out
}

// declarePrivileges makes what a scratch database holds a declaration: the role that loaded it stands for the one that is going to apply it.
func (s *session) declarePrivileges(db *model.Database) {
	for i := range db.DefaultPrivileges {
		if p := &db.DefaultPrivileges[i]; p.Role == s.authority.role {
			p.Role = ""
		}
	}
	db.Normalise()
}

// fit makes declared privileges those of one target, and leaves the live ones that nobody declares out. Without an authority the target is a model.
func (a *authority) fit(live, desired *model.Database) (from, to *model.Database, managed model.Managed) {
	fitted := *desired
	managed = desired.ManagedPrivileges()
	if a != nil {
		fitted.DefaultPrivileges = a.fitDefaults(desired.DefaultPrivileges)
		for i, role := range managed.Roles {
			managed.Roles[i] = cmp.Or(role, a.role)
		}
		slices.Sort(managed.Roles)
		managed.Roles = slices.Compact(managed.Roles)
	}
	return live.WithPrivileges(managed), &fitted, managed
}

// fitDefaults names the role that applies the schema, and leaves out what a creator has as the owner.
func (a *authority) fitDefaults(declared []model.DefaultPrivilege) []model.DefaultPrivilege {
	all := map[defaultKey]rights{}
	for i := range declared {
		p := declared[i]
		key := defaultKey{cmp.Or(p.Role, a.role), p.Schema, p.Class}
		if all[key] == nil {
			all[key] = rightsOf(nil, ownDefaults(key))
		}
		if p.Grantee != key.role {
			all[key].take(holder{grantee: p.Grantee}, &p.Rights)
		}
	}
	var out []model.DefaultPrivilege
	for key, r := range all {
		out = append(out, defaultsOf(key, r)...)
	}
	slices.SortFunc(out, func(x, y model.DefaultPrivilege) int { return x.CompareKey(&y) })
	return out
}

// ownerOf is the owner of an object; empty where nobody knows.
func (a *authority) ownerOf(key model.Dependency) string {
	if o := a.aclOf(key); o != nil {
		return o.owner
	}
	return ""
}

// aclOf finds what is known of an object. A type that comes with another object belongs to that one's owner.
func (a *authority) aclOf(key model.Dependency) *acl {
	if o := a.objects[key]; o != nil || key.Kind != model.KindRowType {
		return o
	}
	for _, kind := range []string{model.KindTable, model.KindView, model.KindMaterializedView} {
		key.Kind = kind
		if o := a.objects[key]; o != nil {
			return &acl{owner: o.owner}
		}
	}
	return nil
}

// withoutOwners leaves out what is granted to an object's owner, who has everything by owning.
func withoutOwners(grants []model.Grant, ownerOf func(model.Dependency) string) []model.Grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g model.Grant) bool { return g.Grantee != "" && g.Grantee == ownerOf(g.Key()) })
}

// roleName names a role for a person.
func roleName(role string) string {
	if role == "" {
		return "PUBLIC"
	}
	return display(role)
}

// granteeSQL names a role in SQL.
func granteeSQL(role string) string {
	if role == "" {
		return "PUBLIC"
	}
	return ident(role)
}
