package e2e

import (
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/test/rig"
)

// kills is how often the manager dies while the schema goes through its editions.
const kills = 20

// The manager is killed again and again while a schema converges through several editions. It must end InSync, approving again where an outcome
// became unknown; no claim ever has two Apply Jobs, and the database's own statement log shows every planned statement once.
func TestManagerKilledTwentyTimesNeverAppliesTwice(t *testing.T) {
	s := newStage(t, "crash")
	s.schema.Extra = "  execution: {failureRetryInterval: 2s}\n"
	require.NoError(t, it.Exec(t.Context(), "postgres", `ALTER DATABASE "`+s.database()+`" SET log_statement = 'all'`))
	logStart := statementLogSize(t)
	jobs := collectApplyJobs(t, s)

	random := rand.New(rand.NewSource(time.Now().UnixNano())) //nolint:gosec // the spread of the kills needs no secret
	killed, planned := 0, map[string]bool{}
	for edition := 0; (killed < kills || edition < 3) && edition < 12; edition++ {
		s.schema.Reference = s.publish(editionSQL(edition))
		s.apply()
		deadline := time.Now().Add(4 * time.Minute)
		for !s.settled() {
			require.True(t, time.Now().Before(deadline), "edition %d did not settle: phase %s", edition, s.get().Status.Phase)
			if killed < kills && random.Intn(3) == 0 {
				killed += killManager(t)
			}
			s.approveIfAsked()
			time.Sleep(time.Duration(200+random.Intn(1500)) * time.Millisecond)
		}
		for _, statement := range s.appliedStatements() {
			planned[statement] = true
		}
	}
	t.Logf("killed the manager %d times; %d statements were planned and applied", killed, len(planned))
	require.GreaterOrEqual(t, killed, kills)
	require.NotEmpty(t, planned)

	for claim, names := range jobs() {
		assert.Len(t, names, 1, "claim %s has more than one Apply Job: %v", claim, names)
	}
	log := statementLogSince(t, logStart)
	for statement := range planned {
		assert.Equal(t, 1, strings.Count(log, "\n: "+statement+"\n"), "how often the statement log shows: %s", statement)
	}
}

// editionSQL grows the schema by one table and one column for every edition.
func editionSQL(edition int) string {
	var b strings.Builder
	for i := 0; i <= edition; i++ {
		fmt.Fprintf(&b, "CREATE TABLE public.crash_t%d (id bigint PRIMARY KEY, body text);\nCREATE INDEX crash_i%d ON public.crash_t%d (body);\n", i, i, i)
	}
	return b.String()
}

// settled reports that the current artifact is proven.
func (s *stage) settled() bool {
	got := s.get()
	digest := s.schema.Reference[strings.Index(s.schema.Reference, "@")+1:]
	return string(got.Status.Phase) == "InSync" && got.Status.Source != nil && got.Status.Source.Digest == digest && got.Status.ObservedGeneration == got.Generation
}

// approveIfAsked approves where the schema waits for it; a refusal because the world moved is tried again by the caller.
func (s *stage) approveIfAsked() {
	if string(s.get().Status.Phase) != "AwaitingApproval" {
		return
	}
	res, err := it.Run(s.t.Context(), "", "kubectl-ptah", "approve", s.name, "-n", s.ns, "--yes")
	if err == nil && res.Code != 0 {
		s.t.Logf("approve: exit %d: %s", res.Code, strings.TrimSpace(res.Stderr))
	}
}

// appliedStatements are the statements of the plan that was last proven.
func (s *stage) appliedStatements() []string { return s.statements("--applied") }

// statements are those of the stored plan that a flag of kubectl ptah plan selects.
func (s *stage) statements(which string) []string {
	s.t.Helper()
	out, err := it.Must(s.t.Context(), "", "kubectl-ptah", "plan", s.name, "-n", s.ns, which, "-o", "json")
	require.NoError(s.t, err)
	document, err := plan.Decode([]byte(out))
	require.NoError(s.t, err)
	var statements []string
	for _, statement := range document.Statements {
		statements = append(statements, statement.SQL)
	}
	return statements
}

// killManager kills the manager's Pod without grace and reports how many died.
func killManager(t *testing.T) int {
	t.Helper()
	var pods corev1.PodList
	require.NoError(t, cluster.List(t.Context(), &pods, client.InNamespace(rig.OperatorNamespace), client.MatchingLabels{v1alpha1.ComponentLabel: v1alpha1.ComponentController}))
	dead := 0
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil && cluster.Delete(t.Context(), &pods.Items[i], client.GracePeriodSeconds(0)) == nil {
			dead = 1
		}
	}
	return dead
}

// collectApplyJobs keeps, for every claim, the names of its Apply Jobs by UID.
func collectApplyJobs(t *testing.T, s *stage) func() map[string][]string {
	t.Helper()
	seen := map[string]map[string]string{}
	look := func() {
		var jobs batchv1.JobList
		if err := cluster.List(t.Context(), &jobs, client.InNamespace(s.ns), client.MatchingLabels{v1alpha1.OperationLabel: "apply"}); err != nil {
			return
		}
		for i := range jobs.Items {
			claim := jobs.Items[i].Annotations[v1alpha1.OperationIDAnnotation]
			if seen[claim] == nil {
				seen[claim] = map[string]string{}
			}
			seen[claim][string(jobs.Items[i].UID)] = jobs.Items[i].Name
		}
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(150 * time.Millisecond):
				look()
			}
		}
	}()
	return func() map[string][]string {
		close(stop)
		<-done
		look()
		out := map[string][]string{}
		for claim, jobs := range seen {
			for uid, name := range jobs {
				out[claim] = append(out[claim], name+"/"+uid)
			}
		}
		return out
	}
}

func statementLogSize(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(it.PostgresLog)
	require.NoError(t, err)
	return info.Size()
}

var logPrefix = regexp.MustCompile(`(?m)^.*?LOG:  (statement|execute [^:]*): `)

// statementLogSince is the server's statement log from an offset on, each statement at the start of a line.
func statementLogSince(t *testing.T, offset int64) string {
	t.Helper()
	data, err := os.ReadFile(it.PostgresLog)
	require.NoError(t, err)
	// The server indents the further lines of a statement by a tab.
	return "\n" + logPrefix.ReplaceAllString(strings.ReplaceAll(string(data[offset:]), "\n\t", "\n"), ": ")
}
