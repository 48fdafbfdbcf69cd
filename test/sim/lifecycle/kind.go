package lifecycle

import "github.com/ptah-run/ptah/pkg/operation"

// maxKind bounds the moves that a kind world may need from any state.
const maxKind = 500

// kinder walks from a state to rest, in a world without faults. It remembers which states are known to come to rest.
type kinder struct {
	view view
	hash hasher
	good map[key]struct{}
	path []key
}

func newKinder() *kinder { return &kinder{hash: newHasher(), good: map[key]struct{}{}} }

// pacify ends everything that keeps a person's wish from being carried out.
func (s *State) pacify() {
	s.Faults, s.Lag = 0, false
	s.Contested = false
	if s.Registry == registryAway {
		s.Registry = 1
	}
	s.Managers[1] = manager{}
	s.Live.Suspended = false
	for k := range s.Slots {
		s.Slots[k].Frozen = false
	}
	if s.Lease.Holder == thief {
		s.Lease = lease{}
	}
}

// rests reports whether everything is as the person wants it and nothing is owed.
func (s *State) rests() bool {
	if s.Gone {
		return true
	}
	st := &s.Live.Status
	return !s.Live.Deleting && st.InSync && st.Gen == s.Live.Gen && st.Claim.Slot == none && st.Proof.Slot == none && st.Owed.Slot == none &&
		st.Record == none && s.DB == desired[st.art()] && st.Art == s.Registry && !s.remembered(s.Lease.Holder)
}

// settles says why a state does not come to rest although the world is kind; empty where it does.
func (w *kinder) settles(from *State) string {
	s := *from
	s.pacify()
	s.tidy()
	w.path = w.path[:0]
	still := 0 // moves since time last went by
	for range maxKind {
		k := w.hash.of(&s)
		if _, known := w.good[k]; known || s.rests() {
			for _, k := range w.path {
				w.good[k] = struct{}{}
			}
			return ""
		}
		w.path = append(w.path, k)
		bad, waited := w.kindly(&s)
		if bad != "" {
			return bad
		}
		if still++; waited {
			still = 0
		}
		if still > maxKind/2 {
			return "I10: passes repeat themselves without an end"
		}
	}
	return "I10: the resource does not come to rest in a kind world"
}

// kindly is one move of a kind world: the manager works while it has something to do, and then everybody else does.
func (w *kinder) kindly(s *State) (bad string, waited bool) {
	step, ends := w.view.decide(s, 0, current)
	if !ends {
		return "I10: a pass that never stops reading", false
	}
	if _, waits := step.(operation.Wait); !waits {
		bad = s.perform(&w.view, step, succeeds)
		if b := s.tidy(); bad == "" {
			bad = b
		}
		if bad == "" {
			bad = s.check()
		}
		return bad, false
	}
	for k := uint8(1); k <= slotCount; k++ {
		if o := &s.Slots[k]; o.Kind != 0 && (s.start(o) || s.execute(o) || s.end(o) || s.endTwin(o) || s.endGhost(o) || s.orphaned(o)) {
			s.tidy()
			return "", true
		}
	}
	if !s.approve() && !s.repair() && !s.clearRecord() && !s.pass() {
		s.Due = true
	}
	if s.Live.Status.Place == placeDone && s.Live.Status.Claim.Slot == none {
		s.Due = s.Due || s.Live.Status.Plan.UID == none || s.Live.Status.Art != s.Registry
	}
	s.tidy()
	return "", true
}

// orphaned is the Job controller, which notices that a Pod is gone.
func (s *State) orphaned(o *slot) bool {
	if o.Job != jobActive || presence(o.Pod) == 1 || o.Pod == podNone {
		return false
	}
	o.finish(false)
	return true
}
