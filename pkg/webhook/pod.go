package webhook

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/podspec"
)

// podValidator lets exactly the Pods appear that the Job controller makes for a dispatched claim, and lets nobody change them afterwards.
type podValidator struct{ base }

// Handle answers a request of validating admission for Pods and their ephemeralcontainers and resize subresources.
func (v *podValidator) Handle(ctx context.Context, req admission.Request) admission.Response {
	var pod, old corev1.Pod
	if len(req.Object.Raw) > 0 {
		if err := v.decoder.DecodeRaw(req.Object, &pod); err != nil {
			return malformed("Pod")
		}
	}
	if len(req.OldObject.Raw) > 0 {
		if err := v.decoder.DecodeRaw(req.OldObject, &old); err != nil {
			return malformed("Pod")
		}
	}
	switch {
	case !podspec.Claims(&pod) && !podspec.Claims(&old):
		return admission.Allowed("not an operation Pod")
	case req.SubResource != "":
		return admission.Denied(fmt.Sprintf("an operation Pod takes no %s", req.SubResource))
	case req.Operation == admissionv1.Create:
		return v.create(ctx, req, &pod)
	case req.Operation == admissionv1.Update:
		return update(req, &old, &pod)
	}
	return admission.Allowed("")
}

// update allows the two controllers that own finalizers to take their own away, and notes that others leave under their own names. Neither
// needs the claim, which may be over by then.
func update(req admission.Request, old, pod *corev1.Pod) admission.Response {
	user := req.UserInfo.Username
	switch {
	case user == jobController && podspec.OnlyRemoved(old, pod, batchv1.JobTrackingFinalizer):
		return admission.Allowed("")
	case user == garbageCollector && podspec.OnlyRemoved(old, pod, metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents):
		return admission.Allowed("")
	case podspec.OnlyForeignMetadataChanged(old, pod):
		return admission.Allowed("")
	}
	return admission.Denied("an operation Pod is never changed: only the Job controller may remove its tracking finalizer, and nothing else with it")
}

func (v *podValidator) create(ctx context.Context, req admission.Request, pod *corev1.Pod) admission.Response {
	if req.UserInfo.Username != jobController {
		return admission.Denied("only the Job controller creates operation Pods")
	}
	if pod.Namespace == "" {
		pod.Namespace = req.Namespace
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.APIVersion != "batch/v1" || owner.Kind != "Job" || len(pod.OwnerReferences) != 1 {
		return admission.Denied("an operation Pod has exactly one owner, its Job")
	}
	var job batchv1.Job
	found, err := v.get(ctx, req.Namespace, owner.Name, &job)
	switch {
	case err != nil:
		return v.unreadable("job "+owner.Name, err)
	case !found || job.UID != owner.UID:
		return admission.Denied(fmt.Sprintf("job %s with UID %s does not exist", owner.Name, owner.UID))
	}
	return v.ofJob(ctx, pod, &job)
}

// ofJob binds the Job to the current resource, its operation and the persisted intent, and then the Pod to the Job.
func (v *podValidator) ofJob(ctx context.Context, pod *corev1.Pod, job *batchv1.Job) admission.Response {
	owner := metav1.GetControllerOf(job)
	if owner == nil || owner.APIVersion != v1alpha1.GroupVersion.String() || owner.Kind != podspec.Schema.Kind() {
		return admission.Denied(fmt.Sprintf("job %s uses a name reserved for Ptah's operations and belongs to no Ptah resource", job.Name))
	}
	var schema v1alpha1.PtahSchema
	found, err := v.get(ctx, job.Namespace, owner.Name, &schema)
	switch {
	case err != nil:
		return v.unreadable("schema "+owner.Name, err)
	case !found || schema.UID != owner.UID:
		return admission.Denied(fmt.Sprintf("schema %s with UID %s does not exist", owner.Name, owner.UID))
	}
	if problem := claimProblem(&schema, job); problem != "" {
		return admission.Denied(fmt.Sprintf("job %s: %s", job.Name, problem))
	}
	op := schema.Status.ActiveOperation
	identity, ok := podspec.IdentityOf(&schema, op)
	if !ok {
		return admission.Denied(fmt.Sprintf("job %s: its claim belongs to a retired execution binding", job.Name))
	}
	if err := podspec.MatchJob(job, podspec.ForSchema(&schema, op, identity), *op.AdmissionSnapshot); err != nil {
		return admission.Denied(err.Error())
	}
	if err := podspec.MatchPod(pod, job, *op.AdmissionSnapshot); err != nil {
		return admission.Denied(err.Error())
	}
	return admission.Allowed("")
}

func claimProblem(schema *v1alpha1.PtahSchema, job *batchv1.Job) string {
	op := schema.Status.ActiveOperation
	switch {
	case op == nil || op.JobName != job.Name:
		return "the schema has no claim for it"
	case op.AdmissionSnapshot == nil, op.Type == v1alpha1.SchemaApply && !op.DispatchStarted:
		// Only a mutating claim has a dispatch marker before its Job; a reading one is bound by its snapshot alone.
		return "its claim was not dispatched"
	case op.JobUID != "" && op.JobUID != job.UID:
		return "its claim belongs to another job of that name"
	}
	return ""
}
