package postgres

import (
	"maps"
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// maintain is a privilege on tables that older servers do not have.
const (
	maintain      = "MAINTAIN"
	maintainMajor = 17
)

// refuseRoles names roles that are declared and do not exist: they belong to the whole server.
func (p *planner) refuseRoles() error {
	if p.authority == nil {
		return nil
	}
	roles := map[string]bool{}
	for i := range p.to.Grants {
		roles[p.to.Grants[i].Grantee] = true
	}
	for i := range p.to.DefaultPrivileges {
		roles[p.to.DefaultPrivileges[i].Grantee] = true
	}
	for _, role := range p.managed.Roles {
		roles[role] = true
	}
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		if role != "" && !p.authority.roles[role] {
			return refuseObject("privileges are declared for role %q, which does not exist on the server: roles belong to the whole server and are no part of a schema; create it there, then plan again", role)
		}
	}
	return nil
}

// refusePrivileges names what the server would not do, or do in silence only in part.
func (p *planner) refusePrivileges(key model.Dependency, c *privilegeChange) error {
	what := key.Kind + " " + quoteName(key)
	for h, privileges := range c.grant {
		if _, asked := privileges[maintain]; asked && p.major < maintainMajor {
			return refuseObject("%s is declared for role %q on %s: PostgreSQL has it from %d, and the server is PostgreSQL %d", maintain, h.grantee, what, maintainMajor, p.major)
		}
	}
	if p.authority == nil || p.comesNew(key) {
		return nil
	}
	live := p.liveKey(key)
	a := p.authority.aclOf(live)
	if a == nil {
		return nil
	}
	if !p.authority.mine(a.owner) {
		return refuseObject("the privileges on %s are declared otherwise, and only its owner %q can change them: apply the schema as that role or as a member of it, or leave the object out", what, a.owner)
	}
	for _, i := range a.items {
		if err := p.refuseItem(key, what, a, i, c); err != nil {
			return err
		}
	}
	return nil
}

// refuseItem refuses to take back what somebody else than the owner gave, and what was given on.
func (p *planner) refuseItem(key model.Dependency, what string, a *acl, i aclItem, c *privilegeChange) error {
	for h, privileges := range c.revoke {
		option, revoked := privileges[i.privilege]
		if !revoked {
			continue
		}
		if h.grantee == i.grantor && c.start[h][i.privilege] && i.grantor != "" {
			return refuseObject("%s on %s is to be taken from role %q, which granted it on to %q: revoke that first, as %q, or declare it", i.privilege, what, h.grantee, roleName(i.grantee), i.grantor)
		}
		column := h.column
		if key.Kind == model.KindTable && column != "" {
			column = p.liveColumn(model.Name{Schema: key.Schema, Name: key.Name}, column)
		}
		if (holder{column, h.grantee}) == i.holder && i.grantor != a.owner && (!option || i.grantable) {
			return refuseObject("%s on %s was granted to %q by %q, and only that role can take it back: revoke it as %q, or declare it", i.privilege, what, roleName(i.grantee), i.grantor, i.grantor)
		}
	}
	return nil
}

func quoteName(key model.Dependency) string {
	d := &model.Definition{Object: key.Object, Arguments: key.Arguments}
	return `"` + displayDefinition(d) + `"`
}
