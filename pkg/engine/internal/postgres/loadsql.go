package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// ScratchPrefix starts the name of every scratch database.
const ScratchPrefix = "ptah_dev_"

// LoadDeclared runs the statements, in the order given, and then the files in a fresh scratch database, fills in the rows and reads the result back.
// Each file gets a session that is as new, and every statement its own transaction unless the file opens one: what psql does. A file that creates what
// one of the statements has created is refused with both places.
func LoadDeclared(ctx context.Context, devURL string, declarations contract.Declarations, files []contract.Source) (db *model.Database, err error) {
	parsed, err := splitFiles(files)
	if err != nil {
		return nil, err
	}
	declared, err := newDeclared(declarations.Statements)
	if err != nil {
		return nil, err
	}
	config, err := parseConfig(devURL)
	if err != nil {
		return nil, err
	}
	admin, err := connectConfig(ctx, config, 0)
	if err != nil {
		return nil, err
	}
	defer admin.close()
	name, err := admin.createScratch(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if dropErr := admin.dropScratch(name); dropErr != nil && err == nil {
			db, err = nil, dropErr
		}
	}()
	scratch := config.Copy()
	scratch.Database = name
	if err := admin.bringRoles(ctx, declarations.Statements, files, parsed); err != nil {
		return nil, err
	}
	if err := declared.run(ctx, scratch, declarations.Statements); err != nil {
		return nil, err
	}
	renames := slices.Clone(declarations.Renames)
	each := fileSessions{config: scratch, never: setsByName(parsed, declarations.Statements)}
	defer each.close()
	for i := range files {
		l := &loader{file: files[i].Name, src: string(files[i].Data), secret: config.Password, declared: declared}
		own, err := each.next(ctx, parsed[i])
		if err != nil {
			return nil, err
		}
		if err := l.run(ctx, own, parsed[i]); err != nil {
			return nil, err
		}
		renames = append(renames, l.found...)
	}
	s, err := connectConfig(ctx, scratch, 0)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if db, err = s.loadRows(ctx, declarations.Rows); err != nil {
		return nil, err
	}
	if err := s.tellLeft(ctx, db, declarations.Left); err != nil {
		return nil, err
	}
	s.declarePrivileges(db)
	statements := slices.Concat(parsed...)
	for _, s := range declarations.Statements {
		statements = append(statements, sqlStatement{text: s.SQL})
	}
	forgetVersions(db, statements)
	return db, setRenames(db, renames)
}

// tellLeft finds the rows that come from nowhere but the files: they are no part of a schema and are lost with the scratch database.
func (s *session) tellLeft(ctx context.Context, db *model.Database, left func([]model.Name)) error {
	if left == nil {
		return nil
	}
	const query = `SELECT n.nspname::text, c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND pg_catalog.pg_relation_size(c.oid) > 0 ORDER BY 1, 2`
	rows, err := s.conn.Query(ctx, query)
	if err != nil {
		return queryFault(ctx, err, "looking for rows of the files")
	}
	written, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n model.Name, err error) { return n, row.Scan(&n.Schema, &n.Name) })
	if err != nil {
		return queryFault(ctx, err, "looking for rows of the files")
	}
	var tables []model.Name
	for _, name := range written {
		if db.Table(name) == nil || slices.ContainsFunc(db.Rows, func(r model.RowSet) bool { return r.Table == name }) {
			continue
		}
		var some bool
		if err := s.conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM ONLY "+qualified(name)+")").Scan(&some); err != nil {
			return queryFault(ctx, err, "looking for rows of the files")
		}
		if some {
			tables = append(tables, name)
		}
	}
	left(tables)
	return nil
}

// forgetVersions takes the versions out that the files do not name: the dev server chose those.
func forgetVersions(db *model.Database, statements []sqlStatement) {
	for i := range db.Extensions {
		x := &db.Extensions[i]
		if !slices.ContainsFunc(statements, func(s sqlStatement) bool { return declaresVersion(s.text, x.Name) }) {
			x.Version = ""
		}
	}
}

func declaresVersion(text, extension string) bool {
	words := keywords(text, 1<<6)
	return len(words) > 2 && words[1] == "EXTENSION" && (words[0] == "CREATE" && slices.Contains(words, "VERSION") || words[0] == "ALTER" && slices.Contains(words, "UPDATE")) &&
		mentions(text)[extension]
}

// splitFiles cuts all files before the server is asked for anything.
func splitFiles(files []contract.Source) ([][]sqlStatement, error) {
	out := make([][]sqlStatement, len(files))
	for i, f := range files {
		l := &loader{file: f.Name, src: string(f.Data)}
		if !utf8.Valid(f.Data) || strings.IndexByte(l.src, 0) >= 0 {
			return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: not a text file in UTF-8", f.Name)
		}
		statements, problem := splitSQL(l.src, refusedStatement)
		if problem != nil {
			return nil, l.fault(nil, problem.offset, problem.text)
		}
		out[i] = statements
	}
	return out, nil
}

// refusedStatement says why a statement may not run: it reaches outside of the scratch database, or needs rows that only psql sends.
func refusedStatement(text string) string {
	words := keywords(text, 3)
	for len(words) < 3 {
		words = append(words, "")
	}
	switch {
	case words[0] == "ALTER" && words[1] == "SYSTEM":
		return "ALTER SYSTEM changes the whole server and is no part of a schema"
	case slices.Contains([]string{"CREATE", "ALTER", "DROP"}, words[0]) && words[2] != "MAPPING" &&
		slices.Contains([]string{"DATABASE", "ROLE", "USER", "GROUP", "TABLESPACE"}, words[1]):
		return words[0] + " " + words[1] + " reaches outside of the scratch database and is no part of a schema"
	case words[0] == "GRANT" || words[0] == "REVOKE":
		return refusedPrivilege(text)
	case words[0] == "COPY":
		all := keywords(text, 1<<10)
		if i := slices.Index(all, "FROM"); i >= 0 && i+1 < len(all) && all[i+1] == "STDIN" {
			return "COPY … FROM stdin carries rows, which are no part of a schema"
		}
		return "COPY reads and writes files and programs of the server, and is no part of a schema"
	case words[1] == "SUBSCRIPTION":
		return words[0] + " SUBSCRIPTION connects the scratch database to another server, and is no part of a schema"
	}
	return ""
}

func (s *session) createScratch(ctx context.Context) (string, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fault.Wrap(err, frame.CodeInternal, "naming the scratch database")
	}
	name := ScratchPrefix + hex.EncodeToString(random[:])
	// template0 holds nothing that somebody added to this server.
	if err := s.run(ctx, "CREATE DATABASE "+ident(name)+" TEMPLATE template0"); err != nil {
		// A cancelled CREATE DATABASE may still have happened.
		_ = s.dropScratch(name)
		return "", queryFault(ctx, err, "creating a scratch database on the dev server")
	}
	return name, nil
}

// dropScratch drops the scratch database even when the caller's context has ended.
func (s *session) dropScratch(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := s.run(ctx, "DROP DATABASE IF EXISTS "+ident(name)+" WITH (FORCE)"); err != nil {
		return queryFault(ctx, err, "dropping the scratch database "+name)
	}
	return nil
}

// fileSessions gives every file a session that nothing of the others has touched. A new backend knows nothing of the catalog, and learning it takes
// longer than most files do: where DISCARD ALL makes a session what a new one is, the next file gets the same.
type fileSessions struct {
	config  *pgx.ConnConfig
	current *session
	used    bool // for something that outlives DISCARD ALL
	never   bool // a routine may do such a thing wherever it is called
}

// setsByName reports statements with set_config, whose name of a setting nobody can know.
func setsByName(parsed [][]sqlStatement, declared []contract.Declared) bool {
	sets := func(text string) bool { return strings.Contains(strings.ToLower(text), "set_config") }
	return slices.ContainsFunc(slices.Concat(parsed...), func(s sqlStatement) bool { return sets(s.text) }) ||
		slices.ContainsFunc(declared, func(d contract.Declared) bool { return sets(d.SQL) })
}

func (f *fileSessions) next(ctx context.Context, statements []sqlStatement) (*session, error) {
	if f.current == nil || f.used || f.never || f.current.run(ctx, "DISCARD ALL") != nil {
		f.close()
		var err error
		if f.current, err = connectConfig(ctx, f.config, 0); err != nil {
			return nil, err
		}
	}
	f.used = slices.ContainsFunc(statements, func(s sqlStatement) bool { return outlivesDiscard(s.text) })
	return f.current, nil
}

func (f *fileSessions) close() {
	if f.current != nil {
		f.current.close()
	}
	f.current = nil
}

// plainWords begin statements that leave nothing in a session that DISCARD ALL does not take out of it.
var plainWords = []string{
	"CREATE", "ALTER", "DROP", "COMMENT", "GRANT", "REVOKE", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE",
}

// outlivesDiscard reports a statement that may leave something for good: a library, or a setting of somebody's own, which keeps its name.
func outlivesDiscard(text string) bool {
	words := keywords(text, 2)
	switch {
	case len(words) == 0 || slices.Contains(plainWords, words[0]):
		return false
	case words[0] == "SET" && len(words) > 1:
		name, _, _ := strings.Cut(text, "=")
		return strings.Contains(name, ".") || slices.Contains([]string{"ROLE", "SESSION", "SEED", "LOCAL"}, words[1])
	}
	return true
}

// loader runs one file.
type loader struct {
	file     string
	src      string
	secret   string // never to be shown
	declared *declared

	directives []foundDirective
	found      []contract.Rename
}

func (l *loader) place(offset int) string {
	line, column := position(l.src, offset)
	return fmt.Sprintf("%s:%d:%d", l.file, line, column)
}

func (l *loader) run(ctx context.Context, s *session, statements []sqlStatement) error {
	l.directives = findDirectives(l.src, statements)
	for _, d := range l.directives {
		if d.statement < 0 || d.from == "" {
			return l.fault(nil, d.offset, "renamed_from stands above CREATE TABLE or above a column of it, and names what it was")
		}
	}
	for i, statement := range statements {
		if err := l.renames(ctx, s, i, statement); err != nil {
			return err
		}
		twice, err := l.declared.twice(ctx, s, statement.text)
		if err == nil && twice == "" {
			err = s.run(ctx, statement.text)
		}
		if err == nil && twice == "" {
			twice, err = l.declared.replaced(ctx, s)
		}
		switch {
		case twice != "":
			return l.fault(nil, statement.start, twice)
		case err != nil:
			return l.statementFault(ctx, statement, err)
		}
	}
	if s.conn.PgConn().TxStatus() != 'I' {
		return l.fault(nil, len(l.src), "the file ends inside of a transaction that it opened")
	}
	return nil
}

func (l *loader) statementFault(ctx context.Context, statement sqlStatement, err error) error {
	var pg *pgconn.PgError
	if ctx.Err() != nil || !errors.As(err, &pg) {
		return queryFault(ctx, err, "running "+l.file)
	}
	offset := statement.start
	if pg.Position > 0 {
		offset += byteOffset(statement.text, int(pg.Position)-1)
	}
	return l.fault(err, offset, fmt.Sprintf("%s (SQLSTATE %s)", pg.Message, pg.Code))
}

// byteOffset is where the n-th character starts.
func byteOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// fault names the place. The server's text speaks about the author's own file; the password of the dev URL is taken out all the same.
func (l *loader) fault(err error, offset int, text string) error {
	return placeFault(err, l.place(offset), text, l.secret)
}

func placeFault(err error, place, text, secret string) error {
	if secret != "" {
		text = strings.ReplaceAll(text, secret, "***")
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	return fault.Wrap(err, frame.CodeDesiredSchemaInvalid, "%s: %s", place, text)
}
