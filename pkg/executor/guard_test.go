package executor_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/plan"
)

// tattler is an engine that leaves a mark, so that "the child never starts" is seen.
func (p *pod) tattler() (mark string) {
	mark = filepath.Join(p.t.TempDir(), "started")
	p.script(`touch ` + mark + `; echo "{$head,\"apply\":{\"statementsExecuted\":1,\"resultFingerprint\":\"f\"},\"mutationStarted\":true}"`)
	return mark
}

func TestApplyGuardPassesAndAnswers(t *testing.T) {
	p := applyPod(t)
	mark := p.tattler()
	f := p.succeeded(p.run("run"))
	assert.FileExists(t, mark)
	assert.Equal(t, &frame.Applied{StatementsExecuted: 1, ResultFingerprint: "f"}, f.Apply)
	assert.True(t, f.MutationStarted)
	assert.Equal(t, p.intent.TargetIdentityDigest, f.TargetIdentityDigest)
	assert.Equal(t, someDigest, f.CoordinationDigest)
}

func TestApplyGuardRefusesBeforeTheChild(t *testing.T) {
	chunk := func(p *pod, i int) string {
		return filepath.Join(p.root, v1alpha1.PlanMountPath, fmt.Sprintf("%03d", i), v1alpha1.ChunkKey)
	}
	big := func(t *testing.T, p *pod) { // three chunks
		p.withPlan(samplePlan(t, "COMMENT ON TABLE a IS '"+strings.Repeat("x", 2*plan.MaxChunk)+"'"))
		require.Len(t, p.intent.Plan.Chunks, 3)
	}
	tests := map[string]struct {
		code   frame.Code
		change func(*testing.T, *pod)
	}{
		"dispatch window closed":   {frame.CodeDeadlineExceeded, func(_ *testing.T, p *pod) { p.withDeadlines(-time.Second, time.Minute) }},
		"execution deadline gone":  {frame.CodeDeadlineExceeded, func(_ *testing.T, p *pod) { p.withDeadlines(-time.Minute, -time.Second) }},
		"deadlines out of order":   {frame.CodeConfigurationInvalid, func(_ *testing.T, p *pod) { p.withDeadlines(2*time.Minute, time.Minute) }},
		"no dispatch deadline":     {frame.CodeConfigurationInvalid, func(_ *testing.T, p *pod) { p.intent.DispatchNotAfter = nil }},
		"no execution deadline":    {frame.CodeConfigurationInvalid, func(_ *testing.T, p *pod) { p.intent.ExecutionNotAfter = nil }},
		"no URL":                   {frame.CodeCredentialMissing, func(_ *testing.T, p *pod) { delete(p.env, v1alpha1.DatabaseURLEnv) }},
		"broken URL":               {frame.CodeDatabaseURLInvalid, func(_ *testing.T, p *pod) { p.env[v1alpha1.DatabaseURLEnv] = "postgres://app:" + sentinel + "@h/db" }},
		"URL with a newline":       {frame.CodeDatabaseURLInvalid, func(_ *testing.T, p *pod) { p.env[v1alpha1.DatabaseURLEnv] += "\n" }},
		"another engine":           {frame.CodeDatabaseURLInvalid, func(_ *testing.T, p *pod) { p.intent.Engine = "mysql" }},
		"another host":             {frame.CodeTargetChanged, func(_ *testing.T, p *pod) { p.env[v1alpha1.DatabaseURLEnv] = sentinelURL("127.0.0.2:1") }},
		"another TLS mode":         {frame.CodeTargetChanged, func(_ *testing.T, p *pod) { p.env[v1alpha1.DatabaseURLEnv] += "&channel_binding=require" }},
		"another role":             {frame.CodeTargetChanged, func(_ *testing.T, p *pod) { p.env[v1alpha1.DatabaseURLEnv] += "&role=other" }},
		"no identity in the order": {frame.CodeConfigurationInvalid, func(_ *testing.T, p *pod) { p.intent.TargetIdentityDigest = "" }},
		"no plan in the order":     {frame.CodeConfigurationInvalid, func(_ *testing.T, p *pod) { p.intent.Plan = nil }},
		"chunk edited": {frame.CodePlanDamaged, func(t *testing.T, p *pod) {
			data, err := os.ReadFile(chunk(p, 0))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(chunk(p, 0), []byte(strings.Replace(string(data), "integer", "INTEGER", 1)), 0o644))
		}},
		"chunk missing": {frame.CodePlanDamaged, func(t *testing.T, p *pod) { require.NoError(t, os.Remove(chunk(p, 0))) }},
		"chunk longer": {frame.CodePlanDamaged, func(t *testing.T, p *pod) {
			f, err := os.OpenFile(chunk(p, 0), os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString(" ")
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}},
		"chunks exchanged on disk": {frame.CodePlanDamaged, func(t *testing.T, p *pod) {
			big(t, p)
			require.NoError(t, os.Rename(chunk(p, 0), chunk(p, 0)+"x"))
			require.NoError(t, os.Rename(chunk(p, 1), chunk(p, 0)))
			require.NoError(t, os.Rename(chunk(p, 0)+"x", chunk(p, 1)))
		}},
		"chunks exchanged in order": {frame.CodePlanDamaged, func(t *testing.T, p *pod) {
			big(t, p)
			c := p.intent.Plan.Chunks
			c[0], c[1] = c[1], c[0]
		}},
		"chunk left out":   {frame.CodePlanDamaged, func(t *testing.T, p *pod) { big(t, p); p.intent.Plan.Chunks = p.intent.Plan.Chunks[:2] }},
		"chunk name":       {frame.CodePlanDamaged, func(_ *testing.T, p *pod) { p.intent.Plan.Chunks[0].Name = "other" }},
		"chunk key leaves": {frame.CodePlanDamaged, func(_ *testing.T, p *pod) { p.intent.Plan.Chunks[0].Key = "../000/chunk" }},
		"whole digest":     {frame.CodePlanDamaged, func(_ *testing.T, p *pod) { p.intent.Plan.ContentDigest = someDigest }},
		"no engine":        {frame.CodeConfigurationInvalid, func(t *testing.T, p *pod) { p.engine = filepath.Join(t.TempDir(), "nothing") }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := applyPod(t)
			mark := p.tattler()
			tt.change(t, p)
			r := p.run("run")
			p.failed(r, tt.code)
			assert.NoFileExists(t, mark, "the child must never start")
			assert.False(t, r.frame.MutationStarted)
			assert.False(t, r.frame.OutcomeUncertain)
			left, err := os.ReadDir(filepath.Join(p.root, v1alpha1.ScratchMountPath))
			require.NoError(t, err)
			assert.Empty(t, left, "the plan must not stay in the scratch volume")
		})
	}
}

func TestPasswordRotationPasses(t *testing.T) {
	p := applyPod(t)
	p.tattler()
	p.env[v1alpha1.DatabaseURLEnv] = strings.Replace(sentinelURL("127.0.0.1:1"), url.QueryEscape(sentinel), "another-"+url.QueryEscape(sentinel), 1)
	p.succeeded(p.run("run"))
}

func TestReadingReportsOrChecksTheDatabase(t *testing.T) {
	observe := func(t *testing.T) *pod {
		p := newPod(t, intent.Observe)
		p.withDatabase(sentinelURL("127.0.0.1:1"))
		p.write(v1alpha1.WorkMountPath+"/artifact/schema.json", []byte("{}"))
		p.script(`echo "{$head,\"observe\":{\"dialect\":\"postgres\",\"reportDigest\":\"` + someDigest + `\",\"total\":0}}"`)
		return p
	}
	t.Run("first reading", func(t *testing.T) {
		p := observe(t)
		want := p.intent.TargetIdentityDigest
		p.intent.TargetIdentityDigest = ""
		assert.Equal(t, want, p.succeeded(p.run("run")).TargetIdentityDigest)
	})
	t.Run("same database", func(t *testing.T) {
		p := observe(t)
		p.succeeded(p.run("run"))
	})
	t.Run("another database", func(t *testing.T) {
		p := observe(t)
		p.intent.TargetIdentityDigest = someDigest
		p.failed(p.run("run"), frame.CodeTargetChanged)
	})
	t.Run("no artifact", func(t *testing.T) {
		p := observe(t)
		require.NoError(t, os.RemoveAll(filepath.Join(p.root, v1alpha1.WorkMountPath, "artifact")))
		p.failed(p.run("run"), frame.CodeArtifactInvalid)
	})
}

func TestNoOrderIsWrongUse(t *testing.T) {
	tests := map[string]func(*pod){
		"other protocol":    func(p *pod) { p.intent.ProtocolVersion = 2 },
		"no operation ID":   func(p *pod) { p.intent.OperationID = "" },
		"unknown operation": func(p *pod) { p.intent.Operation = "Drop" },
		"empty":             func(p *pod) { p.env[v1alpha1.IntentEnv] = "" },
		"garbage":           func(p *pod) { p.env[v1alpha1.IntentEnv] = "{" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, intent.Resolve)
			change(p)
			for _, stage := range []string{"prepare", "fetch", "run"} {
				r := p.run(stage)
				assert.Equal(t, 2, r.code)
				assert.Empty(t, r.stdout)
				assert.Regexp(t, `^error: [^\n]+\n$`, r.stderr)
			}
		})
	}
	t.Run("unknown flag", func(t *testing.T) {
		p := newPod(t, intent.Resolve)
		assert.Equal(t, 2, p.run("run --x").code)
	})
}
