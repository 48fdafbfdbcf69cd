package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const tinySchema = "CREATE TABLE public.notes (id bigint PRIMARY KEY, body text);"

// fault is one way in which the world is wrong, the words that a tired person must find in a condition, and its repair.
type fault struct {
	name string
	// wrong breaks the stage before the schema is first applied.
	wrong func(t *testing.T, s *stage)
	// words must all stand in the message of condition (ReconciliationFailed unless said otherwise).
	condition string
	words     []string
	// repair removes the cause; the schema must then converge by itself. nil: the author must edit, and the test ends.
	repair func(t *testing.T, s *stage)
}

func faults() []fault {
	return []fault{
		{
			name:   "registry-unreachable",
			wrong:  func(_ *testing.T, s *stage) { s.schema.Reference = "oci://" + it.PostgresHost + ":1/e2e/none:v1" },
			words:  []string{"RegistryUnreachable"},
			repair: func(_ *testing.T, s *stage) { s.schema.Reference = s.publish(tinySchema); s.apply() },
		},
		{
			name:   "tag-missing",
			wrong:  func(_ *testing.T, s *stage) { s.schema.Reference = "oci://" + it.Registry + "/e2e/nothing-here:v1" },
			words:  []string{"ArtifactNotFound"},
			repair: func(_ *testing.T, s *stage) { s.schema.Reference = s.publish(tinySchema); s.apply() },
		},
		{
			name: "artifact-type",
			wrong: func(t *testing.T, s *stage) {
				s.schema.Reference = strings.Replace("oci://"+it.Images["executor"], "oci://oci://", "oci://", 1)
			},
			condition: "ArtifactVerified",
			words:     []string{"ArtifactTypeRefused", "artifact type"},
		},
		{
			name: "secret-missing",
			wrong: func(t *testing.T, s *stage) {
				s.schema.Reference = s.publish(tinySchema)
				s.schema.SecretName = "not-there"
			},
			words:  []string{"CredentialMissing", "not-there"},
			repair: func(t *testing.T, s *stage) { s.createSecret("not-there", "url", s.schema.URL) },
		},
		{
			name: "key-missing",
			wrong: func(t *testing.T, s *stage) {
				s.schema.Reference, s.schema.SecretName = s.publish(tinySchema), "other-key"
				s.ensureNamespace()
				s.createSecret("other-key", "dsn", s.schema.URL)
			},
			words:  []string{"other-key", "url"},
			repair: func(t *testing.T, s *stage) { s.createSecret("other-key", "url", s.schema.URL) },
		},
		{
			name: "password-wrong",
			wrong: func(t *testing.T, s *stage) {
				s.schema.Reference = s.publish(tinySchema)
				s.schema.URL = strings.Replace(s.schema.URL, "s3ntinel-pa", "s3ntinel-wrong-pa", 1)
			},
			words: []string{"DatabaseAuthenticationFailed"},
			repair: func(t *testing.T, s *stage) {
				s.schema.URL = strings.Replace(s.schema.URL, "s3ntinel-wrong-pa", "s3ntinel-pa", 1)
				s.apply()
			},
		},
		{
			name: "database-down",
			wrong: func(t *testing.T, s *stage) {
				s.schema.Reference = s.publish(tinySchema)
				s.schema.URL = strings.Replace(s.schema.URL, ":"+it.PostgresPort+"/", ":2/", 1)
			},
			words: []string{"DatabaseUnreachable"},
			repair: func(t *testing.T, s *stage) {
				s.schema.URL = strings.Replace(s.schema.URL, ":2/", ":"+it.PostgresPort+"/", 1)
				s.apply()
			},
		},
		{
			name: "tls-refused",
			wrong: func(t *testing.T, s *stage) {
				s.schema.Reference = s.publish(tinySchema)
				s.schema.URL = strings.Replace(s.schema.URL, "sslmode=disable", "sslmode=require", 1)
			},
			words: []string{"DatabaseTLSFailed"},
			repair: func(t *testing.T, s *stage) {
				s.schema.URL = strings.Replace(s.schema.URL, "sslmode=require", "sslmode=disable", 1)
				s.apply()
			},
		},
		{
			name: "engine-unknown",
			wrong: func(t *testing.T, s *stage) {
				s.schema.Reference, s.schema.Engine = s.publish(tinySchema), "Oracle"
			},
			condition: "EngineSupported",
			words:     []string{"Oracle"},
			repair:    func(t *testing.T, s *stage) { s.schema.Engine = "PostgreSQL"; s.apply() },
		},
	}
}

func TestFaultsAreNamedAndHealByThemselves(t *testing.T) {
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "fault-"+f.name)
			s.schema.Apply, s.schema.Extra = "Always", "  execution: {failureRetryInterval: 3s, connectTimeout: 3s}\n"
			f.wrong(t, s)
			s.apply()
			kind := f.condition
			if kind == "" {
				kind = "ReconciliationFailed"
			}
			message := s.messageHolds(kind, f.words...)
			t.Logf("condition %s: %s", kind, message)
			assert.NotEmpty(t, s.events())
			if f.repair == nil {
				return
			}
			before := s.jobCount()
			time.Sleep(2 * time.Second)
			assert.LessOrEqual(t, s.jobCount()-before, 2, "no hot loop while the cause stands")
			f.repair(t, s)
			s.phase("InSync")
		})
	}
}

func (s *stage) jobCount() int {
	var jobs batchv1.JobList
	require.NoError(s.t, cluster.List(s.t.Context(), &jobs, client.InNamespace(s.ns)))
	return len(jobs.Items)
}

func (s *stage) ensureNamespace() {
	s.t.Helper()
	_, err := it.Must(s.t.Context(), fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", s.ns), "kubectl", "apply", "-f", "-")
	require.NoError(s.t, err)
}

func (s *stage) createSecret(name, key, value string) {
	s.t.Helper()
	s.createSecrets(name, map[string]string{key: value})
}

func (s *stage) createSecrets(name string, values map[string]string) {
	s.t.Helper()
	manifest := fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: %s}\nstringData:\n", name, s.ns)
	for key, value := range values {
		manifest += fmt.Sprintf("  %s: %q\n", key, value)
	}
	_, err := it.Must(s.t.Context(), manifest, "kubectl", "apply", "-f", "-")
	require.NoError(s.t, err)
}

// A malformed schema never becomes an artifact: publishing names file, line and column.
func TestMalformedSchemaIsRefusedAtPublishing(t *testing.T) {
	s := newStage(t, "malformed")
	file := s.t.TempDir() + "/broken.sql"
	require.NoError(t, writeFile(file, "CREATE TABLE public.ok (id int);\nCREATE TABLE public.bad (\n  id int,\n  body txet\n);\n"))
	_, err := it.PushSchema(t.Context(), "e2e/malformed", file)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "broken.sql")
	assert.Regexp(t, `:(2|4):\d+`, err.Error(), "line and column of the offending statement")
}

// A chunk that somebody edits or deletes stops the Apply; nothing reaches the database.
func TestDamagedPlanIsNeverApplied(t *testing.T) {
	s := newStage(t, "damaged")
	s.schema.Interval = "1h"
	s.schema.Reference = s.publish(tinySchema)
	s.apply()
	s.phase("AwaitingApproval")
	plan := s.get().Status.Plan
	require.NotNil(t, plan)
	chunk := plan.Name + "-000"
	_, err := it.Must(t.Context(), "", "kubectl", "delete", "configmap", chunk, "-n", s.ns)
	require.NoError(t, err)
	manifest := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s, labels: {operator.ptah.run/plan: %s}}\nimmutable: true\nbinaryData: {chunk: aGVsbG8=}\n", chunk, s.ns, plan.Name)
	_, err = it.Must(t.Context(), manifest, "kubectl", "create", "-f", "-")
	require.NoError(t, err)

	res, err := it.Run(t.Context(), "", "kubectl-ptah", "plan", s.name, "-n", s.ns)
	require.NoError(t, err)
	assert.Equal(t, 1, res.Code)
	assert.Empty(t, res.Stdout, "not one byte of a damaged plan is printed")
	assert.Contains(t, res.Stderr, "altered or damaged")

	res, err = it.Run(t.Context(), "", "kubectl-ptah", "approve", s.name, "-n", s.ns, "--yes")
	require.NoError(t, err)
	assert.NotEqual(t, 0, res.Code, "a damaged plan takes no approval")
	count, err := it.Query(t.Context(), s.database(), "SELECT count(*)::text FROM pg_tables WHERE tablename='notes'")
	require.NoError(t, err)
	assert.Equal(t, "0", count)
}

// Killing the Pod of a read-only operation costs a retry and nothing else.
func TestKilledPodOfAReadOperationIsRetried(t *testing.T) {
	s := newStage(t, "podkill")
	s.schema.Apply, s.schema.Extra = "Always", "  execution: {failureRetryInterval: 2s}\n"
	s.schema.Reference = s.publish(tinySchema)
	s.apply()
	deadline := time.Now().Add(time.Minute)
	killed := false
	for !killed && time.Now().Before(deadline) {
		var pods corev1.PodList
		require.NoError(t, cluster.List(t.Context(), &pods, client.InNamespace(s.ns), client.MatchingLabels{"operator.ptah.run/operation": "observe"}))
		for i := range pods.Items {
			killed = cluster.Delete(t.Context(), &pods.Items[i], client.GracePeriodSeconds(0)) == nil || killed
		}
		time.Sleep(50 * time.Millisecond)
	}
	require.True(t, killed, "no Observe Pod was seen")
	s.phase("InSync")
}
