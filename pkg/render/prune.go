package render

import (
	"fmt"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/pin"
)

// What became of a plan or a chunk, beyond the verdicts of package pin.
const (
	PruneDeleted = "deleted"
	PruneSpared  = "spared" // it was to be deleted, and a last look said no
	PruneFailed  = "failed"
)

// Prune is which stored plans may go and why, and what became of them.
type Prune struct {
	Meta
	// DryRun is client where nothing was sent, server where the API server was only asked, and empty where plans were deleted.
	DryRun string `json:"dryRun,omitempty"`
	// Plans in order of namespace, owner and age, the oldest first.
	Plans []PrunePlan `json:"plans"`
	// Orphans are chunks whose plan is gone.
	Orphans []PruneChunk `json:"orphans"`
	// Findings are pins that lead nowhere.
	Findings []PruneFinding `json:"findings"`
	// Unseen lists what could not be read; no plan that it could pin is deleted then.
	Unseen []Unseen    `json:"unseen"`
	Totals PruneTotals `json:"totals"`
	// Bundle is the export that was written before anything was deleted.
	Bundle *BundleInfo `json:"bundle,omitempty"`

	now           time.Time
	allNamespaces bool
}

// PrunePlan is one stored plan.
type PrunePlan struct {
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
	UID       string     `json:"uid"`
	PlanKind  string     `json:"planKind"` // schema or migration
	Owner     string     `json:"owner"`
	StoredAt  time.Time  `json:"storedAt"`
	Size      int64      `json:"size"` // bytes of its chunks
	Chunks    int        `json:"chunks"`
	Left      []string   `json:"left,omitempty"` // chunks of a deleted plan that were not deleted with it
	Verdict   string     `json:"verdict"`        // may-go, kept, busy, could-not-tell, deleted, spared or failed
	Reason    string     `json:"reason"`
	Pins      []PrunePin `json:"pins"`

	leftSize    int64
	heldBySpent bool
}

// PrunePin is one live field that names a plan.
type PrunePin struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Field string `json:"field"`
	Why   string `json:"why"`
	Spent bool   `json:"spent,omitempty"` // an approval that authorizes nothing any more
}

// PruneChunk is a ConfigMap whose plan is gone.
type PruneChunk struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Plan      string `json:"plan"`
	Owner     string `json:"owner"`
	Verdict   string `json:"verdict"`
	Reason    string `json:"reason"`
}

// PruneFinding is a pin that leads nowhere.
type PruneFinding struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Field     string `json:"field"`
	Plan      string `json:"plan"`
	Text      string `json:"text"`
}

// PruneTotals sums up.
type PruneTotals struct {
	MayGo      int `json:"mayGo"`
	Kept       int `json:"kept"`
	Busy       int `json:"busy"`
	Unknown    int `json:"couldNotTell"`
	Deleted    int `json:"deleted"`
	NotDeleted int `json:"notDeleted"` // spared or failed
	// Chunks and Bytes of the plans that may go or were deleted; chunks without a plan are counted, their bytes are not known.
	Chunks int   `json:"chunks"`
	Bytes  int64 `json:"bytes"`
	// HeldBySpent are the kept plans that nothing pins but approvals which authorize nothing any more, HeldBytes what those plans take.
	HeldBySpent int   `json:"heldBySpent"`
	HeldBytes   int64 `json:"heldBytes"`
}

// NewPrune starts the answer.
func NewPrune(now time.Time, dryRun string, allNamespaces bool) *Prune {
	return &Prune{
		Meta: Meta{APIVersion: APIVersion, Kind: "PruneReport"}, DryRun: dryRun, Plans: []PrunePlan{}, Orphans: []PruneChunk{},
		Findings: []PruneFinding{}, Unseen: []Unseen{}, now: now, allNamespaces: allNamespaces,
	}
}

// AddPlan takes over a decision.
func (p *Prune) AddPlan(d pin.Decision) {
	item := PrunePlan{
		Namespace: d.Plan.Namespace, Name: d.Plan.Name, UID: string(d.Plan.UID), PlanKind: string(d.Plan.Family), Owner: d.Plan.Owner.Name,
		StoredAt: d.Plan.CreatedAt.UTC(), Size: d.Plan.Size, Chunks: len(d.Plan.Chunks), Left: d.Left, leftSize: d.LeftSize, heldBySpent: d.HeldBySpent(), Verdict: string(d.Verdict), Reason: d.Reason,
		Pins: make([]PrunePin, 0, len(d.Pins)),
	}
	for _, held := range d.Pins {
		item.Pins = append(item.Pins, PrunePin{Kind: held.By.Kind, Name: held.By.Name, Field: held.Field, Why: held.Why, Spent: held.Spent})
	}
	p.Plans = append(p.Plans, item)
}

// AddOrphan takes over a chunk without a plan.
func (p *Prune) AddOrphan(o pin.Orphan) {
	p.Orphans = append(p.Orphans, PruneChunk{
		Namespace: o.Chunk.Namespace, Name: o.Chunk.Name, Plan: o.Chunk.Plan, Owner: o.Chunk.Owner.Name, Verdict: string(o.Verdict), Reason: o.Reason,
	})
}

// SetFindings takes over pins that lead nowhere.
func (p *Prune) SetFindings(findings []pin.Finding) {
	p.Findings = make([]PruneFinding, 0, len(findings))
	for _, f := range findings {
		by := f.Pin.By
		p.Findings = append(p.Findings, PruneFinding{Namespace: by.Namespace, Kind: by.Kind, Name: by.Name, Field: f.Pin.Field, Plan: f.Pin.Plan.Name, Text: f.Text})
	}
}

// Sum counts again.
func (p *Prune) Sum() *Prune {
	p.Totals = PruneTotals{}
	for _, plan := range p.Plans {
		if plan.heldBySpent {
			p.Totals.HeldBySpent++
			p.Totals.HeldBytes += plan.Size
		}
		p.Totals.count(plan.Verdict, plan.Chunks-len(plan.Left), plan.Size-plan.leftSize)
	}
	for _, chunk := range p.Orphans {
		if chunk.Verdict == string(pin.MayGo) || chunk.Verdict == PruneDeleted {
			p.Totals.Chunks++
		}
	}
	return p
}

func (t *PruneTotals) count(verdict string, chunks int, size int64) {
	switch verdict {
	case string(pin.MayGo):
		t.MayGo++
	case PruneDeleted:
		t.Deleted++
	case string(pin.Busy):
		t.Busy++
	case string(pin.Unknown):
		t.Unknown++
	case PruneSpared, PruneFailed:
		t.NotDeleted++
	default:
		t.Kept++
	}
	if verdict == string(pin.MayGo) || verdict == PruneDeleted {
		t.Chunks += chunks
		t.Bytes += size
	}
}

// Data is this view.
func (p *Prune) Data() any { return p }

// Names lists the plans that may go or are gone, and no others: a list to work through.
func (p *Prune) Names() []string {
	var names []string
	for _, plan := range p.Plans {
		if plan.Verdict == string(pin.MayGo) || plan.Verdict == PruneDeleted {
			names = append(names, planType(plan.PlanKind)+"/"+plan.Name)
		}
	}
	return names
}

// planType is a plan's resource type as kubectl takes it.
func planType(kind string) string {
	if kind == string(pin.Migration) {
		return "ptahmigrationplan." + v1alpha1.GroupName
	}
	return "ptahschemaplan." + v1alpha1.GroupName
}

// Draw writes the table and what it adds up to.
func (p *Prune) Draw(c *Canvas) {
	if len(p.Plans)+len(p.Orphans) > 0 {
		p.drawTable(c)
	}
	for _, f := range p.Findings {
		c.println(c.mark(Bad) + " " + Printable(f.Text))
	}
	if len(p.Plans)+len(p.Orphans) > 0 {
		c.println(p.summary())
	}
	if b := p.Bundle; b != nil {
		c.println(fmt.Sprintf("%d %s exported to %s first, bundle %s", b.Plans, plural(b.Plans, "plan"), Printable(b.Path), b.Digest))
	}
}

func (p *Prune) drawTable(c *Canvas) {
	columns := []column{
		{title: "PLAN"}, {title: "KIND", spare: 3}, {title: "OWNER", spare: 2}, {title: "AGE", spare: 4}, {title: "SIZE", spare: 1}, {title: "VERDICT", flexible: true},
	}
	if p.allNamespaces {
		columns = append([]column{{title: "NAMESPACE"}}, columns...)
	}
	t := c.table(columns...)
	if c.Wide {
		t.painter = t.painter.unbounded()
	}
	add := func(namespace string, cells ...cell) {
		if p.allNamespaces {
			cells = append([]cell{{text: namespace}}, cells...)
		}
		t.rows = append(t.rows, cells)
	}
	for _, plan := range p.Plans {
		size := c.none()
		if plan.Chunks > 0 {
			size = Bytes(plan.Size)
		}
		add(plan.Namespace, cell{text: plan.Name}, cell{text: plan.PlanKind}, cell{text: plan.Owner}, cell{text: Age(p.now.Sub(plan.StoredAt))}, cell{text: size},
			p.verdict(plan.drawnVerdict(), plan.Reason))
	}
	for _, chunk := range p.Orphans {
		add(chunk.Namespace, cell{text: chunk.Name}, cell{text: "chunk"}, cell{text: orNone(c, chunk.Owner)}, cell{text: c.none()}, cell{text: c.none()},
			p.verdict(chunk.Verdict, chunk.Reason))
	}
	t.draw(&c.out, c.Headers)
}

// pruneDeletedInPart is how a deleted plan with chunks that stay is drawn.
const pruneDeletedInPart = "deleted in part"

func (p *PrunePlan) drawnVerdict() string {
	if p.Verdict == PruneDeleted && len(p.Left) > 0 {
		return pruneDeletedInPart
	}
	return p.Verdict
}

func (p *Prune) verdict(verdict, reason string) cell {
	reason = Printable(reason)
	switch verdict {
	case string(pin.MayGo):
		return cell{"may go: " + reason, Caution}
	case PruneDeleted:
		return cell{"deleted", Good}
	case pruneDeletedInPart:
		return cell{"deleted; " + reason, Bad}
	case PruneSpared:
		return cell{"kept after all: " + reason, Plain}
	case PruneFailed:
		return cell{"not deleted: " + reason, Bad}
	case string(pin.Busy):
		return cell{"not now: " + reason, Plain}
	case string(pin.Unknown):
		return cell{reason, Bad}
	default:
		return cell{"kept: " + reason, Plain}
	}
}

func (p *Prune) summary() string {
	t := p.Totals
	count, verb := t.MayGo, "may go"
	if p.DryRun == "" {
		count, verb = t.Deleted, "deleted"
	}
	text := fmt.Sprintf("%d %s and %d %s %s, %s; %d kept", count, plural(count, "plan"), t.Chunks, plural(t.Chunks, "chunk"), verb, Bytes(t.Bytes), t.Kept)
	if t.NotDeleted > 0 {
		text += fmt.Sprintf(", %d not deleted", t.NotDeleted)
	}
	if t.Busy > 0 {
		text += fmt.Sprintf(", %d not now", t.Busy)
	}
	if t.Unknown > 0 {
		text += fmt.Sprintf(", %d could not be told", t.Unknown)
	}
	return text
}
