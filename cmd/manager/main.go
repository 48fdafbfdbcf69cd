// Command manager runs Ptah's controllers, webhooks and metrics.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
)

// gcPercent lets the heap grow by half between two collections, not twofold: what the caches hold is most of it, and lives long. GOGC overrides it.
const gcPercent = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	cmd := newCommand()
	if err := cmd.ExecuteContext(signals.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "manager: "+err.Error())
		os.Exit(1)
	}
}
