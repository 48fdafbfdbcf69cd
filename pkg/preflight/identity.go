package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// offline is the way past an installation that cannot be upgraded.
const offline = "an online change is not possible: follow the offline singleton migration (suspend every resource, wait for their Jobs, back up, uninstall, install)"

const (
	mutatingKind   = "MutatingWebhookConfiguration"
	validatingKind = "ValidatingWebhookConfiguration"
)

// judgeInstallation answers first whether there is anything to act on.
func judgeInstallation(r Release) Finding {
	for _, s := range r.singletons() {
		if s.known.State == Unknown {
			return unknown("ask somebody who may read it", fmt.Sprintf("whether something is installed: %s %s: %s", s.kind, v1alpha1.AdmissionConfigurationName, s.known.why()))
		}
	}
	found := slices.DeleteFunc(r.singletons(), func(s singleton) bool { return s.known.State != Present })
	if len(found) == 0 {
		return r.nothingInstalled()
	}
	what := fmt.Sprintf("release %s in namespace %s", orElse(found[0].known.Value[v1alpha1.ReleaseNameAnnotation], "without a name"),
		orElse(found[0].known.Value[v1alpha1.ReleaseNamespaceAnnotation], "that is not recorded"))
	if r.Purpose != Install && found[0].known.Value[v1alpha1.ReleaseNameAnnotation] == "" {
		return fail("this chart does not adopt it: "+offline, fmt.Sprintf("%s %s carries no release identity", found[0].kind, v1alpha1.AdmissionConfigurationName))
	}
	if r.Purpose == Install {
		return fail("one release of the operator fits in a cluster: check with --for upgrade, or uninstall it first",
			fmt.Sprintf("%s is installed already (%s %s exists)", what, found[0].kind, v1alpha1.AdmissionConfigurationName))
	}
	return pass(what)
}

func (r Release) nothingInstalled() Finding {
	if r.Purpose == Install {
		return pass("nothing is installed in this cluster")
	}
	if r.Managers.State == Present && len(r.Managers.Value) > 0 {
		return fail("this installation carries no release identity: "+offline,
			fmt.Sprintf("Deployment %s/%s runs a manager, and no admission configuration %s exists", r.Candidate.Namespace, r.Managers.Value[0].Name, v1alpha1.AdmissionConfigurationName))
	}
	return fail("check with --for install", fmt.Sprintf("nothing is installed in this cluster: there is nothing to %s", r.Purpose))
}

type singleton struct {
	kind  string
	known Known[map[string]string]
}

func (r Release) singletons() []singleton {
	return []singleton{{mutatingKind, r.Mutating}, {validatingKind, r.Validating}}
}

// judgeSingletons compares what both admission configurations pin with what the candidate would write.
func judgeSingletons(r Release) Finding {
	d := &doubt{}
	fix := offline
	said := map[string][]string{} // by what is wrong: which of the two
	for _, s := range r.singletons() {
		switch s.known.State {
		case Unknown:
			d.dark(fmt.Sprintf("%s %s: %s", s.kind, v1alpha1.AdmissionConfigurationName, s.known.why()))
		case Absent:
			d.wrong(fmt.Sprintf("%s %s is missing, and its peer exists", s.kind, v1alpha1.AdmissionConfigurationName))
			fix = "restore it from the installed release: helm upgrade with the installed chart version and its values"
		default:
			for _, text := range r.disagreements(s.known.Value) {
				fix = offline
				said[text] = append(said[text], s.kind)
			}
		}
	}
	for _, text := range slices.Sorted(maps.Keys(said)) {
		who := said[text][0]
		if len(said[text]) > 1 {
			who = "both configurations"
		}
		d.wrong(who + ": " + text)
	}
	c := r.Candidate
	good := fmt.Sprintf("release %s in %s", c.Release, c.Namespace)
	if r.Purpose != Uninstall {
		good += fmt.Sprintf(", coordination %s, election %s: matches", c.CoordinationNamespace(), onOff(c.Values.LeaderElection))
	}
	return d.finding(fix, "ask somebody who may read them", good)
}

// disagreements says where one configuration's annotations are not the candidate's.
func (r Release) disagreements(annotations map[string]string) []string {
	var out []string
	for key, want := range r.Candidate.identity() {
		have, short := annotations[key], strings.TrimPrefix(key, v1alpha1.GroupName+"/")
		switch {
		case have == "":
			out = append(out, "no annotation "+key)
		case r.Purpose == Uninstall && key != v1alpha1.ReleaseNameAnnotation && key != v1alpha1.ReleaseNamespaceAnnotation:
			// What else is pinned goes with the release.
		case have != want:
			out = append(out, fmt.Sprintf("%s is %s, the candidate has %s", short, quoted(clip(have)), quoted(want)))
		}
	}
	return out
}

// active is the release sequence that runs.
func (r Release) active() (int64, bool) {
	if r.Managers.State != Present {
		return 0, false
	}
	for _, m := range r.Managers.Value {
		if n, ok := positive(m.Sequence); ok {
			return n, true
		}
	}
	return 0, false
}

// judgeSequence holds that a release only goes forward, and that an upgrade that has begun is finished before another begins.
func judgeSequence(r Release) Finding {
	candidate := r.Candidate.Chart.Sequence
	if f, decided := r.activationSays(candidate); decided {
		return f
	}
	if r.Managers.State == Unknown {
		return unknown("ask somebody who may read it", "Deployments in namespace "+r.Candidate.Namespace+": "+r.Managers.why())
	}
	sequence, known := r.active()
	switch {
	case !known && r.Purpose == Upgrade:
		return unknown("repair the release at its installed chart version first, then upgrade",
			fmt.Sprintf("no manager Deployment with a release sequence in namespace %s: the release has lost its runtime", r.Candidate.Namespace))
	case !known:
		return pass("no manager Deployment is left")
	case r.Purpose == Uninstall && sequence != candidate:
		return unknown("use the plugin of the installed version", fmt.Sprintf("sequence %d is installed, and this plugin knows sequence %d", sequence, candidate))
	case sequence > candidate:
		return fail("go forward: there is no way back to a lower sequence", fmt.Sprintf("sequence %d is installed, the candidate has %d", sequence, candidate))
	case sequence == candidate:
		return pass(fmt.Sprintf("sequence %d is installed and stays", sequence))
	default:
		return pass(fmt.Sprintf("from sequence %d to %d", sequence, candidate))
	}
}

// activationSays reads the durable activation record, where this release keeps one.
func (r Release) activationSays(candidate int64) (Finding, bool) {
	switch r.Activation.State {
	case Unknown:
		return unknown("ask somebody who may read it", fmt.Sprintf("ConfigMap %s/%s: %s", r.Candidate.Namespace, v1alpha1.ReleaseActivationConfigMap, r.Activation.why())), true
	case Absent:
		return Finding{}, false
	}
	data := r.Activation.Value
	if phase := data["phase"]; phase == "draining" {
		return unknown("rerun exactly the chart, image and values that it began with; nothing else is accepted, and there is no way back",
			fmt.Sprintf("an upgrade from sequence %s stopped partway (phase draining)", quoted(clip(data["active-release-sequence"])))), true
	}
	if n, err := strconv.ParseInt(data["active-release-sequence"], 10, 32); err == nil && n > candidate {
		return fail("go forward: there is no way back to a lower sequence", fmt.Sprintf("sequence %d is active, the candidate has %d", n, candidate)), true
	}
	return Finding{}, false
}

func judgeServer(r Release) Finding {
	if r.ServerVersion.State != Present {
		return unknown("ask the API server: kubectl version", "the server's version: "+r.ServerVersion.why())
	}
	inside, err := within(r.ServerVersion.Value, r.Candidate.Chart.KubeVersion)
	if err != nil {
		return unknown("compare them yourself: kubectl version", err.Error())
	}
	text := fmt.Sprintf("%s; chart %s wants %s", r.ServerVersion.Value, r.Candidate.Chart.Version, r.Candidate.Chart.KubeVersion)
	if !inside {
		return fail("use a chart whose window contains this server, or move the cluster into the window", text)
	}
	return pass(text)
}

// within compares a server's version with a range such as ">=1.35.0-0 <1.38.0-0". A pre-release counts as its release: vendors append to
// versions what is no pre-release.
func within(server, window string) (bool, error) {
	have, err := version.ParseGeneric(server)
	if err != nil {
		return false, fmt.Errorf("the server's version %s is not one", quoted(clip(server)))
	}
	for _, bound := range strings.Fields(window) {
		operator := bound[:len(bound)-len(strings.TrimLeft(bound, "<>="))]
		limit, err := version.ParseGeneric(bound[len(operator):])
		if err != nil {
			return false, fmt.Errorf("the chart's range %s is not understood", quoted(window))
		}
		order, _ := have.Compare(limit.String())
		ok := map[string]bool{">=": order >= 0, ">": order > 0, "<=": order <= 0, "<": order < 0, "=": order == 0}
		holds, known := ok[operator]
		if !known {
			return false, fmt.Errorf("the chart's range %s is not understood", quoted(window))
		}
		if !holds {
			return false, nil
		}
	}
	return true, nil
}

// judgeHelm tells a release that was server-side applied, as Helm 4 does, from one that Helm 3 wrote: a later upgrade of that has no ownership
// to take back.
func judgeHelm(r Release) Finding {
	if r.Managers.State == Unknown {
		return unknown("ask somebody who may read it", "Deployments in namespace "+r.Candidate.Namespace+": "+r.Managers.why())
	}
	for _, m := range r.Managers.Value {
		switch {
		case len(m.Appliers) > 0:
			return pass(fmt.Sprintf("Deployment %s is server-side applied by %s", m.Name, join(m.Appliers)))
		case slices.Contains(m.Updaters, "helm"):
			return fail("reinstall with Helm 4: "+offline, fmt.Sprintf("Deployment %s was written by Helm 3, which leaves no ownership for server-side apply", m.Name))
		}
	}
	return unknown("look at who owns the release: helm history "+r.Candidate.Release+" -n "+r.Candidate.Namespace, "nothing says who applied the manager Deployment")
}

func judgeValues(r Release) Finding {
	var bad []string
	for _, problem := range r.Candidate.Problems {
		if !strings.HasPrefix(problem, "image.") && !strings.HasPrefix(problem, "execution.executorImage") && !strings.HasPrefix(problem, "execution.runnerImage") {
			bad = append(bad, problem)
		}
	}
	switch {
	case len(bad) > 0 && r.Candidate.Bare:
		return fail("add --values with the files that Helm will get", append([]string{"no values file was given"}, bounded(bad)...)...)
	case len(bad) > 0:
		return fail("correct the values file", bounded(bad)...)
	}
	return pass(fmt.Sprintf("chart %s takes them", r.Candidate.Chart.Version))
}

// judgeImages refuses what only a tag names: there is no mode for mutable tags.
func judgeImages(r Release) Finding {
	v := r.Candidate.Values
	var bad []string
	for _, key := range r.Candidate.Problems {
		if strings.HasPrefix(key, "image.") {
			bad = append(bad, key)
		}
	}
	if !isDigest(v.Image.Digest) && !slices.ContainsFunc(bad, func(s string) bool { return strings.HasPrefix(s, "image.digest:") }) {
		bad = append(bad, "image.digest: is "+emptyOr(v.Image.Digest))
	}
	for _, image := range []struct{ key, value string }{{"execution.executorImage", v.Execution.ExecutorImage}, {"execution.runnerImage", v.Execution.RunnerImage}} {
		reference, digest, _ := strings.Cut(image.value, "@")
		if reference == "" || strings.ContainsAny(image.value, " \t\n") || !isDigest(digest) {
			bad = append(bad, image.key+": is "+emptyOr(image.value))
		}
	}
	if len(bad) > 0 {
		return fail("name each image by its manifest digest in your registry, sha256:<64 hex digits>; a tag alone is refused", bad...)
	}
	return pass("manager, executor and runner are pinned")
}

func emptyOr(value string) string {
	if value == "" {
		return "not set"
	}
	return quoted(clip(value)) + ", which is no digest"
}

func isDigest(text string) bool {
	hex, ok := strings.CutPrefix(text, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}
