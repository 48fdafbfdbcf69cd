package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// disposableSetting is how a server says that nobody minds what becomes of it: roles that are missing there are made.
const disposableSetting = "ptah.disposable"

// refusedPrivilege says why a GRANT or REVOKE may not run: it reaches outside of the scratch database, or what it is about is not managed.
func refusedPrivilege(text string) string {
	t := tokens{src: text}
	verb := t.word()
	t.next()
	if !t.seek("ON") {
		return verb + " of a role reaches outside of the scratch database: who is a member of what belongs to the server and is no part of a schema"
	}
	switch what := t.word(); what {
	case "DATABASE", "TABLESPACE", "PARAMETER":
		return verb + " … ON " + what + " reaches outside of the scratch database and is no part of a schema"
	case "LANGUAGE", "LARGE", "FOREIGN":
		return "privileges on languages, large objects and foreign servers are not managed: leave " + verb + " … ON " + what + " out"
	}
	return ""
}

// seek moves behind the next word of that text, outside of parentheses.
func (t *tokens) seek(words ...string) bool {
	depth := 0
	for text := t.word(); text != ""; text = t.word() {
		t.next()
		switch {
		case text == "(":
			depth++
		case text == ")":
			depth--
		case depth == 0 && slices.Contains(words, text):
			return true
		}
	}
	return false
}

// specialRoles are words and no names.
var specialRoles = []string{"PUBLIC", "CURRENT_USER", "CURRENT_ROLE", "SESSION_USER"}

// roleList reads names of roles, folded as the server folds them.
func (t *tokens) roleList() []string {
	var out []string
	for {
		t.accept("GROUP")
		word := t.text()
		if word == "" || word[0] == '\'' || !isWord(word[0]) && word[0] != '"' {
			return out
		}
		t.next()
		if t.text() == "&" { // a name in escapes, which the server alone reads
			return out
		}
		if !slices.Contains(specialRoles, (&tokens{src: word}).word()) {
			out = append(out, fold(word))
		}
		if !t.accept(",") {
			return out
		}
	}
}

// namedRoles are the roles that a statement about privileges or a policy names: those that gain or lose something, and those whose default privileges
// change.
func namedRoles(text string) (gain, lose, creators []string) {
	t := tokens{src: text}
	switch {
	case t.accept("GRANT"):
	case t.accept("REVOKE"):
	case t.acceptAll([]string{"ALTER", "DEFAULT", "PRIVILEGES"}):
		if t.accept("FOR") {
			t.next()
			creators = t.roleList()
		}
	case t.acceptAll([]string{"CREATE", "POLICY"}):
	case t.acceptAll([]string{"ALTER", "POLICY"}):
		if rename := (&tokens{src: text, pos: t.pos}); rename.seek("RENAME") {
			return nil, nil, nil
		}
	default:
		return nil, nil, nil
	}
	verb := &tokens{src: text, pos: t.pos}
	if verb.seek("FROM") {
		lose = verb.roleList()
	}
	if t.seek("TO") {
		gain = t.roleList()
	}
	return gain, lose, creators
}

// roleUse is a statement that names roles, with what makes its place known.
type roleUse struct {
	text  string
	fault func(problem string) error
}

// bringRoles makes sure that the roles exist which the files name. They are made on a server that says it is disposable, without a right to log in,
// and refused by name on any other.
func (s *session) bringRoles(ctx context.Context, statements []contract.Declared, files []contract.Source, parsed [][]sqlStatement) error {
	var uses []roleUse
	for i := range statements {
		d := &statements[i]
		uses = append(uses, roleUse{d.SQL, func(problem string) error { return placeFault(nil, d.At, problem, "") }})
	}
	for i := range files {
		l := &loader{file: files[i].Name, src: string(files[i].Data)}
		for _, statement := range parsed[i] {
			uses = append(uses, roleUse{statement.text, func(problem string) error { return l.fault(nil, statement.start, problem) }})
		}
	}
	b := roleBringer{session: s}
	for _, use := range uses {
		if err := b.bring(ctx, use); err != nil {
			return err
		}
	}
	return nil
}

type roleBringer struct {
	*session
	loading    string // the role that is connected; empty before anybody asked
	disposable bool
	known      map[string]bool
}

func (b *roleBringer) bring(ctx context.Context, use roleUse) error {
	gain, lose, creators := namedRoles(use.text)
	if len(gain)+len(lose)+len(creators) == 0 {
		return nil
	}
	if b.loading == "" {
		if err := b.ask(ctx); err != nil {
			return queryFault(ctx, err, "asking the dev server for its roles")
		}
	}
	policy := slices.Contains(keywords(use.text, 2), "POLICY")
	if !policy && !b.ownsNothingOf(use.text) && (slices.Contains(gain, b.loading) || slices.Contains(creators, b.loading)) {
		return use.fault(fmt.Sprintf("role %q is the one that loads schemas on the dev server and owns everything there, so that what is granted to it, or created by it, cannot be told from an owner's own: use a dev server whose user no file names",
			b.loading))
	}
	for _, role := range slices.Concat(creators, gain, lose) {
		if b.known[role] {
			continue
		}
		if !b.disposable {
			return use.fault(fmt.Sprintf("role %q does not exist on the dev server: create it there (CREATE ROLE … NOLOGIN is enough), or let the dev server say that it is disposable (%s = on), and missing roles are made",
				role, disposableSetting))
		}
		if err := b.run(ctx, "CREATE ROLE "+ident(role)+" NOLOGIN"); err != nil && sqlState(err) != stateDuplicateObject {
			return use.fault(fmt.Sprintf("role %q cannot be made on the dev server (SQLSTATE %s)", role, sqlState(err)))
		}
		b.known[role] = true
	}
	return nil
}

// ownsNothingOf reports a GRANT on the schema public alone, which dumps are full of. Since PostgreSQL 15 it belongs to whoever owns the database.
func (b *roleBringer) ownsNothingOf(grant string) bool {
	t := tokens{src: grant}
	return b.major >= 15 && t.accept("GRANT") && t.seek("ON") && t.accept("SCHEMA") && t.name() == (model.Name{Name: publicSchema}) && t.word() == "TO"
}

func (b *roleBringer) ask(ctx context.Context) error {
	var names []string
	err := b.conn.QueryRow(ctx, "SELECT current_user::text, COALESCE(current_setting('"+disposableSetting+"', true), '') IN ('on', 'true', 'yes', '1'), ARRAY(SELECT rolname::text FROM pg_catalog.pg_roles)").
		Scan(&b.loading, &b.disposable, &names)
	b.known = map[string]bool{}
	for _, name := range names {
		b.known[name] = true
	}
	return err
}
