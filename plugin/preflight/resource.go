package preflight

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/podspec"
	checks "github.com/ptah-run/ptah/pkg/preflight"
	"github.com/ptah-run/ptah/pkg/realm"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
)

// readResource takes what the checks need out of a schema or a migration.
func readResource(ctx context.Context, client *cluster.Client, kind, namespace, name string) (checks.Resource, error) {
	if kind == render.KindMigration {
		m, err := client.Migration(ctx, namespace, name)
		if err != nil {
			return checks.Resource{}, err
		}
		return checks.Resource{
			Family: podspec.Migration, Namespace: namespace, Name: name, UID: string(m.UID), Target: m.Spec.Target, Source: m.Spec.Artifact,
			Execution: m.Spec.Execution, Suspended: m.Spec.Suspend, Deleting: m.DeletionTimestamp != nil,
		}, nil
	}
	s, err := client.Schema(ctx, namespace, name)
	if err != nil {
		return checks.Resource{}, err
	}
	return checks.Resource{
		Family: podspec.Schema, Namespace: namespace, Name: name, UID: string(s.UID), Target: s.Spec.Target, Source: s.Spec.Desired, Dev: s.Spec.Dev,
		Execution: s.Spec.Execution, Suspended: s.Spec.Suspend, Deleting: s.DeletionTimestamp != nil,
	}, nil
}

func gatherResource(ctx context.Context, client *cluster.Client, kind, namespace, name string, askRegistry bool) (checks.Resource, error) {
	r, err := readResource(ctx, client, kind, namespace, name)
	if err != nil {
		return r, err
	}
	g := &resourceGatherer{client: client, r: &r, secrets: map[string]checks.Known[corev1.Secret]{}}
	team := newCrew()
	g.documents(ctx, team)
	g.pod(ctx, team)
	team.do(func() { r.Claimants = claimants(ctx, client, namespace) })
	team.wait()
	readDocuments(ctx, &r, g.secrets, g.ca, g.policy, askRegistry)
	return r, nil
}

// resourceGatherer reads what lies around one resource.
type resourceGatherer struct {
	client *cluster.Client
	r      *checks.Resource

	mu         sync.Mutex
	secrets    map[string]checks.Known[corev1.Secret]
	ca, policy checks.Known[corev1.ConfigMap]
}

// documents are the Secrets and ConfigMaps that the resource names.
func (g *resourceGatherer) documents(ctx context.Context, team *crew) {
	namespace, source := g.r.Namespace, g.r.Source
	for _, name := range g.r.SecretNames() {
		team.do(func() {
			found := get[corev1.Secret](ctx, g.client, cluster.KindSecrets, namespace, name)
			g.mu.Lock()
			defer g.mu.Unlock()
			g.secrets[name] = found
		})
	}
	team.do(func() {
		g.policy = get[corev1.ConfigMap](ctx, g.client, cluster.KindConfigMaps, namespace, source.VerificationPolicyFrom.Name)
	})
	if t := source.Transport; t != nil && t.CAFrom != nil {
		team.do(func() {
			g.ca = get[corev1.ConfigMap](ctx, g.client, cluster.KindConfigMaps, namespace, t.CAFrom.Name)
		})
	}
}

// pod is what the API server looks at when an operation's Pod is made.
func (g *resourceGatherer) pod(ctx context.Context, team *crew) {
	r, client := g.r, g.client
	here := cluster.Query{Namespace: r.Namespace}
	team.do(func() {
		r.Account = get[corev1.ServiceAccount](ctx, client, cluster.KindServiceAccounts, r.Namespace, r.AccountName())
	})
	if class := r.Execution.PriorityClassName; class != "" {
		team.do(func() {
			r.PriorityClass = get[schedulingv1.PriorityClass](ctx, client, cluster.KindPriorityClasses, "", class)
		})
	}
	if class := r.Execution.RuntimeClassName; class != "" {
		team.do(func() {
			r.RuntimeClass = get[nodev1.RuntimeClass](ctx, client, cluster.KindRuntimeClasses, "", class)
		})
	}
	team.do(func() { r.LimitRanges = list[corev1.LimitRange](ctx, client, cluster.KindLimitRanges, here) })
	team.do(func() { r.Quotas = list[corev1.ResourceQuota](ctx, client, cluster.KindResourceQuotas, here) })
	team.do(func() {
		found := get[corev1.Namespace](ctx, client, cluster.KindNamespaces, "", r.Namespace)
		r.Labels = checks.Known[map[string]string]{State: found.State, Why: found.Why, Value: found.Value.Labels}
	})
}

// keysOf keeps the names of the keys that hold something.
func keysOf(found checks.Known[corev1.Secret]) checks.Known[checks.Secret] {
	out := checks.Known[checks.Secret]{State: found.State, Why: found.Why}
	for _, key := range slices.Sorted(maps.Keys(found.Value.Data)) {
		if len(found.Value.Data[key]) > 0 {
			out.Value.Keys = append(out.Value.Keys, key)
		}
	}
	return out
}

// claimants lists who claims a database, in all namespaces. Where that may not be listed, the resource's own namespace still shows some.
func claimants(ctx context.Context, client *cluster.Client, namespace string) checks.Known[[]realm.Claimant] {
	all, err := claimantsIn(ctx, client, "")
	if err == nil {
		return checks.Have(all)
	}
	near, _ := claimantsIn(ctx, client, namespace)
	return checks.Known[[]realm.Claimant]{Value: near, Why: strings.TrimSuffix(cluster.WhyOf(err), " in all namespaces") + " in all namespaces"}
}

func claimantsIn(ctx context.Context, client *cluster.Client, namespace string) ([]realm.Claimant, error) {
	var out []realm.Claimant
	query := cluster.Query{Namespace: namespace}
	err := client.EachSchema(ctx, query, func(s *v1alpha1.PtahSchema) error {
		out = append(out, claimant("schema", s, s.Spec.Target, s.Spec.Suspend, s.DeletionTimestamp != nil))
		return nil
	})
	migrations := client.EachMigration(ctx, query, func(m *v1alpha1.PtahMigration) error {
		out = append(out, claimant("migration", m, m.Spec.Target, m.Spec.Suspend, m.DeletionTimestamp != nil))
		return nil
	})
	if err == nil {
		err = migrations
	}
	return out, err
}

func claimant(kind string, object metav1.Object, target v1alpha1.Target, suspended, deleted bool) realm.Claimant {
	engine, _ := realm.NormaliseEngine(target.Engine)
	c := realm.Claimant{
		UID: string(object.GetUID()), Name: fmt.Sprintf("%s/%s -n %s", kind, object.GetName(), object.GetNamespace()),
		Shared: target.SharedRealm, Suspended: suspended, Deleted: deleted,
	}
	if engine != "" {
		c.Digest = realm.Digest(engine, target.CoordinationKey)
	}
	return c
}
