package render

import (
	"fmt"
	"time"
)

// StatusList is where all resources stand, a line each.
type StatusList struct {
	Meta
	Items []*Resource `json:"items"`
	// Unseen lists what could not be read; the answer is then partial.
	Unseen []Unseen `json:"unseen"`

	now           time.Time
	allNamespaces bool
	onlyRows      map[*Resource]bool
}

// Unseen is a kind of object that could not be listed.
type Unseen struct {
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"` // empty: all namespaces
	Why       string `json:"why"`
}

// NewStatusList shows resources in the order given. With allNamespaces every line names its namespace.
func NewStatusList(items []*Resource, unseen []Unseen, now time.Time, allNamespaces bool) *StatusList {
	if items == nil {
		items = []*Resource{}
	}
	if unseen == nil {
		unseen = []Unseen{}
	}
	return &StatusList{Meta: Meta{APIVersion: APIVersion, Kind: "StatusList"}, Items: items, Unseen: unseen, now: now, allNamespaces: allNamespaces}
}

// Only draws these rows and no others, in the column widths of the whole list.
func (l *StatusList) Only(rows map[*Resource]bool) *StatusList {
	l.onlyRows = rows
	return l
}

// Data is this view.
func (l *StatusList) Data() any { return l }

// Names lists the resources.
func (l *StatusList) Names() []string {
	names := make([]string, 0, len(l.Items))
	for _, item := range l.Items {
		names = append(names, item.typeName())
	}
	return names
}

// Draw writes the table. An empty list draws nothing.
func (l *StatusList) Draw(c *Canvas) {
	if len(l.Items) == 0 {
		return
	}
	columns := []column{
		{title: "KIND"}, {title: "NAME"}, {title: "PHASE"}, {title: "READY", spare: 2}, {title: "WAITING FOR", flexible: true}, {title: "NEXT", spare: 1}, {title: "AGE", spare: 3},
	}
	if l.allNamespaces {
		columns = append([]column{{title: "NAMESPACE"}}, columns...)
	}
	if c.Wide {
		columns = append(columns, column{title: "OPERATION"}, column{title: "PLAN"}, column{title: "DRIFT"}, column{title: "SOURCE"})
	}
	t := c.table(columns...)
	if c.Wide {
		t.painter = t.painter.unbounded() // everything was asked for, whatever the width
	}
	var hidden []int
	for i, item := range l.Items {
		t.rows = append(t.rows, l.row(c, item))
		if l.onlyRows != nil && !l.onlyRows[item] {
			hidden = append(hidden, i)
		}
	}
	t.drawExcept(&c.out, c.Headers, hidden)
}

func (l *StatusList) row(c *Canvas, r *Resource) []cell {
	row := []cell{
		{text: r.ResourceKind},
		{text: r.Name},
		{text: Printable(r.Phase), tone: phaseTone(r.Phase)},
		{text: orNone(c, r.Ready), tone: readyTone(r.Ready)},
		{text: orNone(c, Printable(r.WaitingFor.Text))},
		{text: l.next(c, r)},
		{text: Age(l.now.Sub(r.CreatedAt))},
	}
	if l.allNamespaces {
		row = append([]cell{{text: r.Namespace}}, row...)
	}
	if c.Wide {
		row = append(row, cell{text: orNone(c, operationCell(r))}, cell{text: orNone(c, planName(r))}, cell{text: orNone(c, driftCell(r))}, cell{text: Printable(sourceCell(r))})
	}
	return row
}

// slack is how far past a scheduled time may be before the table calls it overdue: a busy manager is not a stalled one.
const slack = time.Minute

func (l *StatusList) next(c *Canvas, r *Resource) string {
	if text := r.Operation.now(l.now); text != "" {
		return text
	}
	switch at := r.NextReconciliation; {
	case at == nil, r.proofHeld():
		return c.none()
	case at.After(l.now):
		return "in " + Age(at.Sub(l.now))
	case l.now.Sub(*at) < slack:
		return "now"
	default:
		return Age(l.now.Sub(*at)) + " late"
	}
}

func orNone(c *Canvas, text string) string {
	if text == "" {
		return c.none()
	}
	return text
}

func readyTone(ready string) Tone {
	switch ready {
	case "True":
		return Good
	case "False":
		return Caution
	default:
		return Dim
	}
}

func operationCell(r *Resource) string {
	if r.Operation == nil {
		return ""
	}
	return fmt.Sprintf("%s #%d", r.Operation.Type, r.Operation.Attempt)
}

func planName(r *Resource) string {
	if r.Plan == nil {
		return ""
	}
	return r.Plan.Name
}

func driftCell(r *Resource) string {
	if r.Observation == nil {
		return ""
	}
	if r.Observation.Differences == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, %s", r.Observation.Differences, r.Observation.Worst)
}

func sourceCell(r *Resource) string {
	if r.Source.Resolved != "" {
		return r.Source.Resolved
	}
	return r.Source.Requested
}
