package preflight

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/binding"
	checks "github.com/ptah-run/ptah/pkg/preflight"
	"github.com/ptah-run/ptah/pkg/release"
	"github.com/ptah-run/ptah/plugin/cluster"
)

// atOnce bounds the requests that are under way.
const atOnce = 8

// crew reads parts at the same time. No failure stops the others: a part that cannot be read is Unknown.
type crew struct{ group errgroup.Group }

func newCrew() *crew {
	c := &crew{}
	c.group.SetLimit(atOnce)
	return c
}

func (c *crew) do(work func()) { c.group.Go(func() error { work(); return nil }) }
func (c *crew) wait()          { _ = c.group.Wait() }

// known turns the answer of a read into a part of a snapshot.
func known[T any](value *T, err error) checks.Known[T] {
	switch {
	case err == nil:
		return checks.Have(*value)
	case cluster.IsNotFound(err):
		return checks.None[T]()
	default:
		return checks.Unseen[T](cluster.WhyOf(err))
	}
}

func get[T any](ctx context.Context, client *cluster.Client, kind cluster.Kind, namespace, name string) checks.Known[T] {
	return known(cluster.GetObject[T](ctx, client, kind, namespace, name))
}

// list reads all objects. A kind that the cluster does not know has none.
func list[T any](ctx context.Context, client *cluster.Client, kind cluster.Kind, query cluster.Query) checks.Known[[]T] {
	items := []T{}
	err := cluster.EachObject(ctx, client, kind, query, func(item *T) error {
		items = append(items, *item)
		return nil
	})
	if cluster.KindMissing(err) {
		return checks.None[[]T]()
	}
	return known(&items, err)
}

func gatherRelease(ctx context.Context, client *cluster.Client, chart checks.Chart, request Request) (checks.Release, error) {
	r := checks.Release{
		Purpose: request.Purpose, Versions: binding.StateVersion, CRDs: map[string]checks.Known[checks.CRD]{},
		Stored: map[string]checks.Known[[]checks.StoredState]{}, Work: map[string]checks.Known[[]checks.Work]{},
	}
	info, err := client.ServerVersion(ctx)
	if err != nil && !cluster.IsForbidden(err) {
		return r, err // nobody answers: there is nothing to check
	}
	r.ServerVersion = known(&info.GitVersion, err)
	r.Mutating = annotations(get[admissionv1.MutatingWebhookConfiguration](ctx, client, cluster.KindMutatingWebhooks, "", v1alpha1.AdmissionConfigurationName))
	r.Validating = annotations(get[admissionv1.ValidatingWebhookConfiguration](ctx, client, cluster.KindValidatingWebhooks, "", v1alpha1.AdmissionConfigurationName))
	name, namespace := identify(r, request)
	if r.Candidate, err = checks.NewCandidate(chart, name, namespace, request.Files...); err != nil {
		return r, err
	}
	gatherParts(ctx, client, &r)
	return r, nil
}

// identify names the release: as the person says, as the installed one is recorded, or as the documentation installs it.
func identify(r checks.Release, request Request) (name, namespace string) {
	name, namespace = request.Release, request.Namespace
	for _, recorded := range []map[string]string{r.Mutating.Value, r.Validating.Value, {v1alpha1.ReleaseNameAnnotation: defaultRelease, v1alpha1.ReleaseNamespaceAnnotation: defaultNamespace}} {
		if name == "" {
			name = recorded[v1alpha1.ReleaseNameAnnotation]
		}
		if namespace == "" {
			namespace = recorded[v1alpha1.ReleaseNamespaceAnnotation]
		}
	}
	return name, namespace
}

// annotated is anything with metadata.
type annotated[T any] interface {
	*T
	metav1.Object
}

func annotations[T any, P annotated[T]](k checks.Known[T]) checks.Known[map[string]string] {
	return checks.Known[map[string]string]{State: k.State, Why: k.Why, Value: P(&k.Value).GetAnnotations()}
}

func gatherParts(ctx context.Context, client *cluster.Client, r *checks.Release) {
	c := r.Candidate
	here := cluster.Query{Namespace: c.Namespace}
	team := newCrew()
	team.do(func() {
		r.Managers = managers(list[appsv1.Deployment](ctx, client, cluster.KindDeployments,
			cluster.Query{Namespace: c.Namespace, Selector: v1alpha1.ComponentLabel + "=" + v1alpha1.ComponentController + ",app.kubernetes.io/instance=" + c.Release}))
	})
	team.do(func() {
		found := get[corev1.ConfigMap](ctx, client, cluster.KindConfigMaps, c.Namespace, v1alpha1.ReleaseActivationConfigMap)
		r.Activation = checks.Known[map[string]string]{State: found.State, Why: found.Why, Value: found.Value.Data}
	})
	team.do(func() {
		r.RoleBindings = list[rbacv1.RoleBinding](ctx, client, cluster.KindRoleBindings, cluster.Query{})
	})
	team.do(func() {
		r.ClusterRoleBindings = list[rbacv1.ClusterRoleBinding](ctx, client, cluster.KindClusterRoleBindings, cluster.Query{})
	})
	team.do(func() { r.Quotas = list[corev1.ResourceQuota](ctx, client, cluster.KindResourceQuotas, here) })
	team.do(func() { r.LimitRanges = list[corev1.LimitRange](ctx, client, cluster.KindLimitRanges, here) })
	team.do(func() { r.Pods = list[corev1.Pod](ctx, client, cluster.KindPods, here) })
	team.do(func() {
		r.Account = get[corev1.ServiceAccount](ctx, client, cluster.KindServiceAccounts, c.Namespace, c.Account())
	})
	if class := c.Values.PriorityClassName; class != "" {
		team.do(func() {
			r.PriorityClass = get[schedulingv1.PriorityClass](ctx, client, cluster.KindPriorityClasses, "", class)
		})
	}
	var lock sync.Mutex
	for _, name := range c.Chart.CRDs() {
		team.do(func() {
			found := crd(get[apiextensionsv1.CustomResourceDefinition](ctx, client, cluster.KindCRDs, "", name))
			lock.Lock()
			defer lock.Unlock()
			r.CRDs[name] = found
		})
	}
	gatherStored(ctx, client, r, team, &lock)
	team.do(func() { r.Missing = missing(ctx, client, checks.Needs(r.Purpose, c.Namespace)) })
	team.wait()
}

func managers(found checks.Known[[]appsv1.Deployment]) checks.Known[[]checks.Manager] {
	out := checks.Known[[]checks.Manager]{State: found.State, Why: found.Why}
	for _, d := range found.Value {
		m := checks.Manager{Name: d.Name, Sequence: d.Annotations[v1alpha1.ReleaseSequenceAnnotation], Account: d.Spec.Template.Spec.ServiceAccountName}
		for _, field := range d.ManagedFields {
			switch {
			case field.Subresource != "":
			case field.Operation == metav1.ManagedFieldsOperationApply:
				m.Appliers = append(m.Appliers, field.Manager)
			default:
				m.Updaters = append(m.Updaters, field.Manager)
			}
		}
		out.Value = append(out.Value, m)
	}
	return out
}

func crd(found checks.Known[apiextensionsv1.CustomResourceDefinition]) checks.Known[checks.CRD] {
	out := checks.Known[checks.CRD]{State: found.State, Why: found.Why}
	if found.State != checks.Present {
		return out
	}
	live := &found.Value
	out.Value = checks.CRD{Annotations: live.Annotations, Stored: live.Status.StoredVersions, Deleting: live.DeletionTimestamp != nil}
	if digest, err := release.CRDSpecDigest(live); err == nil {
		out.Value.LiveDigest = digest
	}
	return out
}

// gatherStored reads each of Ptah's kinds once, page by page, and keeps only what a check asks for.
func gatherStored(ctx context.Context, client *cluster.Client, r *checks.Release, team *crew, lock *sync.Mutex) {
	scan := func(resource string, read func(note func(namespace, name string, versions ...int32), work func(checks.Work)) error) {
		team.do(func() {
			states, jobs := []checks.StoredState{}, []checks.Work{}
			err := read(func(namespace, name string, versions ...int32) {
				for _, v := range versions {
					if v < 0 || int64(v) > r.Versions {
						states = append(states, checks.StoredState{Namespace: namespace, Name: name, Version: int64(v)})
						return
					}
				}
			}, func(w checks.Work) { jobs = append(jobs, w) })
			lock.Lock()
			defer lock.Unlock()
			if cluster.KindMissing(err) {
				r.Stored[resource], r.Work[resource] = checks.None[[]checks.StoredState](), checks.None[[]checks.Work]()
				return
			}
			r.Stored[resource] = known(&states, err)
			if resource == cluster.Schemas || resource == cluster.Migrations {
				r.Work[resource] = known(&jobs, err)
			}
		})
	}
	scan(cluster.Schemas, func(note func(string, string, ...int32), work func(checks.Work)) error {
		return client.EachSchema(ctx, cluster.Query{}, func(s *v1alpha1.PtahSchema) error {
			note(s.Namespace, s.Name, binding.SchemaVersions(s)...)
			work(schemaWork(s))
			return nil
		})
	})
	scan(cluster.Migrations, func(note func(string, string, ...int32), work func(checks.Work)) error {
		return client.EachMigration(ctx, cluster.Query{}, func(m *v1alpha1.PtahMigration) error {
			note(m.Namespace, m.Name, binding.MigrationVersions(m)...)
			work(migrationWork(m))
			return nil
		})
	})
	for _, resource := range []string{cluster.SchemaPlans, cluster.SchemaApprovals, cluster.MigrationPlans, cluster.MigrationReviews} {
		scan(resource, func(note func(string, string, ...int32), _ func(checks.Work)) error {
			return cluster.EachObject(ctx, client, cluster.PtahKind(resource), cluster.Query{}, func(o *stamped) error {
				note(o.Namespace, o.Name, o.Spec.ControllerStateVersion)
				return nil
			})
		})
	}
}

// stamped is what plans and approvals have in common.
type stamped struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ControllerStateVersion int32 `json:"controllerStateVersion"`
	} `json:"spec"`
}

func schemaWork(s *v1alpha1.PtahSchema) checks.Work {
	w := checks.Work{Kind: "schema", Namespace: s.Namespace, Name: s.Name, ProofOwed: s.Status.PendingObservation != nil}
	if op := s.Status.ActiveOperation; op != nil {
		w.Operation, w.Mutating, w.Dispatched = string(op.Type), op.Type == v1alpha1.SchemaApply, op.DispatchStarted
	}
	return w
}

func migrationWork(m *v1alpha1.PtahMigration) checks.Work {
	w := checks.Work{Kind: "migration", Namespace: m.Namespace, Name: m.Name}
	if op := m.Status.ActiveOperation; op != nil {
		w.Operation, w.Mutating, w.Dispatched = string(op.Type), op.Type == v1alpha1.MigrationApply, op.DispatchStarted
	}
	if run := m.Status.UnresolvedRun; run != nil {
		w.UnresolvedRun = string(run.Outcome)
	}
	return w
}

// missing asks for each permission, and once for all of them: who may do anything is asked nothing else.
func missing(ctx context.Context, client *cluster.Client, needs []checks.Permission) checks.Known[[]checks.Permission] {
	out := []checks.Permission{}
	all, err := client.May(ctx, "*", "*", "*", "")
	if err != nil || all {
		return known(&out, err)
	}
	answers := make([]bool, len(needs))
	failures := make([]error, len(needs))
	team := newCrew()
	for i, p := range needs {
		team.do(func() { answers[i], failures[i] = client.May(ctx, p.Verb, p.Group, p.Resource, p.Namespace) })
	}
	team.wait()
	if i := slices.IndexFunc(failures, func(err error) bool { return err != nil }); i >= 0 {
		return known(&out, failures[i])
	}
	for i, p := range needs {
		if !answers[i] {
			out = append(out, p)
		}
	}
	return checks.Have(out)
}
