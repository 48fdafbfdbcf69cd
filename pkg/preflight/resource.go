package preflight

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/podspec"
	"github.com/ptah-run/ptah/pkg/realm"
)

// Resource is everything that the checks of one schema or migration read. Of Secrets it holds the names of keys and never a value.
type Resource struct {
	Family          podspec.Family
	Namespace, Name string
	UID             string
	Target          v1alpha1.Target
	Source          v1alpha1.Source
	Dev             *v1alpha1.Dev // schemas
	Execution       v1alpha1.Execution
	Suspended       bool
	Deleting        bool

	Secrets map[string]Known[Secret] // by name: those that Names lists
	CA      Known[Document]          // of transport.caFrom
	Policy  Known[Document]
	// Grant says whether the registry Secret allows its credential to be used like this: "" where it does, else the refusal.
	Grant Known[string]
	// Artifact is what the reference names, as seen from here.
	Artifact Known[Artifact]

	Account       Known[corev1.ServiceAccount]
	PriorityClass Known[schedulingv1.PriorityClass]
	RuntimeClass  Known[nodev1.RuntimeClass]
	LimitRanges   Known[[]corev1.LimitRange]
	Quotas        Known[[]corev1.ResourceQuota]
	Labels        Known[map[string]string] // of the namespace
	// Claimants are the resources of both families in all namespaces that name this database, this one included or not.
	Claimants Known[[]realm.Claimant]
}

// Secret is the names of the keys of a Secret that hold something.
type Secret struct{ Keys []string }

// Document is a ConfigMap, and what stands under the key that was asked for.
type Document struct {
	HasKey    bool
	Immutable bool
	Problem   string // why the value cannot be used; "" where it can
}

// Artifact is a resolved reference.
type Artifact struct{ Digest, Type string }

var (
	checkEngine       = Check[Resource]{ID: "engine", Title: "database engine", Judge: judgeEngine}
	checkRealm        = Check[Resource]{ID: "realm", Title: "database claim", Judge: judgeRealm}
	checkSecrets      = Check[Resource]{ID: "secrets", Title: "Secrets", Judge: judgeSecrets}
	checkGrant        = Check[Resource]{ID: "registry-grant", Title: "registry grant", Judge: judgeGrant}
	checkPolicy       = Check[Resource]{ID: "verification-policy", Title: "verification policy", Judge: judgePolicy}
	checkArtifact     = Check[Resource]{ID: "artifact", Title: "artifact", Judge: judgeArtifact}
	checkPodAccount   = Check[Resource]{ID: "service-account", Title: "ServiceAccount", Judge: judgePodAccount}
	checkClasses      = Check[Resource]{ID: "classes", Title: "Pod classes", Judge: judgeClasses}
	checkPodLimits    = Check[Resource]{ID: "limit-ranges", Title: "LimitRanges", Judge: judgePodLimits}
	checkPodQuota     = Check[Resource]{ID: "quota", Title: "quota", Judge: judgePodQuota}
	checkPodSecurity  = Check[Resource]{ID: "pod-security", Title: "Pod security", Judge: judgePodSecurity}
	checkCA           = Check[Resource]{ID: "registry-ca", Title: "registry CA", Judge: judgeCA}
	resourceChecksAll = []Check[Resource]{
		checkEngine, checkRealm, checkSecrets, checkGrant, checkCA, checkPolicy, checkArtifact, checkPodAccount, checkClasses, checkPodLimits,
		checkPodQuota, checkPodSecurity,
	}
)

// ResourceChecks are the checks of one schema or migration in the order in which they are made: the database first, then what is fetched, then
// the Pod that does it.
func ResourceChecks() []Check[Resource] { return slices.Clone(resourceChecksAll) }

func judgeEngine(r Resource) Finding {
	if _, ok := realm.NormaliseEngine(r.Target.Engine); !ok {
		return fail("set spec.target.engine to PostgreSQL or MySQL", quoted(clip(r.Target.Engine))+" is not implemented; its database is never touched")
	}
	return pass(r.Target.Engine)
}

// judgeRealm asks who else claims the same database.
func judgeRealm(r Resource) Finding {
	engine, ok := realm.NormaliseEngine(r.Target.Engine)
	if !ok {
		return pass("an engine that is not implemented claims nothing")
	}
	self := realm.Claimant{
		UID: r.UID, Digest: realm.Digest(engine, r.Target.CoordinationKey), Shared: r.Target.SharedRealm, Suspended: r.Suspended, Deleted: r.Deleting,
	}
	verdict := realm.Judge(self, r.Claimants.Value)
	fix := "give each database its own coordinationKey, or set spec.target.sharedRealm: true on every resource that shares it"
	switch {
	case verdict.Contested:
		return fail(fix, verdict.Message()+rivals(self, r.Claimants.Value))
	case r.Claimants.State == Unknown:
		return unknown("ask somebody who may list schemas and migrations in all namespaces", "who else claims it: "+r.Claimants.why())
	case verdict.Claimants > 1:
		return pass(fmt.Sprintf("%d resources share it, all declared", verdict.Claimants))
	default:
		return pass("nobody else claims coordination key " + quoted(clip(r.Target.CoordinationKey)))
	}
}

// rivals names who else claims the database: whoever reads this has listed them.
func rivals(self realm.Claimant, others []realm.Claimant) string {
	const most = 10
	var names []string
	for _, c := range realm.Rivals(self, others) {
		name := c.Name
		if !c.Shared {
			name += " (not declared)"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if rest := len(names) - most; rest > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", rest))
	}
	if len(names) == 0 {
		return ""
	}
	return "; besides this one: " + strings.Join(names, ", ")
}

// want is a key that has to be in a Secret, with what it is for. Of several keys in Any one is enough.
type want struct {
	secret string
	any    [][]string
	what   string
}

// secretsWanted lists what operation Pods take out of Secrets.
func (r Resource) secretsWanted() []want {
	out := []want{{r.Target.URLFrom.Name, [][]string{{r.Target.URLFrom.Key}}, "database URL"}}
	if r.Dev != nil {
		out = append(out, want{r.Dev.URLFrom.Name, [][]string{{r.Dev.URLFrom.Key}}, "scratch database URL"})
	}
	if a := r.Source.RegistryAuthFrom; a != nil {
		forms := [][]string{{orElse(a.UsernameKey, "username"), orElse(a.PasswordKey, "password")}, {orElse(a.TokenKey, "token")}}
		if a.Mode == v1alpha1.RegistryAuthDockerConfigJSON {
			forms = [][]string{{orElse(a.DockerConfigJSONKey, corev1.DockerConfigJsonKey)}}
		}
		out = append(out, want{a.Name, forms, "registry credential"}, want{a.Name, [][]string{{v1alpha1.RegistryGrantKey}}, "registry grant"})
		if t := r.Source.Transport; t != nil && t.PlainHTTP {
			out = append(out, want{a.Name, [][]string{{v1alpha1.AllowPlainHTTPGrantKey}}, "plain HTTP grant"})
		}
		if t := r.Source.Transport; t != nil && t.CAFrom != nil {
			out = append(out, want{a.Name, [][]string{{v1alpha1.CASHA256GrantKey}}, "CA grant"})
		}
	}
	for _, pull := range r.Execution.ImagePullSecrets {
		out = append(out, want{secret: pull.Name, what: "image pull Secret"})
	}
	return out
}

// SecretNames lists the Secrets that the checks want to know the keys of.
func (r Resource) SecretNames() []string {
	var out []string
	for _, w := range r.secretsWanted() {
		if !slices.Contains(out, w.secret) {
			out = append(out, w.secret)
		}
	}
	return out
}

func judgeSecrets(r Resource) Finding {
	d := &doubt{}
	var good []string
	uses := map[string][]string{}
	for _, w := range r.secretsWanted() {
		uses[w.secret] = append(uses[w.secret], w.what)
	}
	for _, name := range r.SecretNames() {
		secret := fmt.Sprintf("Secret %s/%s", r.Namespace, name)
		switch known := r.Secrets[name]; known.State {
		case Unknown:
			d.dark(fmt.Sprintf("%s: %s: %s", join(uses[name]), secret, known.why()))
		case Absent:
			d.wrong(fmt.Sprintf("%s: %s does not exist", join(uses[name]), secret))
		default:
			for _, w := range r.secretsWanted() {
				if w.secret == name && !w.satisfied(known.Value.Keys) {
					d.wrong(fmt.Sprintf("%s: %s has no key %s; it has %s", w.what, secret, w.keys(), keyWords(known.Value.Keys)))
				}
			}
			good = append(good, uses[name]...)
		}
	}
	return d.finding("create the Secret, or name the right key in the spec", "ask somebody who may read Secrets in "+r.Namespace, join(good)+": there")
}

func compact(lines []string) []string {
	var out []string
	for _, line := range lines {
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

func (w want) satisfied(keys []string) bool {
	if len(w.any) == 0 {
		return true
	}
	return slices.ContainsFunc(w.any, func(all []string) bool {
		return !slices.ContainsFunc(all, func(key string) bool { return !slices.Contains(keys, key) })
	})
}

func (w want) keys() string {
	var forms []string
	for _, all := range w.any {
		forms = append(forms, strings.Join(all, " and "))
	}
	return strings.Join(forms, ", nor ")
}

func keyWords(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return join(keys)
}

func judgeGrant(r Resource) Finding {
	if r.Source.RegistryAuthFrom == nil {
		return pass("the artifact is fetched without a credential")
	}
	switch {
	case r.Grant.State == Unknown:
		return unknown("ask somebody who may read Secrets in "+r.Namespace, "what Secret "+r.Namespace+"/"+r.Source.RegistryAuthFrom.Name+" allows: "+r.Grant.why())
	case r.Grant.State == Absent:
		return fail("create the Secret", fmt.Sprintf("Secret %s/%s does not exist", r.Namespace, r.Source.RegistryAuthFrom.Name))
	case r.Grant.Value != "":
		return fail("have the owner of the Secret grant this use", fmt.Sprintf("Secret %s/%s: %s", r.Namespace, r.Source.RegistryAuthFrom.Name, r.Grant.Value))
	}
	return pass("the Secret allows this registry and transport")
}

func judgeCA(r Resource) Finding {
	t := r.Source.Transport
	if t == nil || t.CAFrom == nil {
		return pass("the registry is reached without a private CA")
	}
	return judgeDocument(r.CA, fmt.Sprintf("ConfigMap %s/%s", r.Namespace, t.CAFrom.Name), t.CAFrom.Key, false)
}

func judgePolicy(r Resource) Finding {
	from := r.Source.VerificationPolicyFrom
	return judgeDocument(r.Policy, fmt.Sprintf("ConfigMap %s/%s", r.Namespace, from.Name), from.Key, true)
}

func judgeDocument(known Known[Document], where, key string, immutable bool) Finding {
	v := known.Value
	switch {
	case known.State == Unknown:
		return unknown("ask somebody who may read it", where+": "+known.why())
	case known.State == Absent:
		return fail("create it", where+" does not exist")
	case !v.HasKey:
		return fail("add the key, or name the right one in the spec", fmt.Sprintf("%s has no key %s", where, key))
	case v.Problem != "":
		return fail("correct the document", fmt.Sprintf("%s, key %s: %s", where, key, v.Problem))
	case immutable && !v.Immutable:
		return fail("make a new ConfigMap with immutable: true and name it in the spec", where+" is not immutable, so what it says is not what was verified against")
	}
	return pass(fmt.Sprintf("%s, key %s", where, key))
}

// judgeArtifact rests on a look from where the person sits: what cannot be asked from there may well be asked from the cluster. That the registry
// has no such artifact is the same from everywhere.
func judgeArtifact(r Resource) Finding {
	if r.Artifact.State == Absent {
		return fail("push it with kubectl ptah push, or correct the reference in the spec", r.Source.OCIRef+": the registry has no such repository, tag or digest")
	}
	if r.Artifact.State != Present {
		return unknown("look from where the cluster's nodes are", r.Source.OCIRef+" from here: "+r.Artifact.why())
	}
	a := r.Artifact.Value
	want := []string{v1alpha1.SchemaArtifactType}
	if r.Family == podspec.Migration {
		want = []string{v1alpha1.MigrationArtifactType, v1alpha1.MigrationArtifactTypeAlias}
	}
	if !slices.Contains(want, a.Type) {
		return fail("publish it with kubectl ptah push, or correct the reference", fmt.Sprintf("%s is an artifact of type %s, wanted is %s", r.Source.OCIRef, quoted(clip(a.Type)), want[0]))
	}
	return pass(fmt.Sprintf("%s is %s", r.Source.OCIRef, a.Digest))
}
