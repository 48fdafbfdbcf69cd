package main

import (
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/ptah-run/ptah/pkg/realm"
)

// ages are parts of a Lease's duration: 0.5 is half a Lease.
type ages []float64

func (a ages) median() float64 {
	if len(a) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(a))
	return sorted[len(sorted)/2]
}

// leases follows every Lease of the coordination namespace.
type leases struct {
	mu       sync.Mutex
	held     map[string]held
	taken    int
	renewals ages
	oldest   float64
}

// held is one Lease as it was written last.
type held struct {
	holder, epoch string
	renewed       time.Time
	duration      time.Duration
}

func (h held) age(now time.Time) float64 { return now.Sub(h.renewed).Seconds() / h.duration.Seconds() }

func heldOf(l *coordinationv1.Lease) (held, bool) {
	record := realm.RecordOf(l)
	if record.Holder == "" || l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return held{}, false
	}
	return held{record.Holder, record.Epoch, l.Spec.RenewTime.Time, time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second}, true
}

// see takes note of a write. What the Lease was before ends here, whether it was renewed, handed back or taken by another.
func (s *leases) see(l *coordinationv1.Lease, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, was := s.held[l.Name]
	after, is := heldOf(l)
	same := was && is && before.holder == after.holder && before.epoch == after.epoch
	switch {
	case same && !after.renewed.Equal(before.renewed):
		age := before.age(after.renewed)
		s.renewals, s.oldest = append(s.renewals, age), max(s.oldest, age)
	case was && !same:
		s.oldest = max(s.oldest, before.age(now))
	}
	if is && !same {
		s.taken++
	}
	s.held[l.Name] = after
	if !is {
		delete(s.held, l.Name)
	}
}

// gone takes note of a Lease that was deleted.
func (s *leases) gone(l *coordinationv1.Lease, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, was := s.held[l.Name]; was {
		s.oldest = max(s.oldest, before.age(now))
		delete(s.held, l.Name)
	}
}

// look takes note of how old the Leases are that are held now: one that is never renewed has an age all the same.
func (s *leases) look(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		s.oldest = max(s.oldest, h.age(now))
	}
}

func (s *leases) figures() (renewals ages, taken int, oldest float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.renewals), s.taken, s.oldest
}
