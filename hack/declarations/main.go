// Command declarations writes the reference page of the keys of declarations from pkg/declare.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/ptah-run/ptah/pkg/declare"
)

func main() {
	out := flag.String("out", "docs/reference/declarations.md", "file to write")
	flag.Parse()
	if err := os.WriteFile(*out, []byte(declare.Reference()), 0o644); err != nil { //nolint:gosec // a page for everybody
		fmt.Fprintln(os.Stderr, "error: writing the reference page:", err)
		os.Exit(1)
	}
}
