package preflight

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// judgeBindings finds grants of the user's own that name an epoch of the manager, in any namespace. An epoch's account is retired with its
// sequence, and that its privileges are gone cannot be proven while a binding that the chart does not own names it.
//
// A binding names an epoch by its ServiceAccount, by the user name that the account authenticates as, or by the group of all ServiceAccounts of
// the release namespace: a grant to that group is a grant to every epoch. The groups of all ServiceAccounts and of everybody who is
// authenticated name nobody in particular, and Kubernetes itself binds them; grants to these are listed and fail nothing.
func judgeBindings(r Release) Finding {
	e := r.epochs()
	d := &doubt{}
	var broad []string
	look := func(where string, meta metav1.ObjectMeta, role rbacv1.RoleRef, subjects []rbacv1.Subject) {
		if r.rendered(meta, role) || meta.Labels["kubernetes.io/bootstrapping"] != "" {
			return
		}
		for _, s := range subjects {
			switch what, named := e.names(s, meta.Namespace); {
			case named:
				d.wrong(fmt.Sprintf("%s binds %s (to %s %s)", where, what, role.Kind, role.Name))
			case s.Kind == rbacv1.GroupKind && (s.Name == "system:serviceaccounts" || s.Name == "system:authenticated"):
				broad = append(broad, fmt.Sprintf("%s grants %s %s to %s, every manager account among them", where, role.Kind, role.Name, s.Name))
			}
		}
	}
	switch r.RoleBindings.State {
	case Unknown:
		d.dark("RoleBindings in all namespaces: " + r.RoleBindings.why())
	default:
		for _, b := range r.RoleBindings.Value {
			look(b.Namespace+"/"+b.Name, b.ObjectMeta, b.RoleRef, b.Subjects)
		}
	}
	switch r.ClusterRoleBindings.State {
	case Unknown:
		d.dark("ClusterRoleBindings: " + r.ClusterRoleBindings.why())
	default:
		for _, b := range r.ClusterRoleBindings.Value {
			look("ClusterRoleBinding "+b.Name, b.ObjectMeta, b.RoleRef, b.Subjects)
		}
	}
	d.bad = bounded(d.bad)
	good := []string{fmt.Sprintf("none names a manager account (%s-v<N>) in %s", strings.Join(e.bases, "-v<N>, "), r.Candidate.Namespace)}
	return d.finding("remove each, or bind an account of your own instead", "ask somebody who may list bindings in all namespaces", append(good, bounded(broad)...)...)
}

// epochs tells the accounts of the manager's epochs from every other account.
type epochs struct {
	namespace string
	bases     []string
	active    string
	candidate string
}

func (r Release) epochs() epochs {
	e := epochs{namespace: r.Candidate.Namespace, bases: []string{r.Candidate.AccountBase()}, candidate: r.Candidate.Account()}
	for _, m := range r.Managers.Value {
		e.active = m.Account
		if base, ok := baseOf(m.Account); ok && !slices.Contains(e.bases, base) {
			e.bases = append(e.bases, base)
		}
	}
	return e
}

// baseOf takes -v<N> off an account's name.
func baseOf(account string) (string, bool) {
	i := strings.LastIndex(account, "-v")
	if i < 1 {
		return "", false
	}
	_, ok := positive(account[i+2:])
	return account[:i], ok
}

// names says whether a subject is an epoch, and which.
func (e epochs) names(s rbacv1.Subject, bindingNamespace string) (string, bool) {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		return e.account(orElse(s.Namespace, bindingNamespace), s.Name)
	case rbacv1.UserKind:
		namespace, name, ok := strings.Cut(strings.TrimPrefix(s.Name, "system:serviceaccount:"), ":")
		if !ok || !strings.HasPrefix(s.Name, "system:serviceaccount:") {
			return "", false
		}
		return e.account(namespace, name)
	case rbacv1.GroupKind:
		if s.Name == "system:serviceaccounts:"+e.namespace {
			return "group " + s.Name + ", every manager account among it", true
		}
	}
	return "", false
}

func (e epochs) account(namespace, name string) (string, bool) {
	base, ok := baseOf(name)
	if !ok || namespace != e.namespace || !slices.Contains(e.bases, base) {
		return "", false
	}
	word := "the account of another manager of this release"
	switch name {
	case e.active:
		word = "the account of the running manager"
	case e.candidate:
		word = "the account of the manager to be installed"
	}
	return "ServiceAccount " + name + ", " + word, true
}

// rendered reports a binding that the chart itself renders: its labels, its name, and a role of the chart's own.
func (r Release) rendered(meta metav1.ObjectMeta, role rbacv1.RoleRef) bool {
	if meta.Labels["app.kubernetes.io/instance"] != r.Candidate.Release || meta.Labels["app.kubernetes.io/name"] != r.Candidate.name() ||
		!strings.HasPrefix(meta.Labels["helm.sh/chart"], r.Candidate.Chart.Name+"-") {
		return false
	}
	for _, full := range r.fullnames() {
		if strings.HasPrefix(meta.Name, full+"-") && strings.HasPrefix(role.Name, full+"-") {
			return true
		}
	}
	return false
}

func (r Release) fullnames() []string {
	out := []string{r.Candidate.fullname()}
	for _, m := range r.Managers.Value {
		if full, ok := strings.CutSuffix(m.Name, "-manager"); ok && !slices.Contains(out, full) {
			out = append(out, full)
		}
	}
	return out
}

// judgeAccount looks for the account that the candidate is going to run as.
func judgeAccount(r Release) Finding {
	c := r.Candidate
	name := c.Namespace + "/" + c.Account()
	if before := r.epochs().active; before != "" {
		if base, ok := baseOf(before); ok && base != c.AccountBase() {
			return fail("keep serviceAccount.name, nameOverride and fullnameOverride as they are installed", fmt.Sprintf("the accounts of this manager are named %s-v<N>, and the candidate wants %s", base, c.Account()))
		}
	}
	if c.Values.ServiceAccount.Create {
		return judgeOwnAccount(r, name)
	}
	switch r.Account.State {
	case Unknown:
		return unknown("ask somebody who may read it", fmt.Sprintf("ServiceAccount %s: %s", name, r.Account.why()))
	case Absent:
		return fail(fmt.Sprintf("kubectl create serviceaccount %s -n %s", c.Account(), c.Namespace),
			fmt.Sprintf("%s does not exist; with serviceAccount.create: false it must, one for each release sequence", name))
	}
	if r.Account.Value.Labels["app.kubernetes.io/managed-by"] == "Helm" && r.Account.Value.Labels["app.kubernetes.io/instance"] == c.Release {
		return fail("keep serviceAccount.create: true", name+" belongs to the chart, and the values say that you manage it")
	}
	return pass(name + " exists and is yours")
}

func judgeOwnAccount(r Release, name string) Finding {
	switch r.Account.State {
	case Unknown:
		return unknown("ask somebody who may read it", fmt.Sprintf("ServiceAccount %s: %s", name, r.Account.why()))
	case Present:
		if r.Account.Value.Labels["app.kubernetes.io/managed-by"] != "Helm" {
			return fail("remove it, or set serviceAccount.create: false and serviceAccount.name", name+" exists and does not belong to the chart, which wants to make it")
		}
		return pass(name + " is the chart's")
	}
	return pass("the chart makes " + name)
}

func judgePriority(r Release) Finding {
	name := r.Candidate.Values.PriorityClassName
	if name == "" {
		return pass("the values name none")
	}
	switch r.PriorityClass.State {
	case Unknown:
		return unknown("ask somebody who may read it", name+": "+r.PriorityClass.why())
	case Absent:
		return fail("create it, or name one that exists in priorityClassName", name+" does not exist")
	}
	return pass(fmt.Sprintf("%s exists, value %d", name, r.PriorityClass.Value.Value))
}

// permissions of a release: everything that the chart renders, which Helm applies, and what the lifecycle looks at.
func needs(purpose Purpose, namespace string) []Permission {
	group := func(verb, group, namespace string, resources ...string) []Permission {
		var out []Permission
		for _, resource := range resources {
			out = append(out, Permission{Verb: verb, Group: group, Resource: resource, Namespace: namespace})
		}
		return out
	}
	out := group("list", rbacv1.GroupName, "", "rolebindings", "clusterrolebindings")
	verb := "patch" // what server-side apply is to the API server
	if purpose == Uninstall {
		verb = "delete"
	} else {
		out = append(out, group("create", "apiextensions.k8s.io", "", "customresourcedefinitions")...)
		out = append(out, group("patch", "apiextensions.k8s.io", "", "customresourcedefinitions")...)
		out = append(out, group("list", v1alpha1.GroupName, "", "ptahschemas", "ptahschemaplans", "ptahschemaapprovals", "ptahmigrations", "ptahmigrationplans", "ptahmigrationapprovals")...)
	}
	out = append(out, group(verb, rbacv1.GroupName, "", "clusterroles", "clusterrolebindings")...)
	out = append(out, group(verb, "admissionregistration.k8s.io", "", "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies", "validatingadmissionpolicybindings")...)
	out = append(out, group(verb, "apps", namespace, "deployments")...)
	out = append(out, group(verb, "", namespace, "secrets", "services", "serviceaccounts", "configmaps")...)
	out = append(out, group(verb, rbacv1.GroupName, namespace, "roles", "rolebindings")...)
	out = append(out, group(verb, "policy", namespace, "poddisruptionbudgets")...)
	return append(out, group("create", "batch", namespace, "jobs")...)
}

// Needs lists what the person who runs Helm has to be allowed to do. That the roles can be granted at all takes more (escalate, or to hold
// them): cluster-admin has it.
func Needs(purpose Purpose, namespace string) []Permission { return needs(purpose, namespace) }

// String says it as kubectl auth can-i does.
func (p Permission) String() string {
	resource := p.Resource
	if p.Group != "" {
		resource += "." + p.Group
	}
	if p.Namespace != "" {
		return p.Verb + " " + resource + " in " + p.Namespace
	}
	return p.Verb + " " + resource
}

func judgePermissions(r Release) Finding {
	if r.Missing.State != Present {
		return unknown("ask: kubectl auth can-i --list", "what you may do: "+r.Missing.why())
	}
	if missing := r.Missing.Value; len(missing) > 0 {
		var lines []string
		for _, p := range missing {
			lines = append(lines, "you may not "+p.String())
		}
		return fail("have somebody with cluster-admin run Helm", bounded(lines)...)
	}
	return pass(fmt.Sprintf("all %d that Helm needs", len(needs(r.Purpose, r.Candidate.Namespace))))
}
