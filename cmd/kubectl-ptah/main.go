// Command kubectl-ptah is the kubectl plugin: kubectl finds it on PATH and runs it as "kubectl ptah". Under the name kubectl_complete-ptah
// it completes words for kubectl.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
)

// How much garbage may pile up, in percent of what lives. What only starts, helps or completes ends before anything is worth collecting; what
// reads a cluster may hold a plan of 8 MiB, and does so within 64 MiB for a little more work.
const (
	startingGarbage = 400
	readingGarbage  = 40
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	screen := options.DetectScreen(os.Stdin, os.Stdout, os.Stderr)
	global := options.New(streams, screen, time.Now, os.Getenv)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(startingGarbage)
		global.Connecting = func() { debug.SetGCPercent(readingGarbage) }
	}
	return int(plugin.Run(ctx, global, os.Args[0], os.Args[1:]))
}
