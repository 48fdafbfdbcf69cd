// Command reasons writes the reference page of conditions, reasons, failures, Events and phases from pkg/explain.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/ptah-run/ptah/pkg/explain"
)

func main() {
	out := flag.String("out", "docs/reference/reasons.md", "file to write")
	flag.Parse()
	if err := os.WriteFile(*out, []byte(explain.Markdown()), 0o644); err != nil { //nolint:gosec // a page for everybody
		fmt.Fprintln(os.Stderr, "error: writing the reference page:", err)
		os.Exit(1)
	}
}
