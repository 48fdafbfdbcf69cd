// Command probes shows the engine and a well-known library of its field the same pairs of databases, each pair different in one thing, on real
// servers, and writes what each made of it as a table. A difference is converged, refused (an error says that it cannot be done), converged in part (a plan that runs
// and does not make the databases equal), invalid (a plan that the server refuses) or unseen (no change is reported). The engine's part is checked: whatever is neither
// converged nor refused by name is an exit code.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/frame"
)

// probe is two databases that differ in one thing.
type probe struct {
	Name string   `json:"name"`
	A    []string `json:"a"`
	B    []string `json:"b"`
}

// verdict is what somebody made of a difference.
type verdict string

const (
	converged verdict = "converged"
	refused   verdict = "refused"
	partial   verdict = "in part"
	invalid   verdict = "invalid SQL"
	unseen    verdict = "**unseen**"
)

// row is one probe with both verdicts.
type row struct {
	name         string
	ours, theirs verdict
}

// server makes databases on one kind of server.
type server interface {
	title() string
	create(ctx context.Context, statements []string) (string, error)
	drop(ctx context.Context, address string) error
	library(ctx context.Context, from, to string) (verdict, error)
	stop()
}

// limit is how long one probe may take.
const limit = time.Minute

func main() {
	out := flag.String("o", "", "file for the table; else only the counts are printed")
	only := flag.String("only", "", "part of the names of the probes to show")
	flag.Parse()
	if err := run(context.Background(), *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, only string) error {
	var page bytes.Buffer
	page.WriteString(preface)
	failed := false
	for _, part := range []struct {
		path  string
		start func(context.Context) (server, error)
	}{
		{"pkg/engine/testdata/probes.json", startPostgres},
		{"pkg/engine/internal/mysql/testdata/probes.json", startMariaDB},
	} {
		probes, err := read(part.path, only)
		if err != nil {
			return err
		}
		if len(probes) == 0 {
			continue
		}
		s, err := part.start(ctx)
		if err != nil {
			return err
		}
		rows, err := compare(ctx, s, probes)
		s.stop()
		if err != nil {
			return err
		}
		failed = write(&page, s.title(), rows) || failed
	}
	if out != "" {
		if err := os.WriteFile(out, page.Bytes(), 0o644); err != nil { //nolint:gosec // a page of the documentation
			return err
		}
	}
	if failed {
		return errors.New("a difference is neither converged nor refused by name")
	}
	return nil
}

func read(path, only string) ([]probe, error) {
	data, err := os.ReadFile(path) //nolint:gosec // part of the sources
	if err != nil {
		return nil, err
	}
	var all, chosen []probe
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, p := range all {
		if strings.Contains(p.Name, only) {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

func compare(ctx context.Context, s server, probes []probe) ([]row, error) {
	var rows []row
	for _, p := range probes {
		r, err := one(ctx, s, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		fmt.Printf("%-45s %-12s %s\n", r.name, r.ours, r.theirs)
		rows = append(rows, r)
	}
	return rows, nil
}

// one shows both the same pair, each with a database of its own to change.
func one(ctx context.Context, s server, p probe) (row, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var addresses []string
	for _, statements := range [][]string{p.A, p.A, p.B} {
		address, err := s.create(ctx, statements)
		if err != nil {
			return row{}, err
		}
		addresses = append(addresses, address)
	}
	r := row{name: p.Name}
	var err error
	// The library first: the engine is the judge of what it leaves, and must see the declared side as it was.
	if r.theirs, err = s.library(ctx, addresses[0], addresses[2]); err != nil {
		return row{}, err
	}
	if r.ours, err = ours(ctx, addresses[1], addresses[2]); err != nil {
		return row{}, err
	}
	for _, address := range addresses {
		if err := s.drop(ctx, address); err != nil {
			return row{}, err
		}
	}
	return r, nil
}

// ours plans, applies and looks again.
func ours(ctx context.Context, from, to string) (verdict, error) {
	desired, err := engine.Inspect(ctx, to)
	if err != nil {
		return "", err
	}
	result, err := engine.Plan(ctx, engine.Options{URL: from}, desired)
	var e *engine.Error
	switch {
	case errors.As(err, &e) && e.Code == frame.CodeUnsupportedObject:
		return refused, nil
	case err != nil:
		return "", err
	case result.NoChange:
		return unseen, nil
	}
	if _, err := engine.Apply(ctx, engine.Options{URL: from}, result.Document); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return invalid, nil
	}
	return left(ctx, from, to)
}

// left is the verdict about a database that a plan was run in.
func left(ctx context.Context, from, to string) (verdict, error) {
	desired, err := engine.Inspect(ctx, to)
	if err != nil {
		return "", err
	}
	observed, err := engine.Observe(ctx, engine.Options{URL: from}, desired)
	if err != nil {
		return "", err
	}
	if observed.Total > 0 {
		return partial, nil
	}
	return converged, nil
}

const preface = `# Single differences, shown to the engine and to a library

Written by ` + "`make bench-probes`" + `. Each row is a pair of databases that differ in one thing, on a real server. *converged*: a plan was made and run, and a fresh reading finds no difference. *refused*: an error names what
cannot be done, and nothing changed. *in part*: a plan was made and run, and the databases still differ. *invalid SQL*: the server refused the plan. *unseen*: reported as no change. The library is
ariga.io/atlas v1.2.3, the open-source module, used as its documentation says (inspect both, diff, plan); the engine's own reading judges what its plans leave. Its commercial build knows more kinds.
`

// write adds one server's table and prints its counts. It reports a verdict of ours that must not be.
func write(page *bytes.Buffer, title string, rows []row) bool {
	verdicts := []verdict{converged, refused, partial, invalid, unseen}
	ours, theirs := map[verdict]int{}, map[verdict]int{}
	for _, r := range rows {
		ours[r.ours]++
		theirs[r.theirs]++
	}
	fmt.Fprintf(page, "\n## %s: %d differences\n\n| | Ptah | library |\n|---|---|---|\n", title, len(rows))
	fmt.Printf("\n%s: %d differences\n%-12s %5s %8s\n", title, len(rows), "", "Ptah", "library")
	for _, v := range verdicts {
		name := strings.Trim(string(v), "*")
		fmt.Fprintf(page, "| %s | %d | %d |\n", name, ours[v], theirs[v])
		fmt.Printf("%-12s %5d %8d\n", name, ours[v], theirs[v])
	}
	fmt.Println()
	page.WriteString("\n| difference | Ptah | library |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(page, "| %s | %s | %s |\n", r.name, r.ours, r.theirs)
	}
	return ours[partial]+ours[invalid]+ours[unseen] > 0
}
