package render

import (
	"fmt"
	"strings"

	"github.com/ptah-run/ptah/pkg/bundle"
	"github.com/ptah-run/ptah/pkg/pin"
	"github.com/ptah-run/ptah/pkg/spelling"
)

// BundleInfo says where a bundle was written and what identifies it.
type BundleInfo struct {
	Path   string `json:"path"`
	Digest string `json:"digest"` // of manifest.json, which holds the digest of everything else
	Plans  int    `json:"plans"`
}

// Bundle is a bundle that was written, or one that was checked.
type Bundle struct {
	Meta
	BundleInfo
	Items []BundlePlan `json:"items"`
	// Checked, and the three after it, are of a bundle that was checked.
	Checked  bool            `json:"checked"`
	Files    int             `json:"files,omitempty"`
	Bytes    int64           `json:"bytes,omitempty"`
	Problems []BundleProblem `json:"problems"`

	allNamespaces bool
}

// BundlePlan is one plan of a bundle.
type BundlePlan struct {
	Namespace     string `json:"namespace"`
	Name          string `json:"name"`
	UID           string `json:"uid"`
	PlanKind      string `json:"planKind"` // schema or migration
	Owner         string `json:"owner"`
	Fingerprint   string `json:"fingerprint"`
	ContentDigest string `json:"contentDigest,omitempty"`
	// Approvals is how many name the plan; null when they were not exported.
	Approvals *int `json:"approvals"`
	// Proven lists what was proven of the plan's bytes.
	Proven []string `json:"proven"`
	Note   string   `json:"note,omitempty"`
	Size   int64    `json:"size,omitempty"` // of the document, when it was written

	bad bool
}

// BundleProblem is one thing that is wrong.
type BundleProblem struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// What is proven of a plan in a bundle; approvals come last.
var (
	provenSchema    = []string{"chunks", "content digest", "fingerprint", "SQL", "approvals"}
	provenMigration = []string{"name", "approvals"}
)

// NewBundle shows a bundle that was written.
func NewBundle(path, digest string, allNamespaces bool) *Bundle {
	return &Bundle{
		Meta: Meta{APIVersion: APIVersion, Kind: "BundleReport"}, BundleInfo: BundleInfo{Path: path, Digest: digest}, Items: []BundlePlan{},
		Problems: []BundleProblem{}, allNamespaces: allNamespaces,
	}
}

// NewBundleCheck shows what checking a bundle brought out.
func NewBundleCheck(path string, report *bundle.Report) *Bundle {
	view := NewBundle(path, report.Digest, true)
	view.Checked, view.Files, view.Bytes = true, report.Files, report.Bytes
	for _, p := range report.Problems {
		view.Problems = append(view.Problems, BundleProblem(p))
	}
	for _, entry := range report.Manifest.Plans {
		view.Add(entry, 0)
		last := &view.Items[len(view.Items)-1]
		where := "plans/" + entry.Namespace + "/" + entry.Name + "/"
		for _, p := range report.Problems {
			last.bad = last.bad || strings.HasPrefix(p.Path, where)
		}
		if last.bad {
			last.Proven = []string{}
		}
	}
	return view
}

// Add takes over one plan.
func (b *Bundle) Add(entry bundle.Entry, size int64) {
	item := BundlePlan{
		Namespace: entry.Namespace, Name: entry.Name, UID: entry.UID, PlanKind: string(pin.Schema), Owner: entry.Owner, Fingerprint: entry.Fingerprint,
		ContentDigest: entry.ContentDigest, Note: entry.Note, Size: size, Proven: provenSchema,
	}
	if entry.Kind == bundle.MigrationPlan {
		item.PlanKind, item.Proven = string(pin.Migration), provenMigration
	}
	if entry.Approvals >= 0 {
		item.Approvals = &entry.Approvals
	} else {
		item.Proven = item.Proven[:len(item.Proven)-1]
	}
	b.Items = append(b.Items, item)
	b.Plans = len(b.Items)
}

// Data is this view.
func (b *Bundle) Data() any { return b }

// Names lists the plans.
func (b *Bundle) Names() []string {
	names := make([]string, 0, len(b.Items))
	for _, item := range b.Items {
		names = append(names, planType(item.PlanKind)+"/"+item.Name)
	}
	return names
}

// Draw writes a line for each plan, then what is wrong, then the sum.
func (b *Bundle) Draw(c *Canvas) {
	columns := []column{{title: "PLAN"}, {title: "KIND", spare: 2}, {title: "OWNER", spare: 1}, {title: "APPROVALS", spare: 3}, {title: "PROVEN", flexible: true}}
	if b.allNamespaces {
		columns = append([]column{{title: "NAMESPACE"}}, columns...)
	}
	t := c.table(columns...)
	for _, item := range b.Items {
		row := []cell{{text: Printable(item.Name)}, {text: item.PlanKind}, {text: Printable(item.Owner)}, {text: b.approvals(item)}, b.proven(c, item)}
		if b.allNamespaces {
			row = append([]cell{{text: Printable(item.Namespace)}}, row...)
		}
		t.rows = append(t.rows, row)
	}
	if len(t.rows) > 0 {
		t.draw(&c.out, c.Headers)
	}
	for _, p := range b.Problems {
		c.println(c.mark(Bad) + " " + c.prose(Printable(strings.TrimSpace(p.Path+" "+p.Text)), width(c.mark(Bad))+1))
	}
	for _, note := range b.notes() {
		c.println(c.mark(Caution) + " " + c.prose(Printable(note), 2))
	}
	if b.Digest != "" {
		c.println("bundle " + c.fit(b.Digest, c.theme.Width-len("bundle ")))
	}
	c.println(b.summary(c))
}

func (b *Bundle) approvals(item BundlePlan) string {
	if item.Approvals == nil {
		return "not exported"
	}
	return fmt.Sprint(*item.Approvals)
}

func (b *Bundle) proven(c *Canvas, item BundlePlan) cell {
	if item.bad {
		return cell{c.glyph("✗", "x") + " see below", Bad}
	}
	return cell{strings.Join(item.Proven, ", "), Good}
}

// notes says once what a kind of plan cannot have.
func (b *Bundle) notes() []string {
	var notes []string
	for _, item := range b.Items {
		if item.Note != "" && len(notes) == 0 {
			notes = append(notes, item.Note)
		}
	}
	return notes
}

func (b *Bundle) summary(c *Canvas) string {
	count := fmt.Sprintf("%d %s", len(b.Items), plural(len(b.Items), "plan"))
	switch {
	case !b.Checked:
		return fmt.Sprintf("%s written to %s", count, Printable(b.Path))
	case len(b.Problems) > 0:
		return fmt.Sprintf("%d %s in %s", len(b.Problems), plural(len(b.Problems), "problem"), Printable(b.Path))
	default:
		return c.paint(Good, fmt.Sprintf("%s, %s, %s: every digest agrees", count, spelling.Count(b.Files, "file"), Bytes(b.Bytes)))
	}
}
