package wait

import (
	"fmt"
	"sync"
	"time"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/waiting"
	"github.com/ptah-run/ptah/plugin/resource"
)

// walk is one resource on its way to a state. The reminder speaks from another goroutine.
type walk struct {
	options  *waitOptions
	reminder *time.Timer

	mu    sync.Mutex
	view  *render.Resource
	last  waiting.Distance
	told  string // what was said on stderr last
	loud  bool   // the reminder has fired: every change is said from now on
	quiet bool   // the answer is being given
	gone  bool
}

// step takes in a new state, and says whether the walk is over.
func (w *walk) step(found resource.Found) bool {
	w.mu.Lock()
	w.last, w.view = w.options.measure(found), found.View()
	loud := w.loud
	w.mu.Unlock()
	if w.arrived() {
		return true
	}
	if loud {
		w.tell()
	}
	return false
}

// arrived says whether there is nothing more to wait for: the state is reached, or it cannot be without somebody.
func (w *walk) arrived() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.last.Progress {
	case waiting.Reached:
		return true
	case waiting.NeedsRepair:
		return w.options.failFast != failNever
	case waiting.NeedsDecision:
		return w.options.failFast == failPerson
	default:
		return false
	}
}

// tell says what is missing, once for each thing.
func (w *walk) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loud = true
	if w.quiet || w.told == w.last.Text {
		return
	}
	w.told = w.last.Text
	w.options.global.Note(render.Dim, "%s/%s waits for %s", w.view.Namespace, w.view.Name, w.last.Text)
}

// hush ends what is said along the way.
func (w *walk) hush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quiet = true
}

// short says what was not reached, and what it waits for.
func (w *walk) short(state, how string) error {
	return fmt.Errorf("%s %s/%s is not %s%s: it waits for %s", w.view.ResourceKind, w.view.Namespace, w.view.Name, render.StateWords(state), how, w.last.Text)
}
