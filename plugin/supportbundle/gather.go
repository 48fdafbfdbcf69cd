package supportbundle

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/podspec"
	checks "github.com/ptah-run/ptah/pkg/preflight"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/supportbundle"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/preflight"
)

const (
	atOnce = 8
	// logBytes bounds one log, in bytes.
	logBytes = 1 << 20
	// mostItems bounds one list of one namespace's file; what is left out is a gap.
	mostItems = 5000
)

// object is any Kubernetes object.
type object = map[string]any

// gatherer collects parts and gaps. One thing that cannot be read never stops the others.
type gatherer struct {
	client  *cluster.Client
	options *bundleOptions

	mu    sync.Mutex
	parts []supportbundle.Part
	gaps  []supportbundle.Gap
}

func (g *gatherer) add(file, about string, document any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parts = append(g.parts, supportbundle.Part{Path: file, About: about, Document: document})
}

func (g *gatherer) addText(file, about string, text []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parts = append(g.parts, supportbundle.Part{Path: file, About: about, Text: string(text)})
}

func (g *gatherer) gap(what string, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gaps = append(g.gaps, supportbundle.Gap{What: what, Why: cluster.WhyOf(why)})
}

// gather fails only where no API server answers.
func (g *gatherer) gather(ctx context.Context) error {
	info, err := g.client.ServerVersion(ctx)
	switch {
	case err == nil:
		g.add("cluster/version.json", "version of the API server", object{"gitVersion": info.GitVersion, "platform": info.Platform})
	case cluster.IsForbidden(err):
		g.gap("version of the API server", err)
	default:
		return err
	}
	name, namespace, coordination := g.admission(ctx)
	var team errgroup.Group
	team.SetLimit(atOnce)
	do := func(work func()) { team.Go(func() error { work(); return nil }) }
	do(func() { g.crds(ctx) })
	do(func() { g.preflight(ctx) })
	do(func() { g.leases(ctx, coordination) })
	do(func() {
		g.list(ctx, cluster.KindDeployments, namespace, controllers(name), "operator/deployments.json", "Deployments of the manager", nil)
	})
	do(func() { g.managers(ctx, namespace, name) })
	do(func() {
		g.list(ctx, cluster.KindEvents, namespace, "", "operator/events.json", "Events of the release namespace", nil)
	})
	for _, plural := range []string{cluster.Schemas, cluster.SchemaPlans, cluster.SchemaApprovals, cluster.Migrations, cluster.MigrationPlans, cluster.MigrationReviews} {
		do(func() {
			g.list(ctx, cluster.PtahKind(plural), g.options.namespace, "", "resources/"+plural+".json", plural, g.wanted)
		})
	}
	managed := v1alpha1.ManagedByLabel + "=" + v1alpha1.ManagedByValue
	do(func() {
		g.list(ctx, cluster.KindJobs, g.options.namespace, managed, "resources/jobs.json", "Jobs of operations", g.wanted)
	})
	do(func() {
		g.list(ctx, cluster.KindPods, g.options.namespace, managed, "resources/pods.json", "Pods of operations", g.wanted)
	})
	do(func() {
		g.list(ctx, cluster.KindEvents, g.options.namespace, "", "resources/events.json", "Events of Ptah's objects, Jobs and Pods", g.ours)
	})
	return team.Wait()
}

func controllers(release string) string {
	return v1alpha1.ComponentLabel + "=" + v1alpha1.ComponentController + ",app.kubernetes.io/instance=" + release
}

// admission reads both admission configurations, and out of them which release is installed where.
func (g *gatherer) admission(ctx context.Context) (name, namespace, coordination string) {
	name, namespace = "ptah", "ptah-system"
	for _, kind := range []cluster.Kind{cluster.KindMutatingWebhooks, cluster.KindValidatingWebhooks} {
		found, err := cluster.GetObject[object](ctx, g.client, kind, "", v1alpha1.AdmissionConfigurationName)
		if err != nil {
			g.gap(kind.Word+" "+v1alpha1.AdmissionConfigurationName, err)
			continue
		}
		g.add("cluster/"+strings.ToLower(kind.Word)+".json", "admission configuration of the operator", *found)
		name = text(name, *found, "metadata", "annotations", v1alpha1.ReleaseNameAnnotation)
		namespace = text(namespace, *found, "metadata", "annotations", v1alpha1.ReleaseNamespaceAnnotation)
		coordination = text(coordination, *found, "metadata", "annotations", v1alpha1.CoordinationNamespaceAnnotation)
	}
	if coordination == "" {
		coordination = namespace
	}
	return name, namespace, coordination
}

// crds keeps of each CRD who wrote it and whether it works; its schema is the release's.
func (g *gatherer) crds(ctx context.Context) {
	found := []any{}
	for _, plural := range []string{cluster.Schemas, cluster.SchemaPlans, cluster.SchemaApprovals, cluster.Migrations, cluster.MigrationPlans, cluster.MigrationReviews} {
		crd, err := cluster.GetObject[object](ctx, g.client, cluster.KindCRDs, "", plural+"."+v1alpha1.GroupName)
		if err != nil {
			g.gap("CRD "+plural+"."+v1alpha1.GroupName, err)
			continue
		}
		found = append(found, object{"metadata": (*crd)["metadata"], "status": (*crd)["status"]})
	}
	g.add("cluster/crds.json", "identity and status of the CRDs", object{"items": found})
}

// preflight keeps the answers that need no values.
func (g *gatherer) preflight(ctx context.Context) {
	view, err := preflight.Release(ctx, g.client, preflight.Request{Purpose: checks.Upgrade})
	if err != nil {
		g.gap("preflight", err)
		return
	}
	kept := view.Results[:0]
	for _, r := range view.Results {
		if r.ID != "values" && r.ID != "image-digests" {
			kept = append(kept, r)
		}
	}
	view.Results = kept
	document, err := generic(view)
	if err != nil {
		g.gap("preflight", err)
		return
	}
	for _, key := range []string{"passed", "failed", "unknown"} {
		delete(document, key)
	}
	g.add("preflight.json", "checks of the installed release, without those of its values", document)
}

func generic(value any) (object, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	out := object{}
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("decoding an answer: %w", err)
	}
	return out, nil
}

func (g *gatherer) leases(ctx context.Context, namespace string) {
	g.list(ctx, cluster.KindLeases, namespace, "", "operator/leases.json", "Leases of the leader and of databases", func(lease object) bool {
		name := text("", lease, "metadata", "name")
		return name == v1alpha1.LeaderElectionLease || strings.HasPrefix(name, v1alpha1.RealmLeasePrefix)
	})
}

// managers reads the manager's Pods and the ends of their logs.
func (g *gatherer) managers(ctx context.Context, namespace, release string) {
	pods := g.list(ctx, cluster.KindPods, namespace, controllers(release), "operator/pods.json", "Pods of the manager", nil)
	if g.options.lines == 0 {
		return
	}
	for _, pod := range pods {
		name := text("", pod, "metadata", "name")
		containers, _ := dig(pod, "spec", "containers").([]any)
		for _, c := range containers {
			container, _ := c.(object)
			g.log(ctx, namespace, name, text("", container, "name"), restarted(pod, text("", container, "name")))
		}
	}
}

func restarted(pod object, container string) bool {
	statuses, _ := dig(pod, "status", "containerStatuses").([]any)
	for _, s := range statuses {
		status, _ := s.(object)
		count, _ := status["restartCount"].(float64)
		if status["name"] == container && count > 0 {
			return true
		}
	}
	return false
}

func (g *gatherer) log(ctx context.Context, namespace, pod, container string, previous bool) {
	file := path.Join("operator", "logs", pod+"."+container)
	data, err := g.client.Log(ctx, namespace, pod, container, false, g.options.lines, logBytes)
	if err != nil {
		g.gap("log of "+namespace+"/"+pod+", container "+container, err)
	} else {
		g.addText(file+".log", "end of the log", data)
	}
	if !previous {
		return
	}
	if data, err = g.client.Log(ctx, namespace, pod, container, true, g.options.lines, logBytes); err != nil {
		g.gap("log of "+namespace+"/"+pod+", container "+container+" before it was restarted", err)
		return
	}
	g.addText(file+".previous.log", "end of the log before the last restart", data)
}

// list reads objects into one file. A kind that the cluster does not have is a gap like any other.
func (g *gatherer) list(ctx context.Context, kind cluster.Kind, namespace, selector, file, about string, want func(object) bool) []object {
	var found []object
	dropped := 0
	err := cluster.EachObject(ctx, g.client, kind, cluster.Query{Namespace: namespace, Selector: selector}, func(o *object) error {
		switch {
		case want != nil && !want(*o):
		case len(found) >= mostItems:
			dropped++
		default:
			found = append(found, *o)
		}
		return nil
	})
	if err != nil {
		g.gap(about, err)
	}
	if dropped > 0 {
		g.gap(about, fmt.Errorf("%d more than the %d that were taken", dropped, mostItems))
	}
	if err == nil || len(found) > 0 {
		items := make([]any, len(found))
		for i := range found {
			items[i] = found[i]
		}
		g.add(file, about, object{"items": items})
	}
	return found
}

// wanted says whether an object belongs to the resource that was asked for.
func (g *gatherer) wanted(o object) bool {
	if g.options.name == "" {
		return true
	}
	type relation struct{ kind, name string }
	for _, r := range []relation{
		{render.KindSchema, text("", o, "spec", "schemaRef", "name")},
		{render.KindMigration, text("", o, "spec", "migrationRef", "name")},
		{render.KindSchema, text("", o, "metadata", "labels", v1alpha1.SchemaLabel)},
		{render.KindMigration, text("", o, "metadata", "labels", v1alpha1.MigrationLabel)},
	} {
		if r.name != "" {
			return r.name == g.options.name && (g.options.kind == "" || g.options.kind == r.kind)
		}
	}
	kind := render.KindSchema
	if dig(o, "spec", "artifact") != nil {
		kind = render.KindMigration
	}
	return text("", o, "metadata", "name") == g.options.name && (g.options.kind == "" || g.options.kind == kind)
}

// ours says whether an Event is about one of Ptah's objects, or about a Job or Pod of an operation.
func (g *gatherer) ours(event object) bool {
	kind, name := text("", event, "involvedObject", "kind"), text("", event, "involvedObject", "name")
	mine := strings.HasPrefix(kind, "Ptah") || ((kind == "Job" || kind == "Pod") && podspec.ReservedPrefix(name))
	return mine && (g.options.name == "" || strings.Contains(name, g.options.name))
}

// dig walks into an object.
func dig(o object, keys ...string) any {
	var value any = o
	for _, key := range keys {
		inner, ok := value.(object)
		if !ok {
			return nil
		}
		value = inner[key]
	}
	return value
}

func text(fallback string, o object, keys ...string) string {
	if value, ok := dig(o, keys...).(string); ok && value != "" {
		return value
	}
	return fallback
}
