package preflight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/podspec"
	"github.com/ptah-run/ptah/pkg/realm"
)

// standIn stands in for the operator's own: it shapes no Pod, only the names of its images.
func standIn() v1alpha1.ExecutionIdentity {
	image := "image@" + digest.Bytes(nil)
	return v1alpha1.ExecutionIdentity{
		ControllerImage: image, ControllerRevision: "unknown", ControllerStateVersion: v1alpha1.ControllerStateVersion, PtahVersion: "unknown",
		ExecutorImage: image, RunnerImage: image, RunnerProtocolVersion: 1,
	}
}

// drafts are the Jobs of the operations that ask the namespace for most: the one that only speaks to the registry, and the one that opens the
// database. There are none for an engine that is not implemented.
func (r Resource) drafts() ([]*batchv1.Job, error) {
	resolved := r.Source.OCIRef
	if name, _, pinned := strings.Cut(resolved, "@"); !pinned {
		resolved = name + "@" + digest.Bytes(nil)
	}
	engine, ok := realm.NormaliseEngine(r.Target.Engine)
	if !ok {
		return nil, nil
	}
	source := &podspec.Source{Requested: r.Source.OCIRef, Resolved: resolved, Auth: r.Source.RegistryAuthFrom, Transport: r.Source.Transport}
	open := intent.Plan
	if r.Family == podspec.Migration {
		open = intent.History
	}
	var jobs []*batchv1.Job
	for _, operation := range []intent.Operation{intent.Resolve, open} {
		request := podspec.Request{
			Envelope: podspec.Envelope{
				Family: r.Family, Namespace: r.Namespace, Name: r.Name, ResourceUID: "preflight", Operation: operation, OperationID: digest.Bytes(nil),
				Attempt: 1, InputFingerprint: digest.Bytes(nil), Epoch: "preflight", Identity: standIn(),
			},
			Source: source, Execution: r.Execution,
		}
		if request.Execution.ActiveDeadlineSeconds == 0 {
			request.Execution.ActiveDeadlineSeconds = 900
		}
		if operation == open {
			request.Database = &podspec.Database{
				Engine: engine, CoordinationDigest: realm.Digest(engine, r.Target.CoordinationKey), URLFrom: r.Target.URLFrom,
				Scope: intent.Scope{ConnectTimeout: intent.Duration(10 * time.Second), LockTimeout: intent.Duration(30 * time.Second)},
			}
			if r.Dev != nil && open == intent.Plan {
				request.Database.DevURLFrom = r.Dev.URLFrom.DeepCopy()
			}
		}
		job, err := podspec.Build(request)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

func noPods(err error) Finding {
	if err != nil {
		return unknown("correct the resource first", err.Error())
	}
	return pass("no Pod is made for an engine that is not implemented")
}

// AccountName is the ServiceAccount of operation Pods.
func (r Resource) AccountName() string { return orElse(r.Execution.ServiceAccountName, "default") }

func judgePodAccount(r Resource) Finding {
	name := r.Namespace + "/" + r.AccountName()
	switch r.Account.State {
	case Unknown:
		return unknown("ask somebody who may read it", name+": "+r.Account.why())
	case Absent:
		return fail(fmt.Sprintf("kubectl create serviceaccount %s -n %s; it needs no permission", r.AccountName(), r.Namespace), name+" does not exist")
	}
	return pass(name + " exists")
}

func judgeClasses(r Resource) Finding {
	d := &doubt{}
	var good []string
	if name := r.Execution.PriorityClassName; name != "" {
		class(d, &good, "PriorityClass "+name, r.PriorityClass.State, r.PriorityClass.why())
	}
	if name := r.Execution.RuntimeClassName; name != "" {
		class(d, &good, "RuntimeClass "+name, r.RuntimeClass.State, r.RuntimeClass.why())
	}
	if len(good) == 0 {
		good = []string{"the spec names none"}
	}
	return d.finding("create it, or name one that exists in spec.execution", "ask somebody who may read it", join(good))
}

func class(d *doubt, good *[]string, name string, state State, why string) {
	switch state {
	case Unknown:
		d.dark(name + ": " + why)
	case Absent:
		d.wrong(name + " does not exist")
	default:
		*good = append(*good, name+" exists")
	}
}

// judgePodLimits asks the manager's own decision: it foretells what LimitRanges make of a Pod, and dispatches nothing that it cannot foretell.
func judgePodLimits(r Resource) Finding {
	if r.LimitRanges.State == Unknown {
		return unknown("ask somebody who may read them", "LimitRanges in namespace "+r.Namespace+": "+r.LimitRanges.why())
	}
	jobs, err := r.drafts()
	if err != nil || len(jobs) == 0 {
		return noPods(err)
	}
	var bad []string
	for _, job := range jobs {
		spec := job.Spec.Template.Spec
		if _, err := podspec.SnapshotAdmission(job, everythingElse(spec, r.LimitRanges.Value)); err != nil {
			bad = append(bad, lastClause(err.Error()))
		}
		bad = append(bad, violations(admit(spec, r.LimitRanges.Value), r.LimitRanges.Value)...)
	}
	if bad = compact(bad); len(bad) > 0 {
		return fail("make the LimitRanges agree and let the Pod in, or set spec.execution.resources", bounded(bad)...)
	}
	return pass(limitWords(len(r.LimitRanges.Value), r.Namespace))
}

// everythingElse is there, so that only what is asked about can be refused.
func everythingElse(spec corev1.PodSpec, ranges []corev1.LimitRange) podspec.AdmissionInputs {
	in := podspec.AdmissionInputs{
		LimitRanges: ranges, ServiceAccount: &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: spec.ServiceAccountName}},
	}
	if spec.PriorityClassName != "" {
		in.PriorityClass = &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: spec.PriorityClassName}}
	}
	if spec.RuntimeClassName != nil {
		in.RuntimeClass = &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: *spec.RuntimeClassName}}
	}
	return in
}

// lastClause leaves out which draft was built: that Job never exists.
func lastClause(text string) string {
	if _, rest, ok := strings.Cut(text, ": "); ok {
		return rest
	}
	return text
}

func judgePodQuota(r Resource) Finding {
	switch {
	case r.Quotas.State == Unknown:
		return unknown("ask somebody who may read them", "ResourceQuotas in namespace "+r.Namespace+": "+r.Quotas.why())
	case len(r.Quotas.Value) > 0 && r.LimitRanges.State == Unknown:
		return unknown("ask somebody who may read them", "LimitRanges in namespace "+r.Namespace+", which fill in what Pods leave out: "+r.LimitRanges.why())
	}
	jobs, err := r.drafts()
	if err != nil || len(jobs) == 0 {
		return noPods(err)
	}
	var findings []Finding
	for _, job := range jobs {
		workload := Workload{Name: "operation Pod", Replicas: 1, Pod: withOverhead(job.Spec.Template.Spec, r.RuntimeClass)}
		findings = append(findings, project(r.Namespace, []Workload{workload}, nil, r.Quotas.Value, r.LimitRanges.Value))
	}
	return worst(findings)
}

func withOverhead(pod corev1.PodSpec, class Known[nodev1.RuntimeClass]) corev1.PodSpec {
	if class.State == Present && class.Value.Overhead != nil {
		pod.Overhead = class.Value.Overhead.PodFixed
	}
	return pod
}

// worst of several answers to one question; of equal ones the last, which is the larger Pod's.
func worst(findings []Finding) Finding {
	rank := map[Verdict]int{Pass: 0, CouldNotTell: 1, Fail: 2}
	out := findings[0]
	for _, f := range findings[1:] {
		if rank[f.Verdict] >= rank[out.Verdict] {
			out = f
		}
	}
	return out
}

// judgePodSecurity asks whether the namespace's Pod Security level lets an operation Pod in.
func judgePodSecurity(r Resource) Finding {
	if r.Labels.State != Present {
		why := r.Labels.why()
		if r.Labels.State == Absent {
			why = "it does not exist"
		}
		return unknown("ask somebody who may read it", "labels of namespace "+r.Namespace+": "+why)
	}
	level := r.Labels.Value["pod-security.kubernetes.io/enforce"]
	if level == "" || level == "privileged" {
		return pass("namespace " + r.Namespace + " enforces no level")
	}
	jobs, err := r.drafts()
	if err != nil || len(jobs) == 0 {
		return noPods(err)
	}
	for _, job := range jobs {
		if bad := unrestricted(job.Spec.Template.Spec); len(bad) > 0 {
			return fail("allow the Pod in the namespace, or file a bug", fmt.Sprintf("namespace %s enforces %s: %s", r.Namespace, quoted(clip(level)), join(bad)))
		}
	}
	return pass(fmt.Sprintf("operation Pods fit the level %s, which namespace %s enforces", level, r.Namespace))
}

// unrestricted says what of a Pod the level "restricted" of the Pod Security Standards forbids. Baseline is a part of it.
func unrestricted(pod corev1.PodSpec) []string {
	var bad []string
	if pod.HostNetwork || pod.HostPID || pod.HostIPC {
		bad = append(bad, "it shares a namespace of the host")
	}
	for _, v := range pod.Volumes {
		if v.EmptyDir == nil && v.ConfigMap == nil && v.Secret == nil && v.Projected == nil && v.DownwardAPI == nil && v.CSI == nil && v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
			bad = append(bad, "volume "+v.Name+" is of a forbidden kind")
		}
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		bad = append(bad, containerUnrestricted(pod.SecurityContext, c)...)
	}
	return bad
}

func containerUnrestricted(pod *corev1.PodSecurityContext, c corev1.Container) []string {
	var bad []string
	s := c.SecurityContext
	if s == nil {
		return []string{"container " + c.Name + " has no security context"}
	}
	if s.Privileged != nil && *s.Privileged {
		bad = append(bad, "container "+c.Name+" is privileged")
	}
	if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
		bad = append(bad, "container "+c.Name+" may gain privileges")
	}
	if s.Capabilities == nil || !slices.Contains(s.Capabilities.Drop, "ALL") || len(s.Capabilities.Add) > 0 {
		bad = append(bad, "container "+c.Name+" keeps capabilities")
	}
	nonRoot := s.RunAsNonRoot != nil && *s.RunAsNonRoot || s.RunAsNonRoot == nil && pod != nil && pod.RunAsNonRoot != nil && *pod.RunAsNonRoot
	if !nonRoot {
		bad = append(bad, "container "+c.Name+" may run as root")
	}
	seccomp := s.SeccompProfile
	if seccomp == nil && pod != nil {
		seccomp = pod.SeccompProfile
	}
	if seccomp == nil || seccomp.Type == corev1.SeccompProfileTypeUnconfined {
		bad = append(bad, "container "+c.Name+" has no seccomp profile")
	}
	return bad
}
