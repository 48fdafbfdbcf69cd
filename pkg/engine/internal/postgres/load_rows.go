package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// stateNoParent is the server's word for a foreign key that points nowhere.
const stateNoParent = "23503"

// loadRows fills the tables of a scratch database and reads everything back, so that declared values have the server's own text.
func (s *session) loadRows(ctx context.Context, declared []contract.DeclaredRows) (*model.Database, error) {
	if len(declared) == 0 {
		return s.inspect(ctx, nil, everything)
	}
	structure, err := s.inspect(ctx, nil, model.Managed{})
	if err != nil {
		return nil, err
	}
	sets := make([]model.RowSet, len(declared))
	var tables []*model.Table
	for i, d := range declared {
		t := structure.Table(d.Table)
		if t == nil {
			return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: rows are declared for table %q.%q, which is not declared", d.At, d.Table.Schema, d.Table.Name)
		}
		sets[i] = model.RowSet{Table: d.Table, Keys: d.Keys, Columns: d.Columns}
		if err := sets[i].Fits(t); err != nil {
			return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: rows of table %q.%q: %s", d.At, d.Table.Schema, d.Table.Name, err)
		}
		tables = append(tables, t)
	}
	if err := s.fillAll(ctx, structure, parentsFirst(tables), declared); err != nil {
		return nil, err
	}
	return s.inspect(ctx, sets, everything)
}

// fillAll replaces whatever the files have put into the tables, in one transaction that reads constants as Apply does.
func (s *session) fillAll(ctx context.Context, structure *model.Database, tables []*model.Table, declared []contract.DeclaredRows) error {
	for _, sql := range []string{"BEGIN", deparse} {
		if err := s.run(ctx, sql); err != nil {
			return queryFault(ctx, err, "preparing to load the declared rows")
		}
	}
	defer s.rollback()
	setOf := func(t *model.Table) *contract.DeclaredRows {
		return &declared[slices.IndexFunc(declared, func(d contract.DeclaredRows) bool { return d.Table == t.Name })]
	}
	for _, t := range slices.Backward(tables) {
		if err := s.run(ctx, "DELETE FROM "+qualified(t.Name)); err != nil {
			return s.rowFault(ctx, &contract.Declared{At: setOf(t).At}, err)
		}
	}
	for _, t := range tables {
		f := &filler{session: s, structure: structure, table: t, set: setOf(t)}
		if err := f.run(ctx); err != nil {
			return err
		}
	}
	for _, sql := range []string{"SET CONSTRAINTS ALL IMMEDIATE", "COMMIT"} {
		if err := s.run(ctx, sql); err != nil {
			return s.rowFault(ctx, &contract.Declared{At: declared[0].At}, err)
		}
	}
	return nil
}

func (s *session) rowFault(ctx context.Context, d *contract.Declared, err error) error {
	return declaredFault(ctx, d, err, s.conn.Config().Password)
}

// filler fills one table.
type filler struct {
	session   *session
	structure *model.Database
	table     *model.Table
	set       *contract.DeclaredRows
}

// run inserts row by row, so that a fault has its place. Rows of a table that points to itself come at once, in whatever order they are declared.
func (f *filler) run(ctx context.Context) error {
	if !pointsToItself(f.table) || len(f.set.Rows) == 0 {
		for i := range f.set.Rows {
			if fault, err := f.insert(ctx, &f.set.Rows[i]); err != nil {
				return fault
			}
		}
		return nil
	}
	if err := f.session.run(ctx, "SAVEPOINT rows"); err != nil {
		return queryFault(ctx, err, savepoint)
	}
	results, err := f.atOnce(ctx)
	if err != nil {
		return f.search(ctx, err)
	}
	for i := range f.set.Rows {
		if err := f.checkStored(&f.set.Rows[i], results.Rows[min(i, len(results.Rows)):min(i+1, len(results.Rows))]); err != nil {
			return err
		}
	}
	return nil
}

const savepoint = "loading the declared rows"

// atOnce inserts all rows with one statement.
func (f *filler) atOnce(ctx context.Context) (*pgconn.Result, error) {
	rows := make([][]*string, len(f.set.Rows))
	for i := range f.set.Rows {
		values, err := f.texts(&f.set.Rows[i])
		if err != nil {
			return nil, err
		}
		rows[i] = values
	}
	results, err := f.session.conn.PgConn().Exec(ctx, insertSQL(f.table, f.set.Columns, rows)+f.returning()).ReadAll()
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// search finds the row that the server refuses. Rows that point to another one wait for it.
func (f *filler) search(ctx context.Context, refused error) error {
	if err := f.session.run(ctx, "ROLLBACK TO rows"); err != nil {
		return queryFault(ctx, err, savepoint)
	}
	waiting := f.set.Rows
	for len(waiting) > 0 {
		var again []contract.DeclaredRow
		var first error
		for i := range waiting {
			if err := f.session.run(ctx, "SAVEPOINT row"); err != nil {
				return queryFault(ctx, err, savepoint)
			}
			fault, err := f.insert(ctx, &waiting[i])
			switch {
			case err == nil:
				continue
			case sqlState(err) != stateNoParent:
				return fault
			case first == nil:
				first = fault
			}
			again = append(again, waiting[i])
			if err := f.session.run(ctx, "ROLLBACK TO row"); err != nil {
				return queryFault(ctx, err, savepoint)
			}
		}
		if len(again) == len(waiting) {
			return first
		}
		waiting = again
	}
	return f.session.rowFault(ctx, &contract.Declared{At: f.set.At}, refused)
}

// insert returns the server's error too, which says what kind of fault it is.
func (f *filler) insert(ctx context.Context, row *contract.DeclaredRow) (fault, err error) {
	statement, err := f.statement(row)
	if err != nil {
		return err, err
	}
	results, err := f.session.conn.PgConn().Exec(ctx, statement.SQL).ReadAll()
	if err != nil {
		return f.session.rowFault(ctx, &statement, err), err
	}
	err = f.checkStored(row, results[0].Rows)
	return err, err
}

// returning asks what the table made of a row.
func (f *filler) returning() string {
	texts := make([]string, len(f.set.Columns))
	for i, name := range f.set.Columns {
		texts[i] = ident(name) + "::text"
	}
	return " RETURNING " + strings.Join(texts, ", ")
}

// texts are the values as the server reads them.
func (f *filler) texts(row *contract.DeclaredRow) ([]*string, error) {
	values := make([]*string, len(row.Values))
	for i, v := range row.Values {
		text, err := f.text(f.set.Columns[i], v)
		if err != nil {
			return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: column %q: %s", placeOf(v, row), f.set.Columns[i], err)
		}
		values[i] = text
	}
	return values, nil
}

// statement inserts one row and returns what the table made of it. Each value knows its place.
func (f *filler) statement(row *contract.DeclaredRow) (contract.Declared, error) {
	values, err := f.texts(row)
	if err != nil {
		return contract.Declared{}, err
	}
	head := strings.TrimSuffix(insertSQL(f.table, f.set.Columns, nil), " ") + " ("
	var sql strings.Builder
	sql.WriteString(head)
	starts := make([]int, len(values))
	for i, v := range values {
		if i > 0 {
			sql.WriteString(", ")
		}
		starts[i] = sql.Len()
		sql.WriteString(valueSQL(v))
	}
	sql.WriteString(")" + f.returning())
	return contract.Declared{SQL: sql.String(), At: row.At, Where: func(offset int) string {
		i, exact := slices.BinarySearch(starts, offset)
		if !exact {
			i--
		}
		if i < 0 || offset >= sql.Len() {
			return row.At
		}
		return placeOf(row.Values[i], row)
	}}, nil
}

func placeOf(v contract.DeclaredValue, row *contract.DeclaredRow) string {
	if v.At == "" {
		return row.At
	}
	return v.At
}

// text is what the server reads as the column's type: a list is an array where the column is one, and JSON otherwise.
func (f *filler) text(column string, v contract.DeclaredValue) (*string, error) {
	if !v.JSON {
		return v.Text, nil
	}
	typ := f.baseType(f.table.Column(column).Type)
	switch {
	case typ == "json" || typ == "jsonb":
		return v.Text, nil
	case strings.HasSuffix(typ, "[]") && strings.HasPrefix(*v.Text, "["):
		text, err := arrayText(*v.Text)
		return &text, err
	}
	return nil, fmt.Errorf("a list or mapping cannot be a value of type %s; write it as text", typ)
}

// baseType is the type under domains.
func (f *filler) baseType(typ string) string {
	for range f.structure.Domains {
		named := map[model.Name]bool{}
		qualifiedNames(typ, named)
		i := slices.IndexFunc(f.structure.Domains, func(d model.Domain) bool { return named[d.Name] })
		if i < 0 || strings.HasSuffix(typ, "[]") {
			return typ
		}
		typ = f.structure.Domains[i].Type
	}
	return typ
}

// arrayText writes a list of JSON as the server writes arrays.
func arrayText(list string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(list))
	decoder.UseNumber()
	var items []any
	if err := decoder.Decode(&items); err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("not a list")
	}
	return arrayOf(items)
}

func arrayOf(items []any) (string, error) {
	parts := make([]string, len(items))
	for i, item := range items {
		switch item := item.(type) {
		case nil:
			parts[i] = "NULL"
		case []any:
			inner, err := arrayOf(item)
			if err != nil {
				return "", err
			}
			parts[i] = inner
		case map[string]any:
			return "", fmt.Errorf("a mapping cannot be a member of an array; write it as text")
		default:
			parts[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(fmt.Sprint(item)) + `"`
		}
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}

// checkStored refuses a number that the column cannot hold as it is written: the server rounds without a word.
func (f *filler) checkStored(row *contract.DeclaredRow, stored [][][]byte) error {
	if len(stored) != 1 {
		return fault.New(frame.CodeDesiredSchemaInvalid, "%s: the table takes the row in %d rows; a trigger or a rule may do that", row.At, len(stored))
	}
	for i, v := range row.Values {
		stored := stored[0][i]
		if v.Text == nil || v.JSON || stored == nil || !isNumeric(f.baseType(f.table.Column(f.set.Columns[i]).Type)) {
			continue
		}
		want, isNumber := number(*v.Text)
		got, _ := number(string(stored))
		if isNumber && got != nil && want.Cmp(got) != 0 {
			return fault.New(frame.CodeDesiredSchemaInvalid, "%s: column %q holds %s where %s is declared: its type %s, or a trigger, makes another number of it", placeOf(v, row), f.set.Columns[i], stored, *v.Text, f.table.Column(f.set.Columns[i]).Type)
		}
	}
	return nil
}

func isNumeric(typ string) bool {
	for _, name := range []string{"smallint", "integer", "bigint", "numeric", "real", "double precision"} {
		if strings.HasPrefix(typ, name) && !strings.HasSuffix(typ, "]") {
			return true
		}
	}
	return false
}

// number reads a decimal without loss; exponents that would not end well are left to the server.
func number(text string) (*big.Rat, bool) {
	text = strings.TrimSpace(text)
	if i := strings.IndexAny(text, "eE"); strings.ContainsAny(text, "/xXoObB_pP") || i >= 0 && len(text)-i > 5 {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}
