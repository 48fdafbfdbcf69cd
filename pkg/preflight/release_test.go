package preflight

import (
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/charts"
	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// readOnce spares every test the reading of six large manifests. Nobody changes what it returns.
var readOnce = sync.OnceValues(func() (Chart, error) { return ReadChart(charts.Operator) })

func testChart(t *testing.T) Chart {
	t.Helper()
	chart, err := readOnce()
	require.NoError(t, err)
	return chart
}

const sum = "sha256:1111111111111111111111111111111111111111111111111111111111111111"

const goodValues = `
image: {digest: ` + sum + `}
execution: {executorImage: r/e@` + sum + `, runnerImage: r/m@` + sum + `, ptahVersion: 0.1.0}
`

func candidate(t *testing.T, files ...string) Candidate {
	t.Helper()
	var named []NamedFile
	for _, text := range files {
		named = append(named, NamedFile{Name: "values.yaml", Data: []byte(text)})
	}
	c, err := NewCandidate(testChart(t), "ptah", "ptah-system", named...)
	require.NoError(t, err)
	return c
}

// whole is a cluster with a healthy release of sequence 1, checked for an upgrade to sequence 1.
func whole(t *testing.T) Release {
	t.Helper()
	c := candidate(t, goodValues)
	r := Release{
		Purpose: Upgrade, Candidate: c, ServerVersion: Have("v1.37.2"), Mutating: Have(c.identity()), Validating: Have(c.identity()), Activation: None[map[string]string](),
		Managers: Have([]Manager{{Name: "ptah-operator-manager", Sequence: "1", Account: "ptah-operator-manager-v1", Appliers: []string{"helm"}}}),
		CRDs:     map[string]Known[CRD]{}, RoleBindings: Have([]rbacv1.RoleBinding{}), ClusterRoleBindings: Have([]rbacv1.ClusterRoleBinding{}),
		Missing: Have([]Permission{}), Versions: 2,
		Stored: map[string]Known[[]StoredState]{"ptahschemas": Have([]StoredState{})}, Work: map[string]Known[[]Work]{"ptahschemas": Have([]Work{})},
	}
	r.Quotas.State, r.LimitRanges.State, r.Pods.State, r.Account.State = Present, Present, Present, Absent
	for name, stamp := range c.Chart.Stamps {
		r.CRDs[name] = Have(CRD{Annotations: stampAnnotations(stamp), LiveDigest: stamp.Digest, Stored: []string{"v1alpha1"}})
	}
	return r
}

func stampAnnotations(s Stamp) map[string]string {
	return map[string]string{v1alpha1.CRDSchemaVersionAnnotation: "1", v1alpha1.CRDSchemaDigestAnnotation: s.Digest, v1alpha1.CRDControllerStateAnnotation: "2"}
}

func ids[S any](checks []Check[S]) []string {
	var out []string
	for _, c := range checks {
		out = append(out, c.ID)
	}
	return out
}

func TestTheOrderOfTheChecks(t *testing.T) {
	assert.Equal(t, []string{
		"installation", "values", "image-digests", "kubernetes-version", "crd-identity", "stored-state", "role-bindings", "service-account", "priority-class", "limit-ranges",
		"quota", "permissions",
	}, ids(ReleaseChecks(Install)))
	assert.Equal(t, []string{
		"installation", "singleton-identity", "release-sequence", "values", "image-digests", "kubernetes-version", "helm-ownership", "crd-identity", "stored-state", "operations",
		"role-bindings", "service-account", "priority-class", "limit-ranges", "quota", "permissions",
	}, ids(ReleaseChecks(Upgrade)))
	assert.Equal(t, []string{"installation", "singleton-identity", "release-sequence", "helm-ownership", "operations", "role-bindings", "permissions"}, ids(ReleaseChecks(Uninstall)))
	assert.Equal(t, []string{
		"engine", "realm", "secrets", "registry-grant", "registry-ca", "verification-policy", "artifact", "service-account", "classes", "limit-ranges", "quota", "pod-security",
	}, ids(ResourceChecks()))
	assert.Empty(t, ReleaseChecks("downgrade"))
}

func TestAWholeClusterPasses(t *testing.T) {
	for _, result := range Run(ReleaseChecks(Upgrade), whole(t)) {
		assert.Equal(t, Pass, result.Verdict, "%s: %v", result.ID, result.Details)
		assert.NotEmpty(t, result.Details, result.ID)
	}
}

// A snapshot that nothing could be read for passes no check that looks at the cluster, and says why for each.
func TestWhatCouldNotBeReadNeverPasses(t *testing.T) {
	for _, purpose := range Purposes() {
		r := Release{Purpose: purpose, Candidate: candidate(t, goodValues, "priorityClassName: x\nserviceAccount: {create: false, name: y}"), Versions: 2}
		r.Stored, r.Work = map[string]Known[[]StoredState]{"ptahschemas": {}}, map[string]Known[[]Work]{"ptahschemas": {}}
		for _, result := range Run(ReleaseChecks(purpose), r) {
			if result.ID == "values" || result.ID == "image-digests" { // about the person's files
				continue
			}
			assert.Equal(t, CouldNotTell, result.Verdict, "%s %s: %v", purpose, result.ID, result.Details)
			assert.NotEmpty(t, result.Details)
		}
	}
}

// Every check that does not pass says what to do.
func TestEveryFailureHasAFix(t *testing.T) {
	cases := map[string]struct {
		change func(*Release)
		id     string
		want   Verdict
		says   string
	}{
		"peer missing":       {func(r *Release) { r.Validating = None[map[string]string]() }, "singleton-identity", Fail, "is missing, and its peer exists"},
		"election differs":   {func(r *Release) { r.Mutating.Value[v1alpha1.LeaderElectionAnnotation] = "false" }, "singleton-identity", Fail, "leader-election is \"false\""},
		"annotation missing": {func(r *Release) { delete(r.Mutating.Value, v1alpha1.LeaderElectionIDAnnotation) }, "singleton-identity", Fail, "no annotation"},
		"older candidate":    {func(r *Release) { r.Managers.Value[0].Sequence = "7" }, "release-sequence", Fail, "sequence 7"},
		"draining":           {func(r *Release) { r.Activation = Have(map[string]string{"phase": "draining"}) }, "release-sequence", CouldNotTell, "partway"},
		"activated newer": {func(r *Release) {
			r.Activation = Have(map[string]string{"phase": "active", "active-release-sequence": "3"})
		}, "release-sequence", Fail, "sequence 3 is active"},
		"no runtime":           {func(r *Release) { r.Managers = Have([]Manager{}) }, "release-sequence", CouldNotTell, "lost its runtime"},
		"old server":           {func(r *Release) { r.ServerVersion = Have("v1.34.9") }, "kubernetes-version", Fail, "v1.34.9"},
		"new server":           {func(r *Release) { r.ServerVersion = Have("v1.38.0-alpha.1") }, "kubernetes-version", Fail, "v1.38.0"},
		"strange server":       {func(r *Release) { r.ServerVersion = Have("trunk") }, "kubernetes-version", CouldNotTell, "trunk"},
		"helm 3":               {func(r *Release) { r.Managers.Value[0].Appliers, r.Managers.Value[0].Updaters = nil, []string{"helm"} }, "helm-ownership", Fail, "Helm 3"},
		"CRD missing":          {func(r *Release) { r.CRDs["ptahschemas.operator.ptah.run"] = None[CRD]() }, "crd-identity", Fail, "is missing"},
		"CRD without stamp":    {stamp(v1alpha1.CRDSchemaVersionAnnotation, ""), "crd-identity", Fail, "carries no crd-schema-version"},
		"CRD malformed":        {stamp(v1alpha1.CRDSchemaVersionAnnotation, "+1"), "crd-identity", Fail, "malformed"},
		"CRD bad digest":       {stamp(v1alpha1.CRDSchemaDigestAnnotation, "ABC"), "crd-identity", Fail, "malformed"},
		"CRD newer":            {stamp(v1alpha1.CRDSchemaVersionAnnotation, "2"), "crd-identity", Fail, "newer than the candidate's"},
		"CRD newer state":      {stamp(v1alpha1.CRDControllerStateAnnotation, "9"), "crd-identity", Fail, "controller state version 9"},
		"CRD collision":        {stamp(v1alpha1.CRDSchemaDigestAnnotation, "00000000000000000000000000000000000000000000000000000000000000aa"), "crd-identity", Fail, "two releases claim one version"},
		"CRD stored elsewhere": {func(r *Release) { change(r, func(c *CRD) { c.Stored = []string{"v1beta1"} }) }, "crd-identity", Fail, "v1beta1"},
		"CRD going":            {func(r *Release) { change(r, func(c *CRD) { c.Deleting = true }) }, "crd-identity", Fail, "being deleted"},
		"newer state":          {func(r *Release) { r.Stored["ptahschemas"] = Have([]StoredState{{"app", "orders", 3}}) }, "stored-state", Fail, "app/orders"},
		"negative state":       {func(r *Release) { r.Stored["ptahschemas"] = Have([]StoredState{{"app", "orders", -1}}) }, "stored-state", Fail, "malformed"},
		"other base":           {func(r *Release) { r.Managers.Value[0].Account = "other-v1" }, "service-account", Fail, "the accounts of this manager are named other-v<N>"},
		"foreign account":      {func(r *Release) { r.Account.State = Present }, "service-account", Fail, "does not belong to the chart"},
		"permission missing":   {func(r *Release) { r.Missing = Have([]Permission{{Verb: "patch", Resource: "secrets", Namespace: "x"}}) }, "permissions", Fail, "patch secrets in x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whole(t)
			tc.change(&r)
			for _, result := range Run(ReleaseChecks(Upgrade), r) {
				if result.ID != tc.id {
					continue
				}
				assert.Equal(t, tc.want, result.Verdict, "%v", result.Details)
				assert.Contains(t, join(result.Details), tc.says)
				assert.NotEmpty(t, result.Fix)
			}
		})
	}
}

func change(r *Release, f func(*CRD)) {
	crd := r.CRDs["ptahschemas.operator.ptah.run"].Value
	f(&crd)
	r.CRDs["ptahschemas.operator.ptah.run"] = Have(crd)
}

func stamp(key, value string) func(*Release) {
	return func(r *Release) {
		change(r, func(c *CRD) {
			if c.Annotations[key] = value; value == "" {
				delete(c.Annotations, key)
			}
		})
	}
}

func TestAnEditedCRDIsRepaired(t *testing.T) {
	r := whole(t)
	change(&r, func(c *CRD) { c.LiveDigest = "something else" })
	f := judgeCRDs(r)
	assert.Equal(t, Pass, f.Verdict)
	assert.Contains(t, join(f.Details), "--force-conflicts")
}

func TestInstallationGatesTheRest(t *testing.T) {
	r := whole(t)
	r.Purpose = Install
	results := Run(ReleaseChecks(Install), r)
	require.Len(t, results, 1)
	assert.Equal(t, Fail, results[0].Verdict)
	assert.Contains(t, join(results[0].Details), "release ptah in namespace ptah-system is installed already")

	r.Mutating, r.Validating, r.Managers = None[map[string]string](), None[map[string]string](), Have([]Manager{})
	for _, purpose := range []Purpose{Upgrade, Uninstall} {
		r.Purpose = purpose
		results = Run(ReleaseChecks(purpose), r)
		require.Len(t, results, 1)
		assert.Contains(t, join(results[0].Details), "there is nothing to "+string(purpose))
	}
	r.Managers = Have([]Manager{{Name: "ptah-operator-manager"}})
	assert.Contains(t, judgeInstallation(r).Fix, "no release identity")
}

func TestUninstallWaitsForAnApply(t *testing.T) {
	r := whole(t)
	r.Purpose = Uninstall
	r.Work["ptahschemas"] = Have([]Work{{Kind: "schema", Namespace: "app", Name: "orders", Operation: "Apply", Mutating: true, Dispatched: true}})
	assert.Equal(t, Fail, judgeWork(r).Verdict)
	r.Work["ptahschemas"] = Have([]Work{{Kind: "schema", Namespace: "app", Name: "orders", ProofOwed: true}})
	assert.Equal(t, Fail, judgeWork(r).Verdict)
	r.Work["ptahschemas"] = Have([]Work{{Kind: "migration", Namespace: "app", Name: "ledger", Operation: "History", UnresolvedRun: "Partial"}})
	f := judgeWork(r)
	assert.Equal(t, Pass, f.Verdict)
	assert.Contains(t, join(f.Details), "nobody accounted for")
	r.Purpose = Upgrade
	assert.Equal(t, Pass, judgeWork(r).Verdict)
}

func subject(kind, namespace, name string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: kind, Namespace: namespace, Name: name}}
}

func TestBindingsThatNameAnEpoch(t *testing.T) {
	cases := map[string]struct {
		subjects []rbacv1.Subject
		want     Verdict
	}{
		"active epoch":                {subject("ServiceAccount", "ptah-system", "ptah-operator-manager-v1"), Fail},
		"retained epoch":              {subject("ServiceAccount", "ptah-system", "ptah-operator-manager-v12"), Fail},
		"as a user":                   {subject("User", "", "system:serviceaccount:ptah-system:ptah-operator-manager-v3"), Fail},
		"group of the namespace":      {subject("Group", "", "system:serviceaccounts:ptah-system"), Fail},
		"group of another namespace":  {subject("Group", "", "system:serviceaccounts:team-a"), Pass},
		"group of all accounts":       {subject("Group", "", "system:serviceaccounts"), Pass},
		"same name, other namespace":  {subject("ServiceAccount", "team-a", "ptah-operator-manager-v1"), Pass},
		"no epoch":                    {subject("ServiceAccount", "ptah-system", "ptah-operator-manager"), Pass},
		"no number":                   {subject("ServiceAccount", "ptah-system", "ptah-operator-manager-v01"), Pass},
		"another base":                {subject("ServiceAccount", "ptah-system", "reader-v1"), Pass},
		"another user":                {subject("User", "", "ptah-operator-manager-v1"), Pass},
		"own namespace left out, far": {subject("ServiceAccount", "", "ptah-operator-manager-v1"), Pass},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whole(t)
			r.RoleBindings = Have([]rbacv1.RoleBinding{{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "debug"}, Subjects: tc.subjects}})
			assert.Equal(t, tc.want, judgeBindings(r).Verdict)
			r.RoleBindings = Have([]rbacv1.RoleBinding{})
			r.ClusterRoleBindings = Have([]rbacv1.ClusterRoleBinding{{ObjectMeta: metav1.ObjectMeta{Name: "debug"}, Subjects: tc.subjects}})
			assert.Equal(t, tc.want, judgeBindings(r).Verdict)
		})
	}
}

func TestTheChartsOwnBindingsAreFineAndImitationsAreNot(t *testing.T) {
	own := map[string]string{"app.kubernetes.io/instance": "ptah", "app.kubernetes.io/name": "ptah-operator", "helm.sh/chart": "ptah-operator-0.1.0"}
	binding := rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "ptah-operator-manager", Labels: own}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "ptah-operator-manager"},
		Subjects: subject("ServiceAccount", "ptah-system", "ptah-operator-manager-v1"),
	}
	r := whole(t)
	r.ClusterRoleBindings = Have([]rbacv1.ClusterRoleBinding{binding})
	assert.Equal(t, Pass, judgeBindings(r).Verdict)
	binding.RoleRef.Name = "cluster-admin"
	r.ClusterRoleBindings = Have([]rbacv1.ClusterRoleBinding{binding})
	assert.Equal(t, Fail, judgeBindings(r).Verdict)
	binding.RoleRef.Name, binding.Labels = "ptah-operator-manager", nil
	r.ClusterRoleBindings = Have([]rbacv1.ClusterRoleBinding{binding})
	assert.Equal(t, Fail, judgeBindings(r).Verdict)
}

func TestAFindingOutweighsWhatCouldNotBeSeen(t *testing.T) {
	r := whole(t)
	r.RoleBindings = Unseen[[]rbacv1.RoleBinding]("forbidden")
	assert.Equal(t, CouldNotTell, judgeBindings(r).Verdict)
	r.ClusterRoleBindings = Have([]rbacv1.ClusterRoleBinding{{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Subjects: subject("ServiceAccount", "ptah-system", "ptah-operator-manager-v1")}})
	f := judgeBindings(r)
	assert.Equal(t, Fail, f.Verdict)
	assert.Contains(t, join(f.Details), "forbidden", "what could not be seen is still said")
}

func TestReadChartRefusesABrokenChart(t *testing.T) {
	_, err := ReadChart(fstest.MapFS{})
	require.ErrorContains(t, err, "reading chart")
	_, err = ReadChart(fstest.MapFS{"ptah-operator/Chart.yaml": {Data: []byte("name: x")}})
	require.ErrorContains(t, err, "no release sequence")
}
