package prune

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/pin"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/storedplan"
)

// carryOut deletes what may go, one plan after the other. A plan that cannot be deleted does not stop the others; a missing permission, or
// an interruption, does.
func (o *pruneOptions) carryOut(ctx context.Context, c client, r *report) []error {
	var failures []error
	last := o.global.Clock()
	for i := range r.decisions {
		if r.decisions[i].Verdict != pin.MayGo {
			continue
		}
		err := o.removePlan(ctx, c, r, &r.decisions[i])
		failures = append(failures, err)
		if cluster.IsForbidden(err) || ctx.Err() != nil {
			return failures
		}
		if now := o.global.Clock(); now.Sub(last) > 2*time.Second {
			last = now
			o.global.Note(render.Dim, "%d of %s looked at", i+1, plans(len(r.decisions)))
		}
	}
	for i := range r.orphans {
		if r.orphans[i].Verdict == pin.MayGo {
			failures = append(failures, o.removeOrphan(ctx, c, &r.orphans[i]))
		}
	}
	return failures
}

// removePlan reads everything that could name the plan once more, then deletes the plan, then its chunks.
//
// The plan goes first. Its deletion, with UID and version, is the one step that decides: if we die after it, what is left are chunks that no
// plan lists, which harm nothing and are found by the next run. The other way round a plan would be left whose bytes are gone; becoming
// current again, it would be taken for a damaged one.
func (o *pruneOptions) removePlan(ctx context.Context, c client, r *report, d *pin.Decision) error {
	what := "plan " + d.Plan.Namespace + "/" + d.Plan.Name
	fresh, err := storedplan.Get(ctx, c, d.Plan.Family, d.Plan.Namespace, d.Plan.Name)
	if cluster.IsNotFound(err) {
		d.Verdict, d.Reason = render.PruneDeleted, "somebody else deleted it"
		if o.dryRun == dryRunServer {
			return nil
		}
		return o.removeChunks(ctx, c, r, d)
	}
	if err != nil {
		return failed(d, err)
	}
	if fresh.UID != d.Plan.UID {
		spare(d, "it was deleted and made again")
		return nil
	}
	if again, err := o.judgeAgain(ctx, c, fresh); err != nil {
		return failed(d, fmt.Errorf("reading again what pins %s: %w", what, err))
	} else if again.Verdict != pin.MayGo {
		d.Pins = again.Pins
		spare(d, again.Reason)
		return nil
	}
	dryRun := o.dryRun == dryRunServer
	err = c.Delete(ctx, target(fresh), dryRun)
	switch {
	case cluster.IsConflict(err):
		spare(d, "it changed while it was being deleted")
		return nil
	case err != nil && !cluster.IsNotFound(err):
		return failed(d, err)
	case dryRun:
		d.Reason += "; the API server would delete it"
		return nil
	}
	d.Plan, d.Verdict = fresh, render.PruneDeleted
	return o.removeChunks(ctx, c, r, d)
}

func target(p pin.Plan) cluster.Target {
	resource := cluster.SchemaPlans
	if p.Family == pin.Migration {
		resource = cluster.MigrationPlans
	}
	return cluster.Target{Resource: resource, Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion}
}

func (o *pruneOptions) judgeAgain(ctx context.Context, c client, p pin.Plan) (pin.Decision, error) {
	world, err := o.again(ctx, c, p)
	if err != nil {
		return pin.Decision{}, err
	}
	return pin.Judge(world, o.policy(), p), nil
}

// removeChunks deletes the chunks of a plan that was just deleted. If the plan was published again, or named, in that very moment, its bytes
// are all that is left of it, and they stay.
func (o *pruneOptions) removeChunks(ctx context.Context, c client, r *report, d *pin.Decision) error {
	if d.Plan.Family == pin.Migration {
		return nil
	}
	chunks, err := chunksOf(ctx, c, d.Plan)
	if err != nil {
		d.Leave(d.Plan.Chunks...)
		return partly(d, err)
	}
	if len(chunks) == 0 {
		return nil
	}
	reason, err := o.wanted(ctx, c, d.Plan)
	if err != nil {
		d.Leave(d.Plan.Chunks...)
		return partly(d, err)
	}
	if reason != "" {
		d.Leave(d.Plan.Chunks...)
		d.Reason = "its chunks stay: " + reason
		o.global.Note(render.Caution, "plan %s/%s was deleted and %s", d.Plan.Namespace, d.Plan.Name, d.Reason)
		return nil
	}
	var failures []error
	for _, chunk := range chunks {
		failures = append(failures, o.removeChunk(ctx, c, r, d, chunk))
	}
	if err := errors.Join(failures...); err != nil {
		return partly(d, err)
	}
	return nil
}

// removeChunk deletes one chunk of a plan that was deleted, or notes that it stays.
func (o *pruneOptions) removeChunk(ctx context.Context, c client, r *report, d *pin.Decision, chunk pin.Chunk) error {
	why := chunk.Belongs(d.Plan)
	if other := r.survey.ListedBy(chunk, d.Plan); why == "" && other != "" {
		why = "plan " + other + " lists it too"
	}
	if why != "" {
		d.Leave(chunk.Name)
		o.global.Note(render.Caution, "ConfigMap %s/%s is labelled for plan %s and stays: %s", chunk.Namespace, chunk.Name, d.Plan.Name, why)
		return nil
	}
	stays, err := deleteChunk(ctx, c, chunk)
	if err == nil && stays != "" {
		err = fmt.Errorf("ConfigMap %s/%s stays: %s", chunk.Namespace, chunk.Name, stays)
	}
	if err != nil {
		d.Leave(chunk.Name)
	}
	return err
}

func chunksOf(ctx context.Context, c client, p pin.Plan) ([]pin.Chunk, error) {
	var chunks []pin.Chunk
	query := cluster.Query{Namespace: p.Namespace, Selector: v1alpha1.PlanLabel + "=" + p.Name}
	err := c.EachConfigMapMeta(ctx, query, func(m *metav1.PartialObjectMetadata) error {
		chunks = append(chunks, pin.OfChunk(m))
		return nil
	})
	return chunks, err
}

// wanted says why the bytes of a plan whose object is gone must stay; "" when they need not.
func (o *pruneOptions) wanted(ctx context.Context, c client, p pin.Plan) (string, error) {
	_, err := storedplan.Get(ctx, c, pin.Schema, p.Namespace, p.Name)
	switch {
	case err == nil:
		return "a plan of that name was published again", nil
	case !cluster.IsNotFound(err):
		return "", err
	}
	gone := p
	gone.UID = "" // whoever names this plan by name means these bytes
	again, err := o.judgeAgain(ctx, c, gone)
	if err != nil || again.Verdict == pin.MayGo {
		return "", err
	}
	return again.Reason, nil
}

// deleteChunk deletes one version of a ConfigMap; one that is gone needs nothing. It says why one stays: it was changed or made again since it
// was read, and is not what was judged.
func deleteChunk(ctx context.Context, c client, chunk pin.Chunk) (stays string, err error) {
	err = c.Delete(ctx, cluster.Target{
		Resource: cluster.ConfigMaps, Namespace: chunk.Namespace, Name: chunk.Name, UID: chunk.UID, ResourceVersion: chunk.ResourceVersion,
	}, false)
	switch {
	case cluster.IsConflict(err):
		return "it changed while it was being deleted", nil
	case cluster.IsNotFound(err):
		return "", nil
	}
	return "", err
}

// removeOrphan deletes a chunk whose plan is gone, after looking once more whether it is.
func (o *pruneOptions) removeOrphan(ctx context.Context, c client, orphan *pin.Orphan) error {
	// Not stored: while its schema is being worked on, the plan may be on its way, whatever was asked for.
	gone := pin.Plan{Family: pin.Schema, Namespace: orphan.Chunk.Namespace, Name: orphan.Chunk.Plan, Owner: orphan.Chunk.Owner}
	reason, err := o.wanted(ctx, c, gone)
	switch {
	case err != nil:
		orphan.Verdict, orphan.Reason = render.PruneFailed, storedplan.Why(err)
		return err
	case reason != "":
		orphan.Verdict, orphan.Reason = render.PruneSpared, reason
		return nil
	case o.dryRun == dryRunServer:
		return nil
	}
	stays, err := deleteChunk(ctx, c, orphan.Chunk)
	switch {
	case err != nil:
		orphan.Verdict, orphan.Reason = render.PruneFailed, storedplan.Why(err)
	case stays != "":
		orphan.Verdict, orphan.Reason = render.PruneSpared, stays
	default:
		orphan.Verdict = render.PruneDeleted
	}
	return err
}

func spare(d *pin.Decision, reason string) { d.Verdict, d.Reason = render.PruneSpared, reason }

func failed(d *pin.Decision, err error) error {
	d.Verdict, d.Reason = render.PruneFailed, storedplan.Why(err)
	return err
}

// partly is a plan that is gone with chunks that are not: the next run finds them.
func partly(d *pin.Decision, err error) error {
	d.Reason = "its chunks were not all deleted; run the command again"
	return fmt.Errorf("deleting the chunks of plan %s/%s: %w; run the command again", d.Plan.Namespace, d.Plan.Name, err)
}
