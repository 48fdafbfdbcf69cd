package executor_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

// After a mutating child was started, everything but a well-formed answer is uncertain.
func TestApplyWithoutAnAccountIsUncertain(t *testing.T) {
	tests := map[string]struct {
		body     string
		code     frame.Code
		exitCode int
	}{
		"nothing printed":        {`exit 0`, frame.CodeOutputInvalid, 0},
		"nothing but a code":     {`exit 7`, frame.CodeOutputInvalid, 7},
		"killed":                 {`kill -9 $$`, frame.CodeOutputInvalid, 137},
		"text":                   {`echo applied`, frame.CodeOutputInvalid, 0},
		"leaking text":           {`echo "$PTAH_DATABASE_URL"; echo "$PTAH_DATABASE_URL" >&2; exit 1`, frame.CodeOutputInvalid, 1},
		"half an answer":         {`printf '{"contractVersion":1'`, frame.CodeOutputInvalid, 0},
		"two answers":            {`a="{$head,\"apply\":{\"statementsExecuted\":1,\"resultFingerprint\":\"f\"}}"; echo "$a$a"`, frame.CodeOutputInvalid, 0},
		"unknown field":          {`echo "{$head,\"extra\":1,\"apply\":{\"statementsExecuted\":1,\"resultFingerprint\":\"f\"}}"`, frame.CodeOutputInvalid, 0},
		"another order":          {`echo "{\"contractVersion\":1,\"operation\":\"Apply\",\"operationID\":\"x\",\"apply\":{\"statementsExecuted\":1,\"resultFingerprint\":\"f\"}}"`, frame.CodeOutputInvalid, 0},
		"another contract":       {`echo "{\"contractVersion\":2,\"operation\":\"Apply\",\"operationID\":\"$id\"}"`, frame.CodeOutputInvalid, 0},
		"success and exit 1":     {`echo "{$head,\"apply\":{\"statementsExecuted\":1,\"resultFingerprint\":\"f\"}}"; exit 1`, frame.CodeOutputInvalid, 1},
		"failure and exit 0":     {`echo "{$head,\"failure\":{\"code\":\"StalePlan\",\"message\":\"m\"}}"`, frame.CodeOutputInvalid, 0},
		"no payload":             {`echo "{$head}"`, frame.CodeOutputInvalid, 0},
		"wrong payload":          {`echo "{$head,\"observe\":{\"dialect\":\"postgres\",\"reportDigest\":\"x\",\"total\":0}}"`, frame.CodeOutputInvalid, 0},
		"uncertain success":      {`echo "{$head,\"outcomeUncertain\":true,\"mutationStarted\":true,\"apply\":{\"statementsExecuted\":1,\"resultFingerprint\":\"f\"}}"`, frame.CodeOutputInvalid, 0},
		"unknown code":           {`echo "{$head,\"failure\":{\"code\":\"Odd\",\"message\":\"m\"}}"; exit 1`, frame.CodeOutputInvalid, 1},
		"payload beside failure": {`echo "{$head,\"failure\":{\"code\":\"StalePlan\",\"message\":\"m\"},\"apply\":{\"statementsExecuted\":1,\"resultFingerprint\":\"f\"}}"; exit 1`, frame.CodeOutputInvalid, 1},
		"endless output":         {`exec yes`, frame.CodeOutputInvalid, 137},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := applyPod(t)
			p.script(tt.body)
			r := p.run("run")
			p.failed(r, tt.code)
			assert.True(t, r.frame.MutationStarted)
			assert.True(t, r.frame.OutcomeUncertain)
			if name != "endless output" { // killed by us or by its broken pipe
				assert.Equal(t, tt.exitCode, r.frame.ExitCode)
			}
		})
	}
}

func TestApplyPassesATypedFailureOn(t *testing.T) {
	tests := map[string]struct {
		flags              string
		started, uncertain bool
	}{
		"before":     {``, false, false},
		"rolled":     {`,\"mutationStarted\":true`, true, false},
		"uncertain":  {`,\"mutationStarted\":true,\"outcomeUncertain\":true`, true, true},
		"incomplete": {`,\"outcomeUncertain\":true`, true, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := applyPod(t)
			p.script(`echo "{$head` + tt.flags + `,\"failure\":{\"code\":\"StalePlan\",\"message\":\"the database moved since $PTAH_DATABASE_URL\"}}"; exit 1`)
			r := p.run("run")
			f := p.failed(r, frame.CodeStalePlan)
			assert.Equal(t, "the database moved since [redacted]", f.Message)
			assert.Equal(t, tt.started, r.frame.MutationStarted)
			assert.Equal(t, tt.uncertain, r.frame.OutcomeUncertain)
			assert.Equal(t, 1, r.frame.ExitCode)
		})
	}
}

func TestEngineGetsOnlyItsEnvironment(t *testing.T) {
	p := planPod(t)
	seen := filepath.Join(t.TempDir(), "seen")
	p.intent.Scope.Dev = true
	p.env[v1alpha1.DevDatabaseURLEnv] = sentinelURL("127.0.0.3:1")
	p.env[v1alpha1.RegistryPasswordEnv] = "registry-password"
	p.script(`env | grep -v ^_= | grep -v ^PWD= | cut -d= -f1 | sort > ` + seen + `; echo "$@" >> ` + seen + `; ` + noChange)
	p.succeeded(p.run("run"))
	data, err := os.ReadFile(seen)
	require.NoError(t, err)
	assert.Equal(t, "PATH\nPTAH_DATABASE_URL\nPTAH_DEV_DATABASE_URL\nPTAH_INTENT\nengine plan --schema "+p.root+"/ptah/work/artifact/schema.json\n", strings.ReplaceAll(string(data), "OLDPWD\n", ""))
}

var noChange = `echo "{$head,\"plan\":{\"noChange\":true,\"fromFingerprint\":\"` + someDigest + `\",\"toFingerprint\":\"` + someDigest + `\"}}"`

func planPod(t *testing.T) *pod {
	p := newPod(t, intent.Plan)
	p.withDatabase(sentinelURL("127.0.0.1:1"))
	p.write(v1alpha1.WorkMountPath+"/artifact/schema.json", []byte("{}"))
	return p
}

// planning is the body of an engine that prints a document.
func planning(document []byte, from, to string) string {
	return fmt.Sprintf(`echo "{$head,\"plan\":{\"document\":\"%s\",\"fromFingerprint\":\"%s\",\"toFingerprint\":\"%s\"}}"`, base64.StdEncoding.EncodeToString(document), from, to)
}

func TestPlanIsComputedTwice(t *testing.T) {
	to := "sha256:" + strings.Repeat("b", 64)
	document := samplePlan(t, "CREATE TABLE a (id integer)")
	other := samplePlan(t, "CREATE TABLE b (id integer)")
	t.Run("the same", func(t *testing.T) {
		p := planPod(t)
		count := filepath.Join(t.TempDir(), "count")
		p.script("echo $$ >> " + count + "; " + planning(document, someDigest, to))
		f := p.succeeded(p.run("run"))
		assert.Equal(t, document, f.Plan.Document)
		pids, err := os.ReadFile(count)
		require.NoError(t, err)
		lines := strings.Fields(string(pids))
		require.Len(t, lines, 2)
		assert.NotEqual(t, lines[0], lines[1], "two processes")
	})
	t.Run("different", func(t *testing.T) {
		p := planPod(t)
		mark := filepath.Join(t.TempDir(), "second")
		p.script("if [ -e " + mark + " ]; then " + planning(other, someDigest, to) + "; else touch " + mark + "; " + planning(document, someDigest, to) + "; fi")
		p.failed(p.run("run"), frame.CodeNondeterministicPlan)
	})
	t.Run("second one fails", func(t *testing.T) {
		p := planPod(t)
		mark := filepath.Join(t.TempDir(), "second")
		p.script("if [ -e " + mark + " ]; then exit 3; else touch " + mark + "; " + planning(document, someDigest, to) + "; fi")
		r := p.run("run")
		p.failed(r, frame.CodeOutputInvalid)
		assert.False(t, r.frame.MutationStarted)
		assert.Equal(t, 3, r.frame.ExitCode)
	})
}

func TestPlanIsHeldToTheOrder(t *testing.T) {
	to := "sha256:" + strings.Repeat("b", 64)
	document := samplePlan(t, "ALTER TABLE app.orders ADD COLUMN note text")
	tests := map[string]struct {
		document []byte
		from     string
		code     frame.Code
		change   func(*pod)
	}{
		"accepted":           {document, someDigest, "", func(*pod) {}},
		"not a document":     {[]byte("{}\n"), someDigest, frame.CodeOutputInvalid, func(*pod) {}},
		"not canonical":      {append([]byte(" "), document...), someDigest, frame.CodeOutputInvalid, func(*pod) {}},
		"other fingerprint":  {document, to, frame.CodeOutputInvalid, func(*pod) {}},
		"other excludes":     {document, someDigest, frame.CodeOutputInvalid, func(p *pod) { p.intent.Scope.Exclude = []string{"audit.*"} }},
		"protected table":    {document, someDigest, frame.CodeProtectedTable, func(p *pod) { p.intent.Scope.ProtectedTables = []string{"app.orders"} }},
		"holds a credential": {samplePlan(t, "COMMENT ON TABLE a IS '"+strings.ReplaceAll(sentinel, "'", "''")+"'"), someDigest, frame.CodeOutputInvalid, func(*pod) {}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := planPod(t)
			tt.change(p)
			p.script(planning(tt.document, tt.from, to))
			if tt.code == "" {
				p.succeeded(p.run("run"))
				return
			}
			p.failed(p.run("run"), tt.code)
		})
	}
}

func TestReadOnlyEngineMayNotMutate(t *testing.T) {
	p := planPod(t)
	p.script(`echo "{$head,\"mutationStarted\":true,\"failure\":{\"code\":\"StatementFailed\",\"message\":\"m\"}}"; exit 1`)
	p.failed(p.run("run"), frame.CodeOutputInvalid)
}

func TestDevURLIsChecked(t *testing.T) {
	for name, dev := range map[string]struct {
		url  string
		code frame.Code
	}{
		"missing": {"", frame.CodeCredentialMissing},
		"broken":  {"postgres://u:" + sentinel + "@h,i/d", frame.CodeDatabaseURLInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			p := planPod(t)
			p.intent.Scope.Dev = true
			p.env[v1alpha1.DevDatabaseURLEnv] = dev.url
			p.script(noChange)
			assert.Contains(t, p.failed(p.run("run"), dev.code).Message, "dev")
		})
	}
}

// SIGTERM reaches the engine, whose account is then the result.
func TestTerminationIsForwarded(t *testing.T) {
	p := applyPod(t)
	ready := filepath.Join(t.TempDir(), "ready")
	p.script(`trap 'echo "{$head,\"mutationStarted\":true,\"failure\":{\"code\":\"Cancelled\",\"message\":\"rolled back\"}}"; exit 1' TERM
touch ` + ready + `; while :; do sleep 0.1; done`)
	r := p.runWith("run", terminateWhen(t, ready))
	assert.Equal(t, "rolled back", p.failed(r, frame.CodeCancelled).Message)
	assert.True(t, r.frame.MutationStarted)
	assert.False(t, r.frame.OutcomeUncertain)
}

// An engine that dies of SIGTERM without a word leaves an uncertain outcome, and its own children go with it.
func TestTerminationWithoutAnAnswer(t *testing.T) {
	p := applyPod(t)
	grandchild := filepath.Join(t.TempDir(), "pid")
	p.script(`sleep 600 & echo $! > ` + grandchild + `; wait`)
	r := p.runWith("run", terminateWhen(t, grandchild))
	p.failed(r, frame.CodeCancelled)
	assert.True(t, r.frame.OutcomeUncertain)
	assert.Equal(t, 128+15, r.frame.ExitCode)
	assertGone(t, grandchild)
}

func TestExecutionDeadlineEndsTheEngine(t *testing.T) {
	p := applyPod(t)
	p.withDeadlines(500*time.Millisecond, 1200*time.Millisecond)
	p.script(`exec sleep 600`)
	begin := time.Now()
	r := p.run("run")
	p.failed(r, frame.CodeDeadlineExceeded)
	assert.True(t, r.frame.OutcomeUncertain)
	assert.Less(t, time.Since(begin), 15*time.Second)
}

// The kernel takes the engine along when the runner dies.
// An engine that the runner stops at the deadline says that it was cancelled from outside. The deadline is the cause that a person needs.
func TestExecutionDeadlineIsTheCauseWhateverTheEngineSays(t *testing.T) {
	p := applyPod(t)
	p.script(`trap 'echo "{$head,\"mutationStarted\":true,\"failure\":{\"code\":\"Cancelled\",\"message\":\"rolled back\"}}"; exit 1' TERM
sleep 30 & wait`)
	p.withDeadlines(1500*time.Millisecond, 2500*time.Millisecond)
	r := p.run("run")
	p.failed(r, frame.CodeDeadlineExceeded)
	assert.Contains(t, r.frame.Error.Message, "rolled back")
	assert.True(t, r.frame.MutationStarted)
	assert.False(t, r.frame.OutcomeUncertain)
}

func TestRunnerKilledTakesTheEngineAlong(t *testing.T) {
	p := applyPod(t)
	pid := filepath.Join(t.TempDir(), "pid")
	p.script(`echo $$ > ` + pid + `; exec sleep 600`)
	r := p.runWith("run", func(process *os.Process) {
		waitFor(t, pid)
		_ = process.Signal(syscall.SIGKILL)
	})
	require.ErrorIs(t, r.parseErr, frame.ErrNoFrame)
	assertGone(t, pid)
}

// A process that the engine leaves behind cannot hold the result back.
func TestLeftoverProcessDoesNotHoldTheResult(t *testing.T) {
	p := planPod(t)
	pids := filepath.Join(t.TempDir(), "pid")
	p.script(`sleep 600 & echo $! > ` + pids + `; ` + noChange)
	begin := time.Now()
	p.succeeded(p.run("run"))
	assert.Less(t, time.Since(begin), 20*time.Second)
	assertGone(t, pids)
}

// assertGone demands that the process whose number is in the file has ended.
func assertGone(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	assert.Eventually(t, func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(state), ") Z ")
	}, 10*time.Second, 50*time.Millisecond)
}
