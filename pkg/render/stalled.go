package render

import (
	"fmt"
	"time"

	"github.com/ptah-run/ptah/pkg/convergence"
)

// Prometheus is the text format of the node exporter's textfile collector.
const Prometheus FormatKind = "prometheus"

// StalledList is what nothing works on any more, and how much was looked at.
type StalledList struct {
	Meta
	Items []*Stalled `json:"items"`
	// Kinds counts what was looked at, one entry for each kind.
	Kinds []StalledCount `json:"kinds"`
	// Unseen lists what could not be read; the answer is then partial.
	Unseen []Unseen `json:"unseen"`
	// Leader is who leads among the managers; asked only when there is something to explain.
	Leader *Leader   `json:"leader,omitempty"`
	At     time.Time `json:"at"`

	allNamespaces bool
	onlyRows      map[*Stalled]bool
}

// Stalled is one finding.
type Stalled struct {
	ResourceKind    string `json:"resourceKind"` // schema or migration
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	UID             string `json:"uid"`
	State           string `json:"state"` // Stalled or Unknown
	Phase           string `json:"phase"`
	OverdueSeconds  int64  `json:"overdueSeconds"`
	DeadlineSeconds int64  `json:"deadlineSeconds"`
	Attempt         int32  `json:"attempt,omitempty"`
	Condition       string `json:"condition,omitempty"` // type and status, as "Ready=False"
	Reason          string `json:"reason,omitempty"`    // of that condition
	Why             string `json:"why"`

	NextReconciliation *time.Time `json:"nextReconciliationTime,omitempty"`

	verdict convergence.Verdict
}

// StalledCount is how much of one kind was looked at.
type StalledCount struct {
	ResourceKind string `json:"resourceKind"`
	// Complete is false when the list was forbidden or broke off: the numbers then count what was seen.
	Complete  bool `json:"complete"`
	Checked   int  `json:"checked"`
	Stalled   int  `json:"stalled"`
	Unknown   int  `json:"unknown"`
	Suspended int  `json:"suspended"`
	Parked    int  `json:"parked"`
}

// Leader is what the managers' leader Lease says.
type Leader struct {
	State  string     `json:"state"` // Present, None or Unknown
	Holder string     `json:"holder,omitempty"`
	Since  *time.Time `json:"since,omitempty"`
	Text   string     `json:"text"`
}

// NewStalledList makes an empty answer.
func NewStalledList(now time.Time, allNamespaces bool) *StalledList {
	return &StalledList{
		Meta: Meta{APIVersion: APIVersion, Kind: "StalledList"}, Items: []*Stalled{}, Kinds: []StalledCount{}, Unseen: []Unseen{},
		At: now.UTC(), allNamespaces: allNamespaces,
	}
}

// NewStalled shows one finding.
func NewStalled(kind string, o *convergence.Object, v convergence.Verdict) *Stalled {
	row := &Stalled{
		ResourceKind: kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, UID: o.Metadata.UID, State: string(v.State),
		Phase: orPending(o.Status.Phase), OverdueSeconds: int64(v.Overdue / time.Second), DeadlineSeconds: int64(v.Deadline / time.Second),
		Attempt: v.Attempt, Reason: v.Condition.Reason, Why: v.Why, verdict: v,
	}
	if v.Condition.Type != "" {
		row.Condition = v.Condition.Type + "=" + v.Condition.Status
	}
	if next := o.Status.NextReconciliationTime; next != nil {
		utc := next.UTC()
		row.NextReconciliation = &utc
	}
	return row
}

// Explain completes every row's reason with what is known about the managers.
func (l *StalledList) Explain(leader convergence.Leader) {
	l.Leader = &Leader{State: string(leader.Judge(l.At)), Holder: leader.Holder, Text: leader.Text(l.At)}
	if !leader.Since.IsZero() {
		since := leader.Since.UTC()
		l.Leader.Since = &since
	}
	for _, row := range l.Items {
		row.Why = leader.Explain(row.verdict, l.At)
	}
}

// Checked is how many resources were looked at.
func (l *StalledList) Checked() int {
	total := 0
	for _, kind := range l.Kinds {
		total += kind.Checked
	}
	return total
}

// Complete reports whether everything was seen.
func (l *StalledList) Complete() bool { return len(l.Unseen) == 0 }

// Only draws these rows and no others, in the column widths of the whole list.
func (l *StalledList) Only(rows map[*Stalled]bool) *StalledList {
	l.onlyRows = rows
	return l
}

// Data is this view.
func (l *StalledList) Data() any { return l }

// Names lists the findings.
func (l *StalledList) Names() []string {
	names := make([]string, 0, len(l.Items))
	for _, row := range l.Items {
		names = append(names, (&Resource{ResourceKind: row.ResourceKind, Name: row.Name}).typeName())
	}
	return names
}

// Draw writes the table and how much was looked at.
func (l *StalledList) Draw(c *Canvas) {
	if len(l.Items) > 0 {
		l.table(c)
	}
	if l.onlyRows == nil {
		c.println(l.summary(c))
		if l.Leader != nil && l.Leader.State != string(convergence.LeaderNone) {
			c.println(Printable(l.Leader.Text))
		}
	}
}

func (l *StalledList) table(c *Canvas) {
	columns := []column{
		{title: "KIND"}, {title: "NAME"}, {title: "PHASE"}, {title: "OVERDUE"}, {title: "DEADLINE", spare: 1}, {title: "ATTEMPT", spare: 2}, {title: "WHY", flexible: true},
	}
	if l.allNamespaces {
		columns = append([]column{{title: "NAMESPACE"}}, columns...)
	}
	if c.Wide {
		columns = append(columns, column{title: "NEXT LOOK"}, column{title: "CONDITION"}, column{title: "REASON"})
	}
	t := c.table(columns...)
	if c.Wide {
		t.painter = t.painter.unbounded()
	}
	var hidden []int
	for i, row := range l.Items {
		t.rows = append(t.rows, l.row(c, row))
		if l.onlyRows != nil && !l.onlyRows[row] {
			hidden = append(hidden, i)
		}
	}
	t.drawExcept(&c.out, c.Headers, hidden)
}

func (l *StalledList) row(c *Canvas, s *Stalled) []cell {
	attempt := c.none()
	if s.Attempt > 0 {
		attempt = fmt.Sprint(s.Attempt)
	}
	row := []cell{
		{text: s.ResourceKind},
		{text: s.Name},
		{text: Printable(s.Phase), tone: phaseTone(s.Phase)},
		{text: s.overdue("?"), tone: Bad},
		{text: Age(seconds(s.DeadlineSeconds))},
		{text: attempt},
		{text: Printable(s.Why)},
	}
	if l.allNamespaces {
		row = append([]cell{{text: s.Namespace}}, row...)
	}
	if c.Wide {
		next := c.none()
		if s.NextReconciliation != nil {
			next = s.NextReconciliation.Format("2006-01-02 15:04:05 UTC")
		}
		row = append(row, cell{text: next}, cell{text: orNone(c, s.Condition)}, cell{text: orNone(c, s.Reason)})
	}
	return row
}

func (s *Stalled) overdue(unknown string) string {
	if s.State == string(convergence.Unknown) {
		return unknown
	}
	return Age(seconds(s.OverdueSeconds))
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// summary says how many of how many, and that the rest was not seen where it was not.
func (l *StalledList) summary(c *Canvas) string {
	if l.Checked() == 0 && l.Complete() {
		return c.mark(Caution) + " nothing to look at: no schema and no migration " + l.where()
	}
	stalled, unknown := 0, 0
	for _, kind := range l.Kinds {
		stalled += kind.Stalled
		unknown += kind.Unknown
	}
	of := fmt.Sprintf("%d %s", l.Checked(), plural(l.Checked(), "resource"))
	if !l.Complete() {
		of += " that could be seen"
	}
	verb := "are"
	if stalled == 1 || l.Checked() == 1 {
		verb = "is"
	}
	text := fmt.Sprintf("%d of %s %s stalled", stalled, of, verb)
	if unknown > 0 {
		text += fmt.Sprintf(", %d could not be told", unknown)
	}
	mark := Good
	switch {
	case stalled+unknown > 0:
		mark = Bad
	case !l.Complete():
		mark = Caution
	}
	return c.mark(mark) + " " + text
}

func (l *StalledList) where() string {
	if l.allNamespaces {
		return "in any namespace"
	}
	return "in this namespace; -A looks in all"
}

// Lines is the same answer for a cron job: a line for each finding, and nothing when all is well.
func (l *StalledList) Lines() View { return stalledLines{l} }

type stalledLines struct{ *StalledList }

// Draw writes the findings, a line each, never in colour.
func (l stalledLines) Draw(c *Canvas) {
	for _, s := range l.Items {
		line := fmt.Sprintf("%s/%s %s %s", s.Namespace, s.Name, s.ResourceKind, Printable(s.Phase))
		if s.State == string(convergence.Stalled) {
			line += fmt.Sprintf(", overdue %s (deadline %s)", Age(seconds(s.OverdueSeconds)), Age(seconds(s.DeadlineSeconds)))
		}
		if s.Attempt > 0 {
			line += fmt.Sprintf(", attempt %d", s.Attempt)
		}
		c.println(line + ": " + Printable(s.Why))
	}
}
