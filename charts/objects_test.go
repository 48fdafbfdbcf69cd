package charts_test

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/webhook"
)

const (
	deploymentKey = "Deployment ptah-system/ptah-operator-manager"
	secretKey     = "Secret ptah-system/ptah-operator-webhook-tls"
	mutatingKey   = "MutatingWebhookConfiguration /ptah-operator-admission"
	validatingKey = "ValidatingWebhookConfiguration /ptah-operator-admission"
)

func TestInventory(t *testing.T) {
	always := []string{
		"ClusterRole /ptah-operator-approver",
		"ClusterRole /ptah-operator-manager",
		"ClusterRole /ptah-operator-viewer",
		"ClusterRoleBinding /ptah-operator-manager",
		deploymentKey,
		mutatingKey,
		"PodDisruptionBudget ptah-system/ptah-operator-manager",
		"Role ptah-system/ptah-operator-coordination",
		"RoleBinding ptah-system/ptah-operator-coordination",
		secretKey,
		"Service ptah-system/ptah-operator-metrics",
		"Service ptah-system/ptah-operator-webhook",
		"ServiceAccount ptah-system/ptah-operator-manager-v1",
		validatingKey,
	}
	cases := map[string]struct {
		set           []string
		without, with []string
	}{
		"defaults": {},
		"foreign certificate": {
			set: []string{"webhook.existingSecret=tls", "webhook.caBundle=ca"}, without: []string{secretKey},
		},
		"foreign account": {
			set: []string{"serviceAccount.create=false", "serviceAccount.name=mine"}, without: []string{"ServiceAccount ptah-system/ptah-operator-manager-v1"},
		},
		"named account": {
			set:     []string{"serviceAccount.name=mine"},
			without: []string{"ServiceAccount ptah-system/ptah-operator-manager-v1"}, with: []string{"ServiceAccount ptah-system/mine-v1"},
		},
		"coordination elsewhere": {
			set:     []string{"coordination.namespace=locks"},
			without: []string{"Role ptah-system/ptah-operator-coordination", "RoleBinding ptah-system/ptah-operator-coordination"},
			with:    []string{"Role locks/ptah-operator-coordination", "RoleBinding locks/ptah-operator-coordination"},
		},
		"no metrics Service": {set: []string{"metrics.service.enabled=false"}, without: []string{"Service ptah-system/ptah-operator-metrics"}},
		"no disruption budget": {
			set: []string{"podDisruptionBudget.enabled=false"}, without: []string{"PodDisruptionBudget ptah-system/ptah-operator-manager"},
		},
		"no approver role": {set: []string{"approverClusterRole.create=false"}, without: []string{"ClusterRole /ptah-operator-approver"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := slices.DeleteFunc(slices.Clone(always), func(k string) bool { return slices.Contains(c.without, k) })
			assert.ElementsMatch(t, append(want, c.with...), slices.Collect(maps.Keys(render(t, c.set...))))
		})
	}
}

// The whole of what the manager may do. Change it here and in the chart together, and say why.
func TestManagerRights(t *testing.T) {
	found := render(t)
	want := []string{
		"operator.ptah.run/ptahschemas: get,list,patch,update,watch",
		"operator.ptah.run/ptahmigrations: get,list,patch,update,watch",
		"operator.ptah.run/ptahschemaplans: create,get,list,watch",
		"operator.ptah.run/ptahmigrationplans: create,get,list,watch",
		"operator.ptah.run/ptahschemaapprovals: get,list,watch",
		"operator.ptah.run/ptahmigrationapprovals: get,list,watch",
		"operator.ptah.run/ptahschemas/status: patch,update",
		"operator.ptah.run/ptahschemaplans/status: patch,update",
		"operator.ptah.run/ptahschemaapprovals/status: patch,update",
		"operator.ptah.run/ptahmigrations/status: patch,update",
		"operator.ptah.run/ptahmigrationplans/status: patch,update",
		"operator.ptah.run/ptahmigrationapprovals/status: patch,update",
		"operator.ptah.run/ptahschemas/finalizers: update",
		"operator.ptah.run/ptahmigrations/finalizers: update",
		"batch/jobs: create,get,list,patch,update,watch",
		"/pods: get,list,watch",
		"/pods/log: get",
		"/configmaps: create,get",
		"/serviceaccounts: get",
		"/limitranges: list",
		"node.k8s.io/runtimeclasses: get",
		"scheduling.k8s.io/priorityclasses: get,list", // which class is the default of the cluster
		"/events: create,patch",
		"events.k8s.io/events: create,patch",
		"/events: list", // why the Job controller made no Pod
	}
	assert.ElementsMatch(t, want, rights(as[rbacv1.ClusterRole](t, found, "ClusterRole /ptah-operator-manager").Rules))
	assert.Equal(t, []string{"coordination.k8s.io/leases: create,get,update"},
		rights(as[rbacv1.Role](t, found, "Role ptah-system/ptah-operator-coordination").Rules))
}

func rights(rules []rbacv1.PolicyRule) []string {
	var out []string
	for _, rule := range rules {
		verbs := slices.Sorted(slices.Values(rule.Verbs))
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				out = append(out, fmt.Sprintf("%s/%s: %s", group, resource, strings.Join(verbs, ",")))
			}
		}
	}
	return out
}

// No role of this chart, for programs or for people, reaches Secrets or everything.
func TestNoRoleReachesSecrets(t *testing.T) {
	found := render(t)
	for key := range found {
		var rules []rbacv1.PolicyRule
		switch {
		case strings.HasPrefix(key, "ClusterRole "):
			rules = as[rbacv1.ClusterRole](t, found, key).Rules
		case strings.HasPrefix(key, "Role "):
			rules = as[rbacv1.Role](t, found, key).Rules
		}
		for _, right := range rights(rules) {
			assert.NotContains(t, right, "secrets", key)
			assert.NotContains(t, right, "*", key)
			assert.NotContains(t, right, "delete", key)
		}
	}
}

func TestPeopleRoles(t *testing.T) {
	found := render(t)
	viewer := as[rbacv1.ClusterRole](t, found, "ClusterRole /ptah-operator-viewer")
	assert.Equal(t, "true", viewer.Labels["rbac.authorization.k8s.io/aggregate-to-view"])
	assert.Len(t, rights(viewer.Rules), 6)
	approver := as[rbacv1.ClusterRole](t, found, "ClusterRole /ptah-operator-approver")
	for label := range approver.Labels {
		assert.NotContains(t, label, "aggregate-to", "nobody becomes an approver by holding another role")
	}
	assert.Contains(t, rights(approver.Rules), "operator.ptah.run/ptahschemaapprovals: create,get,list,watch")
	assert.NotContains(t, strings.Join(rights(approver.Rules), "\n"), "configmaps")
	for key := range found {
		if strings.Contains(key, "RoleBinding ") {
			assert.NotContains(t, key, "approver")
		}
	}
}

func TestBindingsNameTheEpochAccount(t *testing.T) {
	found := render(t, "coordination.namespace=locks", "serviceAccount.name=mine")
	want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "mine-v1", Namespace: namespace}}
	assert.Equal(t, want, as[rbacv1.ClusterRoleBinding](t, found, "ClusterRoleBinding /ptah-operator-manager").Subjects)
	assert.Equal(t, want, as[rbacv1.RoleBinding](t, found, "RoleBinding locks/ptah-operator-coordination").Subjects, "the binding crosses namespaces")
	assert.Equal(t, "mine-v1", as[appsv1.Deployment](t, found, deploymentKey).Spec.Template.Spec.ServiceAccountName)
}

func TestManagerDeployment(t *testing.T) {
	d := as[appsv1.Deployment](t, render(t), deploymentKey)
	assert.Equal(t, appsv1.RecreateDeploymentStrategyType, d.Spec.Strategy.Type)
	assert.EqualValues(t, 2, *d.Spec.Replicas)
	assert.Equal(t, v1alpha1.ComponentController, d.Spec.Template.Labels[v1alpha1.ComponentLabel])

	pod := d.Spec.Template.Spec
	assert.False(t, *pod.EnableServiceLinks)
	assert.True(t, *pod.SecurityContext.RunAsNonRoot)
	assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
	require.Len(t, pod.Containers, 1)
	c := pod.Containers[0]
	assert.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
	assert.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
	assert.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
	assert.Equal(t, "ghcr.io/ptah-run/ptah-operator@"+pin, c.Image)
	assert.Equal(t, "/readyz", c.ReadinessProbe.HTTPGet.Path)
	assert.Equal(t, "/healthz", c.LivenessProbe.HTTPGet.Path)
	assert.Equal(t, []string{
		"--controller-image=ghcr.io/ptah-run/ptah-operator@" + pin,
		"--executor-image=registry.internal/executor@" + pin,
		"--runner-image=registry.internal/manager@" + pin,
		"--ptah-version=0.1.0",
		"--coordination-namespace=ptah-system",
		"--leader-elect=true",
		"--webhook-port=9443",
		"--webhook-cert-dir=/ptah/webhook-tls",
		"--metrics-bind-address=:8080",
		"--health-probe-bind-address=:8081",
		"--admission-default-tolerations-enabled=true",
		"--admission-default-not-ready-toleration-seconds=300",
		"--admission-default-unreachable-toleration-seconds=300",
		"--admission-extended-resource-toleration-enabled=false",
		"--admission-always-pull-images-enabled=false",
	}, c.Args)

	require.Len(t, pod.Volumes, 1)
	assert.Equal(t, []corev1.KeyToPath{{Key: "tls.crt", Path: "tls.crt"}, {Key: "tls.key", Path: "tls.key"}}, pod.Volumes[0].Secret.Items,
		"the certificate authority never enters the manager")
}

func TestPodValuesReachThePodAndNotTheSelector(t *testing.T) {
	d := as[appsv1.Deployment](t, render(t,
		"podLabels.team=dba", "podLabels.app\\.kubernetes\\.io/component=other", "podAnnotations.note=x", "nodeSelector.pool=system",
		"tolerations[0].key=dedicated", "tolerations[0].operator=Exists", "imagePullSecrets[0].name=pull", "priorityClassName=high",
		"admission.defaultNotReadyTolerationSeconds=0", "replicaCount=1", "leaderElection=false",
	), deploymentKey)
	pod := d.Spec.Template
	assert.Equal(t, "dba", pod.Labels["team"])
	assert.Equal(t, v1alpha1.ComponentController, pod.Labels[v1alpha1.ComponentLabel], "a value cannot take the Pods away from the Service")
	assert.Equal(t, "x", pod.Annotations["note"])
	assert.Equal(t, map[string]string{"pool": "system"}, pod.Spec.NodeSelector)
	assert.Equal(t, []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}, pod.Spec.Tolerations)
	assert.Equal(t, []corev1.LocalObjectReference{{Name: "pull"}}, pod.Spec.ImagePullSecrets)
	assert.Equal(t, "high", pod.Spec.PriorityClassName)
	assert.NotContains(t, d.Spec.Selector.MatchLabels, "team")
	assert.Contains(t, pod.Spec.Containers[0].Args, "--admission-default-not-ready-toleration-seconds=0")
	assert.Contains(t, pod.Spec.Containers[0].Args, "--leader-elect=false")
}

func TestAdmissionConfigurations(t *testing.T) {
	found := render(t, "webhook.timeoutSeconds=7", "coordination.namespace=locks")
	mutating := as[admissionv1.MutatingWebhookConfiguration](t, found, mutatingKey)
	validating := as[admissionv1.ValidatingWebhookConfiguration](t, found, validatingKey)
	identity := map[string]string{
		v1alpha1.ReleaseNameAnnotation: release, v1alpha1.ReleaseNamespaceAnnotation: namespace, v1alpha1.CoordinationNamespaceAnnotation: "locks",
		v1alpha1.LeaderElectionAnnotation: "true", v1alpha1.LeaderElectionIDAnnotation: v1alpha1.LeaderElectionLease,
	}
	assert.Equal(t, identity, mutating.Annotations)
	assert.Equal(t, identity, validating.Annotations)

	require.Len(t, mutating.Webhooks, 1)
	m := mutating.Webhooks[0]
	paths := map[string]string{m.Name: *m.ClientConfig.Service.Path}
	assert.Equal(t, admissionv1.Fail, *m.FailurePolicy)
	assert.EqualValues(t, 7, *m.TimeoutSeconds)
	require.Len(t, validating.Webhooks, 2)
	for _, v := range validating.Webhooks {
		paths[v.Name] = *v.ClientConfig.Service.Path
		assert.Equal(t, admissionv1.Fail, *v.FailurePolicy, v.Name)
		assert.Equal(t, admissionv1.SideEffectClassNone, *v.SideEffects, v.Name)
		assert.EqualValues(t, 7, *v.TimeoutSeconds, v.Name)
		assert.Nil(t, v.ObjectSelector, v.Name)
		assert.Nil(t, v.NamespaceSelector, v.Name)
		assert.Equal(t, m.ClientConfig.CABundle, v.ClientConfig.CABundle, v.Name)
		assert.Equal(t, "ptah-operator-webhook", v.ClientConfig.Service.Name, v.Name)
	}
	assert.Equal(t, map[string]string{
		v1alpha1.MutateApprovalEntry:   webhook.MutateApprovalPath,
		v1alpha1.ValidateApprovalEntry: webhook.ValidateApprovalPath,
		v1alpha1.ValidatePodEntry:      webhook.ValidatePodPath,
	}, paths)
}

func TestMatchConditionKnowsEveryReservedName(t *testing.T) {
	validating := as[admissionv1.ValidatingWebhookConfiguration](t, render(t), validatingKey)
	require.Len(t, validating.Webhooks[1].MatchConditions, 1)
	expression := validating.Webhooks[1].MatchConditions[0].Expression
	for _, literal := range []string{
		v1alpha1.ResolveJobPrefix, v1alpha1.VerifyJobPrefix, v1alpha1.ObserveJobPrefix, v1alpha1.PlanJobPrefix, v1alpha1.ApplyJobPrefix,
		v1alpha1.MigrationResolveJobPrefix, v1alpha1.MigrationVerifyJobPrefix, v1alpha1.MigrationHistoryJobPrefix, v1alpha1.MigrationApplyJobPrefix,
		v1alpha1.ManagedByLabel, v1alpha1.ManagedByValue, v1alpha1.ComponentLabel, v1alpha1.ComponentSchemaOp, v1alpha1.ComponentMigrationOp,
		v1alpha1.OperationLabel,
	} {
		assert.Contains(t, expression, "'"+literal+"'")
	}
}

func TestGeneratedCertificate(t *testing.T) {
	found := render(t)
	secret := as[corev1.Secret](t, found, secretKey)
	assert.Equal(t, corev1.SecretTypeTLS, secret.Type)
	assert.Equal(t, v1alpha1.PurposeWebhookCertificate, secret.Labels[v1alpha1.PurposeLabel])
	assert.ElementsMatch(t, []string{"tls.crt", "tls.key", "ca.crt", "ca.key"}, slices.Collect(maps.Keys(secret.Data)))
	bundle := as[admissionv1.MutatingWebhookConfiguration](t, found, mutatingKey).Webhooks[0].ClientConfig.CABundle
	assert.Equal(t, secret.Data["ca.crt"], bundle)

	block, _ := pem.Decode(secret.Data["tls.crt"])
	require.NotNil(t, block)
	leaf, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(bundle))
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "ptah-operator-webhook.ptah-system.svc"})
	require.NoError(t, err)
	assert.Greater(t, time.Until(leaf.NotAfter), 9*365*24*time.Hour, "nothing renews it yet")
}

func TestForeignCertificate(t *testing.T) {
	found := render(t, "webhook.existingSecret=tls", "webhook.caBundle=PEM")
	assert.Equal(t, "tls", as[appsv1.Deployment](t, found, deploymentKey).Spec.Template.Spec.Volumes[0].Secret.SecretName)
	assert.Equal(t, []byte("PEM"), as[admissionv1.ValidatingWebhookConfiguration](t, found, validatingKey).Webhooks[1].ClientConfig.CABundle)

	out, err := template(t, append(required(), "webhook.existingSecret=tls"))
	require.Error(t, err)
	assert.Contains(t, out, "webhook.caBundle is required")
	out, err = template(t, append(required(), "webhook.caBundle=PEM"))
	require.Error(t, err)
	assert.Contains(t, out, "set both, or neither")
}

func TestObjectsAreLabelled(t *testing.T) {
	for key, object := range render(t) {
		assert.Equal(t, "Helm", object.GetLabels()["app.kubernetes.io/managed-by"], key)
	}
}
