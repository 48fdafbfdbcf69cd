package executor_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/target"
)

// binary is the real program, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "ptah-executor-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		binary = filepath.Join(dir, "ptah-runner")
		build := exec.Command("go", "build", "-o", binary, "github.com/ptah-run/ptah/cmd/executor")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the executor: %v\n%s", err, out)
			return 1
		}
		defer stopPostgres()
		return m.Run()
	}())
}

const (
	opID = "0b4a2f6e-8f0e-4a52-9a53-2f1d4f6d7f10"
	// sentinel is the password of every URL in these tests: it needs escaping, so that escaped forms are tried too.
	sentinel = "s3ntinel/p@ss'w\"rd"
)

var someDigest = "sha256:" + strings.Repeat("a", 64)

// sentinelURL has the password escaped; nothing listens there unless the test makes it.
func sentinelURL(host string) string {
	return "postgres://app:" + url.QueryEscape(sentinel) + "@" + host + "/shop?sslmode=disable"
}

// pod is an operation Pod's file system and environment.
type pod struct {
	t      *testing.T
	root   string
	intent intent.Intent
	env    map[string]string
	engine string // the program started as the engine; the real one where empty
}

func newPod(t *testing.T, op intent.Operation) *pod {
	t.Helper()
	p := &pod{t: t, root: t.TempDir(), env: map[string]string{}, intent: intent.Intent{
		ProtocolVersion: intent.ProtocolVersion, Operation: op, OperationID: opID, ResourceUID: "11111111-2222-3333-4444-555555555555",
	}}
	for _, dir := range []string{
		v1alpha1.RunnerMountPath, v1alpha1.WorkMountPath, v1alpha1.ScratchMountPath, v1alpha1.CASourceMountPath, v1alpha1.CAMountPath,
		v1alpha1.PolicyMountPath, v1alpha1.DockerConfigPath, v1alpha1.PlanMountPath,
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(p.root, dir), 0o755))
	}
	if op == intent.Observe || op == intent.Plan || op == intent.Apply {
		p.intent.Engine = "postgres"
		p.intent.CoordinationDigest = someDigest
		p.intent.Scope = &intent.Scope{ConnectTimeout: intent.Duration(3 * time.Second), LockTimeout: intent.Duration(3 * time.Second), DriftSeverity: "all", TransactionMode: "file"}
	}
	return p
}

func (p *pod) write(path string, data []byte) {
	p.t.Helper()
	full := filepath.Join(p.root, path)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(p.t, os.WriteFile(full, data, 0o644))
}

// result is everything that one container did.
type result struct {
	frame    frame.Frame
	parseErr error
	stdout   string
	stderr   string
	code     int
}

func (p *pod) command(stage string) *exec.Cmd {
	args := []string{"runner", stage, "--root", p.root, "--engine-binary", binary}
	if p.engine != "" {
		args[len(args)-1] = p.engine
	}
	order, err := intent.Encode(p.intent)
	require.NoError(p.t, err)
	cmd := exec.Command(binary, args...)
	cmd.Env = []string{v1alpha1.IntentEnv + "=" + order, "SECRET_OF_THE_POD=leak-me-not"}
	for name, value := range p.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

func (p *pod) run(stage string) result {
	p.t.Helper()
	return p.runWith(stage, nil)
}

// runWith lets the test act on the running process.
func (p *pod) runWith(stage string, act func(*os.Process)) result {
	p.t.Helper()
	cmd := p.command(stage)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(p.t, cmd.Start())
	if act != nil {
		act(cmd.Process)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(p.t, err)
	}
	r := result{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	r.frame, r.parseErr = frame.Parse(&stdout, frame.Expect{Operation: p.intent.Operation, OperationID: p.intent.OperationID})
	p.assertNoLeak(r)
	return r
}

// assertNoLeak holds for every run of every test: no spelling of a credential in what a log would keep, nor behind the frame's encoding.
func (p *pod) assertNoLeak(r result) {
	p.t.Helper()
	inside := fmt.Sprintf("%+v", r.frame)
	if r.frame.Error != nil {
		inside += r.frame.Error.Message
	}
	if r.frame.Plan != nil {
		inside += string(r.frame.Plan.Document)
	}
	for _, text := range []string{r.stdout, r.stderr, inside} {
		assert.False(p.t, target.Leaks(text, sentinel, sentinelURL("127.0.0.1:1")), "a credential leaked: %s", text)
		for _, form := range []string{"s3ntinel", url.PathEscape(sentinel), url.QueryEscape(sentinel), base64.StdEncoding.EncodeToString([]byte("app:" + sentinel)), "leak-me-not"} {
			assert.NotContains(p.t, text, form)
		}
	}
}

// failed demands a failure frame and gives its error.
func (p *pod) failed(r result, code frame.Code) frame.Failure {
	p.t.Helper()
	require.NoError(p.t, r.parseErr, "stdout %q stderr %q", r.stdout, r.stderr)
	require.NotNil(p.t, r.frame.Error, "%+v", r.frame)
	assert.Equal(p.t, code, r.frame.Error.Code, r.frame.Error.Message)
	assert.Equal(p.t, 1, r.code)
	assert.Empty(p.t, r.stderr)
	return *r.frame.Error
}

// succeeded demands a success frame.
func (p *pod) succeeded(r result) frame.Frame {
	p.t.Helper()
	require.NoError(p.t, r.parseErr, "stdout %q stderr %q", r.stdout, r.stderr)
	require.Nil(p.t, r.frame.Error)
	assert.Zero(p.t, r.code)
	assert.Empty(p.t, r.stderr)
	return r.frame
}

// silent demands a successful init container.
func (p *pod) silent(r result) {
	p.t.Helper()
	if r.code != 0 && r.frame.Error != nil {
		p.t.Fatalf("exit %d: %+v", r.code, *r.frame.Error)
	}
	require.Zero(p.t, r.code, r.stderr)
	assert.Empty(p.t, r.stdout)
	assert.Empty(p.t, r.stderr)
}

// script makes an engine of a shell script. $id is the operation ID; $op the operation; {"…"} is up to the body.
func (p *pod) script(body string) {
	p.t.Helper()
	p.engine = filepath.Join(p.t.TempDir(), "engine")
	text := "#!/bin/sh\nid=$(printf %s \"$PTAH_INTENT\" | sed 's/.*\"operationID\":\"\\([^\"]*\\)\".*/\\1/')\n" +
		"head=\"\\\"contractVersion\\\":1,\\\"operation\\\":\\\"" + string(p.intent.Operation) + "\\\",\\\"operationID\\\":\\\"$id\\\"\"\n" + body + "\n"
	require.NoError(p.t, os.WriteFile(p.engine, []byte(text), 0o755))
}

// withDatabase gives the Pod a URL and the identity that belongs to it.
func (p *pod) withDatabase(dsn string) {
	p.t.Helper()
	p.env[v1alpha1.DatabaseURLEnv] = dsn
	t, err := target.Parse(dsn)
	require.NoError(p.t, err)
	p.intent.TargetIdentityDigest = t.IdentityDigest()
}

// withPlan mounts an encoded document as the manager does.
func (p *pod) withPlan(data []byte) {
	p.t.Helper()
	fingerprint := "sha256:" + strings.Repeat("c", 64)
	name, err := plan.SchemaPlanName(fingerprint)
	require.NoError(p.t, err)
	p.intent.Plan = &intent.PlanRef{Fingerprint: fingerprint, ContentDigest: plan.Digest(data), Size: int64(len(data))}
	chunks := plan.Split(data)
	for i, ref := range plan.Describe(name, data) {
		p.intent.Plan.Chunks = append(p.intent.Plan.Chunks, intent.Chunk{Index: int(ref.Index), Name: ref.Name, Key: ref.Key, Size: ref.Size, Digest: ref.Digest})
		p.write(fmt.Sprintf("%s/%03d/%s", v1alpha1.PlanMountPath, i, ref.Key), chunks[i])
	}
}

// withDeadlines opens the dispatch and the execution window.
func (p *pod) withDeadlines(dispatch, execution time.Duration) {
	now := time.Now()
	d, e := now.Add(dispatch), now.Add(execution)
	p.intent.DispatchNotAfter, p.intent.ExecutionNotAfter = &d, &e
}

// applyPod is an Apply that passes every guard.
func applyPod(t *testing.T) *pod {
	p := newPod(t, intent.Apply)
	p.withDatabase(sentinelURL("127.0.0.1:1"))
	p.withPlan(samplePlan(t, "CREATE TABLE a (id integer)"))
	p.withDeadlines(time.Minute, 2*time.Minute)
	return p
}

func samplePlan(t *testing.T, statements ...string) []byte {
	t.Helper()
	d := plan.Document{Dialect: "postgres", FromFingerprint: someDigest, ToFingerprint: "sha256:" + strings.Repeat("b", 64)}
	for _, sql := range statements {
		d.Statements = append(d.Statements, plan.Statement{SQL: sql, Severity: "safe", Reason: "test"})
	}
	data, err := plan.Encode(plan.Seal(d))
	require.NoError(t, err)
	return data
}

// waitFor waits until the engine has made the file.
func waitFor(t *testing.T, file string) {
	t.Helper()
	require.Eventually(t, func() bool { _, err := os.Stat(file); return err == nil }, 30*time.Second, 20*time.Millisecond)
	time.Sleep(100 * time.Millisecond) // what it wrote
}

// terminateWhen sends SIGTERM to the runner once the engine has made the file.
func terminateWhen(t *testing.T, file string) func(*os.Process) {
	return func(p *os.Process) {
		waitFor(t, file)
		_ = p.Signal(syscall.SIGTERM)
	}
}
