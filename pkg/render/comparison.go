package render

import (
	"bufio"
	"fmt"
	"io"

	"github.com/ptah-run/ptah/pkg/plan"
)

// Comparison is what leads from one schema to another. Its JSON is the view with the plan document inside.
type Comparison struct {
	Meta
	From        string        `json:"from"`
	To          string        `json:"to"`
	Dialect     string        `json:"dialect"`
	FromDigest  string        `json:"fromFingerprint"`
	ToDigest    string        `json:"toFingerprint"`
	Equal       bool          `json:"equal"`
	Statements  int           `json:"statements"`
	Destructive bool          `json:"destructive"`
	Hazards     []Hazard      `json:"hazards"`
	Document    plan.Document `json:"document"`
}

// NewComparison shows a document that was not stored anywhere.
func NewComparison(c Comparison) *Comparison {
	c.Meta = Meta{APIVersion: APIVersion, Kind: "SchemaComparison"}
	c.Hazards = Hazards(c.Document)
	c.Statements, c.Destructive = len(c.Document.Statements), c.Document.Destructive
	if c.Document.Statements == nil {
		c.Document.Statements = []plan.Statement{}
	}
	return &c
}

// Data is this view.
func (d *Comparison) Data() any { return d }

// Names is the name that a plan of these statements would have.
func (d *Comparison) Names() []string {
	if d.Equal {
		return nil
	}
	return []string{d.Document.Name}
}

// Stream writes the bare statements for SQL.
func (d *Comparison) Stream(kind FormatKind) func(io.Writer) error {
	if kind != SQL {
		return nil
	}
	return func(out io.Writer) error {
		buffered := bufio.NewWriter(out)
		for _, statement := range d.Document.Statements {
			_, _ = buffered.WriteString(plan.Terminated(d.Dialect, statement.SQL)) // Flush reports what went wrong
			_ = buffered.WriteByte('\n')
		}
		return buffered.Flush()
	}
}

// Draw writes the statements as a stored plan has them.
func (d *Comparison) Draw(c *Canvas) {
	f := c.fields()
	f.line("From", Printable(d.From), f.identifier(d.FromDigest, 0))
	f.line("To", Printable(d.To), f.identifier(d.ToDigest, 0))
	if d.Equal {
		f.line("Difference", c.paint(Good, "none"))
		return
	}
	destructive := "false"
	if d.Destructive {
		destructive = c.paint(Bad, "true")
	}
	f.pairs([2]string{"Dialect", d.Dialect}, [2]string{"Statements", fmt.Sprint(d.Statements)}, [2]string{"Destructive", destructive})
	hazards := (&Plan{Hazards: d.Hazards}).hazardLines(c)
	f.line("Hazards", hazards...)
	for i, statement := range d.Document.Statements {
		c.println("")
		drawStatement(c, i+1, d.Statements, d.Dialect, statement)
	}
}
