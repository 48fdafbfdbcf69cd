package schema

import (
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// grants says who may do what with one object: a line for each form.
func grants(g *model.Grant) []string {
	on := describe(&g.Object)
	if g.Arguments != "" {
		on += "(" + g.Arguments + ")"
	}
	if g.Column != "" {
		on += ", column " + g.Column
	}
	return rights("", on, g.Grantee, &g.Rights)
}

func defaults(p *model.DefaultPrivilege) []string {
	on := "each new " + p.Class
	if p.Schema != "" {
		on += " in " + p.Schema
	}
	if p.Role != "" {
		on += " of " + p.Role
	}
	return rights("default ", on, p.Grantee, &p.Rights)
}

func rights(prefix, on, grantee string, r *model.Rights) []string {
	if grantee == "" {
		grantee = "PUBLIC"
	}
	var out []string
	for _, form := range []struct {
		verb, preposition, suffix string
		privileges                []string
	}{{"grant", "to", "", r.Privileges}, {"grant", "to", " with grant option", r.Grantable}, {"revoke", "from", "", r.Revoked}} {
		if len(form.privileges) > 0 {
			out = append(out, prefix+form.verb+" "+strings.Join(form.privileges, ", ")+" on "+on+" "+form.preposition+" "+grantee+form.suffix)
		}
	}
	return out
}
