package mysql

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// reader reads the one database of a session. information_schema says in a fixed number of queries what exists and which collation each column
// really has; what it leaves out (periods, partitions, index options, prefix and expression keys, the order of options) comes from the server's own
// SHOW CREATE, one per object.
type reader struct {
	*session
	db         *model.Database
	relations  []relation
	collations map[string]map[string]string // by table and column
}

type relation struct{ name, kind, engine, collation string }

// read returns the database's model, normalised.
func (s *session) read(ctx context.Context) (*model.Database, error) {
	if s.database == "" {
		return nil, fault.New(frame.CodeDatabaseURLInvalid, "the database URL names no database")
	}
	r := &reader{session: s, db: model.New(model.MySQL)}
	r.db.Server = s.server.name
	for _, step := range []func(context.Context) error{
		r.checkPrivileges, r.readRelations, r.readCollations, r.readTables, r.readViews, r.readRoutines, r.readTriggers, r.readEvents, r.readSRIDs,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	r.db.Normalise()
	if err := r.db.Validate(); err != nil {
		return nil, fault.Wrap(err, frame.CodeInternal, "reading the catalog: %s", err)
	}
	return r.db, nil
}

func (r *reader) unmodelled(kind, table, name string) {
	o := model.Object{Kind: kind, Table: table, Name: name}
	if !slices.Contains(r.db.Unmodelled, o) {
		r.db.Unmodelled = append(r.db.Unmodelled, o)
	}
}

const doing = "reading the catalog"

func (r *reader) readRelations(ctx context.Context) error {
	const query = `SELECT TABLE_NAME, TABLE_TYPE, COALESCE(ENGINE, ''), COALESCE(TABLE_COLLATION, '') FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY BINARY TABLE_NAME`
	return r.rows(ctx, doing, query, func(row []string) { r.relations = append(r.relations, relation{row[0], row[1], row[2], row[3]}) })
}

func (r *reader) readCollations(ctx context.Context) error {
	r.collations = map[string]map[string]string{}
	const query = `SELECT TABLE_NAME, COLUMN_NAME, COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND COLLATION_NAME IS NOT NULL`
	return r.rows(ctx, doing, query, func(row []string) {
		if r.collations[row[0]] == nil {
			r.collations[row[0]] = map[string]string{}
		}
		r.collations[row[0]][row[1]] = row[2]
	})
}

func (r *reader) readTables(ctx context.Context) error {
	for _, rel := range r.relations {
		var err error
		switch rel.kind {
		case "BASE TABLE", "SYSTEM VERSIONED":
			err = r.readTable(ctx, rel)
		case "SEQUENCE":
			err = r.readSequence(ctx, rel)
		case "VIEW":
		default:
			r.unmodelled("foreign table", rel.name, rel.name+" ("+rel.kind+")")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// show runs SHOW CREATE and returns the columns of its one row by name.
func (r *reader) show(ctx context.Context, what, name string) (map[string]sql.NullString, error) {
	out := map[string]sql.NullString{}
	rows, err := r.conn.QueryContext(ctx, "SHOW CREATE "+what+" "+ident(name))
	if err != nil {
		return nil, queryFault(ctx, err, "reading the definition of "+strings.ToLower(what)+" "+display(name))
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, queryFault(ctx, err, doing)
	}
	values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	if rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, queryFault(ctx, err, doing)
		}
		for i, c := range columns {
			out[c] = values[i]
		}
	}
	if err := rows.Err(); err != nil {
		return nil, queryFault(ctx, err, doing)
	}
	return out, nil
}

func (r *reader) readTable(ctx context.Context, rel relation) error {
	row, err := r.show(ctx, "TABLE", rel.name)
	if err != nil {
		return err
	}
	p := parseTable(rel.name, row["Create Table"].String)
	t := &p.table
	t.MySQL.Collation = rel.collation
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Collation = r.collations[rel.name][c.Name]
		r.localise(&c.Default, t, "default of column "+c.Name)
	}
	for i := range t.Constraints {
		c := &t.Constraints[i]
		if c.Kind != model.Check {
			continue
		}
		for name := range mentions(c.Expression) {
			if t.Column(name) != nil {
				c.Columns = append(c.Columns, name)
			}
		}
	}
	for _, o := range p.problems {
		r.unmodelled(o.Kind, o.Table, o.Name)
	}
	r.db.Tables = append(r.db.Tables, *t)
	return nil
}

// localise takes the database's name off an expression of the server's.
func (r *reader) localise(expression *string, t *model.Table, what string) {
	local, ok := withoutDatabase(*expression, r.database)
	if !ok {
		r.unmodelled("column options", t.Name.Name, what+" (names the database)")
		return
	}
	*expression = local
}

func (r *reader) readSequence(ctx context.Context, rel relation) error {
	row, err := r.show(ctx, "SEQUENCE", rel.name)
	if err != nil {
		return err
	}
	create := row["Create Table"].String
	s, ok := parseSequence(rel.name, create)
	if !ok {
		r.unmodelled("sequence option", "", rel.name)
		return nil
	}
	r.db.Sequences = append(r.db.Sequences, s)
	return nil
}

// readSRIDs looks for what SHOW CREATE TABLE of MariaDB leaves out: the reference system of a column.
func (r *reader) readSRIDs(ctx context.Context) error {
	if r.server.name != model.ServerMariaDB {
		return nil
	}
	const query = `SELECT G_TABLE_NAME, G_GEOMETRY_COLUMN FROM information_schema.GEOMETRY_COLUMNS WHERE G_TABLE_SCHEMA = DATABASE() AND SRID <> 0`
	return r.rows(ctx, doing, query, func(row []string) { r.unmodelled("column options", row[0], row[1]+" (REF_SYSTEM_ID)") })
}

// visibility are the privileges on a database without which the server hides what exists, or what it looks like.
var visibility = []string{"SELECT", "SHOW VIEW", "TRIGGER", "EVENT"}

// checkPrivileges refuses an account that cannot see everything: what is hidden cannot be compared.
func (r *reader) checkPrivileges(ctx context.Context) error {
	held := map[string]bool{}
	err := r.rows(ctx, "reading the account's privileges", "SHOW GRANTS", func(row []string) { readGrant(row[0], r.database, held) })
	if err != nil {
		return err
	}
	var missing []string
	for _, p := range visibility {
		if !held[p] && !held["ALL PRIVILEGES"] {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		return fault.New(frame.CodeDatabasePermission, "the account lacks %s on the database: without it the server hides what exists, and what is hidden cannot be compared", strings.Join(missing, ", "))
	}
	return nil
}

// readGrant adds the privileges of one line of SHOW GRANTS that hold for the whole database.
func readGrant(line, database string, held map[string]bool) {
	toks := tokens(line)
	if len(toks) == 0 || !toks[0].is("GRANT") {
		return
	}
	on := slices.IndexFunc(toks, func(t token) bool { return t.is("ON") })
	if on < 0 || len(toks) < on+4 || !toks[on+2].is(".") || !toks[on+3].is("*") {
		return
	}
	if where := toks[on+1]; !where.is("*") && !grantMatches(unquote(where.text), database) {
		return
	}
	for _, p := range splitTop(line[toks[0].start+len("GRANT") : toks[on].start]) {
		held[strings.TrimSpace(p)] = true
	}
}

// grantMatches compares the database pattern of a grant, in which _ and % are wildcards unless escaped.
func grantMatches(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	if len(p) == 0 {
		return len(n) == 0
	}
	switch {
	case p[0] == '%':
		for i := 0; i <= len(n); i++ {
			if grantMatches(string(p[1:]), string(n[i:])) {
				return true
			}
		}
		return false
	case p[0] == '\\' && len(p) > 1:
		p = p[1:]
	case p[0] == '_' && len(n) > 0:
		return grantMatches(string(p[1:]), string(n[1:]))
	}
	return len(n) > 0 && p[0] == n[0] && grantMatches(string(p[1:]), string(n[1:]))
}
