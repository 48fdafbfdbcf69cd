package lifecycle

import (
	"fmt"

	"github.com/ptah-run/ptah/pkg/operation"
)

// walker makes the successors of states. One belongs to one goroutine.
type walker struct {
	view    view
	other   view // of the other manager, which comes between a decision and its call
	emit    func(next *State, bad string)
	tracing bool
	label   string // of the transition that is emitted next, while tracing
}

// worldMoves is how many of the catalogue's moves can come between a decision and its call without being hostile.
const worldMoves = 5

// successors emits every state that one move of anybody leads to, with what the move itself violated.
func (w *walker) successors(s *State) {
	if s.Gone {
		return
	}
	for i := range moves {
		m := &moves[i]
		if m.hostile && s.Faults == 0 {
			continue
		}
		next := *s
		if !m.apply(&next) {
			continue
		}
		if m.hostile {
			next.Faults--
		}
		if w.tracing {
			w.label = m.name
		}
		w.out(&next, "")
	}
	for m := range uint8(managerCount) {
		if !s.Managers[m].Alive {
			continue
		}
		w.passes(s, m, current)
		w.passes(s, m, blind)
		w.passes(s, m, podless)
		if s.Lag {
			w.passes(s, m, lagging)
		}
	}
}

// passes emits what one pass of a manager can come to.
func (w *walker) passes(s *State, m uint8, how sight) {
	step, ends := w.view.decide(s, m, how)
	if !ends {
		w.out(s, "I10: a pass that never stops reading")
		return
	}
	w.act(s, m, how, step, succeeds, nil)
	if _, waits := step.(operation.Wait); waits {
		return
	}
	if s.Faults > 0 {
		w.misfire(s, m, how, step)
	}
	w.late(s, m, how, step)
}

// misfire emits what becomes of a call that fails, or whose reply is lost. Each costs a fault.
func (w *walker) misfire(s *State, m uint8, how sight, step operation.Step) {
	switch x := step.(type) {
	case operation.CreateJob:
		w.act(s, m, how, step, fails, nil)
	case operation.ReadResult:
		w.act(s, m, how, step, fails, nil)
	case operation.PatchStatus:
		if x.Permit != "" {
			w.act(s, m, how, step, replyLost, nil)
		}
	case operation.PublishPlan:
		w.act(s, m, how, step, replyLost, nil)
	}
}

// late emits what becomes of a call before which something else happened: in the world, or by the other manager.
func (w *walker) late(s *State, m uint8, how sight, step operation.Step) {
	switch step.(type) {
	case operation.CreateJob, operation.AcquireLease, operation.MarkApproval, operation.ReleaseLease:
		for i := range moves {
			if mv := &moves[i]; !mv.process && (i < worldMoves || mv.hostile && s.Faults > 0) {
				w.act(s, m, how, step, succeeds, mv)
			}
		}
		w.overtake(s, m, how, step)
	case operation.RenewLease, operation.ScheduleCleanup, operation.PublishPlan, operation.AddFinalizer, operation.RemoveFinalizer:
		w.overtake(s, m, how, step)
	}
}

// overtake lets the other manager take a whole step between this one's decision and its call: a process may stand still for as long as it likes.
func (w *walker) overtake(s *State, m uint8, how sight, step operation.Step) {
	o := 1 - m
	if !s.Managers[o].Alive {
		return
	}
	first, ends := w.other.decide(s, o, current)
	if _, waits := first.(operation.Wait); !ends || waits {
		return
	}
	next := *s
	bad := next.perform(&w.other, first, succeeds)
	if a, acquires := step.(operation.AcquireLease); acquires && !next.remembered(numberOf(a.Holder)) {
		return // what is acquired then for a claim that is gone stays until it expires: late, and nobody writes beside anybody
	}
	if bad == "" {
		bad = next.perform(&w.view, step, succeeds)
	}
	if w.tracing {
		w.label = describe(m, how, step, succeeds) + ", after " + describe(o, current, first, succeeds)
	}
	w.out(&next, bad)
}

// act performs a step, after another move if one is given: between a decision and its call the world does not stand still.
func (w *walker) act(s *State, m uint8, how sight, step operation.Step, what fate, between *move) {
	next := *s
	if what != succeeds {
		next.Faults--
	}
	if between != nil {
		if !between.apply(&next) {
			return
		}
		if between.hostile {
			next.Faults--
		}
	}
	if !next.Managers[m].Alive {
		return
	}
	bad := next.perform(&w.view, step, what)
	if w.tracing {
		w.label = describe(m, how, step, what)
		if between != nil {
			w.label += ", after " + between.name
		}
	}
	w.out(&next, bad)
}

func (w *walker) out(next *State, bad string) {
	if b := next.tidy(); bad == "" {
		bad = b
	}
	if bad == "" {
		bad = next.check()
	}
	w.emit(next, bad)
}

func describe(m uint8, how sight, step operation.Step, what fate) string {
	text := fmt.Sprintf("manager %d", m)
	text += [...]string{"", " (with a lagging cache)", " (with no direct read succeeding)", " (with no direct read of Pods succeeding)"}[how] + ": " + words(step)
	return text + [...]string{"", "; the call fails", "; the reply is lost"}[what]
}

func words(step operation.Step) string {
	switch x := step.(type) {
	case operation.PatchStatus:
		return "writes status, " + x.Reason
	case operation.AcquireLease:
		return "acquires the Lease for " + x.Holder
	case operation.RenewLease:
		return "renews the Lease for " + x.Holder
	case operation.ReleaseLease:
		return "releases the Lease of " + x.Holder
	case operation.CreateJob:
		return fmt.Sprintf("creates the Job of %s (%s)", x.Claim.ID, x.Claim.Type)
	case operation.ScheduleCleanup:
		return "schedules the removal of Job " + x.JobName
	case operation.ReadResult:
		return "reads the result of " + x.Claim.ID
	case operation.MarkApproval:
		return "marks approval " + x.Mark.Name + " " + x.Mark.Verdict.Outcome.String()
	case operation.Wait:
		return "waits: " + x.Reason
	}
	return fmt.Sprintf("%T", step)
}
