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
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("encoding plan: %w", err)
	}
	if buf.Len() > MaxSize {
		return nil, fmt.Errorf("encoding plan of %d bytes: %w", buf.Len(), ErrTooLarge)
	}
	return buf.Bytes(), nil
}

// Decode reads the canonical bytes of a document strictly: anything that Encode would not have written, to the byte, is refused. That
// covers unknown and repeated keys, another key order, white space, a missing newline and data after it.
func Decode(data []byte) (Document, error) {
	if len(data) > MaxSize {
		return Document{}, fmt.Errorf("decoding plan of %d bytes: %w", len(data), ErrTooLarge)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var d Document
	if err := dec.Decode(&d); err != nil {
		return Document{}, fmt.Errorf("decoding plan: %w", &DocumentError{-1, "not the JSON of a plan document"})
	}
	if err := validate(d); err != nil {
		return Document{}, fmt.Errorf("decoding plan: %w", err)
	}
	canonical, err := encode(d)
	if err != nil {
		return Document{}, err
	}
	if !bytes.Equal(canonical, data) {
		return Document{}, fmt.Errorf("decoding plan: %w", &DocumentError{-1, "not in canonical form"})
	}
	return d, nil
}

// Digest is the content digest of encoded bytes.
func Digest(data []byte) string { return digest.Bytes(data) }

func validate(d Document) error {
	if problem := headProblem(d); problem != "" {
		return &DocumentError{-1, problem}
	}
	destructive := false
	for i := range d.Statements {
		if problem := statementProblem(d.Dialect, d.Statements[i]); problem != "" {
			return &DocumentError{i, problem}
		}
		destructive = destructive || d.Statements[i].Severity == SeverityDestructive
	}
	if destructive != d.Destructive {
		return &DocumentError{-1, fmt.Sprintf("destructive is %t, its statements say %t", d.Destructive, destructive)}
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
	case len(d.Statements) == 0:
		return "no statements: a plan without changes has no document"
	case slices.ContainsFunc(d.Exclude, func(s string) bool { return !line(s, maxName) || s == "" }):
		return "an exclude pattern is empty or malformed"
	}
	return ""
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
