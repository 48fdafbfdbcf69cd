package lifecycle

import "fmt"

// trace tells how the violation came about, move by move, by walking the recorded moves again from their root.
func (c *checker) trace(roots []State) []string {
	var path []uint16 // moves, last first
	n := c.badAt
	for c.node(n).parent != rootParent {
		path = append(path, c.node(n).move)
		n = c.node(n).parent
	}
	s := roots[c.node(n).move]
	s.tidy()
	out := []string{fmt.Sprintf("family %s, policy %s, at %s",
		[...]string{"schema", "migration"}[s.Family], map[bool]string{true: "Always", false: "OnApproval"}[s.Always], s.where())}
	for i := len(path) - 1; i >= 0; i-- {
		label, next := retell(&s, path[i])
		out = append(out, label)
		s = next
	}
	if c.badVia != 0 {
		label, _ := retell(&s, c.badVia)
		return append(out, label+"   <-- "+c.bad)
	}
	return append(append(out, "from here the world is kind"), retellKind(&s)...)
}

// where says at which point a root is.
func (s *State) where() string {
	st := &s.Live.Status
	if st.Claim.Slot == none {
		return fmt.Sprintf("place %d of the chain", st.Place)
	}
	return fmt.Sprintf("a claimed %s", kinds[st.Claim.Type])
}

// retell names the numbered transition of a state and says where it leads.
func retell(s *State, move uint16) (string, State) {
	var text string
	var to State
	w := walker{tracing: true}
	i := uint16(0)
	w.emit = func(next *State, _ string) {
		if i++; i == move {
			text, to = w.label, *next
		}
	}
	w.successors(s)
	return text, to
}

// retellKind tells how a kind world goes on from a state, up to a page of it.
func retellKind(from *State) []string {
	const page = 60
	w := newKinder()
	s := *from
	s.pacify()
	s.tidy()
	var out []string
	for range page {
		if s.rests() {
			break
		}
		step, _ := w.view.decide(&s, 0, clear)
		out = append(out, words(step))
		if bad, _ := w.kindly(&s); bad != "" {
			out = append(out, bad)
			break
		}
	}
	return append(out, fmt.Sprintf("%+v", s))
}

// Midway are the states that a kind run passes from a root, each with hostile moves left: starting points that bring a check close to every
// stage at once. With applying, only the stages around an Apply.
func Midway(root State, faults uint8, applying bool) []State {
	w := newKinder()
	s := root
	s.Faults = 0
	s.tidy()
	var out []State
	for range maxKind {
		if st := &s.Live.Status; !applying || st.Claim.Type == opApply || st.Proof.Slot != none || st.Record != none {
			start := s
			start.Faults = faults
			out = append(out, start)
		}
		if s.rests() {
			break
		}
		if bad, _ := w.kindly(&s); bad != "" {
			break // the check from here says it
		}
	}
	return out
}
