package lifecycle

import "fmt"

// trace tells how the violation came about, move by move, by walking the recorded moves again from their root.
func (c *checker) trace(roots []State) []string {
	var path []uint32 // moves, last first
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
func retell(s *State, move uint32) (string, State) {
	var text string
	var to State
	w := walker{tracing: true}
	i := uint32(0)
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
		step, _ := w.view.decide(&s, 0, current)
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

// Detours are the states that runs from around an Apply pass which meet one hostile move and are kind otherwise, each with one more hostile
// move left: the second may come long after the first.
func Detours(root State) []State {
	var out []State
	seen := map[State]bool{}
	w := newKinder()
	walk := walker{}
	walk.emit = func(next *State, bad string) {
		s := *next
		for range maxKind / 4 {
			if bad != "" || s.Faults != 1 || seen[s] || s.rests() {
				return
			}
			seen[s] = true
			out = append(out, s)
			bad, _ = w.kindly(&s)
		}
	}
	for _, s := range Midway(root, 2, true) {
		walk.successors(&s)
	}
	return out
}
