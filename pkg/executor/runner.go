package executor

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/target"
)

// Exit codes of every stage and of the engine role.
const (
	ExitOK      = 0 // success; "runner run" has printed its frame
	ExitFailure = 1 // a failure frame, or the engine's failure answer, was printed
	ExitUsage   = 2 // no usable order: nothing was printed on standard output, one line on standard error
	ExitWrite   = 3 // the frame could not be written
)

// Runner carries out one intent. The zero value is not usable; see NewRunner.
type Runner struct {
	Layout Layout
	Getenv func(string) string
	Stdout io.Writer
	Stderr io.Writer // used only when there is no intent to answer
	Now    func() time.Time
	// TermGrace is how long the engine may take to stop after it was asked to; it must end before the Pod's own grace of 30 s does.
	TermGrace time.Duration
}

// NewRunner is a runner for this process.
func NewRunner() *Runner {
	return &Runner{
		Layout: DefaultLayout(), Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now,
		TermGrace: 20 * time.Second,
	}
}

// stage is one run: the intent, what must not be shown, and the frame in the making.
type stage struct {
	*Runner
	intent  intent.Intent
	order   string // the intent as it was given
	secrets []string
	frame   frame.Frame
}

// Prepare is the first init container of operations that open a database: it checks the registry grants, takes the CA snapshot, and
// installs the runner. It holds no credential. Silent on success, a failure frame otherwise. Returns the exit code.
func (r *Runner) Prepare(ctx context.Context) int {
	return r.stage(ctx, true, (*stage).prepare)
}

// Fetch is the init container with the registry credential: it writes the digest-pinned artifact into the work volume. Silent on
// success, a failure frame otherwise. Returns the exit code.
func (r *Runner) Fetch(ctx context.Context) int {
	return r.stage(ctx, true, (*stage).fetch)
}

// Run is the main container: it performs the operation and prints its frame. Returns the exit code.
func (r *Runner) Run(ctx context.Context) int {
	return r.stage(ctx, false, (*stage).run)
}

// stage runs one step and turns its outcome into a frame and an exit code.
func (r *Runner) stage(ctx context.Context, silent bool, do func(*stage, context.Context) error) int {
	s, err := r.begin()
	if err != nil {
		_, _ = fmt.Fprintf(r.Stderr, "error: %v\n", err)
		return ExitUsage
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err = do(s, ctx)
	if err == nil && silent {
		return ExitOK
	}
	if err == nil {
		// A result that breaks the protocol's rules came from an engine; the manager would see no result at all.
		if invalid := s.frame.Validate(); invalid != nil {
			err = s.invalidResult()
		}
	}
	if err != nil {
		s.fail(asRefusal(err))
	}
	return s.print()
}

func (r *Runner) begin() (*stage, error) {
	order := r.Getenv(v1alpha1.IntentEnv)
	if order == "" {
		return nil, fmt.Errorf("reading %s: it is empty; this program runs in an operation Pod", v1alpha1.IntentEnv)
	}
	in, err := intent.Decode(order)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", v1alpha1.IntentEnv, err)
	}
	s := &stage{Runner: r, intent: in, order: order, frame: frame.Frame{
		ProtocolVersion: intent.ProtocolVersion, Operation: in.Operation, OperationID: in.OperationID, CoordinationDigest: in.CoordinationDigest,
	}}
	if err := s.checkHeader(); err != nil {
		return nil, err
	}
	for _, name := range []string{
		v1alpha1.DatabaseURLEnv, v1alpha1.DevDatabaseURLEnv, v1alpha1.RegistryPasswordEnv, v1alpha1.RegistryTokenEnv,
	} {
		s.protect(r.Getenv(name))
	}
	return s, nil
}

// checkHeader refuses an intent that no frame could answer.
func (s *stage) checkHeader() error {
	probe := s.frame
	probe.ExitCode, probe.Error = 0, frame.Fail(frame.CodeInternal, "probe")
	if err := probe.Validate(); err != nil {
		return fmt.Errorf("reading %s: %w", v1alpha1.IntentEnv, err)
	}
	return nil
}

// protect adds a value that must never be shown.
func (s *stage) protect(secret string) {
	if secret != "" {
		s.secrets = append(s.secrets, secret)
	}
}

// bounded applies the execution deadline where the intent names one.
func (s *stage) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.intent.ExecutionNotAfter == nil {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, *s.intent.ExecutionNotAfter)
}

// fail turns the frame into a failure frame. This is the only door for messages, so everything is redacted here.
func (s *stage) fail(r *refusal) {
	s.frame.Resolve, s.frame.Verify, s.frame.Observe, s.frame.Plan, s.frame.Apply = nil, nil, nil, nil, nil
	s.frame.Error = frame.Fail(r.code, "%s", target.Redact(r.message, s.secrets...))
	s.frame.ExitCode = r.exitCode
	s.frame.MutationStarted = r.mutationStarted
	s.frame.OutcomeUncertain = r.outcomeUncertain
}

func (s *stage) print() int {
	out := bufio.NewWriterSize(s.Stdout, 64<<10)
	if err := frame.Encode(out, s.frame); err != nil {
		return ExitWrite
	}
	if out.Flush() != nil {
		return ExitWrite
	}
	if s.frame.Error != nil {
		return ExitFailure
	}
	return ExitOK
}

// run dispatches on the operation.
func (s *stage) run(ctx context.Context) error {
	switch s.intent.Operation {
	case intent.Resolve:
		return s.resolve(ctx)
	case intent.Verify:
		return s.verify(ctx)
	case intent.Observe:
		return s.observe(ctx)
	case intent.Plan:
		return s.plan(ctx)
	case intent.Apply:
		return s.apply(ctx)
	default:
		return refuse(frame.CodeConfigurationInvalid, "operation %s is not supported by this executor", s.intent.Operation)
	}
}

// maxCA bounds a CA bundle, in bytes.
const maxCA = artifact.MaxCA
