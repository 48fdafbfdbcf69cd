package lifecycle

// admitted is Pod admission: a Pod starts only for the claim that the resource holds now.
func (s *State) admitted(o *slot) bool {
	c := s.Live.Status.Claim.Slot
	return c != none && &s.Slots[c] == o
}

// start is the Job controller and admission.
func (s *State) start(o *slot) bool {
	if o.Job != jobActive || o.Pod != podNone || !s.admitted(o) {
		return false
	}
	o.Pod = podRunning
	return true
}

// late is a Pod that admission judged while the claim stood and that was stored after the claim was retired. No Job controller makes one for a
// Job that is over, and the runner refuses it after the dispatch window.
func (s *State) late(o *slot) bool {
	st := &s.Live.Status
	k := none
	for i := range s.Slots {
		if &s.Slots[i] == o {
			k = uint8(i) //nolint:gosec // a handful
		}
	}
	retired := st.Proof.Slot == k && st.Proof.After > 0 || st.Record == k && s.Lease.Holder == k
	if o.Kind != opApply || o.Creates == 0 || o.Age >= windowTicks || !retired || o.Job == jobComplete || o.Job == jobFailed {
		return false
	}
	if o.Pod == podNone || o.Pod == podGone {
		o.Pod = podRunning
		return true
	}
	return o.Twin == podNone && put(&o.Twin, podRunning)
}

// execute is the executor's work: a reading sees what is there, an Apply changes what its plan was computed from and nothing else, within
// its deadlines.
func (s *State) execute(o *slot) bool {
	if o.Pod != podRunning || o.Kind != opApply || o.Age >= writerTicks {
		return false
	}
	if s.DB != o.From || o.Age >= deadlineTicks {
		o.Log = logRefused
	} else {
		s.DB = o.To
		o.Ran = min(o.Ran+1, 2)
		o.Log = logOK
	}
	o.Pod = podRan
	return true
}

// end is the end of a Pod and of its Job.
func (s *State) end(o *slot) bool {
	if o.Frozen || (o.Pod != podRunning && o.Pod != podRan) {
		return false
	}
	switch {
	case o.Kind != opApply:
		s.look(o)
	case o.Pod == podRunning && o.Age < deadlineTicks:
		return false // it has yet to do its work
	case o.Pod == podRunning:
		o.Log = logRefused
	}
	o.Pod = podDone
	o.finish(o.Log == logOK)
	return true
}

func (o *slot) finish(ok bool) {
	if o.Job != jobActive {
		return
	}
	o.Job = jobFailed
	if ok {
		o.Job = jobComplete
	}
}

// look is a reading.
func (s *State) look(o *slot) {
	o.Log = logOK
	switch o.Kind {
	case opResolve:
		if o.From = s.Registry; s.Registry == registryAway {
			o.From, o.Log = none, logError
		}
	case opVerify:
	default:
		if s.Registry == registryAway {
			o.Log = logError
			return
		}
		o.From, o.To = s.DB, desired[s.Live.Status.art()]
		w := s.writer() // one whose claim a person wiped is fenced by its Lease alone, and by nothing where that was taken by force too
		o.Tainted = w != none && !s.Slots[w].Unkempt
	}
}

// art is the artifact that a reading of this status fetches.
func (st *status) art() uint8 { return min(st.Art, 2) }

// overdue is activeDeadlineSeconds: the Job fails, and a Pod that can be reached is stopped.
func (s *State) overdue(o *slot) bool {
	if o.Job != jobActive || o.Kind != opApply || o.Age < deadlineTicks {
		return false
	}
	o.Job = jobFailed
	if !o.Frozen && presence(o.Pod) == 1 {
		o.Pod = podDone
	}
	return true
}

// kill ends a Pod before it could say anything.
func (s *State) kill(o *slot) bool {
	if presence(o.Pod) != 1 || o.Frozen {
		return false
	}
	o.Pod, o.Log = podDone, logNone
	o.finish(false)
	return true
}

func (s *State) deletePod(o *slot) bool {
	if o.Pod == podNone || o.Pod == podGone || o.Frozen {
		return false
	}
	o.Pod = podGone
	o.finish(false)
	return true
}

// deleteWithoutGrace takes a Pod out of the API at once; its container is stopped whenever the kubelet gets to it.
func (s *State) deleteWithoutGrace(o *slot) bool {
	if presence(o.Pod) != 1 || o.Kind != opApply {
		return false
	}
	o.Ghost = true
	o.Pod, o.Frozen = podGone, false
	o.finish(false)
	return true
}

func (s *State) endGhost(o *slot) bool {
	if !lower(&o.Ghost) {
		return false
	}
	if s.DB == o.From && o.Ran == 0 && o.Age < deadlineTicks {
		s.DB = o.To
		o.Ran = 1
	}
	return true
}

func (s *State) deleteJob(o *slot) bool {
	if o.Job == jobNone || o.Job == jobForeign || o.Frozen {
		return false
	}
	o.Job = jobNone
	if o.Pod != podNone {
		o.Pod = podGone
	}
	if o.Twin != podNone {
		o.Twin = podGone
	}
	return true
}

func (s *State) orphan(o *slot) bool {
	if o.Job == jobNone || o.Job == jobForeign || presence(o.Pod) != 1 {
		return false
	}
	o.Job = jobNone
	return true
}

// twin is a Job controller that makes one Pod too many; the second finds the database changed, or changes it first.
func (s *State) twin(o *slot) bool {
	if o.Job != jobActive || o.Twin != podNone || o.Pod == podNone {
		return false
	}
	o.Twin = podRunning
	return true
}

func (s *State) endTwin(o *slot) bool {
	if presence(o.Twin) != 1 {
		return false
	}
	if o.Kind == opApply && o.Pod != podRan && o.Age < deadlineTicks && s.DB == o.From {
		s.DB = o.To
		o.Ran = min(o.Ran+1, 2)
	}
	o.Twin = podDone
	return true
}

func (s *State) lie(o *slot) bool {
	if o.Pod != podRunning || o.Kind != opApply || o.Frozen {
		return false
	}
	o.Pod, o.Log = podDone, logOK
	o.finish(true)
	return true
}

func (s *State) half(o *slot) bool {
	if o.Pod != podRunning || o.Kind != opApply || o.Age >= deadlineTicks || s.DB != o.From || o.Frozen {
		return false
	}
	s.DB = dbHalf
	o.Ran = min(o.Ran+1, 2)
	o.Pod, o.Log = podDone, logNone
	o.finish(false)
	return true
}

func (s *State) reportFailure(o *slot) bool {
	if o.Pod != podRunning || o.Frozen {
		return false
	}
	o.Pod, o.Log = podDone, logError
	if o.Kind == opApply {
		o.Log = logRefused
	}
	o.finish(false)
	return true
}

// repair is a person who finishes by hand what a run left half-done.
func (s *State) repair() bool {
	if s.DB != dbHalf || s.writer() != none {
		return false
	}
	s.DB = desired[s.Live.Status.art()]
	if s.DB == 0 {
		s.DB = dbOld
	}
	return true
}
