package plugin_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// canary is a value that no output may ever hold.
const canary = "s3cr3t-canary-value"

func init() {
	for name, change := range map[string]func(*ready){
		"ready":                func(*ready) {},
		"ready-shared":         func(w *ready) { w.rival(true) },
		"ready-contested":      func(w *ready) { w.rival(false) },
		"ready-no-secret":      func(w *ready) { w.drop(w.database) },
		"ready-no-key":         func(w *ready) { w.database.Data = map[string][]byte{"URL": []byte(canary), "url": nil} },
		"ready-no-policy":      func(w *ready) { w.drop(w.policy) },
		"ready-policy-mutable": func(w *ready) { w.policy.Immutable = nil },
		"ready-policy-key":     func(w *ready) { w.policy.Data = map[string]string{"policy.yml": "version: 1"} },
		"ready-policy-broken":  func(w *ready) { w.policy.Data["policy.yaml"] = "version: 1\nrequire_everything: true\n" },
		"ready-no-account":     func(w *ready) { w.drop(w.account) },
		"ready-classes": func(w *ready) {
			w.schema.Spec.Execution.PriorityClassName, w.schema.Spec.Execution.RuntimeClassName = "database-tools", "sandbox"
		},
		"ready-limits": func(w *ready) {
			w.objects = append(w.objects,
				limitRange("app", "one", 951, corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: quantities("cpu", "1"), DefaultRequest: quantities("cpu", "100m")}),
				limitRange("app", "two", 952, corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: quantities("cpu", "2"), DefaultRequest: quantities("cpu", "100m")}))
		},
		"ready-limits-max": func(w *ready) {
			w.objects = append(w.objects, limitRange("app", "small", 951, corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: quantities("memory", "64Mi"), Max: quantities("memory", "64Mi")}))
		},
		"ready-quota": func(w *ready) {
			hard := quantities("pods", "1", "requests.memory", "64Mi")
			w.objects = append(w.objects, &corev1.ResourceQuota{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}, ObjectMeta: meta("app", "team", 953), Spec: corev1.ResourceQuotaSpec{Hard: hard},
				Status: corev1.ResourceQuotaStatus{Hard: hard.DeepCopy(), Used: quantities("pods", "1", "requests.memory", "0")},
			})
		},
		"ready-engine":   func(w *ready) { w.schema.Spec.Target.Engine = "Oracle" },
		"ready-registry": func(w *ready) { w.withRegistry("127.0.0.1:1") },
		"ready-grant": func(w *ready) {
			w.withRegistry("127.0.0.1:1")
			w.registry.Data["registry"] = []byte("registry.example")
			delete(w.registry.Data, "allowPlainHTTP")
		},
		"ready-registry-half": func(w *ready) {
			w.withRegistry("127.0.0.1:1")
			delete(w.registry.Data, "password")
			w.registry.Data["registry"] = []byte("https://127.0.0.1:1")
		},
		"ready-ca": func(w *ready) {
			w.withRegistry("127.0.0.1:1")
			w.schema.Spec.Desired.Transport = &v1alpha1.Transport{CAFrom: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "registry-ca"}, Key: "ca.crt"}}
			w.objects = append(w.objects, &corev1.ConfigMap{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta("app", "registry-ca", 955), Data: map[string]string{"ca.crt": "no certificate"},
			})
		},
		"ready-migration": func(w *ready) {
			w.drop(w.schema)
			ledger := newMigration("app", "ledger", 11)
			ledger.Spec.Target.URLFrom.Name = "orders-database"
			w.objects = append(w.objects, ledger)
		},
		"ready-restricted": func(w *ready) {
			w.namespace.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
		},
	} {
		clusters[name] = func() []runtime.Object {
			w := newReady()
			change(w)
			return w.all()
		}
	}
}

// ready is a namespace that has everything that the schema app/orders needs.
type ready struct {
	namespace          *corev1.Namespace
	schema             *v1alpha1.PtahSchema
	database, registry *corev1.Secret
	policy             *corev1.ConfigMap
	account            *corev1.ServiceAccount
	objects            []runtime.Object
	dropped            map[runtime.Object]bool
}

func newReady() *ready {
	return &ready{
		namespace: &corev1.Namespace{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: meta("", "app", 901),
			Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
		},
		schema:   newSchema("app", "orders", 1),
		database: newSecret("orders-database", 902, "url", "postgres://orders:"+canary+"@db.example/orders"),
		policy: &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta("app", "verification", 903), Immutable: ptr.To(true),
			Data: map[string]string{"policy.yaml": "version: 1\nrequire_digest_pin: true\n"},
		},
		account: &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta("app", "default", 904)},
		dropped: map[runtime.Object]bool{},
	}
}

func newSecret(name string, id int, pairs ...string) *corev1.Secret {
	s := &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta("app", name, id), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{}}
	for i := 0; i < len(pairs); i += 2 {
		s.Data[pairs[i]] = []byte(pairs[i+1])
	}
	return s
}

func (w *ready) drop(object runtime.Object) { w.dropped[object] = true }

func (w *ready) all() []runtime.Object {
	all := []runtime.Object{w.namespace, w.schema, w.database, w.policy, w.account}
	if w.registry != nil {
		all = append(all, w.registry)
	}
	var out []runtime.Object
	for _, object := range append(all, w.objects...) {
		if !w.dropped[object] {
			out = append(out, object)
		}
	}
	return out
}

// rival claims the database of app/orders from another namespace.
func (w *ready) rival(declared bool) {
	catalog := newSchema("shop", "catalog", 10)
	catalog.Spec.Target.CoordinationKey = w.schema.Spec.Target.CoordinationKey
	catalog.Spec.Target.SharedRealm, w.schema.Spec.Target.SharedRealm = declared, true
	w.objects = append(w.objects, catalog)
}

// withRegistry takes the artifact from a registry that wants a credential.
func (w *ready) withRegistry(host string) {
	w.schema.Spec.Desired.OCIRef = "oci://" + host + "/app/orders:v2"
	w.schema.Spec.Desired.Transport = &v1alpha1.Transport{PlainHTTP: true}
	w.schema.Spec.Desired.RegistryAuthFrom = &v1alpha1.RegistryAuth{Name: "registry"}
	w.registry = newSecret("registry", 905, "username", "robot", "password", canary, "registry", host, "allowPlainHTTP", "true")
}
