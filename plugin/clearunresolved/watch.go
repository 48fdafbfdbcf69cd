package clearunresolved

import (
	"context"
	"errors"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/unresolved"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

// watch waits for the operator's next pass and says whether the record stayed away. The write is done: whatever happens here changes nothing
// about it.
func (o *clearOptions) watch(ctx context.Context, c *cluster.Client, written *v1alpha1.PtahMigration, view *render.Clearing) error {
	view.NextPass = string(unresolved.Pending)
	length := o.patience(written)
	if length == 0 {
		return nil
	}
	o.global.Note(render.Plain, "cleared; watching for the operator's next pass, at most %s", render.Age(length))
	bounded, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	err := c.FollowMigration(bounded, o.namespace, o.name, func(now *v1alpha1.PtahMigration) bool {
		outcome := unresolved.Look(written, now)
		view.NextPass, view.Comeback = string(outcome), nil
		if outcome == unresolved.Blocked {
			for _, r := range unresolved.Comeback(now) {
				view.Comeback = append(view.Comeback, r.Text)
			}
		}
		return outcome != unresolved.Pending
	})
	switch {
	case errors.Is(err, cluster.ErrGone):
		view.NextPass = string(unresolved.Replaced)
		return nil
	case ctx.Err() != nil:
		return errors.New("interrupted while watching; the record was cleared")
	case bounded.Err() != nil && view.NextPass == string(unresolved.Pending):
		return &options.ExitError{Code: options.TimedOut, Err: errors.New("the record was cleared; the operator's next pass was not seen in time, so whether it stays away is not shown yet")}
	case err != nil:
		return err
	case view.NextPass == string(unresolved.Returned), view.NextPass == string(unresolved.Blocked):
		return &options.ExitError{Code: options.Findings}
	}
	return nil
}

// patience is how long to watch: what was asked for, or until the next pass is due and a little longer.
func (o *clearOptions) patience(written *v1alpha1.PtahMigration) time.Duration {
	const slack = 2 * time.Minute
	if o.waitGiven {
		return o.wait
	}
	length := slack
	if next := written.Status.NextReconciliationTime; next != nil {
		length = max(next.Sub(o.global.Clock()), 0) + slack
	}
	return min(length, longestWait)
}
