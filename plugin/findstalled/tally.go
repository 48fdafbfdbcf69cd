package findstalled

import (
	"context"
	"errors"
	"time"

	"github.com/ptah-run/ptah/pkg/convergence"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
)

// tally counts one kind and keeps its findings.
type tally struct {
	kind, resource string

	seen map[convergence.State]int
	rows []*render.Stalled
	err  error
}

func (t *tally) read(ctx context.Context, client reader, query cluster.Query, now time.Time, olderThan time.Duration, progress *progress) {
	t.seen = map[convergence.State]int{}
	t.err = client.EachHead(ctx, t.resource, query, now, func(o *convergence.Object) error {
		v := convergence.Judge(o, now)
		if v.State == convergence.Stalled && v.Overdue <= olderThan {
			v.State = convergence.OnTime // not late enough for who asks
		}
		t.seen[v.State]++
		if v.State.Finding() {
			t.rows = append(t.rows, render.NewStalled(t.kind, o, v))
		}
		progress.one()
		return nil
	})
}

func (t *tally) count() render.StalledCount {
	count := render.StalledCount{
		ResourceKind: t.kind, Complete: t.err == nil,
		Stalled: t.seen[convergence.Stalled], Unknown: t.seen[convergence.Unknown],
		Suspended: t.seen[convergence.Suspended], Parked: t.seen[convergence.Parked],
	}
	for _, n := range t.seen {
		count.Checked += n
	}
	return count
}

func (t *tally) unseen(namespace string) render.Unseen {
	why := t.err.Error()
	var request *cluster.Error
	if errors.As(t.err, &request) {
		why = request.Why()
	}
	return render.Unseen{Resource: t.resource, Namespace: namespace, Why: why}
}
