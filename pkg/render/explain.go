package render

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/explain"
)

// Explanation is one use of a word.
type Explanation struct {
	Word    string `json:"word"`
	Use     string `json:"use"` // condition, reason, failure, event or phase
	Where   string `json:"where"`
	Meaning string `json:"meaning"`
	Party   string `json:"party"`
	Clears  string `json:"clears,omitempty"`
	Command string `json:"command,omitempty"`

	who string
}

// Explanations are uses of words: those of one in full, or a table of all.
type Explanations struct {
	Meta
	Items []Explanation `json:"items"`

	table bool
}

// NewExplanations shows entries of the catalogue, in full or as a table.
func NewExplanations(entries []explain.Entry, table bool) *Explanations {
	e := &Explanations{Meta: Meta{APIVersion: APIVersion, Kind: "Explanations"}, Items: make([]Explanation, 0, len(entries)), table: table}
	for _, x := range entries {
		e.Items = append(e.Items, Explanation{
			Word: x.Name, Use: string(x.Kind), Where: x.Where, Meaning: x.Meaning, Party: string(x.By), Clears: x.Clears, Command: x.Command, who: explain.Who(x.By),
		})
	}
	return e
}

// Data is this view.
func (e *Explanations) Data() any { return e }

// Names lists the words, each once.
func (e *Explanations) Names() []string {
	var names []string
	for _, item := range e.Items {
		if !slices.Contains(names, item.Word) {
			names = append(names, item.Word)
		}
	}
	return names
}

// Draw writes a table, or each use in full.
func (e *Explanations) Draw(c *Canvas) {
	if e.table {
		e.drawTable(c)
		return
	}
	for i, item := range e.Items {
		if i > 0 {
			c.println("")
		}
		f := c.fields()
		f.line("Word", c.paint(Strong, item.Word)+" ("+item.Use+")")
		f.line("Where", item.Where)
		f.line("Meaning", item.Meaning)
		f.line("Who moves", item.who)
		if item.Clears != "" {
			f.line("Clears", item.Clears)
		}
		if item.Command != "" {
			f.line("Run", item.Command)
		}
	}
}

func (e *Explanations) drawTable(c *Canvas) {
	columns := []column{{title: "USE"}, {title: "WORD"}, {title: "WHO", spare: 1}, {title: "MEANING", flexible: true}}
	if c.Wide {
		columns = append(columns, column{title: "WHERE"}, column{title: "RUN"})
	}
	t := c.table(columns...)
	if c.Wide {
		t.painter = t.painter.unbounded()
	}
	for _, item := range e.Items {
		row := []cell{{text: item.Use}, {text: item.Word}, {text: item.Party}, {text: item.Meaning}}
		if c.Wide {
			row = append(row, cell{text: item.Where}, cell{text: orNone(c, item.Command)})
		}
		t.rows = append(t.rows, row)
	}
	t.draw(&c.out, c.Headers)
}
