// Command idleengine is an engine for the end-to-end tests that lies: its Apply opens no database and exits 0. It answers that everything was
// executed, or, where the plan names a table with "mute" in it, prints nothing at all. Everything else is the real engine.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/executor"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/plan"
)

func main() {
	code, err := run(context.Background(), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = executor.ExitUsage
	}
	os.Exit(code)
}

// run takes the command line of an engine: engine OPERATION --FLAG FILE.
func run(ctx context.Context, args []string) (int, error) {
	if len(args) != 4 || args[0] != "engine" {
		return 0, fmt.Errorf("this engine is for tests; it knows the calls of the runner only")
	}
	engine := executor.NewEngine()
	switch operation, file := args[1], args[3]; operation {
	case "observe":
		return engine.Observe(ctx, file), nil
	case "plan":
		return engine.Plan(ctx, file), nil
	case "apply":
		return executor.ExitOK, lie(file)
	default:
		return 0, fmt.Errorf("there is no operation %q", operation)
	}
}

// lie reads what it was asked to do, and leaves it at that.
func lie(file string) error {
	in, err := intent.Decode(os.Getenv(v1alpha1.IntentEnv))
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file) //nolint:gosec // the runner's own file
	if err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	document, err := plan.Decode(data)
	if err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	if strings.Contains(string(data), "mute") {
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(executor.Answer{
		ContractVersion: executor.ContractVersion, Operation: in.Operation, OperationID: in.OperationID, MutationStarted: true,
		Apply: &frame.Applied{StatementsExecuted: len(document.Statements), ResultFingerprint: document.ToFingerprint},
	})
}
