package preflight

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValuesMergeAsHelmDoes(t *testing.T) {
	c := candidate(t, goodValues, "resources: {limits: {cpu: 1}}", "replicaCount: 3\nimagePullSecrets: [{name: a}]", "replicaCount: null\nresources: {limits: {cpu: null}}\nimagePullSecrets: [{name: b}]")
	assert.Equal(t, int32(0), c.Values.ReplicaCount, "null takes the key away, default and all")
	assert.Equal(t, "256Mi", c.Values.Resources.Limits.Memory().String())
	assert.NotContains(t, c.Values.Resources.Limits, "cpu")
	assert.Equal(t, []string{"replicaCount: must be at least 1"}, c.Problems)
}

func TestValuesThatTheChartRefuses(t *testing.T) {
	cases := map[string]struct{ values, want string }{
		"unknown key":       {"replicas: 2", "replicas: is no value of this chart"},
		"unknown inner key": {"image: {allowMutableTag: true}", "image.allowMutableTag: is no value of this chart"},
		"type":              {"leaderElection: maybe", "leaderElection: must be a boolean"},
		"number":            {"webhook: {timeoutSeconds: 31}", "webhook.timeoutSeconds: must be at most 30"},
		"enum":              {"image: {pullPolicy: Sometimes}", "image.pullPolicy: must be one of"},
		"pattern":           {"image: {digest: abc}", "image.digest: does not have the form"},
		"election":          {"leaderElection: false", "replicaCount: 2 managers need leaderElection: true"},
		"account":           {"serviceAccount: {create: false}", "serviceAccount.name: is required with create: false"},
		"account too long":  {"serviceAccount: {name: " + strings.Repeat("a", 242) + "}", "it is a base of at most 241"},
		"list item":         {"imagePullSecrets: [{nom: a}]", "imagePullSecrets[0].nom: is no value"},
		"version":           {"execution: {ptahVersion: ' 1'}", "execution.ptahVersion"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, strings.Join(candidate(t, goodValues, tc.values).Problems, "\n"), tc.want)
		})
	}
	assert.Empty(t, candidate(t, goodValues).Problems)
	assert.Empty(t, candidate(t, goodValues, "podLabels: {team: a}\nnodeSelector: {disk: ssd}\nserviceAccount: {name: "+strings.Repeat("a", 241)+"}").Problems)
}

func TestValuesThatAreNone(t *testing.T) {
	for name, text := range map[string]string{"broken": "a: [", "twice": "a: 1\na: 2", "list": "- hunter2"} {
		_, err := NewCandidate(testChart(t), "ptah", "ptah-system", NamedFile{Name: "v.yaml", Data: []byte(text)})
		require.ErrorContains(t, err, "reading values file v.yaml", name)
		assert.NotContains(t, err.Error(), "hunter2", "values may hold a password")
	}
}

func TestImages(t *testing.T) {
	r := whole(t)
	assert.Equal(t, Pass, judgeImages(r).Verdict)
	for _, values := range []string{"image: {digest: ''}", "image: {digest: latest}", "execution: {executorImage: r/e:latest}", "execution: {runnerImage: ''}", "execution: {runnerImage: '@" + sum + "'}"} {
		r.Candidate = candidate(t, goodValues, values)
		assert.Equal(t, Fail, judgeImages(r).Verdict, values)
	}
}

// The chart computes the same names: charts/objects_test.go holds the other side.
func TestNames(t *testing.T) {
	cases := map[string]struct{ release, values, fullname, account string }{
		"chart in release":  {"my-ptah-operator", "", "my-ptah-operator", "my-ptah-operator-manager-v1"},
		"release in chart":  {"ptah", "", "ptah-operator", "ptah-operator-manager-v1"},
		"other":             {"db", "", "db-ptah-operator", "db-ptah-operator-manager-v1"},
		"full name":         {"db", "fullnameOverride: x", "x", "x-manager-v1"},
		"name":              {"db", "nameOverride: z", "db-z", "db-z-manager-v1"},
		"account base":      {"db", "serviceAccount: {name: base}", "db-ptah-operator", "base-v1"},
		"long release name": {strings.Repeat("r", 53), "", strings.Repeat("r", 50), strings.Repeat("r", 50) + "-manager-v1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := NewCandidate(testChart(t), tc.release, "ns", NamedFile{Name: "v", Data: []byte(tc.values)})
			require.NoError(t, err)
			assert.Equal(t, tc.fullname, c.fullname())
			assert.Equal(t, tc.account, c.Account())
		})
	}
}

func TestRotatorCountsWhereTheChartHasOne(t *testing.T) {
	chart := testChart(t)
	chart.Defaults = maps.Clone(chart.Defaults)
	chart.Defaults["certificateRotation"] = map[string]any{"enabled": true, "resources": map[string]any{"requests": map[string]any{"cpu": "10m", "memory": "32Mi"}}}
	chart.Schema = map[string]any{}
	c, err := NewCandidate(chart, "ptah", "ptah-system", NamedFile{Name: "v", Data: []byte(goodValues)})
	require.NoError(t, err)
	require.Len(t, c.Workloads(), 2)
	assert.Equal(t, "2 managers + 1 rotator need 110m/224Mi", needWords(c.Workloads()))
}
