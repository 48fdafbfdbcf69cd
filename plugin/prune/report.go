package prune

import (
	"github.com/ptah-run/ptah/pkg/pin"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/storedplan"
)

// report is what was decided and done, until it is drawn.
type report struct {
	survey    *storedplan.Survey
	decisions []pin.Decision
	orphans   []pin.Orphan
	render    *render.Prune
}

func (r *report) view(findings []pin.Finding, unseen []render.Unseen) *render.Prune {
	for _, d := range r.decisions {
		r.render.AddPlan(d)
	}
	for _, orphan := range r.orphans {
		r.render.AddOrphan(orphan)
	}
	r.render.SetFindings(findings)
	r.render.Unseen = append(r.render.Unseen, unseen...)
	return r.render.Sum()
}

func (r *report) deletedAny() bool {
	for _, d := range r.decisions {
		if d.Verdict == render.PruneDeleted {
			return true
		}
	}
	for _, o := range r.orphans {
		if o.Verdict == render.PruneDeleted {
			return true
		}
	}
	return false
}

// leftAlone says what was asked for and not deleted, because of what is under way or of what a last look found; "" is nothing. A chunk whose
// plan is gone counts as a plan does.
func (r *report) leftAlone() string {
	count := map[pin.Verdict]int{}
	chunks := map[pin.Verdict]int{}
	for _, d := range r.decisions {
		count[d.Verdict]++
	}
	for _, o := range r.orphans {
		chunks[o.Verdict]++
	}
	held, left := count[pin.Busy]+count[render.PruneSpared], chunks[pin.Busy]+chunks[render.PruneSpared]
	switch {
	case held > 0 && left > 0:
		return plans(held) + " and " + spelling.Count(left, "chunk") + later
	case held > 0:
		return plans(held) + later
	case left > 0:
		return spelling.Count(left, "chunk") + " left alone: run the command again later"
	}
	return ""
}

const later = " left alone: run the command again later, or with --while-operating, which overrides no pin"

func plans(count int) string { return spelling.Count(count, "plan") }
