package standin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/plan"
)

// Model is a registry with one tag and a database of one value for each realm: enough to carry out every order truthfully.
type Model struct {
	mu sync.Mutex
	// Artifact is the digest that every tag leads to; empty while the registry is away. Its declared state is Declared[Artifact].
	artifact string
	declared map[string]string
	states   map[string]string    // by coordination digest
	plans    map[string][2]string // content digest: from, to
	applied  map[string]int       // statements that ran, by operation ID
	fail     map[intent.Operation]frame.Code
}

// NewModel declares one artifact.
func NewModel(declared string) *Model {
	m := &Model{
		declared: map[string]string{}, states: map[string]string{}, plans: map[string][2]string{}, applied: map[string]int{}, fail: map[intent.Operation]frame.Code{},
	}
	m.Publish(declared)
	return m
}

// Publish moves the tag to an artifact that declares this state.
func (m *Model) Publish(declared string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.artifact = Sum("artifact " + declared)
	m.declared[m.artifact] = declared
}

// Fail makes an operation answer with a code, until it is "".
func (m *Model) Fail(o intent.Operation, code frame.Code) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail[o] = code
}

// State of the database of a realm.
func (m *Model) State(coordinationDigest string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.states[coordinationDigest]
}

// Drift is somebody's hand in the database of a realm.
func (m *Model) Drift(coordinationDigest, state string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[coordinationDigest] = state
}

// Applied is how often the statements of each Apply ran.
func (m *Model) Applied() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]int{}
	for k, v := range m.applied {
		out[k] = v
	}
	return out
}

// Sum is a digest of a text.
func Sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Execute carries one order out.
func (m *Model) Execute(o intent.Intent) *frame.Frame {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &frame.Frame{
		ProtocolVersion: intent.ProtocolVersion, Operation: o.Operation, OperationID: o.OperationID, CoordinationDigest: o.CoordinationDigest,
	}
	if o.CoordinationDigest != "" {
		f.TargetIdentityDigest = Sum("database of " + o.CoordinationDigest)
	}
	if code := m.fail[o.Operation]; code != "" {
		f.Error = &frame.Failure{Code: code, Message: "the model was told to fail"}
		return f
	}
	switch o.Operation {
	case intent.Resolve:
		f.Resolve = &frame.Resolved{
			ResolvedReference: "oci://registry.example/shop@" + m.artifact, Digest: m.artifact,
			MediaType: "application/vnd.oci.image.manifest.v1+json", ArtifactType: v1alpha1.SchemaArtifactType, Size: 1,
		}
	case intent.Verify:
		f.Verify = &frame.Verified{ArtifactType: v1alpha1.SchemaArtifactType, PolicyDigest: o.Policy.Digest, Requirements: []string{"artifact_types"}}
	case intent.Observe:
		f.Observe = &frame.Observed{Dialect: "postgres", ReportDigest: Sum("report " + m.states[o.CoordinationDigest])}
	case intent.Plan:
		m.plan(o, f)
	case intent.Apply:
		m.apply(o, f)
	}
	return f
}

func (m *Model) plan(o intent.Intent, f *frame.Frame) {
	ref := o.Artifact.ResolvedReference
	from, to := m.states[o.CoordinationDigest], m.declared[ref[len(ref)-71:]]
	f.Plan = &frame.Planned{NoChange: from == to, FromFingerprint: Sum(from), ToFingerprint: Sum(to)}
	if from == to {
		return
	}
	data, err := plan.Encode(plan.Seal(plan.Document{
		Dialect: "postgres", FromFingerprint: Sum(from), ToFingerprint: Sum(to),
		Statements: []plan.Statement{{
			SQL: fmt.Sprintf("ALTER TABLE orders ADD COLUMN %s text", to), Severity: plan.SeveritySafe, Reason: "declared",
			Kind: "add_column", Object: "public.orders." + to, Table: "public.orders",
		}},
	}))
	if err != nil {
		f.Error, f.Plan = &frame.Failure{Code: frame.CodeInternal, Message: "the model cannot plan"}, nil
		return
	}
	m.plans[plan.Digest(data)] = [2]string{from, to}
	f.Plan.Document = data
}

func (m *Model) apply(o intent.Intent, f *frame.Frame) {
	step, known := m.plans[o.Plan.ContentDigest]
	switch {
	case !known:
		f.Error = &frame.Failure{Code: frame.CodePlanDamaged, Message: "no such plan in the model"}
		return
	case time.Now().After(*o.DispatchNotAfter):
		f.Error = &frame.Failure{Code: frame.CodeDeadlineExceeded, Message: "too late"}
		return
	case m.states[o.CoordinationDigest] != step[0]:
		f.Error = frame.Fail(frame.CodeStalePlan, "the plan starts from %s and the database is at %s", Sum(step[0]), Sum(m.states[o.CoordinationDigest]))
		return
	}
	m.states[o.CoordinationDigest] = step[1]
	m.applied[o.OperationID]++
	f.MutationStarted = true
	f.Apply = &frame.Applied{StatementsExecuted: 1, ResultFingerprint: Sum(step[1])}
}
