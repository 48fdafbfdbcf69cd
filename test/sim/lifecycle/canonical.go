package lifecycle

// tidy brings a state into its one canonical form: traces that nothing refers to are dropped and numbers are given in order of their first
// appearance. It returns what was violated by a trace that is dropped.
func (s *State) tidy() string {
	if !s.Lag {
		s.Old = object{}
	}
	s.settleAges()
	bad := s.renumberSlots()
	s.renumberEpochs()
	s.renumberUIDs()
	var r renaming
	for _, g := range s.generations() {
		r.of(g)
	}
	return bad
}

// settleAges drops what no decision and no invariant can tell apart any more.
func (s *State) settleAges() {
	c := s.Live.Status.Claim
	for k := uint8(1); k <= slotCount; k++ {
		o := &s.Slots[k]
		switch {
		case o.Kind != opApply:
			o.Age, o.Robbed = 0, false
		case c.Slot == k:
			o.Age = c.Age
		case s.Live.Status.Proof.Slot == k || s.Live.Status.Record == k:
		case presence(o.Pod) != 1 && presence(o.Twin) != 1 && !o.Ghost:
			o.Age, o.Robbed = maxAge, false
		}
		if c.Slot != k {
			o.Broken, o.Tainted = false, false
		}
	}
}

// generations are all places that hold one.
func (s *State) generations() [11]*uint8 {
	l, o, m := &s.Live.Status, &s.Old.Status, &s.Managers
	return [...]*uint8{
		&s.Live.Gen, &l.Gen, &l.Claim.Gen, &l.Plan.Gen, &s.Old.Gen, &o.Gen, &o.Claim.Gen, &o.Plan.Gen, &s.Stored.Gen,
		&m[0].Published.Gen, &m[1].Published.Gen,
	}
}

// renaming hands out new numbers in order of first appearance.
type renaming struct {
	to   [32]uint8
	next uint8
}

func (r *renaming) of(n *uint8) {
	if *n == none {
		return
	}
	if r.to[*n] == none {
		r.next++
		r.to[*n] = r.next
	}
	*n = r.to[*n]
}

func (s *State) renumberSlots() string {
	var r renaming
	r.to[thief], r.next = thief, 0
	for _, o := range s.versions() {
		st := &o.Status
		r.of(&st.Claim.Slot)
		r.of(&st.Proof.Slot)
		r.of(&st.Owed.Slot)
		r.of(&st.Record)
	}
	r.of(&s.Lease.Holder)
	for i := range s.Managers {
		r.of(&s.Managers[i].Permit)
	}
	for k := uint8(1); k <= slotCount; k++ {
		if s.Slots[k].mayWrite() {
			n := k
			r.of(&n)
		}
	}
	var slots [slotCount + 1]slot
	bad := ""
	for k := uint8(1); k <= slotCount; k++ {
		o := &s.Slots[k]
		if n := r.to[k]; n != none {
			slots[n] = *o
		} else if o.Kind == opApply && o.Ran > 0 && !o.Accounted && !o.Unkempt && !s.Gone {
			bad = "I4: the run of " + slotNames[k] + " was never accounted for"
		}
	}
	s.Slots = slots
	for i := range s.Managers {
		m := &s.Managers[i]
		if m.ResultOf = r.to[m.ResultOf]; m.ResultOf == none {
			m.Result = resultNone
		}
	}
	for i := range s.Approvals {
		a := &s.Approvals[i]
		a.By = r.to[a.By]
	}
	return bad
}

func (s *State) renumberEpochs() {
	var r renaming
	for _, o := range s.versions() {
		st := &o.Status
		r.of(&st.Epoch)
		r.of(&st.Claim.Bind)
		r.of(&st.Claim.Lease)
		r.of(&st.Proof.Lease)
		r.of(&st.Owed.Epoch)
		r.of(&st.Plan.Epoch)
	}
	r.of(&s.Lease.Epoch)
	r.of(&s.Stored.Epoch)
	for i := range s.Approvals {
		r.of(&s.Approvals[i].Epoch)
	}
	for i := range s.Managers {
		r.of(&s.Managers[i].Published.Epoch)
	}
}

func (s *State) renumberUIDs() {
	if a := &s.Approvals; a[0].UID == none || a[1].UID != none && less(&a[1], &a[0]) {
		a[0], a[1] = a[1], a[0]
	}
	var r renaming
	for _, o := range s.versions() {
		st := &o.Status
		r.of(&st.Plan.UID)
		r.of(&st.Approval)
		r.of(&st.Claim.Plan)
		r.of(&st.Claim.Approval)
	}
	r.of(&s.Stored.UID)
	for i := range s.Managers {
		r.of(&s.Managers[i].Published.UID)
	}
	for i := range s.Approvals {
		a := &s.Approvals[i]
		if a.UID == none {
			*a = decision{}
			continue
		}
		r.of(&a.UID)
		r.of(&a.Plan)
	}
}

// less orders approvals by what is in them, so that two that differ only in their age come in one order.
func less(a, b *decision) bool {
	rank := func(d *decision) int {
		n := int(d.Plan)<<4 | int(d.Epoch)<<8 | int(d.Served)<<12
		if d.Consumed {
			n |= 1
		}
		if d.Stale {
			n |= 2
		}
		return n
	}
	return rank(a) < rank(b)
}
