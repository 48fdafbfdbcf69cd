// Command executor is one static binary with the two roles of an operation Pod: the runner (as /ptah-runner) and the engine (as
// /ptah-engine). See docs/reference/executor.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "golang.org/x/crypto/x509roots/fallback" // the images hold no certificates of their own
)

func main() {
	// As the first process of a container, the runner receives no signal that it does not ask for.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
