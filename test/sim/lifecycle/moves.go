package lifecycle

import "fmt"

// move is something that happens in the world and not in a manager. A hostile one costs a fault of the bound; the others happen whenever
// they like.
type move struct {
	name    string
	hostile bool
	apply   func(s *State) bool // false where it cannot happen
	process bool                // it ends a manager, so it cannot come between that manager's decision and its call
}

// moves is the catalogue, in a fixed order.
var moves = catalogue()

func catalogue() []move {
	out := []move{
		{"a minute passes", false, (*State).pass, false},
		{"the interval passes", false, func(s *State) bool { return s.atRest() && raise(&s.Due) }, false},
		{"a person approves", false, (*State).approve, false},
		{"a rival takes the expired Lease", false, (*State).rival, false},
		{"the rival hands the Lease back", false, func(s *State) bool { return s.Lease.Holder == thief && put(&s.Lease, lease{}) }, false},
		{"the caches catch up", false, func(s *State) bool { return lower(&s.Lag) }, false},
		{"a person resumes", false, func(s *State) bool { return lower(&s.Live.Suspended) }, false},
		{"the other claimant leaves", false, func(s *State) bool { return lower(&s.Contested) }, false},
		{"the registry answers again", false, func(s *State) bool { return s.Registry == registryAway && put(&s.Registry, 1) }, false},
		{"a person repairs the database", false, (*State).repair, false},
		{"a person clears the record", false, (*State).clearRecord, false},

		{"the caches stand still", true, (*State).freeze, false},
		{"a person edits the spec", true, (*State).edited, false},
		{"a person suspends", true, func(s *State) bool { return raise(&s.Live.Suspended) }, false},
		{"a person deletes the resource", true, func(s *State) bool { return s.Live.Finalizer && raise(&s.Live.Deleting) }, false},
		{"a person deletes an approval", true, (*State).deleteApproval, false},
		{"a person approves a second time", true, (*State).approveAgain, false},
		{"a person deletes the plan", true, func(s *State) bool { return s.Stored.UID != none && put(&s.Stored, published{}) }, false},
		{"a person makes the plan again under its name", true, (*State).remakePlan, false},
		{"a person wipes the status", true, (*State).wipe, false},
		{"another claimant comes", true, func(s *State) bool { return raise(&s.Contested) }, false},
		{"the tag moves", true, func(s *State) bool { return s.Registry == 1 && put(&s.Registry, 2) }, false},
		{"the registry goes away", true, func(s *State) bool { return s.Registry != registryAway && put(&s.Registry, registryAway) }, false},
		{"the database drifts", true, func(s *State) bool { return s.writer() == none && s.DB != dbOld && put(&s.DB, dbOld) }, false},
		{"somebody overwrites the Lease", true, func(s *State) bool { return s.rob(lease{Holder: thief}) }, false},
		{"somebody deletes the Lease", true, func(s *State) bool { return s.Lease != (lease{}) && s.rob(lease{}) }, false},
		{"somebody strips the Lease of its epoch", true, func(s *State) bool {
			return s.Lease.Holder != thief && s.Lease.Epoch != none && s.rob(lease{Holder: s.Lease.Holder, Age: s.Lease.Age})
		}, false},
		{"a second manager starts", true, func(s *State) bool { return s.second(1) }, false},
		{"a manager of another build starts beside", true, func(s *State) bool { return s.second(2) }, false},
	}
	for m := range managerCount {
		out = append(out,
			move{fmt.Sprintf("manager %d dies and comes back", m), true, func(s *State) bool { return s.restart(m, false) }, true},
			move{fmt.Sprintf("manager %d is replaced by another build", m), true, func(s *State) bool { return s.restart(m, true) }, true},
		)
	}
	for k := uint8(1); k <= slotCount; k++ {
		out = append(out, slotMoves(k)...)
	}
	return out
}

func slotMoves(k uint8) []move {
	at := func(f func(s *State, o *slot) bool) func(s *State) bool {
		return func(s *State) bool { return s.Slots[k].Kind != 0 && f(s, &s.Slots[k]) }
	}
	name := func(text string) string { return fmt.Sprintf(text, slotNames[k]) }
	return []move{
		{name("the Pod of %s starts"), false, at((*State).start), false},
		{name("the Pod of %s sends its statements"), false, at((*State).execute), false},
		{name("the Pod of %s ends"), false, at((*State).end), false},
		{name("the second Pod of %s ends"), false, at((*State).endTwin), false},
		{name("the deadline ends the Job of %s"), false, at((*State).overdue), false},
		{name("the node of %s is back"), false, at(func(_ *State, o *slot) bool { return lower(&o.Frozen) }), false},

		{name("the node of %s goes away"), true, at(func(_ *State, o *slot) bool { return presence(o.Pod) == 1 && raise(&o.Frozen) }), false},
		{name("the Pod of %s is killed and leaves nothing"), true, at((*State).kill), false},
		{name("the Pod of %s is deleted"), true, at((*State).deletePod), false},
		{name("the container of %s ends, whose Pod is gone"), false, at((*State).endGhost), false},
		{name("the Pod of %s is deleted without grace and its container goes on"), true, at((*State).deleteWithoutGrace), false},
		{name("the Job of %s is deleted with its Pod"), true, at((*State).deleteJob), false},
		{name("the Job of %s is deleted and its Pod goes on"), true, at((*State).orphan), false},
		{name("something else takes the name of %s"), true, at(func(_ *State, o *slot) bool { return o.Job == jobNone && put(&o.Job, jobForeign) }), false},
		{name("the Job of %s makes a second Pod"), true, at((*State).twin), false},
		{name("a Pod of %s starts late, let in by an admission that looked before"), true, at((*State).late), false},
		{name("the executor of %s does nothing and says that it succeeded"), true, at((*State).lie), false},
		{name("the executor of %s does half and dies"), true, at((*State).half), false},
		{name("the executor of %s reports a failure"), true, at((*State).reportFailure), false},
	}
}

func raise(b *bool) bool {
	was := *b
	*b = true
	return !was
}

func lower(b *bool) bool {
	was := *b
	*b = false
	return was
}

func put[T comparable](at *T, value T) bool {
	was := *at
	*at = value
	return was != value
}

// pass lets a minute go by for everything that has an age.
func (s *State) pass() bool {
	before := *s
	s.Lease.Age = aged(s.Lease != lease{}, s.Lease.Age)
	for _, o := range s.versions() {
		st := &o.Status
		st.Claim.Age = aged(st.Claim.Snapshot && st.Claim.Type == opApply, st.Claim.Age)
		st.Claim.Hold = false
		st.Proof.After = sooner(st.Proof.After)
	}
	for k := range s.Slots {
		o := &s.Slots[k]
		o.Age = aged(o.Kind == opApply, o.Age)
	}
	for i := range s.Managers {
		if m := &s.Managers[i]; m.Result == resultTimedOut {
			m.ResultOf, m.Result = none, resultNone // tried again
		}
	}
	return *s != before
}

func aged(runs bool, age uint8) uint8 {
	if !runs {
		return age
	}
	return older(age)
}

// freeze stops the caches at what is there now, for as long as it takes: whatever is read from them is that old.
func (s *State) freeze() bool {
	s.Old = s.Live
	return raise(&s.Lag)
}

// atRest reports whether a chain is complete: a refresh begins nowhere else.
func (s *State) atRest() bool {
	return s.Live.Status.Place == placeDone && s.Live.Status.Claim.Slot == none
}

// edited is a new generation.
func (s *State) edited() bool {
	for _, g := range s.generations() {
		s.Live.Gen = max(s.Live.Gen, *g)
	}
	s.Live.Gen++
	return true
}

// approve is a person who approves whatever waits, once, through admission.
func (s *State) approve() bool {
	st := &s.Live.Status
	if s.Always || st.Plan.UID == none || st.Plan != s.Stored || st.Approval != none || st.Claim.Slot != none || st.Record != none ||
		st.Place != placeDone || st.Plan.Epoch != st.Epoch {
		return false
	}
	for i := range s.Approvals {
		if a := &s.Approvals[i]; a.UID != none && a.Plan == st.Plan.UID && !a.Consumed && !a.Stale {
			return false
		}
	}
	return s.decide(st.Plan)
}

// approveAgain makes a second decision about the same plan, as two people do who do not know of each other.
func (s *State) approveAgain() bool {
	st := &s.Live.Status
	if s.Always || st.Plan.UID == none || st.Plan != s.Stored || st.Record != none {
		return false
	}
	return s.decide(st.Plan)
}

func (s *State) decide(p published) bool {
	for i := range s.Approvals {
		a := &s.Approvals[i]
		if a.UID == none || a.Stale || a.Consumed && a.UID != s.Live.Status.Approval {
			*a = decision{}
			*a = decision{UID: s.freeUID(), Plan: p.UID, Epoch: p.Epoch}
			return true
		}
	}
	return false
}

func (s *State) deleteApproval() bool {
	for i := range s.Approvals {
		if a := &s.Approvals[i]; a.UID != none && !a.Stale {
			*a = decision{}
			return true
		}
	}
	return false
}

func (s *State) remakePlan() bool {
	if s.Stored.UID == none {
		return false
	}
	s.Stored.UID = s.freeUID()
	return true
}

// wipe is a person who empties the status, claim and all. What ran is then that person's to know; what may still run stays fenced.
func (s *State) wipe() bool {
	st := &s.Live.Status
	if *st == (status{}) {
		return false
	}
	for _, k := range [...]uint8{st.Claim.Slot, st.Proof.Slot, st.Owed.Slot, st.Record} {
		s.Slots[k].Unkempt = k != none
	}
	if h := s.Lease.Holder; h != none && h != thief {
		s.Slots[h].Unkempt = true
	}
	if k := st.Claim.Slot; k != none {
		s.forget(k)
	}
	*st = status{}
	return true
}

// clearRecord is a person who established what a run did. Nobody does while it may still write.
func (s *State) clearRecord() bool {
	st := &s.Live.Status
	if st.Record == none || st.Claim.Slot != none || st.Place != placeDone || s.writer() != none {
		return false
	}
	return put(&st.Record, none)
}

// rob changes the Lease by force.
func (s *State) rob(to lease) bool {
	if h := s.Lease.Holder; h != none && h != thief {
		o := &s.Slots[h]
		o.Robbed, o.Broken = true, o.Broken || o.Job != jobNone
	}
	// A reading of a proof works under the Apply's Lease; it is broken with it.
	if k := s.Live.Status.Claim.Slot; k != none {
		o := &s.Slots[k]
		o.Broken = o.Broken || o.Job != jobNone && s.Lease.Holder != none && s.Lease.Holder != thief
	}
	return put(&s.Lease, to)
}

// rival is another resource of the realm that waited for as long as the rules demand.
func (s *State) rival() bool {
	l := s.Lease
	if l.Holder == none || l.Holder == thief || l.Age < leaseTicks {
		return false
	}
	o := &s.Slots[l.Holder]
	o.Broken = o.Broken || o.Job != jobNone
	if k := s.Live.Status.Claim.Slot; k != none {
		s.Slots[k].Broken = s.Slots[k].Broken || s.Slots[k].Job != jobNone
	}
	if o.mayWrite() && !o.Robbed {
		return put(&s.Lease, lease{Holder: thief}) // check says that it should not have been possible
	}
	o.Robbed = true // whatever comes of it later is nobody's surprise
	return put(&s.Lease, lease{Holder: thief})
}

func (s *State) second(identity uint8) bool {
	m := &s.Managers[1]
	if m.Alive {
		return false
	}
	*m = manager{Alive: true, Identity: s.Managers[0].Identity}
	if identity == 2 {
		m.Identity = 3 - m.Identity
	}
	return true
}

func (s *State) restart(i int, replaced bool) bool {
	m := &s.Managers[i]
	if !m.Alive {
		return false
	}
	next := manager{Alive: true, Identity: m.Identity}
	if replaced {
		next.Identity = 3 - m.Identity
	}
	return put(m, next)
}
