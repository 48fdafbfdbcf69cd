package plugin_test

import (
	"fmt"
	"time"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

func init() {
	for name, change := range map[string]func(*installed){
		"installed":             func(*installed) {},
		"installed-bound":       boundEpochs,
		"installed-no-peer":     func(w *installed) { w.validating = nil },
		"installed-no-identity": func(w *installed) { w.mutating.Annotations, w.validating.Annotations = nil, nil },
		"installed-quota":       func(w *installed) { w.quota("system", "1", "1", "200Mi") },
		"installed-quota-limits": func(w *installed) {
			w.quota("compute", "8", "4", "8Gi")
			q := w.extra[len(w.extra)-1].(*corev1.ResourceQuota)
			q.Spec.Hard["limits.cpu"], q.Status.Hard["limits.cpu"] = resource.MustParse("4"), resource.MustParse("4")
		},
		"installed-quota-stale": func(w *installed) {
			w.quota("system", "8", "4", "8Gi")
			w.extra[len(w.extra)-1].(*corev1.ResourceQuota).Status = corev1.ResourceQuotaStatus{}
		},
		"installed-quota-roomy": func(w *installed) { w.quota("system", "8", "2", "4Gi") },
		"installed-limits": func(w *installed) {
			w.limits("small", corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: quantities("memory", "128Mi")})
		},
		"installed-crds":        badCRDs,
		"installed-newer-state": newerState,
		"installed-newer": func(w *installed) {
			w.manager.Annotations[v1alpha1.ReleaseSequenceAnnotation] = "2"
		},
		"installed-draining": func(w *installed) {
			w.extra = append(w.extra, &corev1.ConfigMap{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta("ptah-system", v1alpha1.ReleaseActivationConfigMap, 811),
				Data: map[string]string{"active-release-sequence": "1", "phase": "draining"},
			})
		},
		"installed-helm3": func(w *installed) {
			w.manager.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "helm", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1"}}
		},
		"installed-busy":      busyInstalled,
		"installed-lost":      func(w *installed) { w.manager = nil },
		"installed-unowned":   func(w *installed) { w.manager.ManagedFields = nil },
		"installed-with-work": func(w *installed) { w.extra = append(w.extra, fleetCluster()...) },
	} {
		clusters[name] = func() []runtime.Object {
			w := newInstalled()
			change(w)
			return w.objects()
		}
	}
	clusters["retained-crds"] = func() []runtime.Object {
		w := &installed{}
		badCRDs(w)
		return w.extra
	}
	for _, rule := range []rbac.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}},
		{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}},
		{APIGroups: []string{""}, Resources: []string{"limitranges"}},
		{APIGroups: []string{""}, Resources: []string{"resourcequotas"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}},
		{APIGroups: []string{""}, Resources: []string{"namespaces"}},
		{APIGroups: []string{""}, Resources: []string{"events"}},
		{APIGroups: []string{""}, Resources: []string{"pods/log"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}},
		{APIGroups: []string{"batch"}, Resources: []string{"jobs"}},
		{APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"rolebindings"}},
		{APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"clusterrolebindings"}},
		{APIGroups: []string{"scheduling.k8s.io"}, Resources: []string{"priorityclasses"}},
		{APIGroups: []string{"node.k8s.io"}, Resources: []string{"runtimeclasses"}},
		{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}},
		{APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"validatingwebhookconfigurations"}},
	} {
		rule.Verbs = []string{"get", "list"}
		grants = append(grants, rule)
	}
	stored = append(
		stored, "/registry/rolebindings/team-a/", "/registry/rolebindings/ptah-system/", "/registry/clusterrolebindings/ptah-operator-", "/registry/clusterrolebindings/team-",
		"/registry/deployments/ptah-system/", "/registry/pods/ptah-system/", "/registry/pods/app/", "/registry/resourcequotas/", "/registry/limitranges/",
		"/registry/serviceaccounts/ptah-system/", "/registry/serviceaccounts/app/", "/registry/secrets/app/", "/registry/configmaps/ptah-system/ptah-", "/registry/configmaps/app/verification",
		"/registry/configmaps/app/registry-ca", "/registry/validatingwebhookconfigurations/"+v1alpha1.AdmissionConfigurationName,
		"/registry/mutatingwebhookconfigurations/"+v1alpha1.AdmissionConfigurationName, "/registry/priorityclasses/database", "/registry/events/app/", "/registry/events/ptah-system/", "/registry/jobs/app/",
		"/registry/leases/ptah-system/",
	)
}

func meta(namespace, name string, id int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid(id), CreationTimestamp: ago(40 * 24 * time.Hour)}
}

func quantities(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// installed is a cluster with a release "ptah" of the chart in ptah-system.
type installed struct {
	mutating   *admissionregistration.MutatingWebhookConfiguration
	validating *admissionregistration.ValidatingWebhookConfiguration
	manager    *appsv1.Deployment
	extra      []runtime.Object
}

func chartLabels() map[string]string {
	return map[string]string{
		"helm.sh/chart": "ptah-operator-0.1.0", "app.kubernetes.io/name": "ptah-operator", "app.kubernetes.io/instance": "ptah", "app.kubernetes.io/managed-by": "Helm",
	}
}

func newInstalled() *installed {
	identity := func() map[string]string {
		return map[string]string{
			v1alpha1.ReleaseNameAnnotation: "ptah", v1alpha1.ReleaseNamespaceAnnotation: "ptah-system", v1alpha1.CoordinationNamespaceAnnotation: "ptah-system",
			v1alpha1.LeaderElectionAnnotation: "true", v1alpha1.LeaderElectionIDAnnotation: v1alpha1.LeaderElectionLease,
		}
	}
	w := &installed{
		mutating: &admissionregistration.MutatingWebhookConfiguration{
			TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration"}, ObjectMeta: meta("", v1alpha1.AdmissionConfigurationName, 801),
		},
		validating: &admissionregistration.ValidatingWebhookConfiguration{
			TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"}, ObjectMeta: meta("", v1alpha1.AdmissionConfigurationName, 802),
		},
		manager: &appsv1.Deployment{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: meta("ptah-system", "ptah-operator-manager", 803),
			Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.ComponentLabel: "controller"}}},
		},
	}
	w.mutating.Annotations, w.validating.Annotations = identity(), identity()
	w.manager.Labels = chartLabels()
	w.manager.Labels[v1alpha1.ComponentLabel] = v1alpha1.ComponentController
	w.manager.Annotations = map[string]string{v1alpha1.ReleaseSequenceAnnotation: "1"}
	w.manager.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "helm", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "apps/v1"}}
	w.manager.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: w.manager.Labels}, Spec: managerPod()}
	return w
}

func managerPod() corev1.PodSpec {
	return corev1.PodSpec{ServiceAccountName: "ptah-operator-manager-v1", Containers: []corev1.Container{{
		Name: "manager", Image: identityImage, Args: []string{"--leader-elect=true", "--coordination-namespace=ptah-system"},
		Resources: corev1.ResourceRequirements{Requests: quantities("cpu", "50m", "memory", "96Mi"), Limits: quantities("memory", "256Mi")},
	}}}
}

const identityImage = "registry.example/ptah/manager@sha256:0000000000000000000000000000000000000000000000000000000000000000"

func (w *installed) objects() []runtime.Object {
	var out []runtime.Object
	if w.mutating != nil {
		out = append(out, w.mutating)
	}
	if w.validating != nil {
		out = append(out, w.validating)
	}
	if w.manager != nil {
		out = append(out, w.manager)
		for i := range 2 {
			pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: meta("ptah-system", fmt.Sprintf("ptah-operator-manager-%d", i), 820+i), Spec: managerPod()}
			pod.Labels = w.manager.Labels
			pod.Status.Phase = corev1.PodRunning
			out = append(out, pod)
		}
	}
	account := &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta("ptah-system", "ptah-operator-manager-v1", 804)}
	account.Labels = chartLabels()
	own := roleBinding("", "ptah-operator-manager", 805, rbac.Subject{Kind: "ServiceAccount", Namespace: "ptah-system", Name: "ptah-operator-manager-v1"})
	own.(*rbac.ClusterRoleBinding).Labels, own.(*rbac.ClusterRoleBinding).RoleRef.Name = chartLabels(), "ptah-operator-manager"
	coordination := roleBinding("ptah-system", "ptah-operator-coordination", 806, rbac.Subject{Kind: "ServiceAccount", Namespace: "ptah-system", Name: "ptah-operator-manager-v1"})
	coordination.(*rbac.RoleBinding).Labels, coordination.(*rbac.RoleBinding).RoleRef.Name = chartLabels(), "ptah-operator-coordination"
	return append(append(out, account, own, coordination), w.extra...)
}

// roleBinding grants "view"; a ClusterRoleBinding without a namespace.
func roleBinding(namespace, name string, id int, subjects ...rbac.Subject) runtime.Object {
	role := rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: "view"}
	for i := range subjects {
		if subjects[i].Kind != "ServiceAccount" {
			subjects[i].APIGroup = rbac.GroupName
		}
	}
	if namespace == "" {
		return &rbac.ClusterRoleBinding{TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding"}, ObjectMeta: meta("", name, id), RoleRef: role, Subjects: subjects}
	}
	return &rbac.RoleBinding{TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"}, ObjectMeta: meta(namespace, name, id), RoleRef: role, Subjects: subjects}
}

func boundEpochs(w *installed) {
	account := func(name string) rbac.Subject {
		return rbac.Subject{Kind: "ServiceAccount", Namespace: "ptah-system", Name: name}
	}
	w.extra = append(
		w.extra,
		roleBinding("team-a", "debug", 831, account("ptah-operator-manager-v3")),
		roleBinding("team-a", "own", 832, account("reader")),
		roleBinding("", "team-a-users", 833, rbac.Subject{Kind: "User", Name: "system:serviceaccount:ptah-system:ptah-operator-manager-v1"}),
		roleBinding("", "team-b-group", 834, rbac.Subject{Kind: "Group", Name: "system:serviceaccounts:ptah-system"}),
		roleBinding("", "team-c-everybody", 835, rbac.Subject{Kind: "Group", Name: "system:serviceaccounts"}),
	)
}

func (w *installed) quota(name, pods, cpu, memory string) {
	hard := quantities("pods", pods, "requests.cpu", cpu, "requests.memory", memory)
	w.extra = append(w.extra, &corev1.ResourceQuota{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}, ObjectMeta: meta("ptah-system", name, 840), Spec: corev1.ResourceQuotaSpec{Hard: hard},
		Status: corev1.ResourceQuotaStatus{Hard: hard.DeepCopy(), Used: quantities("pods", "3", "requests.cpu", "150m", "requests.memory", "292Mi", "limits.cpu", "0")},
	})
}

func (w *installed) limits(name string, items ...corev1.LimitRangeItem) {
	w.extra = append(w.extra, limitRange("ptah-system", name, 850, items...))
}

func limitRange(namespace, name string, id int, items ...corev1.LimitRangeItem) runtime.Object {
	return &corev1.LimitRange{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "LimitRange"}, ObjectMeta: meta(namespace, name, id), Spec: corev1.LimitRangeSpec{Limits: items}}
}

// crdStamp changes the annotations of one of the CRDs that every cluster has; an empty value takes the annotation away.
func crdStamp(plural string, annotations map[string]string) runtime.Object {
	crd := &apiextensionsv1.CustomResourceDefinition{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}}
	crd.Name, crd.Annotations = plural+"."+v1alpha1.GroupName, annotations
	return crd
}

func badCRDs(w *installed) {
	w.extra = append(
		w.extra,
		crdStamp("ptahschemas", map[string]string{v1alpha1.CRDSchemaVersionAnnotation: "01"}),
		crdStamp("ptahschemaplans", map[string]string{v1alpha1.CRDSchemaDigestAnnotation: ""}),
		crdStamp("ptahmigrations", map[string]string{v1alpha1.CRDSchemaVersionAnnotation: "7"}),
		crdStamp("ptahmigrationplans", map[string]string{v1alpha1.CRDSchemaDigestAnnotation: "00000000000000000000000000000000000000000000000000000000000000aa"}),
	)
}

func newerState(w *installed) {
	orders := newSchema("app", "orders", 1)
	orders.Status.ExecutionBinding.ControllerStateVersion = 9
	w.extra = append(w.extra, orders, newSchema("shop", "catalog", 2))
}

func busyInstalled(w *installed) {
	w.extra = append(w.extra, applyingCluster()...)
	ledger := newMigration("app", "ledger", 11)
	unaccounted(ledger)
	w.extra = append(w.extra, ledger)
}

var _ = schedulingv1.PriorityClass{}
