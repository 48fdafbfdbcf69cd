package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ptah-run/ptah/pkg/digest"
)

// Severities of a statement, from harmless to harmful.
const (
	SeveritySafe        = "safe"
	SeverityWarning     = "warning"
	SeverityDestructive = "destructive"
)

// Dialects that a document may be written in.
const (
	DialectPostgres = "postgres"
	DialectMySQL    = "mysql"
)

// Bounds of a document's parts, in bytes.
const (
	maxReason = 4096
	maxName   = 512
)

// DocumentError says why bytes or a value are no plan document.
type DocumentError struct {
	Statement int // index from 0; -1 when the document as a whole is at fault
	Problem   string
}

// Error names the statement, counted from 1 as people count.
func (e *DocumentError) Error() string {
	if e.Statement < 0 {
		return "plan document: " + e.Problem
	}
	return fmt.Sprintf("plan document, statement %d: %s", e.Statement+1, e.Problem)
}

// ErrTooLarge is wrapped where a document exceeds MaxSize.
var ErrTooLarge = errors.New("plan document is larger than 8 MiB")

var namePattern = regexp.MustCompile(`^plan_[0-9a-f]{12}$`)

// Name derives a document's name from what it starts from, what it leads to and what it runs.
func Name(d Document) string {
	members := make([]string, 0, 2+len(d.Statements))
	members = append(members, d.FromFingerprint, d.ToFingerprint)
	for i := range d.Statements {
		members = append(members, d.Statements[i].SQL)
	}
	return "plan_" + digest.Hex(digest.Tuple("plan-name-v1", members...))[:12]
}

// Seal fills what follows from the rest of a document: its version, its name and whether it is destructive. A severity that our own
// classifier rates higher is raised, never lowered.
func Seal(d Document) Document {
	d.FormatVersion = FormatVersion
	d.Statements = slices.Clone(d.Statements)
	d.Destructive = false
	for i := range d.Statements {
		s := &d.Statements[i]
		s.Severity = worse(s.Severity, Classify(d.Dialect, s.SQL).Severity)
		d.Destructive = d.Destructive || s.Severity == SeverityDestructive
	}
	d.Name = Name(d)
	return d
}

// Encode writes the canonical bytes of a document, closing newline included. It refuses, with a *DocumentError, a document that Decode
// would refuse, and one over MaxSize with ErrTooLarge.
func Encode(d Document) ([]byte, error) {
	if err := validate(d); err != nil {
		return nil, fmt.Errorf("encoding plan: %w", err)
	}
	return encode(d)
}

func encode(d Document) ([]byte, error) {
	c := newCanon()
	head, err := c.head(d)
	if err != nil {
		return nil, fmt.Errorf("encoding plan: %w", err)
	}
	out := slices.Clone(head)
	for i := range d.Statements {
		piece, err := c.statement(i, d.Statements[i])
		if err != nil {
			return nil, fmt.Errorf("encoding plan: %w", err)
		}
		if out = append(out, piece...); len(out)+len(closing) > MaxSize {
			return nil, fmt.Errorf("encoding plan of more than %d bytes: %w", len(out), ErrTooLarge)
		}
	}
	return append(out, closing...), nil
}

// canon writes the canonical bytes of a document piece by piece, so that whoever only compares them never holds them all.
type canon struct {
	buf bytes.Buffer
	enc *json.Encoder
}

// What stands before and behind the statements. A quote inside of a string is escaped, so nothing in front of the opening reads like it.
const (
	opening = `,"statements":[`
	closing = "]}\n"
)

func newCanon() *canon {
	c := &canon{}
	c.enc = json.NewEncoder(&c.buf)
	c.enc.SetEscapeHTML(false)
	return c
}

// head is everything up to the first statement. It is valid until the next call.
func (c *canon) head(d Document) ([]byte, error) {
	d.Statements = []Statement{}
	c.buf.Reset()
	if err := c.enc.Encode(d); err != nil {
		return nil, err
	}
	return c.buf.Bytes()[:c.buf.Len()-len(closing)], nil
}

// statement is one statement, with the comma in front of all but the first. It is valid until the next call.
func (c *canon) statement(i int, s Statement) ([]byte, error) {
	c.buf.Reset()
	if i > 0 {
		c.buf.WriteByte(',')
	}
	if err := c.enc.Encode(s); err != nil {
		return nil, err
	}
	return c.buf.Bytes()[:c.buf.Len()-len("\n")], nil
}

// Decode reads the canonical bytes of a document strictly: anything that Encode would not have written, to the byte, is refused. That
// covers unknown and repeated keys, another key order, white space, a missing newline and data after it.
func Decode(data []byte) (Document, error) {
	var statements []Statement
	d, err := Scan(data, func(_ int, s Statement) error {
		statements = append(statements, s)
		return nil
	})
	if err != nil {
		return Document{}, err
	}
	d.Statements = statements
	return d, nil
}

// Scan is Decode for a document that need not be held as a whole: it hands out one statement after the other, counted from 0, and returns the
// document without them. What was handed out counts only when the error is nil. An error of visit ends the scan and is returned as it is.
func Scan(data []byte, visit func(i int, s Statement) error) (Document, error) {
	if len(data) > MaxSize {
		return Document{}, fmt.Errorf("decoding plan of %d bytes: %w", len(data), ErrTooLarge)
	}
	s := scan{canon: newCanon(), rest: data, visit: visit}
	if err := s.run(data); err != nil {
		return Document{}, err
	}
	return s.document, nil
}

// Again hands out the statements of bytes that Scan has accepted, without checking anything once more. Of other bytes it may hand out some
// or none.
func Again(data []byte, visit func(i int, s Statement)) {
	_, list, found := bytes.Cut(data, []byte(opening))
	if !found {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(data[len(data)-len(list)-1:]))
	if _, err := dec.Token(); err != nil {
		return
	}
	for i := 0; dec.More(); i++ {
		var s Statement
		if dec.Decode(&s) != nil {
			return
		}
		visit(i, s)
	}
}

// scan is one pass over a document.
type scan struct {
	document Document
	canon    *canon
	rest     []byte // what was not compared yet
	visit    func(int, Statement) error
}

func (s *scan) run(data []byte) error {
	head, list, found := bytes.Cut(data, []byte(opening))
	err := decodeStrictly(slices.Concat(head, []byte(opening), []byte(closing)), &s.document)
	switch {
	case !found && json.Valid(data), err == nil && bytes.HasPrefix(list, []byte("]")):
		return refuse(-1, "no statements: a plan without changes has no document")
	case err != nil:
		return refuse(-1, "not the JSON of a plan document")
	}
	if problem := headProblem(s.document); problem != "" {
		return refuse(-1, problem)
	}
	if err := s.compare(s.canon.head(s.document)); err != nil {
		return err
	}
	return s.statements(data[len(head)+len(opening)-1:])
}

func decodeStrictly(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

func refuse(statement int, problem string) error {
	return fmt.Errorf("decoding plan: %w", &DocumentError{statement, problem})
}

func (s *scan) compare(piece []byte, err error) error {
	var same bool
	if err == nil {
		s.rest, same = bytes.CutPrefix(s.rest, piece)
	}
	if !same {
		return refuse(-1, "not in canonical form")
	}
	return nil
}

// statements reads the list one by one: a decoder that is given a whole document holds it twice.
func (s *scan) statements(list []byte) error {
	dec := json.NewDecoder(bytes.NewReader(list))
	dec.DisallowUnknownFields()
	if _, err := dec.Token(); err != nil {
		return refuse(-1, "not the JSON of a plan document")
	}
	destructive := false
	for i := 0; dec.More(); i++ {
		var st Statement
		if err := dec.Decode(&st); err != nil {
			return refuse(-1, "not the JSON of a plan document")
		}
		if problem := statementProblem(s.document.Dialect, st); problem != "" {
			return refuse(i, problem)
		}
		if err := s.compare(s.canon.statement(i, st)); err != nil {
			return err
		}
		destructive = destructive || st.Severity == SeverityDestructive
		if err := s.visit(i, st); err != nil {
			return err
		}
	}
	if string(s.rest) != closing {
		return refuse(-1, "not in canonical form")
	}
	if destructive != s.document.Destructive {
		return refuse(-1, disagreement(s.document.Destructive, destructive))
	}
	return nil
}

func disagreement(says, is bool) string {
	return fmt.Sprintf("destructive is %t, its statements say %t", says, is)
}

// Digest is the content digest of encoded bytes.
func Digest(data []byte) string { return digest.Bytes(data) }

func validate(d Document) error {
	if problem := headProblem(d); problem != "" {
		return &DocumentError{-1, problem}
	}
	if len(d.Statements) == 0 {
		return &DocumentError{-1, "no statements: a plan without changes has no document"}
	}
	destructive := false
	for i := range d.Statements {
		if problem := statementProblem(d.Dialect, d.Statements[i]); problem != "" {
			return &DocumentError{i, problem}
		}
		destructive = destructive || d.Statements[i].Severity == SeverityDestructive
	}
	if destructive != d.Destructive {
		return &DocumentError{-1, disagreement(d.Destructive, destructive)}
	}
	return nil
}

func headProblem(d Document) string {
	switch {
	case d.FormatVersion != FormatVersion:
		return fmt.Sprintf("format version %d, this build reads %d", d.FormatVersion, FormatVersion)
	case !namePattern.MatchString(d.Name):
		return `name is not "plan_" and 12 hex digits`
	case d.Dialect != DialectPostgres && d.Dialect != DialectMySQL:
		return "unknown dialect"
	case !digest.Valid(d.FromFingerprint) || !digest.Valid(d.ToFingerprint):
		return "a fingerprint is missing or malformed"
	case d.CommittedFingerprint != "" && !digest.Valid(d.CommittedFingerprint):
		return "committed_fingerprint is malformed"
	case (len(d.ManagedRows) > 0) != (d.RowsFingerprint != "") || d.RowsFingerprint != "" && !digest.Valid(d.RowsFingerprint):
		return "managed_rows and rows_fingerprint do not belong together"
	case slices.ContainsFunc(d.ManagedRows, func(r RowSet) bool {
		return r.Table == "" || len(r.Keys) == 0 || len(r.Columns) < len(r.Keys) || !slices.Equal(r.Keys, r.Columns[:len(r.Keys)])
	}):
		return "managed_rows is malformed"
	case !increasing(d.ManagedPrivileges) || !increasing(d.ManagedDefaults):
		return "managed_privileges or managed_defaults is out of order, repeated or malformed"
	case slices.ContainsFunc(d.Exclude, func(s string) bool { return !line(s, maxName) || s == "" }):
		return "an exclude pattern is empty or malformed"
	}
	return ""
}

// increasing accepts a sorted list of different texts. A role may have any name.
func increasing(values []string) bool {
	for i, v := range values {
		if v == "" || len(v) > maxName || !utf8.ValidString(v) || i > 0 && values[i-1] >= v {
			return false
		}
	}
	return true
}

func statementProblem(dialect string, s Statement) string {
	switch {
	case rankOf(s.Severity) < 0:
		return "unknown severity"
	case !utf8.ValidString(s.Reason) || len(s.Reason) > maxReason:
		return "reason is malformed or too long"
	case !line(s.Kind, maxName) || !line(s.Object, maxName) || !line(s.Table, maxName) || !line(s.Lock, maxName) || !line(s.Hazard, maxReason):
		return "kind, object, table, lock or hazard is malformed or too long"
	case s.Tx != "" && s.Tx != "none":
		return `tx is neither empty nor "none"`
	}
	return sqlProblem(dialect, s.SQL)
}

// line accepts text for one line: valid UTF-8 without control characters.
func line(s string, limit int) bool {
	return len(s) <= limit && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// rankOf orders severities; an unknown word has rank -1.
func rankOf(severity string) int {
	return slices.Index([]string{SeveritySafe, SeverityWarning, SeverityDestructive}, severity)
}

// worse never lowers: an unknown word stands, so that validation can refuse it.
func worse(rated, ours string) string {
	if rated != "" && (rankOf(rated) < 0 || rankOf(rated) >= rankOf(ours)) {
		return rated
	}
	return ours
}
