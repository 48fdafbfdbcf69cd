package render

import (
	"fmt"
	"strings"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/plandiff"
)

// Diff is what changed between two stored plans.
type Diff struct {
	Meta
	Namespace string `json:"namespace"`
	PlanKind  string `json:"planKind"` // schema or migration
	From      string `json:"from"`
	To        string `json:"to"`
	// Differ is whether anything does, the header included.
	Differ bool        `json:"differ"`
	Fields []DiffField `json:"fields"`
	// Hazards that only one of the plans has.
	HazardsRemoved []string `json:"hazardsRemoved"`
	HazardsAdded   []string `json:"hazardsAdded"`
	// Statements that differ, of plans of schemas; Unchanged counts the others.
	Statements []DiffStatement `json:"statements"`
	// Migrations that differ, of plans of migrations.
	Migrations []DiffMigration `json:"migrations"`
	Unchanged  int             `json:"unchanged"`

	dialect string
}

// DiffField is one thing that the plans say differently of themselves.
type DiffField struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// DiffStatement is a statement that is not in both plans, or not in the same form or place.
type DiffStatement struct {
	Change string          `json:"change"` // added, removed, changed or moved
	From   int             `json:"from,omitempty"`
	To     int             `json:"to,omitempty"`
	Old    *plan.Statement `json:"old,omitempty"`
	New    *plan.Statement `json:"new,omitempty"`
}

// DiffMigration is a file that is not in both plans, or not in the same form or place.
type DiffMigration struct {
	Change string            `json:"change"`
	From   int               `json:"from,omitempty"`
	To     int               `json:"to,omitempty"`
	Old    *PlannedMigration `json:"old,omitempty"`
	New    *PlannedMigration `json:"new,omitempty"`
}

func newDiff(namespace, kind, from, to string, fields []plandiff.Field) *Diff {
	d := &Diff{
		Meta: Meta{APIVersion: APIVersion, Kind: "PlanDiff"}, Namespace: namespace, PlanKind: kind, From: from, To: to, Fields: []DiffField{},
		HazardsRemoved: []string{}, HazardsAdded: []string{}, Statements: []DiffStatement{}, Migrations: []DiffMigration{}, Differ: len(fields) > 0,
	}
	for _, f := range fields {
		d.Fields = append(d.Fields, DiffField(f))
	}
	return d
}

// NewSchemaDiff compares two plans of schemas whose documents were verified.
func NewSchemaDiff(a, b *v1alpha1.PtahSchemaPlan, from, to plan.Document) *Diff {
	d := newDiff(a.Namespace, "schema", a.Name, b.Name, plandiff.SchemaFields(a, b))
	d.dialect = to.Dialect
	for _, e := range plandiff.Statements(from, to) {
		if e.Change == plandiff.Same {
			d.Unchanged++
			continue
		}
		d.Differ = true
		d.Statements = append(d.Statements, DiffStatement{Change: string(e.Change), From: e.From, To: e.To, Old: e.Old, New: e.New})
	}
	d.HazardsRemoved, d.HazardsAdded = without(Hazards(from), Hazards(to)), without(Hazards(to), Hazards(from))
	return d
}

// NewMigrationDiff compares two plans of migrations.
func NewMigrationDiff(a, b *v1alpha1.PtahMigrationPlan) *Diff {
	d := newDiff(a.Namespace, "migration", a.Name, b.Name, plandiff.MigrationFields(a, b))
	for _, f := range plandiff.Files(a, b) {
		if f.Change == plandiff.Same {
			d.Unchanged++
			continue
		}
		d.Differ = true
		d.Migrations = append(d.Migrations, DiffMigration{Change: string(f.Change), From: f.From, To: f.To, Old: planned(f.Old), New: planned(f.New)})
	}
	return d
}

func planned(m *v1alpha1.PlannedMigration) *PlannedMigration {
	if m == nil {
		return nil
	}
	return &PlannedMigration{
		Version: m.Version, VersionKey: m.VersionKey, Description: m.Description, Checksum: m.Checksum, TransactionMode: string(m.TransactionMode), Checkpoint: m.Checkpoint,
	}
}

// without lists the texts of hazards that others do not have.
func without(hazards, others []Hazard) []string {
	known := map[string]bool{}
	for _, h := range others {
		known[h.Text] = true
	}
	texts := []string{}
	for _, h := range hazards {
		if !known[h.Text] {
			texts = append(texts, h.Text)
		}
	}
	return texts
}

// Data is this view.
func (d *Diff) Data() any { return d }

// Names lists both plans.
func (d *Diff) Names() []string {
	return []string{planType(d.PlanKind) + "/" + d.From, planType(d.PlanKind) + "/" + d.To}
}

// Draw writes the comparison as lines that begin with -, + or a space, as people know them, with comments as SQL has them.
func (d *Diff) Draw(c *Canvas) {
	c.println(c.paint(Bad, "--- "+d.Namespace+"/"+d.From))
	c.println(c.paint(Good, "+++ "+d.Namespace+"/"+d.To))
	if !d.Differ {
		c.println("no difference")
		return
	}
	d.drawFields(c)
	for _, text := range d.HazardsRemoved {
		c.println(c.paint(Bad, "- ! "+Printable(text)))
	}
	for _, text := range d.HazardsAdded {
		c.println(c.paint(Good, "+ ! "+Printable(text)))
	}
	for _, s := range d.Statements {
		d.drawStatement(c, s)
	}
	for _, m := range d.Migrations {
		d.drawMigration(c, m)
	}
	c.println("")
	c.println(d.summary())
}

func (d *Diff) drawFields(c *Canvas) {
	longest := 0
	for _, f := range d.Fields {
		longest = max(longest, len(f.Name)+1)
	}
	for _, f := range d.Fields {
		label := f.Name + ":" + strings.Repeat(" ", longest-len(f.Name)-1)
		room := c.theme.Width - longest - 3
		c.println(c.paint(Bad, "- "+label+" "+c.fit(Printable(f.From), room)))
		c.println(c.paint(Good, "+ "+label+" "+c.fit(Printable(f.To), room)))
	}
}

func (d *Diff) drawStatement(c *Canvas, s DiffStatement) {
	c.println("")
	about := s.New
	if about == nil {
		about = s.Old
	}
	head := fmt.Sprintf("-- %s%s", s.Change, position(s.From, s.To))
	if about.Object != "" {
		head += "  " + about.Object
	}
	if s.Old != nil && s.New != nil && s.Old.Severity != s.New.Severity {
		head += "  " + s.Old.Severity + " -> " + s.New.Severity
	} else {
		head += "  " + about.Severity
	}
	c.println(c.paint(Dim, Printable(head)))
	if s.Change == string(plandiff.Moved) {
		d.drawSQL(c, "  ", Plain, about)
		return
	}
	if s.Old != nil {
		d.drawSQL(c, "- ", Bad, s.Old)
	}
	if s.New != nil {
		d.drawSQL(c, "+ ", Good, s.New)
	}
}

func (d *Diff) drawSQL(c *Canvas, prefix string, tone Tone, s *plan.Statement) {
	costs := *s
	costs.Reason = "" // why a statement is there goes without saying; what it costs does not
	text := ""
	for _, cost := range comments(costs) {
		text += "--   " + cost + "\n"
	}
	text += plan.Terminated(d.dialect, s.SQL)
	for _, line := range strings.Split(Printable(text), "\n") {
		c.println(c.paint(tone, prefix+line))
	}
}

func (d *Diff) drawMigration(c *Canvas, m DiffMigration) {
	c.println("")
	c.println(c.paint(Dim, "-- "+m.Change+position(m.From, m.To)))
	if m.Change == string(plandiff.Moved) {
		c.println("  " + fileText(m.New))
		return
	}
	if m.Old != nil {
		c.println(c.paint(Bad, "- "+fileText(m.Old)))
	}
	if m.New != nil {
		c.println(c.paint(Good, "+ "+fileText(m.New)))
	}
}

func fileText(m *PlannedMigration) string {
	version := m.VersionKey
	if version == "" {
		version = fmt.Sprint(m.Version)
	}
	text := fmt.Sprintf("%s  %s  %s", version, m.Description, m.Checksum)
	if m.TransactionMode != "" {
		text += "  transaction: " + m.TransactionMode
	}
	if m.Checkpoint {
		text += "  checkpoint"
	}
	return Printable(text)
}

func position(from, to int) string {
	switch {
	case from == 0:
		return fmt.Sprintf("  %d", to)
	case to == 0 || from == to:
		return fmt.Sprintf("  %d", from)
	default:
		return fmt.Sprintf("  %d -> %d", from, to)
	}
}

func (d *Diff) summary() string {
	counts := map[string]int{}
	for _, s := range d.Statements {
		counts[s.Change]++
	}
	for _, m := range d.Migrations {
		counts[m.Change]++
	}
	what := "statements"
	if d.PlanKind == "migration" {
		what = "migrations"
	}
	text := fmt.Sprintf("%s: %d added, %d removed, %d changed, %d moved, %d unchanged", what, counts[string(plandiff.Added)], counts[string(plandiff.Removed)],
		counts[string(plandiff.Changed)], counts[string(plandiff.Moved)], d.Unchanged)
	return text
}
