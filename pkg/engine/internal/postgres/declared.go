package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// nameClass is a name space of the server.
type nameClass int

const (
	noClass nameClass = iota
	relationClass
	typeClass
	routineClass
	schemaClass
	extensionClass
	partClass // triggers and policies, whose name belongs to a table
)

// classes of the kinds that declarations have.
var classes = map[string][]nameClass{
	"table": {relationClass, typeClass}, "view": {relationClass, typeClass}, "materialized view": {relationClass, typeClass}, "sequence": {relationClass}, "index": {relationClass},
	"enum": {typeClass}, "domain": {typeClass}, "range type": {typeClass}, "composite type": {typeClass, relationClass}, "function": {routineClass}, "schema": {schemaClass},
	"extension": {extensionClass}, "trigger": {partClass}, "policy": {partClass},
}

// madeName is a name that one statement gives.
type madeName struct {
	class nameClass
	name  model.Name
	part  string // name of a trigger or policy of the table name
}

// declared knows what the rendered statements have made, and where.
type declared struct {
	made map[madeName]*contract.Declared
	// routines is how many the schema has under a name that a statement replaces; -1 where the statement replaces none.
	routines int
	replaces madeName
}

// newDeclared checks that each statement is exactly one for the splitter that cuts SQL files, so that no declaration can bring a statement of its own.
func newDeclared(statements []contract.Declared) (*declared, error) {
	d := &declared{made: map[madeName]*contract.Declared{}, routines: -1}
	for i := range statements {
		s := &statements[i]
		cut, problem := splitSQL(s.SQL, func(string) string { return "" })
		if problem != nil || len(cut) != 1 || strings.TrimSpace(cut[0].text) != strings.TrimSpace(s.SQL) {
			return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: what is declared here does not stay within one statement", s.At)
		}
		words := keywords(s.SQL, 1)
		if len(words) == 0 || words[0] != "CREATE" {
			continue
		}
		o := s.Object
		for _, class := range classes[o.Kind] {
			made := madeName{class: class, name: model.Name{Schema: o.Schema, Name: o.Name}}
			switch class {
			case partClass:
				made.name.Name, made.part = o.Table, o.Name
			case schemaClass, extensionClass:
				made.name.Schema = ""
			}
			d.made[made] = s
		}
	}
	return d, nil
}

// run executes the statements in one session.
func (d *declared) run(ctx context.Context, config *pgx.ConnConfig, statements []contract.Declared) error {
	if len(statements) == 0 {
		return nil
	}
	s, err := connectConfig(ctx, config, 0)
	if err != nil {
		return err
	}
	defer s.close()
	for i := range statements {
		if err := s.run(ctx, statements[i].SQL); err != nil {
			return declaredFault(ctx, &statements[i], err, config.Password)
		}
	}
	return nil
}

// declaredFault points the server's error at the declaration.
func declaredFault(ctx context.Context, d *contract.Declared, err error, secret string) error {
	var pg *pgconn.PgError
	if ctx.Err() != nil || !errors.As(err, &pg) {
		return queryFault(ctx, err, "running what is declared at "+d.At)
	}
	place := d.At
	if pg.Position > 0 && d.Where != nil {
		place = d.Where(byteOffset(d.SQL, int(pg.Position)-1))
	}
	text := pg.Message
	if pg.Detail != "" && strings.HasPrefix(pg.Code, "42") {
		text += "; " + pg.Detail
	}
	return placeFault(err, place, fmt.Sprintf("%s (SQLSTATE %s)", text, pg.Code), secret)
}

// twice says that a statement of a file creates what is declared; empty where it does not.
func (d *declared) twice(ctx context.Context, s *session, statement string) (string, error) {
	d.routines = -1
	if len(d.made) == 0 {
		return "", nil
	}
	c := parseCreate(statement)
	if c.class == noClass {
		return "", nil
	}
	if c.name.Schema == "" && c.class != schemaClass && c.class != extensionClass {
		// The search path decides where a bare name goes.
		row := s.conn.QueryRow(ctx, "SELECT coalesce(current_schema(), '')")
		if err := row.Scan(&c.name.Schema); err != nil {
			return "", err
		}
	}
	before, ok := d.made[c.madeName]
	if !ok {
		return "", nil
	}
	if c.class == routineClass {
		// Another routine of the same name may take other arguments.
		d.replaces = c.madeName
		err := d.count(ctx, s, &d.routines)
		return "", err
	}
	return declaredTwice(before), nil
}

func declaredTwice(before *contract.Declared) string {
	return fmt.Sprintf("%s is declared already, at %s; keep one of the two", contract.NameObject(before.Object), before.At)
}

// replaced says that the statement that just ran replaced a declared routine instead of adding one.
func (d *declared) replaced(ctx context.Context, s *session) (string, error) {
	if d.routines < 0 {
		return "", nil
	}
	before := d.routines
	if err := d.count(ctx, s, &d.routines); err != nil {
		return "", err
	}
	if d.routines > before {
		return "", nil
	}
	return declaredTwice(d.made[d.replaces]), nil
}

func (d *declared) count(ctx context.Context, s *session, into *int) error {
	row := s.conn.QueryRow(ctx, "SELECT count(*)::int FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1::text AND p.proname = $2::text",
		d.replaces.name.Schema, d.replaces.name.Name)
	return row.Scan(into)
}

// creation is what a CREATE statement makes.
type creation struct{ madeName }

// createWords leads from the words behind CREATE to the name space.
var createWords = []struct {
	words []string
	class nameClass
}{
	{[]string{"MATERIALIZED", "VIEW"}, relationClass},
	{[]string{"FOREIGN", "TABLE"}, relationClass},
	{[]string{"TABLE"}, relationClass},
	{[]string{"VIEW"}, relationClass},
	{[]string{"SEQUENCE"}, relationClass},
	{[]string{"INDEX"}, relationClass},
	{[]string{"TYPE"}, typeClass},
	{[]string{"DOMAIN"}, typeClass},
	{[]string{"FUNCTION"}, routineClass},
	{[]string{"PROCEDURE"}, routineClass},
	{[]string{"SCHEMA"}, schemaClass},
	{[]string{"EXTENSION"}, extensionClass},
	{[]string{"TRIGGER"}, partClass},
	{[]string{"POLICY"}, partClass},
}

// parseCreate reads the name behind CREATE as far as it takes to know it. Temporary objects have a schema of their own.
func parseCreate(statement string) creation {
	t := tokens{src: statement}
	if !t.accept("CREATE") {
		return creation{}
	}
	if t.accept("OR") {
		t.accept("REPLACE")
	}
	for slices.Contains([]string{"UNLOGGED", "RECURSIVE", "UNIQUE", "CONSTRAINT"}, t.word()) {
		t.next()
	}
	for _, c := range createWords {
		if !t.acceptAll(c.words) {
			continue
		}
		t.accept("CONCURRENTLY")
		t.acceptAll([]string{"IF", "NOT", "EXISTS"})
		name := t.name()
		switch {
		case c.class == partClass:
			for t.word() != "" && !t.accept("ON") {
				t.next()
			}
			return creation{madeName{class: c.class, name: t.name(), part: name.Name}}
		case c.words[0] == "INDEX":
			if name.Name == "ON" {
				return creation{} // the server makes a new name up
			}
			t.accept("ON")
			t.accept("ONLY")
			return creation{madeName{class: c.class, name: model.Name{Schema: t.name().Schema, Name: name.Name}}}
		}
		return creation{madeName{class: c.class, name: name}}
	}
	return creation{}
}

// tokens walks over a statement, token by token.
type tokens struct {
	src string
	pos int
}

// text is the token ahead, as it is written: an identifier, a word, or one other character.
func (t *tokens) text() string {
	for t.pos < len(t.src) {
		rest := t.src[t.pos:]
		switch {
		case rest[0] <= ' ':
			t.pos++
		case strings.HasPrefix(rest, "--"):
			t.pos += lineLength(rest)
		case strings.HasPrefix(rest, "/*"):
			s := splitter{src: t.src, pos: t.pos}
			_ = s.comment()
			t.pos = s.pos
		case rest[0] == '\'' || rest[0] == '"':
			return t.src[t.pos:skipQuoted(t.src, t.pos)]
		case isWord(rest[0]):
			end := 1
			for end < len(rest) && isWord(rest[end]) {
				end++
			}
			return rest[:end]
		default:
			return rest[:1]
		}
	}
	return ""
}

func (t *tokens) word() string { return strings.ToUpper(t.text()) }

func (t *tokens) next() { t.pos += len(t.text()) }

func (t *tokens) accept(word string) bool {
	if t.word() != word {
		return false
	}
	t.next()
	return true
}

// acceptAll takes a row of words, or none of them.
func (t *tokens) acceptAll(words []string) bool {
	start := t.pos
	for _, w := range words {
		if !t.accept(w) {
			t.pos = start
			return false
		}
	}
	return true
}

// name reads an identifier with or without a schema, folded as the server folds it.
func (t *tokens) name() model.Name {
	first := fold(t.text())
	t.next()
	if !t.accept(".") {
		return model.Name{Name: first}
	}
	second := fold(t.text())
	t.next()
	return model.Name{Schema: first, Name: second}
}

func fold(token string) string {
	if strings.HasPrefix(token, `"`) {
		return unquote(token)
	}
	if strings.EqualFold(token, "ON") {
		return "ON"
	}
	return strings.ToLower(token)
}
