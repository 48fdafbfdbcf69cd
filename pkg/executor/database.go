package executor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/engine/scope"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/target"
)

// childPath is the search path of the engine: its image may carry helpers, never the Pod's environment.
const childPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// certainSecret is the length in bytes from which a credential found in a plan cannot be chance.
const certainSecret = 12

func (s *stage) observe(ctx context.Context) error {
	t, err := s.openForReading()
	if err != nil {
		return err
	}
	answer, err := s.ask(ctx, s.childEnv(t, nil), "observe", "--schema", s.Layout.Schema())
	if err != nil {
		return err
	}
	s.frame.Observe = answer.Observe
	return nil
}

// plan asks two independent processes and believes them only if they say the same, to the byte.
func (s *stage) plan(ctx context.Context) error {
	t, err := s.openForReading()
	if err != nil {
		return err
	}
	dev, err := s.openDev(s.Getenv(v1alpha1.DevDatabaseURLEnv))
	if err != nil {
		return err
	}
	env := s.childEnv(t, dev)
	first, err := s.ask(ctx, env, "plan", "--schema", s.Layout.Schema())
	if err != nil {
		return err
	}
	second, err := s.ask(ctx, env, "plan", "--schema", s.Layout.Schema())
	if err != nil {
		return err
	}
	if !samePlan(first.Plan, second.Plan) {
		return refuse(frame.CodeNondeterministicPlan, "comparing two plans of one state: they differ; either the database was changed in between, or the engine is not deterministic")
	}
	if err := s.checkPlan(first.Plan); err != nil {
		return err
	}
	s.frame.Plan = first.Plan
	return nil
}

func samePlan(a, b *frame.Planned) bool {
	return a.NoChange == b.NoChange && bytes.Equal(a.Document, b.Document) && a.FromFingerprint == b.FromFingerprint && a.ToFingerprint == b.ToFingerprint
}

// checkPlan decodes the accepted bytes as Apply will, and holds them to the order.
func (s *stage) checkPlan(p *frame.Planned) error {
	if p.NoChange {
		return nil
	}
	document, err := plan.Decode(p.Document)
	switch {
	case errors.Is(err, plan.ErrTooLarge):
		return refuse(frame.CodePlanTooLarge, "checking the plan: it is over 8 MiB")
	case err != nil:
		return refuse(frame.CodeOutputInvalid, "checking the plan: the engine's document is not one (%s)", problem(err))
	}
	var exclude, protected []string
	if s.intent.Scope != nil {
		exclude, protected = s.intent.Scope.Exclude, s.intent.Scope.ProtectedTables
	}
	switch {
	case document.Dialect != s.intent.Engine:
		return refuse(frame.CodeOutputInvalid, "checking the plan: it is written for another engine")
	case document.FromFingerprint != p.FromFingerprint || document.ToFingerprint != p.ToFingerprint:
		return refuse(frame.CodeOutputInvalid, "checking the plan: its fingerprints are not those of the answer")
	case !keepsScope(document.Exclude, exclude):
		return refuse(frame.CodeOutputInvalid, "checking the plan: it was not made with the excludes of the order")
	}
	if touched := plan.TouchesProtected(document, protected); len(touched) > 0 {
		return refuse(frame.CodeProtectedTable, "checking the plan: it touches %s", strings.Join(touched, ", "))
	}
	long := slices.DeleteFunc(slices.Clone(s.secrets), func(secret string) bool { return len(secret) < certainSecret })
	if target.Leaks(string(p.Document), long...) {
		return refuse(frame.CodeOutputInvalid, "checking the plan: it holds a credential")
	}
	return nil
}

// keepsScope says that a document was made with the excludes of the order. It may add selectors of schemas themselves: a schema that
// holds something excluded is not dropped.
func keepsScope(document, order []string) bool {
	asked, err := scope.Parse(order)
	if err != nil {
		return false
	}
	for _, pattern := range asked.Patterns() {
		if !slices.Contains(document, pattern) {
			return false
		}
	}
	for _, pattern := range document {
		if !slices.Contains(asked.Patterns(), pattern) && !strings.HasSuffix(pattern, "[type=schema]") {
			return false
		}
	}
	return true
}

// problem is the part of a document error that is ours.
func problem(err error) string {
	var typed *plan.DocumentError
	if errors.As(err, &typed) {
		return typed.Error()
	}
	return "unreadable"
}

// apply is guarded four times: deadlines, database, plan bytes, and the deadlines once more right before the child starts.
func (s *stage) apply(ctx context.Context) error {
	if err := checkDeadlines(s.intent, s.Now()); err != nil {
		return err
	}
	t, err := s.openTarget(s.Getenv(v1alpha1.DatabaseURLEnv))
	if err != nil {
		return err
	}
	data, err := s.planBytes()
	if err != nil {
		return err
	}
	path, err := s.scratchFile("plan-*.json", data)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }()
	answer, err := s.ask(ctx, s.childEnv(t, nil), "apply", "--plan", path)
	if err != nil {
		return err
	}
	s.frame.Apply = answer.Apply
	s.frame.MutationStarted = answer.MutationStarted
	return nil
}

// scratchFile keeps bytes in the Pod's memory-backed scratch volume.
func (s *stage) scratchFile(pattern string, data []byte) (string, error) {
	failed := refuse(frame.CodeConfigurationInvalid, "writing the plan for the engine: the scratch volume is missing, full or read-only")
	file, err := os.CreateTemp(s.Layout.Scratch(), pattern)
	if err != nil {
		return "", failed
	}
	_, err = file.Write(data)
	if closeErr := file.Close(); err != nil || closeErr != nil {
		_ = os.Remove(file.Name())
		return "", failed
	}
	return file.Name(), nil
}

// openForReading is the guard of Observe and Plan.
func (s *stage) openForReading() (target.Target, error) {
	if err := checkDeadlines(s.intent, s.Now()); err != nil {
		return target.Target{}, err
	}
	t, err := s.openTarget(s.Getenv(v1alpha1.DatabaseURLEnv))
	if err != nil {
		return target.Target{}, err
	}
	if _, err := os.Stat(s.Layout.Schema()); err != nil {
		return target.Target{}, refuse(frame.CodeArtifactInvalid, "reading the declared schema: the fetched artifact has no %s", v1alpha1.DefaultDesiredDataFileName)
	}
	return t, nil
}

// childEnv is the whole environment of an engine. URLs are in canonical spelling: what we judged is what the engine reads.
func (s *stage) childEnv(t target.Target, dev *target.Target) []string {
	env := []string{"PATH=" + childPath, v1alpha1.IntentEnv + "=" + s.order, v1alpha1.DatabaseURLEnv + "=" + t.URL()}
	if dev != nil {
		env = append(env, v1alpha1.DevDatabaseURLEnv+"="+dev.URL())
	}
	return env
}

// ask runs one engine process and gives its payload; every failure is a refusal that says what it means for the database.
func (s *stage) ask(ctx context.Context, env []string, operation string, args ...string) (Answer, error) {
	args = append([]string{"engine", operation}, args...)
	if target.Leaks(strings.Join(args, " "), s.secrets...) {
		return Answer{}, refuse(frame.CodeInternal, "starting the engine: an argument holds a credential")
	}
	c := child{
		program: s.Layout.EngineBinary, args: args, env: env, grace: s.TermGrace,
		lastCheck: func() error { return checkDeadlines(s.intent, s.Now()) },
	}
	result, err := c.run(ctx)
	if err != nil {
		var typed *refusal
		if errors.As(err, &typed) {
			return Answer{}, typed
		}
		return Answer{}, refuse(frame.CodeConfigurationInvalid, "starting the engine: the executor image has no program %s that can be run", s.Layout.EngineBinary)
	}
	return s.judge(result)
}

// judge turns what the process did into an answer or a refusal. For an Apply, anything but a well-formed answer is an uncertain outcome.
func (s *stage) judge(result childResult) (Answer, error) {
	answer, err := readAnswer(result.stdout, result.exitCode, s.intent)
	if result.overflow || err != nil {
		return Answer{}, s.noAnswer(result, err)
	}
	if answer.Failure != nil {
		return Answer{}, s.failureOf(answer, result)
	}
	probe := s.frame
	probe.MutationStarted, probe.OutcomeUncertain = answer.MutationStarted, answer.OutcomeUncertain
	probe.Observe, probe.Plan, probe.Apply = answer.Observe, answer.Plan, answer.Apply
	if probe.Validate() != nil {
		return Answer{}, s.invalidResult()
	}
	return answer, nil
}

// failureOf passes an engine's failure on if it keeps the vocabulary.
func (s *stage) failureOf(a Answer, result childResult) error {
	exitCode := result.exitCode
	if !a.Failure.Code.Known() || a.Observe != nil || a.Plan != nil || a.Apply != nil {
		return s.uncertainIfApply(refuse(frame.CodeOutputInvalid, "reading the engine's answer: its failure is not of the contract"), exitCode)
	}
	if s.intent.Operation != intent.Apply && (a.MutationStarted || a.OutcomeUncertain) {
		return s.uncertainIfApply(refuse(frame.CodeOutputInvalid, "reading the engine's answer: a read-only operation reports a mutation"), exitCode)
	}
	r := refuse(a.Failure.Code, "%s", a.Failure.Message)
	if a.Failure.Code == frame.CodeCancelled && errors.Is(result.stopped, context.DeadlineExceeded) {
		// The signal came from here: the engine's own timer may run a little behind.
		r = refuse(frame.CodeDeadlineExceeded, "running the engine: the execution deadline passed, and the engine ended with: %s", a.Failure.Message)
	}
	r.exitCode = exitCode
	r.mutationStarted = a.MutationStarted || a.OutcomeUncertain
	r.outcomeUncertain = a.OutcomeUncertain
	return r
}

// noAnswer words why there is none: stopped, killed, or not of the contract.
func (s *stage) noAnswer(result childResult, err error) error {
	var r *refusal
	switch {
	case errors.Is(result.stopped, context.DeadlineExceeded):
		r = refuse(frame.CodeDeadlineExceeded, "running the engine: the execution deadline passed and it did not answer")
	case result.stopped != nil:
		r = refuse(frame.CodeCancelled, "running the engine: it was terminated from outside and did not answer")
	case result.overflow:
		r = refuse(frame.CodeOutputInvalid, "running the engine: it printed more than %d bytes", maxAnswer)
	case result.signal != 0:
		r = refuse(frame.CodeOutputInvalid, "running the engine: signal %d ended it before it answered (9 often means that the memory limit was hit)", result.signal)
	case len(result.stdout) == 0:
		r = refuse(frame.CodeOutputInvalid, "running the engine: it ended with exit code %d and printed nothing", result.exitCode)
	default:
		r = refuse(frame.CodeOutputInvalid, "running the engine: %s", err)
	}
	return s.uncertainIfApply(r, result.exitCode)
}

func (s *stage) invalidResult() error {
	return s.uncertainIfApply(refuse(frame.CodeOutputInvalid, "reading the result of %s: it breaks a rule of the contract", s.intent.Operation), 0)
}

// uncertainIfApply: a mutating child that was started and gave no account may have done anything.
func (s *stage) uncertainIfApply(r *refusal, exitCode int) *refusal {
	r.exitCode = exitCode
	if s.intent.Operation == intent.Apply {
		r.mutationStarted, r.outcomeUncertain = true, true
	}
	return r
}
