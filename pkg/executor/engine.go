package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/release"
	"github.com/ptah-run/ptah/pkg/target"
)

// maxModel bounds the canonical model of a declared schema, in bytes; an artifact holds no larger layer.
const maxModel = 8 << 20

// Engine is the engine role: one operation on one database, one Answer.
type Engine struct {
	Getenv func(string) string
	Stdout io.Writer
	Stderr io.Writer // used only when there is no order to answer
}

// NewEngine is the engine role of this process.
func NewEngine() *Engine { return &Engine{Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr} }

// Observe compares the database with the declared schema in the file. Returns the exit code.
func (e *Engine) Observe(ctx context.Context, schema string) int {
	return e.answer(ctx, intent.Observe, func(ctx context.Context, in intent.Intent, a *Answer) error {
		desired, err := readModel(schema)
		if err != nil {
			return err
		}
		observed, err := engine.Observe(ctx, e.options(in), desired)
		if err != nil {
			return err
		}
		a.Observe = &observed
		return nil
	})
}

// Plan computes one plan from the database to the declared schema in the file. Returns the exit code.
func (e *Engine) Plan(ctx context.Context, schema string) int {
	return e.answer(ctx, intent.Plan, func(ctx context.Context, in intent.Intent, a *Answer) error {
		desired, err := readModel(schema)
		if err != nil {
			return err
		}
		result, err := engine.Plan(ctx, e.options(in), desired)
		if err != nil {
			return err
		}
		a.Plan = &frame.Planned{NoChange: result.NoChange, FromFingerprint: result.From, ToFingerprint: result.To}
		if result.NoChange {
			return nil
		}
		a.Plan.Document, err = plan.Encode(result.Document)
		if errors.Is(err, plan.ErrTooLarge) {
			return refuse(frame.CodePlanTooLarge, "encoding the plan: it is over 8 MiB")
		}
		return err
	})
}

// Apply executes exactly the statements of the plan in the file. Returns the exit code.
func (e *Engine) Apply(ctx context.Context, path string) int {
	return e.answer(ctx, intent.Apply, func(ctx context.Context, in intent.Intent, a *Answer) error {
		document, err := readPlan(path, in)
		if err != nil {
			return err
		}
		applied, err := engine.Apply(ctx, e.options(in), document)
		if err != nil {
			return err
		}
		a.Apply = &applied
		a.MutationStarted = applied.StatementsExecuted > 0
		return nil
	})
}

// Version prints what this engine is. Returns the exit code.
func (e *Engine) Version() int {
	return e.print(struct {
		Name            string   `json:"name"`
		Version         string   `json:"version"`
		Revision        string   `json:"revision"`
		ContractVersion int      `json:"contractVersion"`
		ProtocolVersion int      `json:"protocolVersion"`
		Engines         []string `json:"engines"`
	}{"ptah", release.Version, release.Describe(), ContractVersion, intent.ProtocolVersion, []string{target.Postgres, target.MySQL}})
}

// answer runs one operation and prints its answer, whatever happens.
func (e *Engine) answer(ctx context.Context, operation intent.Operation, do func(context.Context, intent.Intent, *Answer) error) int {
	in, err := intent.Decode(e.Getenv(v1alpha1.IntentEnv))
	if err == nil && in.Operation != operation {
		err = fmt.Errorf("the order is for %s", in.Operation)
	}
	if err != nil {
		_, _ = fmt.Fprintf(e.Stderr, "error: reading %s: %v\n", v1alpha1.IntentEnv, err)
		return ExitUsage
	}
	if in.ExecutionNotAfter != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, *in.ExecutionNotAfter)
		defer cancel()
	}
	a := Answer{ContractVersion: ContractVersion, Operation: operation, OperationID: in.OperationID}
	if err := do(ctx, in, &a); err != nil {
		e.fail(&a, err)
	}
	code := e.print(a)
	if code == ExitOK && a.Failure != nil {
		return ExitFailure
	}
	return code
}

// fail reports a typed error; the engine's own says what it means for the database.
func (e *Engine) fail(a *Answer, err error) {
	a.Observe, a.Plan, a.Apply = nil, nil, nil
	r := asRefusal(err)
	var typed *engine.Error
	if errors.As(err, &typed) {
		r = refuse(typed.Code, "%s", typed.Message)
		a.MutationStarted, a.OutcomeUncertain = typed.MutationStarted, typed.OutcomeUncertain
	}
	secrets := []string{e.Getenv(v1alpha1.DatabaseURLEnv), e.Getenv(v1alpha1.DevDatabaseURLEnv)}
	a.Failure = frame.Fail(r.code, "%s", target.Redact(r.message, secrets...))
}

func (e *Engine) print(document any) int {
	enc := json.NewEncoder(e.Stdout)
	enc.SetEscapeHTML(false)
	if enc.Encode(document) != nil {
		return ExitWrite
	}
	return ExitOK
}

// options passes the managed scope and the patience of the order on.
func (e *Engine) options(in intent.Intent) engine.Options {
	o := engine.Options{URL: e.Getenv(v1alpha1.DatabaseURLEnv)}
	if in.Scope == nil {
		return o
	}
	o.ConnectTimeout, o.LockTimeout = time.Duration(in.Scope.ConnectTimeout), time.Duration(in.Scope.LockTimeout)
	o.Exclude, o.ProtectedTables = in.Scope.Exclude, in.Scope.ProtectedTables
	o.DriftSeverity, o.TransactionMode = in.Scope.DriftSeverity, in.Scope.TransactionMode
	return o
}

func readModel(path string) (*model.Database, error) {
	data, err := readBounded(path, "the declared schema", maxModel, frame.CodeArtifactInvalid)
	if err != nil {
		return nil, err
	}
	desired, err := model.Decode(data)
	if err != nil {
		return nil, refuse(frame.CodeDesiredSchemaInvalid, "reading the declared schema: %s", err)
	}
	return desired, nil
}

// readPlan checks the bytes against the order once more: this process executes them.
func readPlan(path string, in intent.Intent) (plan.Document, error) {
	data, err := readBounded(path, "the plan", plan.MaxSize, frame.CodePlanDamaged)
	if err != nil {
		return plan.Document{}, err
	}
	if in.Plan == nil || plan.Digest(data) != in.Plan.ContentDigest {
		return plan.Document{}, refuse(frame.CodePlanDamaged, "reading the plan: its digest is not that of the order; nothing was executed")
	}
	document, err := plan.Decode(data)
	if err != nil {
		return plan.Document{}, refuse(frame.CodePlanDamaged, "reading the plan: it is not a plan document (%s); nothing was executed", problem(err))
	}
	return document, nil
}
