package mysql

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	driver "github.com/go-sql-driver/mysql"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/target"
)

// ScratchPrefix starts the name of every scratch database.
const ScratchPrefix = "ptah_dev_"

// LoadDeclared runs the statements, in the order given, and then the files in a fresh scratch database and reads the result back. The database has the
// default collation of the one that the URL names, or the server's own where that is one of the server's or none. Each file gets a session of its own. A file
// that creates what one of the statements has created is refused with both places.
func LoadDeclared(ctx context.Context, devURL string, declarations contract.Declarations, files []contract.Source) (db *model.Database, err error) {
	parsed, err := splitFiles(files)
	if err != nil {
		return nil, err
	}
	declared, err := newDeclared(declarations)
	if err != nil {
		return nil, err
	}
	c, err := config(devURL, target.ParseServer)
	if err != nil {
		return nil, err
	}
	admin, err := connectConfig(ctx, c, 0)
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
	scratch := c.Clone()
	scratch.DBName = name
	if err := declared.run(ctx, scratch, declarations.Statements); err != nil {
		return nil, err
	}
	renames := slices.Clone(declarations.Renames)
	for i := range files {
		l := &loader{file: files[i].Name, src: string(files[i].Data), secret: c.Passwd, declared: declared}
		if err := l.run(ctx, scratch, parsed[i]); err != nil {
			return nil, err
		}
		renames = append(renames, l.found...)
	}
	s, err := connectConfig(ctx, scratch, 0)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if db, err = s.inspect(ctx); err != nil {
		return nil, err
	}
	if err := s.tellLeft(ctx, db, declarations.Left); err != nil {
		return nil, err
	}
	return db, s.setRenames(db, renames)
}

// tellLeft finds the rows that come from nowhere but the files: they are no part of a schema and are lost with the scratch database.
func (s *session) tellLeft(ctx context.Context, db *model.Database, left func([]model.Name)) error {
	if left == nil {
		return nil
	}
	var tables []model.Name
	for i := range db.Tables {
		name := db.Tables[i].Name
		some := func([]string) { tables = append(tables, name) }
		if err := s.rows(ctx, "looking for rows of the files", "SELECT 1 FROM "+ident(name.Name)+" LIMIT 1", some); err != nil {
			return err
		}
	}
	left(tables)
	return nil
}

// splitFiles cuts all files before the server is asked for anything.
func splitFiles(files []contract.Source) ([][]sqlStatement, error) {
	out := make([][]sqlStatement, len(files))
	for i, f := range files {
		l := &loader{file: f.Name, src: string(f.Data)}
		if !utf8.Valid(f.Data) || strings.IndexByte(l.src, 0) >= 0 {
			return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: not a text file in UTF-8", f.Name)
		}
		statements, problem := splitSQL(l.src)
		if problem != nil {
			return nil, l.fault(nil, problem.offset, problem.text)
		}
		for _, s := range statements {
			if reason := refusedStatement(s.text); reason != "" {
				return nil, l.fault(nil, s.start, reason)
			}
		}
		out[i] = statements
	}
	return out, nil
}

func (s *session) createScratch(ctx context.Context) (string, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fault.Wrap(err, frame.CodeInternal, "naming the scratch database")
	}
	name := ScratchPrefix + hex.EncodeToString(random[:])
	collation := ""
	const query = "SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = DATABASE() AND SCHEMA_NAME NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"
	if err := s.rows(ctx, "reading the collation of the dev database", query, func(row []string) { collation = row[0] }); err != nil {
		return "", err
	}
	create := "CREATE DATABASE " + ident(name)
	if collation != "" {
		create += " " + charsetSQL(collation)
	}
	if err := s.run(ctx, create); err != nil {
		// A killed CREATE DATABASE may still have happened.
		_ = s.dropScratch(name)
		return "", queryFault(ctx, err, "creating a scratch database on the dev server")
	}
	return name, nil
}

// dropScratch drops the scratch database even when the caller's context has ended.
func (s *session) dropScratch(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := s.run(ctx, "DROP DATABASE IF EXISTS "+ident(name)); err != nil {
		return queryFault(ctx, err, "dropping the scratch database "+name)
	}
	return nil
}

// loader runs one file.
type loader struct {
	file     string
	src      string
	secret   string // never to be shown
	declared *declared

	found []contract.Rename
}

func (l *loader) run(ctx context.Context, c *driver.Config, statements []sqlStatement) error {
	s, err := connectConfig(ctx, c, 0)
	if err != nil {
		return err
	}
	defer s.close()
	if err := l.renames(statements); err != nil {
		return err
	}
	for _, statement := range statements {
		if twice := l.declared.twice(statement.text); twice != "" {
			return l.fault(nil, statement.start, twice)
		}
		if err := s.run(ctx, statement.text); err != nil {
			return l.statementFault(ctx, statement, err)
		}
	}
	return nil
}

func (l *loader) statementFault(ctx context.Context, statement sqlStatement, err error) error {
	var server *driver.MySQLError
	if ctx.Err() != nil || !errors.As(err, &server) {
		return queryFault(ctx, err, "running "+l.file)
	}
	return l.fault(err, statement.start, fmt.Sprintf("%s (error %d)", server.Message, server.Number))
}

func (l *loader) place(offset int) string {
	line, column := position(l.src, offset)
	return fmt.Sprintf("%s:%d:%d", l.file, line, column)
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

// position is where a byte offset lies, line and column from 1, columns in characters.
func position(src string, offset int) (line, column int) {
	offset = min(max(offset, 0), len(src))
	before := src[:offset]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}
