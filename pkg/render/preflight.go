package render

import (
	"fmt"
	"strings"
)

// Preflight is whether a cluster is ready for a release, or a namespace for one resource.
type Preflight struct {
	Meta
	Purpose   string            `json:"purpose,omitempty"`  // install, upgrade or uninstall
	Resource  string            `json:"resource,omitempty"` // schema/NAME or migration/NAME
	Namespace string            `json:"namespace"`          // of the release or of the resource
	Release   string            `json:"release,omitempty"`
	Chart     string            `json:"chart,omitempty"` // version of the candidate
	Sequence  int64             `json:"sequence,omitempty"`
	Results   []PreflightResult `json:"results"`
	Passed    int               `json:"passed"`
	Failed    int               `json:"failed"`
	Unknown   int               `json:"unknown"`
	Notes     []string          `json:"notes"` // what no check can see
}

// PreflightResult is one answered check.
type PreflightResult struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Verdict string   `json:"verdict"` // pass, fail or unknown
	Details []string `json:"details"`
	Fix     string   `json:"fix,omitempty"`
}

// Data is this view.
func (p *Preflight) Data() any { return p }

// Names are the checks that did not pass, as VERDICT/ID.
func (p *Preflight) Names() []string {
	var out []string
	for _, r := range p.Results {
		if r.Verdict != "pass" {
			out = append(out, r.Verdict+"/"+r.ID)
		}
	}
	return out
}

// Draw writes a line for each check, what it saw beside it, and the fix below.
func (p *Preflight) Draw(c *Canvas) {
	titles := 0
	for _, r := range p.Results {
		titles = max(titles, width(r.Title))
	}
	sign := width(c.glyph("✓", "ok"))
	indent := strings.Repeat(" ", sign+1+titles+2)
	for _, r := range p.Results {
		head := c.verdictMark(r.Verdict)
		head += strings.Repeat(" ", max(sign-width(head), 0)+1) + r.Title + strings.Repeat(" ", titles-width(r.Title)+2)
		for i, line := range r.Details {
			if i > 0 {
				head = indent
			}
			c.println(head + c.wrapped(Printable(line), width(indent)))
		}
		if len(r.Details) == 0 {
			c.println(strings.TrimRight(head, " "))
		}
		if r.Fix != "" {
			c.println(indent + c.paint(Strong, "fix:") + " " + c.wrapped(Printable(r.Fix), width(indent)+5))
		}
	}
	c.println(p.summary())
}

func (p *Preflight) summary() string {
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{{p.Failed, "failed"}, {p.Unknown, "could not tell"}, {p.Passed, "passed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return strings.Join(parts, ", ")
}

func (c *Canvas) verdictMark(verdict string) string {
	switch verdict {
	case "pass":
		return c.mark(Good)
	case "fail":
		return c.mark(Bad)
	default:
		return c.paint(Caution, "?")
	}
}

// wrapped breaks a text at spaces so that it stays right of an indent on a terminal. Words longer than the line stay whole.
func (c *Canvas) wrapped(text string, indent int) string {
	room := c.theme.Width - indent
	if c.theme.Width == 0 || room < minFlexible {
		return text
	}
	var out strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		w := width(word)
		switch {
		case i == 0:
		case used+1+w > room:
			out.WriteString("\n" + strings.Repeat(" ", indent))
			used = 0
		default:
			out.WriteByte(' ')
			used++
		}
		out.WriteString(word)
		used += w
	}
	return out.String()
}
