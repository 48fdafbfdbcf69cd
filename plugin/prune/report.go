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

// spared counts the plans that a last look kept.
func (r *report) spared() int {
	count := 0
	for _, d := range r.decisions {
		if d.Verdict == render.PruneSpared {
			count++
		}
	}
	return count
}

func plans(count int) string { return spelling.Count(count, "plan") }
