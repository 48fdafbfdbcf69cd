package findstalled

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
)

// follow looks again and again until it is interrupted. It shows rows that are new or say something else, and names what is over.
func (o *stalledOptions) follow(ctx context.Context, client reader) error {
	seen := map[string]string{}
	last := ""
	for first := true; ; first = false {
		view, err := o.look(ctx, client)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // interrupting is how a person ends this command
		}
		if first && view.Checked() == 0 && err != nil {
			return err
		}
		if text := textOf(err); text != last {
			last = text
			for _, line := range strings.Split(text, "\n") {
				if line != "" {
					o.global.Note(render.Caution, "%s", line)
				}
			}
		}
		if err := o.showChanged(view, seen, first); err != nil {
			return err
		}
		if !pause(ctx, o.every) {
			return nil
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (o *stalledOptions) showChanged(view *render.StalledList, seen map[string]string, first bool) error {
	present := map[string]bool{}
	changed := map[*render.Stalled]bool{}
	for _, row := range view.Items {
		key := row.Namespace + "/" + row.ResourceKind + "/" + row.Name
		present[key] = true
		state := fmt.Sprintf("%s|%s|%s|%s", row.UID, row.State, row.Phase, row.Reason)
		if seen[key] != state {
			seen[key], changed[row] = state, true
		}
	}
	for key := range seen {
		if !present[key] && view.Complete() {
			o.global.Note(render.Good, "%s is not stalled any more", key)
			delete(seen, key)
		}
	}
	switch {
	case first:
		return o.output.PrintRows(view, true)
	case len(changed) > 0:
		return o.output.PrintRows(view.Only(changed), false)
	}
	return nil
}

// pause waits, and reports false when the context ended first.
func pause(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// progress tells a person at a terminal that a long list is being read.
type progress struct {
	o     *stalledOptions
	start time.Time
	off   bool

	mu    sync.Mutex
	count int
	shown bool
}

const (
	progressAfter = time.Second
	progressEvery = 500
)

func (o *stalledOptions) startProgress() *progress {
	return &progress{o: o, start: o.global.Clock(), off: !o.global.Screen.ErrOut || o.purpose == purposeCron || o.watch}
}

func (p *progress) one() {
	if p.off {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	if p.count%progressEvery == 0 && p.o.global.Clock().Sub(p.start) > progressAfter {
		p.shown = true
		p.o.global.Say(fmt.Sprintf("\rlooked at %s ", spelling.Count(p.count, "resource")))
	}
}

func (p *progress) end() {
	if p.shown {
		p.o.global.Say("\r" + strings.Repeat(" ", 40) + "\r")
	}
}
