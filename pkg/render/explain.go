package render

import (
	"slices"
	"strings"

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
	// Commands has one for each kind of resource, where they differ.
	Commands []ExplanationRun `json:"commands,omitempty"`

	who string
}

// ExplanationRun is what to run for one kind of resource.
type ExplanationRun struct {
	ResourceKind string `json:"resourceKind"`
	Command      string `json:"command"`
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
		item := Explanation{
			Word: x.Name, Use: string(x.Kind), Where: x.Where, Meaning: x.Meaning, Party: string(x.By), Clears: x.Clears, who: explain.Who(x.By),
		}
		for i, run := range x.Runs() {
			if i == 0 {
				item.Command = run.Command
			}
			if run.Resource != "" {
				item.Commands = append(item.Commands, ExplanationRun{run.Resource, run.Command})
			}
		}
		e.Items = append(e.Items, item)
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
		f.line("Run", item.run()...)
	}
}

// run lists the commands, each with what it is for where that makes a difference.
func (e Explanation) run() []string {
	if len(e.Commands) == 0 && e.Command != "" {
		return []string{e.Command}
	}
	var lines []string
	for _, c := range e.Commands {
		lines = append(lines, c.Command+"   for a "+c.ResourceKind)
	}
	return lines
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
			row = append(row, cell{text: item.Where}, cell{text: orNone(c, strings.Join(item.run(), "; "))})
		}
		t.rows = append(t.rows, row)
	}
	t.draw(&c.out, c.Headers)
}
