package mysql

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	driver "github.com/go-sql-driver/mysql"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/frame"
)

// creation is what a CREATE statement makes: the word of its kind, its name and, of an index, the table.
type creation struct{ kind, table, name string }

// createKinds lead from the words behind CREATE to the name space that the new name is in.
var createKinds = map[string]string{
	"TABLE": "relation", "VIEW": "relation", "SEQUENCE": "relation", "INDEX": "index", "FUNCTION": "function", "PROCEDURE": "procedure", "TRIGGER": "trigger", "EVENT": "event",
}

// declaredKinds are the same of the kinds that declarations have.
var declaredKinds = map[string]string{
	"table": "relation", "view": "relation", "sequence": "relation", "index": "index", "function": "function", "procedure": "procedure", "trigger": "trigger", "event": "event",
}

// parseCreate reads the name behind CREATE. Temporary tables are none of a schema.
func parseCreate(statement string) creation {
	const most = 24 // OR REPLACE, ALGORITHM, DEFINER, SQL SECURITY, IF NOT EXISTS
	toks := firstTokens(statement, most)
	if len(toks) == 0 || !isAnyWord(toks[0], "CREATE") {
		return creation{}
	}
	for i, t := range toks {
		word := strings.ToUpper(t.text)
		if word == "TEMPORARY" {
			return creation{}
		}
		if createKinds[word] == "" {
			continue
		}
		rest := toks[i+1:]
		for len(rest) > 0 && isAnyWord(rest[0], "IF", "NOT", "EXISTS") {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return creation{}
		}
		made := creation{kind: word, name: bareName(rest[0].text)}
		if on := slices.IndexFunc(rest, func(t token) bool { return isAnyWord(t, "ON") }); word == "INDEX" && on >= 0 && on+1 < len(rest) {
			made.table = bareName(rest[on+1].text)
		}
		return made
	}
	return creation{}
}

// declared knows what the rendered statements have made, and where.
type declared struct {
	made map[creation]*contract.Declared
}

// newDeclared checks that each statement is one for the splitter that cuts SQL files, so that no declaration can bring a statement of its own. The body of
// a routine may hold semicolons, and the server takes one statement at a time from us whatever it holds.
func newDeclared(declarations contract.Declarations) (*declared, error) {
	if rows := declarations.Rows; len(rows) > 0 {
		return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: the rows of table %q are declared, and rows are managed on PostgreSQL only: declare the table without them", rows[0].At, rows[0].Table.Name)
	}
	d := &declared{made: map[creation]*contract.Declared{}}
	for i := range declarations.Statements {
		s := &declarations.Statements[i]
		body := slices.Contains([]string{"function", "procedure", "trigger", "event"}, s.Object.Kind)
		cut, problem := splitSQL(s.SQL)
		if !body && (problem != nil || len(cut) != 1 || strings.TrimSpace(cut[0].text) != strings.TrimSpace(s.SQL)) {
			return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: what is declared here does not stay within one statement", s.At)
		}
		if reason := refusedStatement(s.SQL); reason != "" && s.Object.Kind != "schema" {
			return nil, fault.New(frame.CodeDesiredSchemaInvalid, "%s: %s", s.At, reason)
		}
		if space := declaredKinds[s.Object.Kind]; space != "" && strings.HasPrefix(s.SQL, "CREATE ") {
			made := creation{kind: space, name: strings.ToLower(s.Object.Name)}
			if space == "index" {
				made.table = strings.ToLower(s.Object.Table)
			}
			d.made[made] = s
			d.addIndexes(s)
		}
	}
	return d, nil
}

// addIndexes notes the named indexes of a rendered table, so that no file replaces one in silence.
func (d *declared) addIndexes(s *contract.Declared) {
	toks := firstTokens(s.SQL, len("CREATE TABLE name ("))
	items := slices.IndexFunc(toks, token.paren)
	if s.Object.Kind != "table" || items < 0 {
		return
	}
	offset := toks[items].start + 1
	for _, item := range splitTop(toks[items].inParens()) {
		const most = 3 // UNIQUE KEY name
		if words := firstTokens(item, most); len(words) == most {
			if _, name := columnOrIndex(words); name != "" {
				index := contract.Declared{At: s.At, Object: s.Object}
				index.Object.Kind, index.Object.Table, index.Object.Name = "index", s.Object.Name, name
				if s.Where != nil {
					index.At = s.Where(offset + words[0].start)
				}
				d.made[creation{kind: "index", table: strings.ToLower(s.Object.Name), name: strings.ToLower(name)}] = &index
			}
		}
		offset += len(item) + 1
	}
}

// twice says that a statement of a file creates what is declared; empty where it does not. Names that differ in case alone are held to be the same.
func (d *declared) twice(statement string) string {
	if len(d.made) == 0 {
		return ""
	}
	made := parseCreate(statement)
	made.kind, made.name, made.table = createKinds[made.kind], strings.ToLower(made.name), strings.ToLower(made.table)
	before, ok := d.made[made]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s is declared already, at %s; keep one of the two", contract.NameObject(before.Object), before.At)
}

// run executes the statements in one session.
func (d *declared) run(ctx context.Context, c *driver.Config, statements []contract.Declared) error {
	if len(statements) == 0 {
		return nil
	}
	s, err := connectConfig(ctx, c, 0)
	if err != nil {
		return err
	}
	defer s.close()
	for i := range statements {
		if err := s.run(ctx, statements[i].SQL); err != nil {
			return declaredFault(ctx, &statements[i], err, c.Passwd)
		}
	}
	return nil
}

// nearLine is how the server ends its words about a fault of syntax: with the text from there on, cut short, and its line.
var nearLine = regexp.MustCompile(`(?s) near '(.*)' at line ([0-9]+)$`)

// declaredFault points the server's error at the declaration.
func declaredFault(ctx context.Context, d *contract.Declared, err error, secret string) error {
	var server *driver.MySQLError
	if ctx.Err() != nil || !errors.As(err, &server) {
		return queryFault(ctx, err, "running what is declared at "+d.At)
	}
	place, text := d.At, server.Message
	if m := nearLine.FindStringSubmatch(text); m != nil && d.Where != nil {
		text = strings.TrimSuffix(text, " at line "+m[2]) // of the rendered text, which nobody has seen
		if line, err := strconv.Atoi(m[2]); err == nil {
			offset := lineOffset(d.SQL, line)
			if near := strings.Index(d.SQL[offset:], m[1]); near > 0 {
				offset += near
			}
			place = d.Where(offset)
		}
	}
	return placeFault(err, place, fmt.Sprintf("%s (error %d)", text, server.Number), secret)
}

// lineOffset is where the first word of a line stands.
func lineOffset(sql string, line int) int {
	offset := 0
	for ; line > 1; line-- {
		end := strings.IndexByte(sql[offset:], '\n')
		if end < 0 {
			break
		}
		offset += end + 1
	}
	return offset + len(sql[offset:]) - len(strings.TrimLeft(sql[offset:], " "))
}

// ServerOf says which server a URL leads to: model.ServerMySQL or model.ServerMariaDB.
func ServerOf(ctx context.Context, url string) (string, error) {
	s, err := connectServer(ctx, url, 0)
	if err != nil {
		return "", err
	}
	defer s.close()
	return s.server.name, nil
}
