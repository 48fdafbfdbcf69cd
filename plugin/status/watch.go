package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ptah-run/ptah/pkg/render"
)

// follow looks again and again until it is interrupted, and shows what changed. It asks rather than watches: a table of changes every two
// seconds is what a person can read, and a list is what every permission that shows the table already allows.
func (o *statusOptions) follow(ctx context.Context, client reader) error {
	seen := map[string]string{}
	var last error
	for {
		items, err := o.look(ctx, client)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // interrupting is how a person ends this command
		}
		if err != nil && (last == nil || err.Error() != last.Error()) {
			o.global.Note(render.Caution, "%s", err)
		}
		if len(seen) == 0 && len(items) == 0 && err != nil {
			return err
		}
		last = err
		if err := o.showChanged(items, seen); err != nil {
			return err
		}
		if !pause(ctx, o.every) {
			return nil
		}
	}
}

func (o *statusOptions) look(ctx context.Context, client reader) ([]*render.Resource, error) {
	if o.name != "" {
		return o.named(ctx, client)
	}
	f, err := o.gather(ctx, client)
	return f.items, errors.Join(err, f.err())
}

// showChanged prints the rows that differ from what was printed before; times alone are no difference.
func (o *statusOptions) showChanged(items []*render.Resource, seen map[string]string) error {
	changed := map[*render.Resource]bool{}
	for _, item := range items {
		key := item.Namespace + "/" + item.ResourceKind + "/" + item.Name
		state := signature(item)
		if seen[key] != state {
			changed[item] = true
			seen[key] = state
		}
	}
	if len(changed) == 0 {
		return nil
	}
	first := len(changed) == len(seen)
	view := render.NewStatusList(items, nil, o.global.Clock(), o.all).Only(changed)
	return o.output.PrintRows(view, first)
}

func signature(r *render.Resource) string {
	plan, operation := "", ""
	if r.Plan != nil {
		plan = r.Plan.UID
	}
	if r.Operation != nil {
		operation = fmt.Sprintf("%s %d", r.Operation.ID, r.Operation.Attempt)
	}
	return fmt.Sprintf("%s|%s|%s|%s|%s|%s|%d|%t", r.UID, r.Phase, r.Ready, r.WaitingFor.Text, plan, operation, r.ObservedGeneration, r.Deleting)
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
