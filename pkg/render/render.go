package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// APIVersion and its kinds name the JSON documents that the plugin prints; docs/reference/cli-json.md describes them.
const APIVersion = "cli.ptah.run/v1"

// Meta heads every JSON document.
type Meta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// View is one answer of the plugin.
type View interface {
	// Data is the value that JSON, YAML, JSONPath and templates see. It carries everything that text shows.
	Data() any
	// Names lists what the answer is about as type.group/name, one a line under -o name.
	Names() []string
	// Draw writes the answer for a person.
	Draw(canvas *Canvas)
}

// Raw is a View with bytes of its own for some formats: stored bytes that must come out exactly as they are.
type Raw interface {
	// Bytes answers for one format, and false when the format has no bytes of its own.
	Bytes(kind FormatKind) ([]byte, bool)
}

// Streamed is a View that writes some formats itself, piece by piece, because they are too large to be held once more. It is asked only when
// all that it will write was verified.
type Streamed interface {
	// Stream gives the writer of one format, and nil when the format needs none.
	Stream(kind FormatKind) func(io.Writer) error
}

// Options of one rendering.
type Options struct {
	Format    Format
	JQ        string
	NoHeaders bool
	Theme     Theme
}

// Canvas is what a View draws on.
type Canvas struct {
	*painter
	// Wide asks for more columns.
	Wide bool
	// Headers says whether tables have a title row.
	Headers bool
	out     strings.Builder

	sink    io.Writer // where full lines go; all is kept without one
	failure error
}

// flushSize is how many bytes of lines are held back at most before they go to the sink.
const flushSize = 64 << 10

// flush hands what was drawn to the sink.
func (c *Canvas) flush() {
	if c.sink == nil || c.out.Len() == 0 {
		return
	}
	if c.failure == nil {
		_, c.failure = io.WriteString(c.sink, c.out.String())
	}
	c.out.Reset()
}

func (c *Canvas) fields() *fields { return &fields{painter: c.painter, out: &c.out} }

func (c *Canvas) table(columns ...column) *table { return &table{painter: c.painter, columns: columns} }

// println writes one line.
func (c *Canvas) println(text string) {
	c.out.WriteString(text)
	c.out.WriteByte('\n')
	if c.sink != nil && c.out.Len() >= flushSize {
		c.flush()
	}
}

// Render gives the whole answer as bytes, or an error and nothing: the caller writes once, when everything is known to be good.
func Render(view View, options Options) ([]byte, error) {
	if options.JQ != "" {
		return renderJQ(view, options)
	}
	if raw, ok := view.(Raw); ok {
		if data, ok := raw.Bytes(options.Format.Kind); ok {
			return data, nil
		}
	}
	if streamed, ok := view.(Streamed); ok {
		if stream := streamed.Stream(options.Format.Kind); stream != nil {
			var out bytes.Buffer
			err := stream(&out)
			return out.Bytes(), err
		}
	}
	switch options.Format.Kind {
	case Text, Wide:
		return []byte(renderText(view, options)), nil
	case JSON:
		return encodeJSON(view.Data())
	case YAML:
		return renderYAML(view)
	case Name:
		return renderNames(view), nil
	case JSONPath, GoTemplate, Columns:
		return renderTemplate(view, options)
	default:
		return nil, fmt.Errorf("output format %q does not fit this answer", options.Format.Kind)
	}
}

// Write renders a view and writes it: large text and SQL as they are drawn, since nothing can go wrong any more, everything else in one piece.
func Write(out io.Writer, view View, options Options) error {
	if stream := streamOf(view, options); stream != nil {
		if err := stream(out); err != nil {
			return fmt.Errorf("writing the answer: %w", err)
		}
		return nil
	}
	data, err := Render(view, options)
	if err != nil {
		return err
	}
	if _, err := out.Write(data); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// Note draws one line of advice for stderr: a mark in a tone, then text. Plain has no mark.
func Note(theme Theme, tone Tone, text string) string {
	p := newPainter(theme)
	text = Printable(text)
	if tone == Plain || tone == Strong || tone == Dim {
		return p.paint(tone, p.prose(text, 0))
	}
	return p.mark(tone) + " " + p.prose(text, width(p.mark(tone))+1)
}

// prose breaks a sentence behind a mark at spaces. One that holds a command stays whole, so that it can be copied: the terminal breaks it.
func (p *painter) prose(text string, indent int) string {
	room := p.theme.Width - indent
	if p.theme.Width == 0 || room < minFlexible || width(text) <= room || strings.Contains(text, "kubectl ") {
		return text
	}
	return strings.Join(wrapped(text, room), "\n"+strings.Repeat(" ", indent))
}

func streamOf(view View, options Options) func(io.Writer) error {
	if streamed, ok := view.(Streamed); ok {
		if stream := streamed.Stream(options.Format.Kind); stream != nil {
			return stream
		}
	}
	if options.JQ != "" || (options.Format.Kind != Text && options.Format.Kind != Wide) {
		return nil
	}
	return func(out io.Writer) error {
		canvas := newCanvas(options)
		canvas.sink = out
		view.Draw(canvas)
		canvas.flush()
		return canvas.failure
	}
}

func newCanvas(options Options) *Canvas {
	return &Canvas{painter: newPainter(options.Theme), Wide: options.Format.Kind == Wide, Headers: !options.NoHeaders}
}

func renderText(view View, options Options) string {
	canvas := newCanvas(options)
	view.Draw(canvas)
	return canvas.out.String()
}

// encodeJSON indents and leaves <, > and & readable: these documents hold SQL, not HTML.
func encodeJSON(document any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("encoding the answer as JSON: %w", err)
	}
	return out.Bytes(), nil
}

func renderYAML(view View) ([]byte, error) {
	data, err := yaml.Marshal(view.Data())
	if err != nil {
		return nil, fmt.Errorf("encoding the answer as YAML: %w", err)
	}
	return data, nil
}

func renderNames(view View) []byte {
	var out bytes.Buffer
	for _, name := range view.Names() {
		out.WriteString(name)
		out.WriteByte('\n')
	}
	return out.Bytes()
}
