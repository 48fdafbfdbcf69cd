package render

import (
	"fmt"
	"slices"
	"strings"
)

// Schema is a schema that was read from a database, files or an artifact. Its JSON is the canonical model, byte for byte, its YAML and HCL
// declarations that load to the same, and its SQL what creates it.
type Schema struct {
	Meta
	Source      string        `json:"source"`
	Dialect     string        `json:"dialect"`
	Fingerprint string        `json:"fingerprint"`
	Objects     []ObjectCount `json:"objects"`
	Tables      []SchemaTable `json:"tables"`
	Others      []string      `json:"others"` // what is neither a table nor counted as managed: each by kind and name

	bytes map[FormatKind][]byte
}

// ObjectCount is how many objects of one kind there are.
type ObjectCount struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// SchemaTable is one table as a person reads it.
type SchemaTable struct {
	Name    string         `json:"name"`
	Comment string         `json:"comment,omitempty"`
	Columns []SchemaColumn `json:"columns"`
	Parts   []string       `json:"parts"` // constraints and indexes
}

// SchemaColumn is one column with what it says in short.
type SchemaColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Note string `json:"note,omitempty"`
}

// NewSchema shows a schema. The bytes are what some formats print in place of the view.
func NewSchema(schema Schema, bytes map[FormatKind][]byte) *Schema {
	schema.Meta = Meta{APIVersion: APIVersion, Kind: "Schema"}
	schema.bytes = bytes
	return &schema
}

// Data is this view.
func (s *Schema) Data() any { return s }

// Bytes are the forms that come out as they are.
func (s *Schema) Bytes(kind FormatKind) ([]byte, bool) {
	data, ok := s.bytes[kind]
	return data, ok
}

// Names is the fingerprint.
func (s *Schema) Names() []string { return []string{s.Fingerprint} }

// Draw lists the tables with their columns, constraints and indexes.
func (s *Schema) Draw(c *Canvas) {
	f := c.fields()
	f.line("Schema", c.paint(Strong, Printable(s.Source)))
	f.line("Dialect", s.Dialect)
	f.line("Fingerprint", f.identifier(s.Fingerprint, 0))
	counts := make([]string, 0, len(s.Objects))
	for _, o := range s.Objects {
		counts = append(counts, fmt.Sprintf("%d %s", o.Count, plural(o.Count, o.Kind)))
	}
	if len(counts) == 0 {
		counts = []string{"none"}
	}
	f.line("Objects", strings.Join(counts, ", "))
	for _, t := range s.Tables {
		c.println("")
		t.draw(c)
	}
	if len(s.Others) > 0 {
		c.println("")
	}
	for _, other := range s.Others {
		c.println(Printable(other))
	}
}

func (t SchemaTable) draw(c *Canvas) {
	head := c.paint(Strong, "table "+Printable(t.Name))
	if t.Comment != "" {
		head += c.paint(Dim, "  "+oneLine(t.Comment))
	}
	c.println(head)
	names, types := 0, 0
	for _, col := range t.Columns {
		names, types = max(names, width(Printable(col.Name))), max(types, width(Printable(col.Type)))
	}
	pad := func(text string, to int) string { return text + strings.Repeat(" ", max(to-width(text), 0)) }
	for _, col := range t.Columns {
		line := "  " + pad(Printable(col.Name), names) + "  " + pad(Printable(col.Type), types) + "  " + c.paint(Dim, oneLine(col.Note))
		c.println(strings.TrimRight(line, " "))
	}
	for _, part := range t.Parts {
		c.println("  " + oneLine(part))
	}
}

// FormatResult is what "schema fmt" did.
type FormatResult struct {
	Meta
	Files   []FormattedFile `json:"files"`
	Changed int             `json:"changed"`
	Check   bool            `json:"check"` // nothing was written
}

// FormattedFile is one file.
type FormattedFile struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
}

// NewFormatResult counts what changed.
func NewFormatResult(files []FormattedFile, check bool) *FormatResult {
	r := &FormatResult{Meta: Meta{APIVersion: APIVersion, Kind: "FormatResult"}, Files: files, Check: check}
	for _, f := range files {
		if f.Changed {
			r.Changed++
		}
	}
	return r
}

// Data is this view.
func (r *FormatResult) Data() any { return r }

// Names are the files that changed.
func (r *FormatResult) Names() []string {
	var names []string
	for _, f := range r.Files {
		if f.Changed {
			names = append(names, f.File)
		}
	}
	return names
}

// Draw names each file that changed, as gofmt -l does.
func (r *FormatResult) Draw(c *Canvas) {
	for _, name := range slices.Sorted(slices.Values(r.Names())) {
		c.println(Printable(name))
	}
}
