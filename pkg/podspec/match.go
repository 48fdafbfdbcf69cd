package podspec

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// MismatchError says in which one respect a Job or a Pod is not what was asked for. It names fields, never values of the environment.
type MismatchError struct{ Object, Field, Detail string }

// Error names the object and the field.
func (e *MismatchError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%s is not what was asked for: %s differs", e.Object, e.Field)
	}
	return fmt.Sprintf("%s is not what was asked for: %s %s", e.Object, e.Field, e.Detail)
}

// MatchJob compares a Job that was read with the envelope of the claim and with the template that its snapshot was taken from: name, owner,
// complete labels and annotations, the fields that bound it, and the whole template. A cleanup TTL is the one difference it allows.
func MatchJob(job *batchv1.Job, want Envelope, snapshot v1alpha1.AdmissionSnapshot) error {
	name, err := want.JobName()
	if err != nil {
		return err
	}
	want.SnapshotDigest = snapshot.Digest
	for _, check := range []func() (field, detail string){
		func() (string, string) { return jobMetadataDifference(job, want, name) },
		func() (string, string) { return jobBoundsDifference(job.Spec) },
		func() (string, string) { return templateDifference(job, snapshot) },
	} {
		if field, detail := check(); field != "" {
			return &MismatchError{"job " + job.Namespace + "/" + job.Name, field, detail}
		}
	}
	return nil
}

func jobMetadataDifference(job *batchv1.Job, want Envelope, name string) (field, detail string) {
	switch {
	case job.Namespace != want.Namespace || job.Name != name:
		return "metadata.name", "is not " + name
	case !ownedOnlyBy(job.OwnerReferences, want.Owner()):
		return "metadata.ownerReferences", ""
	case !carries(job.Labels, want.Labels()):
		return "metadata.labels", ""
	case !carries(job.Annotations, want.Annotations()):
		return "metadata.annotations", ""
	}
	return "", ""
}

// jobBoundsDifference compares what keeps a Job at one bounded Pod and no retry.
func jobBoundsDifference(spec batchv1.JobSpec) (field, detail string) {
	switch {
	case !is(spec.Parallelism, 1) || !is(spec.Completions, 1) || !is(spec.BackoffLimit, 0):
		return "spec", "may run more than one Pod"
	case !is(spec.PodReplacementPolicy, batchv1.Failed) || spec.PodFailurePolicy != nil || spec.SuccessPolicy != nil ||
		spec.BackoffLimitPerIndex != nil || spec.MaxFailedIndexes != nil || spec.ManagedBy != nil:
		return "spec", "has a policy of its own"
	case !is(spec.CompletionMode, batchv1.NonIndexedCompletion) || !is(spec.Suspend, false) || spec.ActiveDeadlineSeconds == nil:
		return "spec", "is indexed, suspended or unbounded"
	case spec.TTLSecondsAfterFinished != nil && *spec.TTLSecondsAfterFinished != CleanupTTLSeconds:
		return "spec.ttlSecondsAfterFinished", ""
	case spec.ManualSelector != nil && *spec.ManualSelector:
		return "spec.manualSelector", ""
	}
	return "", ""
}

func templateDifference(job *batchv1.Job, snapshot v1alpha1.AdmissionSnapshot) (field, detail string) {
	switch t := job.Spec.Template; {
	case !generatedFor(job):
		return "spec.template.metadata.labels", ""
	case t.Annotations[v1alpha1.AdmissionSnapshotAnnotation] != snapshot.Digest:
		return "spec.template.metadata.annotations", ""
	}
	found, err := TemplateDigest(job.Spec.Template)
	switch {
	case err != nil:
		return "spec.template", err.Error()
	case found != snapshot.TemplateDigest:
		return "spec.template", ""
	}
	return "", ""
}

// generatedFor reports that the labels which the API server generates, where present, name this very Job.
func generatedFor(job *batchv1.Job) bool {
	want := map[string]string{
		batchv1.ControllerUidLabel: string(job.UID), legacyControllerUID: string(job.UID), batchv1.JobNameLabel: job.Name, legacyJobName: job.Name,
	}
	for _, l := range generatedLabels {
		if got, ok := job.Spec.Template.Labels[l]; ok && got != want[l] {
			return false
		}
	}
	return true
}

func is[T comparable](p *T, want T) bool { return p != nil && *p == want }

func ownedOnlyBy(refs []metav1.OwnerReference, want metav1.OwnerReference) bool {
	return len(refs) == 1 && refs[0].APIVersion == want.APIVersion && refs[0].Kind == want.Kind && refs[0].Name == want.Name &&
		refs[0].UID == want.UID && is(refs[0].Controller, true)
}

// carries reports that every wanted entry is there, and that nothing else is under our own domain.
func carries(got, want map[string]string) bool {
	for k, v := range want {
		if g, ok := got[k]; !ok || g != v {
			return false
		}
	}
	for k := range got {
		if _, wanted := want[k]; !wanted && ours(k) {
			return false
		}
	}
	return true
}

func ours(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == v1alpha1.GroupName || strings.HasSuffix(domain, "."+v1alpha1.GroupName)
}

// MatchPod compares a Pod with its Job's template after the admission that the snapshot foretells: the chain of its generated name, its one
// owner, its metadata under our domain, and its whole spec. The node that it was bound to is the one thing that admission does not decide.
// The Job must have passed MatchJob.
func MatchPod(pod *corev1.Pod, job *batchv1.Job, snapshot v1alpha1.AdmissionSnapshot) error {
	differ := func(field, detail string) error {
		return &MismatchError{"pod " + pod.Namespace + "/" + nameOf(pod), field, detail}
	}
	yes := true
	owner := metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: &yes}
	switch {
	case pod.Namespace != job.Namespace:
		return differ("metadata.namespace", "")
	case pod.GenerateName != job.Name+"-":
		return differ("metadata.generateName", "is not "+job.Name+"-")
	case !GeneratedName(pod.Name, pod.GenerateName, job.Name):
		return differ("metadata.name", "was not generated for this job")
	case !ownedOnlyBy(pod.OwnerReferences, owner):
		return differ("metadata.ownerReferences", "")
	case !carries(pod.Labels, job.Spec.Template.Labels):
		return differ("metadata.labels", "")
	case !carries(pod.Annotations, job.Spec.Template.Annotations):
		return differ("metadata.annotations", "")
	case slices.ContainsFunc(pod.Finalizers, func(f string) bool { return !knownFinalizer(f) }):
		return differ("metadata.finalizers", "")
	}
	want, err := admitted(job.Spec.Template.Spec, snapshot)
	if err != nil {
		return differ("spec", err.Error())
	}
	if field := specDifference(pod.Spec, want); field != "" {
		return differ("spec."+field, "")
	}
	return nil
}

// knownFinalizer are the Job controller's and the garbage collector's own; they change nothing about what runs.
func knownFinalizer(f string) bool {
	return f == batchv1.JobTrackingFinalizer || f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
}

func nameOf(pod *corev1.Pod) string {
	if pod.Name == "" {
		return pod.GenerateName
	}
	return pod.Name
}

// specDifference names the first field of a Pod spec that differs from what was foretold; "" where none does.
func specDifference(got, want corev1.PodSpec) string {
	got, want = *got.DeepCopy(), *want.DeepCopy()
	for _, s := range []*corev1.PodSpec{&got, &want} {
		canonicalSpec(s)
		// The API copies a limit into an absent request after admission: filling both sides accepts exactly that value and no other.
		eachContainer(s, func(c *corev1.Container) {
			c.Resources.Limits = canonicalResources(c.Resources.Limits)
			c.Resources.Requests = canonicalResources(requestsWithLimits(c.Resources))
		})
		s.NodeName = ""
		slices.SortFunc(s.Tolerations, func(a, b corev1.Toleration) int { return strings.Compare(encoded(a), encoded(b)) })
	}
	if field := containerDifference("initContainers", got.InitContainers, want.InitContainers); field != "" {
		return field
	}
	if field := containerDifference("containers", got.Containers, want.Containers); field != "" {
		return field
	}
	return structDifference(got, want)
}

func containerDifference(list string, got, want []corev1.Container) string {
	if len(got) != len(want) {
		return list
	}
	for i := range want {
		if field := structDifference(got[i], want[i]); field != "" {
			return fmt.Sprintf("%s[%s].%s", list, want[i].Name, field)
		}
	}
	return ""
}

// structDifference compares field by field, so that the answer has a name; nil and empty are the same.
func structDifference(got, want any) string {
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if !equality.Semantic.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			name, _, _ := strings.Cut(g.Type().Field(i).Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Claims reports whether a Pod presents itself as one of ours: it has the complete managed identity, or a Job with a reserved name controls it.
// It is the webhook's match condition, told again.
func Claims(pod *corev1.Pod) bool {
	component := pod.Labels[v1alpha1.ComponentLabel]
	if pod.Labels[v1alpha1.ManagedByLabel] == v1alpha1.ManagedByValue && pod.Labels[v1alpha1.OperationLabel] != "" &&
		(component == v1alpha1.ComponentSchemaOp || component == v1alpha1.ComponentMigrationOp) {
		return true
	}
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "Job" && is(o.Controller, true) && ReservedPrefix(o.Name)
	})
}

// OnlyRemoved reports an update that takes away exactly these finalizers, at least one of them, and changes nothing else.
func OnlyRemoved(old, updated *corev1.Pod, finalizers ...string) bool {
	named := func(f string) bool { return slices.Contains(finalizers, f) }
	rest := slices.DeleteFunc(slices.Clone(old.Finalizers), func(f string) bool { return named(f) && !slices.Contains(updated.Finalizers, f) })
	if len(rest) == len(old.Finalizers) || !slices.Equal(rest, updated.Finalizers) {
		return false
	}
	a, b := bookless(old.DeepCopy()), bookless(updated.DeepCopy())
	a.Finalizers, b.Finalizers = nil, nil
	return equality.Semantic.DeepEqual(a, b)
}

// OnlyForeignMetadataChanged reports an update that leaves everything alone that makes a Pod ours: its spec, its owners and finalizers, and
// all labels and annotations under our domain. A network plugin may leave notes of its own.
func OnlyForeignMetadataChanged(old, updated *corev1.Pod) bool {
	a, b := bookless(old.DeepCopy()), bookless(updated.DeepCopy())
	for _, p := range []*corev1.Pod{a, b} {
		foreign := func(k, _ string) bool {
			return !ours(k) && k != v1alpha1.ManagedByLabel && k != v1alpha1.ComponentLabel && !slices.Contains(generatedLabels, k)
		}
		maps.DeleteFunc(p.Labels, foreign)
		maps.DeleteFunc(p.Annotations, func(k, v string) bool { return foreign(k, v) && k != v1alpha1.SafeToEvictAnnotation })
	}
	return equality.Semantic.DeepEqual(a, b)
}

// bookless forgets the bookkeeping that the API server does by itself.
func bookless(p *corev1.Pod) *corev1.Pod {
	p.ManagedFields, p.ResourceVersion, p.Generation = nil, "", 0
	return p
}
