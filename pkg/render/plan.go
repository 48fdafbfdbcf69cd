package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/pkg/waiting"
)

// Roles of a stored plan.
const (
	RoleCurrent = "current" // what status.plan names
	RoleApplied = "applied" // what the last proven Apply ran
	RoleStored  = "stored"  // any other plan object
)

// Plan is a stored plan with every digest checked. Its JSON is the stored document itself, byte for byte; YAML, templates and text show this
// view around it.
type Plan struct {
	Meta
	Namespace     string `json:"namespace"`
	Schema        string `json:"schema"`
	Name          string `json:"name"`
	UID           string `json:"uid"`
	Role          string `json:"role"`
	Fingerprint   string `json:"fingerprint"`
	ContentDigest string `json:"contentDigest"`
	// Unproven says why the fingerprint could not be checked; the digests were.
	Unproven    string        `json:"unproven,omitempty"`
	Chunks      int           `json:"chunks"`
	Size        int64         `json:"size"`
	Dialect     string        `json:"dialect"`
	Statements  int           `json:"statements"`
	Destructive bool          `json:"destructive"`
	StoredAt    time.Time     `json:"storedAt"`
	AppliedAt   *time.Time    `json:"appliedAt"`
	WaitingFor  Waiting       `json:"waitingFor"`
	Hazards     []Hazard      `json:"hazards"`
	Document    plan.Document `json:"document"`
	Rejected

	now    time.Time
	stored []byte
}

// Waiting is what a resource waits for, as programs see it.
type Waiting struct {
	Party  string `json:"party"`
	Text   string `json:"text"`
	Reason string `json:"reason,omitempty"`
}

// NewWaiting copies an answer of package waiting.
func NewWaiting(answer waiting.Answer) Waiting {
	return Waiting{Party: string(answer.Party), Text: answer.Text, Reason: string(answer.Reason)}
}

// Hazard is one thing to know before a plan runs.
type Hazard struct {
	Severity   string `json:"severity"`   // warning or destructive
	Statements []int  `json:"statements"` // counted from 1
	Text       string `json:"text"`
}

// WithBytes gives the view the stored bytes and the time it is.
func (p *Plan) WithBytes(stored []byte, now time.Time) *Plan {
	p.Meta = Meta{APIVersion: APIVersion, Kind: "Plan"}
	p.stored, p.now = stored, now
	groups := &hazardGroups{}
	p.each(groups.statement)
	p.Hazards = groups.hazards()
	return p
}

// each visits the statements, counted from 0: those of the document, or else those of the stored bytes, which were verified and may be large.
func (p *Plan) each(visit func(int, plan.Statement)) {
	if len(p.Document.Statements) == 0 {
		plan.Again(p.stored, visit)
		return
	}
	for i, statement := range p.Document.Statements {
		visit(i, statement)
	}
}

// Data is this view, whole; see Bytes for JSON.
func (p *Plan) Data() any {
	whole := *p
	whole.Document.Statements = nil
	p.each(func(_ int, statement plan.Statement) {
		whole.Document.Statements = append(whole.Document.Statements, statement)
	})
	return &whole
}

// Names is the plan's resource name.
func (p *Plan) Names() []string { return []string{"ptahschemaplan.operator.ptah.run/" + p.Name} }

// Bytes gives the stored document for JSON.
func (p *Plan) Bytes(kind FormatKind) ([]byte, bool) { return p.stored, kind == JSON }

// Stream writes the bare statements for SQL.
func (p *Plan) Stream(kind FormatKind) func(io.Writer) error {
	if kind != SQL {
		return nil
	}
	return func(out io.Writer) error {
		buffered := bufio.NewWriter(out)
		p.each(func(_ int, statement plan.Statement) {
			_, _ = buffered.WriteString(plan.Terminated(p.Dialect, statement.SQL)) // Flush reports what went wrong
			_ = buffered.WriteByte('\n')
		})
		return buffered.Flush()
	}
}

// Draw writes the plan for the person who decides on it.
func (p *Plan) Draw(c *Canvas) {
	p.drawHead(c)
	p.each(func(i int, statement plan.Statement) {
		c.println("")
		drawStatement(c, i+1, p.Statements, p.Dialect, statement)
	})
}

// Unproven words a fingerprint that could not be checked.
func Unproven(why string) string {
	return "could not tell whether this is the fingerprint of these statements: " + why
}

func (p *Plan) drawHead(c *Canvas) {
	const verified = "   verified, "
	f := c.fields()
	chunks := fmt.Sprintf("%s%d of %d %s", verified, p.Chunks, p.Chunks, plural(p.Chunks, "chunk"))
	f.line("Schema", c.paint(Strong, p.Namespace+"/"+p.Schema))
	f.line("Plan", fmt.Sprintf("%s (%s)", p.Role, p.Name))
	fingerprint := []string{f.identifier(p.Fingerprint, 0)}
	if p.Unproven != "" {
		fingerprint = append(fingerprint, c.mark(Caution)+" "+Unproven(p.Unproven))
	}
	f.line("Fingerprint", fingerprint...)
	f.line("Content digest", f.identifier(p.ContentDigest, width(chunks))+c.paint(Good, chunks))
	f.pairs([2]string{"Dialect", p.Dialect}, [2]string{"Statements", fmt.Sprint(p.Statements)}, [2]string{"Destructive", p.destructive(c)})
	f.pairs([2]string{"Stored", Stamp(p.StoredAt, p.now)}, [2]string{"Applied", p.applied()})
	f.line("Waiting for", p.waitingText(c))
	f.line("Rejected", p.labelled(c, p.now)...)
	f.line("Hazards", p.hazardLines(c)...)
}

func (p *Plan) destructive(c *Canvas) string {
	if p.Destructive {
		return c.paint(Bad, "true")
	}
	return "false"
}

func (p *Plan) applied() string {
	if p.AppliedAt == nil {
		return "never"
	}
	return Stamp(*p.AppliedAt, p.now)
}

func (p *Plan) waitingText(c *Canvas) string {
	switch {
	case p.Role != RoleCurrent:
		return c.none()
	case p.WaitingFor.Party == string(waiting.Approver):
		return "an approval bound to this fingerprint"
	case p.WaitingFor.Text == "":
		return c.none()
	default:
		return p.WaitingFor.Text
	}
}

func (p *Plan) hazardLines(c *Canvas) []string {
	if len(p.Hazards) == 0 {
		return []string{"none"}
	}
	lines := make([]string, 0, len(p.Hazards))
	for _, hazard := range p.Hazards {
		lines = append(lines, c.mark(hazardTone(hazard))+" "+Printable(hazard.Text))
	}
	return lines
}

func hazardTone(hazard Hazard) Tone {
	if hazard.Severity == plan.SeverityDestructive {
		return Bad
	}
	return Caution
}

// drawStatement writes one statement under comments, so that what a person copies is still SQL.
func drawStatement(c *Canvas, number, total int, dialect string, statement plan.Statement) {
	head := fmt.Sprintf("-- %d/%d  %s", number, total, statement.Severity)
	if statement.Object != "" {
		head += "  " + statement.Object
	}
	c.println(c.paint(severityTone(statement.Severity), Printable(head)))
	for _, comment := range comments(statement) {
		c.println(c.paint(Dim, "--   "+comment))
	}
	c.println(Printable(plan.Terminated(dialect, statement.SQL)))
}

func severityTone(severity string) Tone {
	switch severity {
	case plan.SeverityDestructive:
		return Bad
	case plan.SeverityWarning:
		return Caution
	default:
		return Good
	}
}

// comments are the planner's words about a statement, one line each; a line break in them must not end the comment.
func comments(statement plan.Statement) []string {
	var lines []string
	add := func(text string) {
		if text != "" {
			lines = append(lines, strings.Join(strings.Fields(Printable(text)), " "))
		}
	}
	add(statement.Reason)
	if statement.Lock != "" {
		add("lock: " + statement.Lock)
	}
	if statement.Hazard != "" {
		add("hazard: " + statement.Hazard)
	}
	if statement.Tx == "none" {
		add("runs outside of a transaction")
	}
	return lines
}

// strongLocks are the table locks that hold up a plain read or write.
var strongLocks = []string{"ACCESS EXCLUSIVE", "EXCLUSIVE", "SHARE ROW EXCLUSIVE", "SHARE"}

// Hazards sums up what a person should know before a plan runs: destructive statements each, then locks by kind and table, other costs by
// kind, and statements that cannot be undone by a transaction.
func Hazards(document plan.Document) []Hazard {
	groups := &hazardGroups{}
	for i, statement := range document.Statements {
		groups.statement(i, statement)
	}
	return groups.hazards()
}

func (g *hazardGroups) statement(i int, statement plan.Statement) {
	number := i + 1
	if statement.Severity == plan.SeverityDestructive {
		g.add(plan.SeverityDestructive, number, "%s destructive: "+subject(statement, number), "is", "are")
	}
	if slices.Contains(strongLocks, statement.Lock) {
		cost := "(short: catalog only)"
		if statement.Hazard != "" {
			cost = "(" + statement.Hazard + ")"
		}
		g.add(plan.SeverityWarning, number, "%s the "+statement.Lock+" lock on "+lockedTable(statement)+" "+cost, "takes", "take")
	} else if statement.Hazard != "" {
		g.add(plan.SeverityWarning, number, "%s a cost: "+statement.Hazard, "has", "have")
	}
	if statement.Tx == "none" {
		g.add(plan.SeverityWarning, number, "%s outside of a transaction and cannot be rolled back", "runs", "run")
	}
}

func subject(statement plan.Statement, number int) string {
	switch {
	case statement.Kind != "" && statement.Object != "":
		return strings.ReplaceAll(statement.Kind, "_", " ") + " " + statement.Object
	case statement.Reason != "":
		return statement.Reason
	default:
		return fmt.Sprintf("statement %d", number)
	}
}

func lockedTable(statement plan.Statement) string {
	switch {
	case statement.Table != "" && !strings.HasSuffix(statement.Kind, "_sequence"):
		return statement.Table
	case statement.Object != "":
		return statement.Object
	default:
		return "what it touches"
	}
}

// hazardGroups collects statements that share a hazard, in order of first appearance, destructive ones first.
type hazardGroups struct {
	groups []hazardGroup
}

type hazardGroup struct {
	severity, pattern, one, many string
	statements                   []int
}

func (g *hazardGroups) add(severity string, statement int, pattern, one, many string) {
	for i := range g.groups {
		if g.groups[i].severity == severity && g.groups[i].pattern == pattern {
			g.groups[i].statements = append(g.groups[i].statements, statement)
			return
		}
	}
	g.groups = append(g.groups, hazardGroup{severity: severity, pattern: pattern, one: one, many: many, statements: []int{statement}})
}

func (g *hazardGroups) hazards() []Hazard {
	slices.SortStableFunc(g.groups, func(a, b hazardGroup) int {
		return hazardRank(a.severity) - hazardRank(b.severity)
	})
	hazards := make([]Hazard, 0, len(g.groups))
	for _, group := range g.groups {
		verb := group.one
		if len(group.statements) > 1 {
			verb = group.many
		}
		count := len(group.statements)
		text := fmt.Sprintf("%d %s ", count, plural(count, "statement")) + strings.Replace(group.pattern, "%s", verb, 1)
		hazards = append(hazards, Hazard{Severity: group.severity, Statements: group.statements, Text: text})
	}
	return hazards
}

func hazardRank(severity string) int {
	if severity == plan.SeverityDestructive {
		return 0
	}
	return 1
}

func plural(count int, word string) string { return spelling.Plural(count, word) }
