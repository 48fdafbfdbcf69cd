package main

import (
	"hash/fnv"
	"sync"
	"time"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/test/standin"
)

// bareUID marks the orders of the floor's Jobs.
const bareUID = "floor"

// work carries orders out: the model's, slowed down and counted.
type work struct {
	model *standin.Model

	mu       sync.Mutex
	orders   map[intent.Operation]int
	slow     map[string]int // of the floor, and of the manager
	failed   int
	applies  map[string]int // by operation ID
	waving   bool
	planned  map[string]bool // resources that were planned since the wave began
	resolved map[string]bool // resources that were resolved since the wave began
}

func newWork(model *standin.Model) *work {
	return &work{model: model, orders: map[intent.Operation]int{}, slow: map[string]int{}, applies: map[string]int{}, planned: map[string]bool{}, resolved: map[string]bool{}}
}

func isSlow(o intent.Intent) bool {
	if o.Operation != intent.Apply && o.Operation != intent.Plan {
		return false
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(o.OperationID))
	return h.Sum32()%10 == 0
}

// execute takes its time outside of every lock, and after the model has acted: an Apply must begin in time.
func (w *work) execute(o intent.Intent) *frame.Frame {
	bare := o.ResourceUID == bareUID
	f := &frame.Frame{ProtocolVersion: intent.ProtocolVersion, Operation: o.Operation, OperationID: o.OperationID}
	if !bare {
		f = w.model.Execute(o)
	}
	slow := isSlow(o)
	if slow {
		time.Sleep(slowness)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if slow {
		w.slow[map[bool]string{true: "floor", false: "manager"}[bare]]++
	}
	if !bare {
		w.count(o, f)
	}
	return f
}

func (w *work) count(o intent.Intent, f *frame.Frame) {
	w.orders[o.Operation]++
	if f.Error != nil {
		w.failed++
	}
	switch {
	case o.Operation == intent.Apply:
		w.applies[o.OperationID]++
	case o.Operation == intent.Resolve && w.waving:
		w.resolved[o.ResourceUID] = true
	case o.Operation == intent.Plan && w.waving && w.resolved[o.ResourceUID]:
		w.planned[o.ResourceUID] = true
	}
}

func (w *work) beginWave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waving = true
}

// twice are the Applies whose order was carried out more than once.
func (w *work) twice() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	twice := 0
	for _, runs := range []map[string]int{w.applies, w.model.Applied()} {
		for _, n := range runs {
			twice += n - 1
		}
	}
	return twice
}

// tally is a copy of the counts.
type tally struct{ jobs, failed, slow, floorSlow, applied, refreshed int }

func (w *work) tally() tally {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := tally{failed: w.failed, slow: w.slow["manager"], floorSlow: w.slow["floor"], applied: len(w.model.Applied()), refreshed: len(w.planned)}
	for _, n := range w.orders {
		t.jobs += n
	}
	return t
}
