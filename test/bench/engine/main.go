// Command engine measures the engine and a well-known library of its field side by side, on the same databases of one real PostgreSQL: how long
// reading a wide database takes, how long reading, comparing and planning takes, and how much memory that needs. Every measurement is a process
// of its own, run by bin/measure. The aims are checked; a figure beyond one is an exit code.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/plugin/push/devserver"
)

// URLs travel in the environment: they hold a password.
const (
	liveEnv    = "PTAH_BENCH_LIVE_URL"
	desiredEnv = "PTAH_BENCH_DESIRED_URL"
)

func main() {
	tables := flag.Int("tables", 2000, "tables of the wide database")
	runs := flag.Int("runs", 3, "runs of each measurement; the best counts")
	measure := flag.String("measure", "bin/measure", "the program that runs a process and writes what it needed")
	flag.Parse()
	var err error
	if flag.NArg() > 0 {
		err = work(context.Background(), flag.Args())
	} else {
		err = compare(context.Background(), *tables, *runs, *measure)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// statements make n tables of 12 columns with a primary key, a foreign key, two indexes, a check and an enum each. In the changed form every
// tenth table has another column, a wider type and one index less.
func statements(n int, changed bool) []string {
	var out []string
	for i := range n {
		code, note, index := "varchar(40)", "note text", fmt.Sprintf("; CREATE INDEX ON t%d (lower(code)) WHERE active", i)
		if changed && i%10 == 0 {
			code, note, index = "varchar(80)", "note text, more text DEFAULT 'none'", ""
		}
		out = append(out, fmt.Sprintf(`CREATE TYPE e%[1]d AS ENUM ('a', 'b', 'c');
CREATE TABLE t%[1]d (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, parent bigint REFERENCES t%[2]d, k e%[1]d NOT NULL DEFAULT 'a', name text NOT NULL, code %[3]s,
 amount numeric(12,2) DEFAULT 0, created timestamptz NOT NULL DEFAULT now(), flags int[] DEFAULT '{}', %[4]s, active boolean DEFAULT true, extra jsonb, score double precision, CHECK (amount >= 0));
CREATE INDEX ON t%[1]d (name, created DESC)%[5]s`, i, max(i-1, 0), code, note, index))
	}
	return out
}

// create makes a database and returns its URL.
func create(ctx context.Context, server, name string, sql []string) (string, error) {
	if err := execute(ctx, server, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	for part := range slices.Chunk(sql, 100) {
		if err := execute(ctx, u.String(), strings.Join(part, ";\n")); err != nil {
			return "", err
		}
	}
	return u.String(), execute(ctx, u.String(), "ANALYZE")
}

func execute(ctx context.Context, address, sql string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

// figure is what bin/measure writes.
type figure struct {
	Elapsed  time.Duration `json:"elapsed"`
	CPU      time.Duration `json:"cpu"`
	Resident int64         `json:"resident"`
}

func (f figure) String() string {
	return fmt.Sprintf("%8.2f s %8.2f s CPU %7.1f MiB", f.Elapsed.Seconds(), f.CPU.Seconds(), float64(f.Resident)/(1<<20))
}

// bench runs this program again, once for each measurement.
type bench struct {
	measure, dir string
	runs         int
	env          []string
	failed       bool
}

func compare(ctx context.Context, tables, runs int, measure string) error {
	programs, found := devserver.Find(os.Getenv)
	if !found {
		return fmt.Errorf("no PostgreSQL server binaries: install the package postgresql")
	}
	server, err := devserver.Start(ctx, programs)
	if err != nil {
		return err
	}
	defer server.Stop()
	fmt.Printf("two databases of %d tables, the second with every tenth table changed\n", tables)
	live, err := create(ctx, server.URL, "live", statements(tables, false))
	if err != nil {
		return fmt.Errorf("creating the database: %w", err)
	}
	desired, err := create(ctx, server.URL, "desired", statements(tables, true))
	if err != nil {
		return fmt.Errorf("creating the other database: %w", err)
	}
	dir, err := os.MkdirTemp("", "ptah-bench-engine-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := writeModel(ctx, desired, filepath.Join(dir, "desired.json")); err != nil {
		return err
	}
	b := &bench{measure: measure, dir: dir, runs: runs, env: append(os.Environ(), liveEnv+"="+live, desiredEnv+"="+desired)}
	if err := b.all(); err != nil {
		return err
	}
	if b.failed {
		return fmt.Errorf("a figure is beyond its aim")
	}
	return nil
}

func writeModel(ctx context.Context, address, path string) error {
	db, err := engine.Inspect(ctx, address)
	if err != nil {
		return err
	}
	data, err := model.Encode(db)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

func (b *bench) all() error {
	path := filepath.Join(b.dir, "desired.json")
	nothing, err := b.best("nothing")
	if err != nil {
		return err
	}
	var ours, theirs [2]figure
	for i, what := range []string{"inspect", "plan"} {
		if ours[i], err = b.best("ours-"+what, path); err != nil {
			return err
		}
		if theirs[i], err = b.best("theirs-"+what, path); err != nil {
			return err
		}
	}
	load, err := b.best("ours-load", path)
	if err != nil {
		return err
	}
	fmt.Printf("%-34s %s\n", "a process that does nothing", nothing)
	fmt.Printf("%-34s %s\n", "inspect", ours[0])
	fmt.Printf("%-34s %s\n", "inspect, the library", theirs[0])
	fmt.Printf("%-34s %s\n", "inspect, compare and plan", ours[1])
	fmt.Printf("%-34s %s\n", "the same of two databases, library", theirs[1])
	fmt.Printf("%-34s %s\n\n", "load the declared schema", load)
	inspect := theirs[0].Elapsed.Seconds() / ours[0].Elapsed.Seconds()
	b.aim("inspect, times faster", inspect, inspect >= 10, "at least 10")
	b.aim("inspect, compare and plan, seconds", ours[1].Elapsed.Seconds(), ours[1].Elapsed < 3*time.Second, "under 3")
	b.aim("inspect, compare and plan, MB", float64(ours[1].Resident)/1e6, ours[1].Resident < 100e6, "under 100")
	loading := (load.Elapsed - nothing.Elapsed).Seconds() * 1000
	b.aim("load the declared schema, ms", loading, loading < 300, "under 300")
	b.aim("load the declared schema, MB", float64(load.Resident)/1e6, load.Resident < 100e6, "under 100")
	return nil
}

func (b *bench) aim(what string, value float64, met bool, aim string) {
	verdict := "met"
	if !met {
		verdict, b.failed = "NOT met", true
	}
	fmt.Printf("%-36s %9.1f   aim: %s, %s\n", what, value, aim, verdict)
}

// best runs one measurement several times and keeps the fastest, with the most memory of all.
func (b *bench) best(args ...string) (figure, error) {
	var best figure
	for range b.runs {
		f, err := b.once(args)
		if err != nil {
			return figure{}, fmt.Errorf("%s: %w", args[0], err)
		}
		f.Resident = max(f.Resident, best.Resident)
		if best.Elapsed == 0 || f.Elapsed < best.Elapsed {
			best.Elapsed, best.CPU = f.Elapsed, f.CPU
		}
		best.Resident = f.Resident
	}
	return best, nil
}

func (b *bench) once(args []string) (figure, error) {
	self, err := os.Executable()
	if err != nil {
		return figure{}, err
	}
	file := filepath.Join(b.dir, "figure.json")
	cmd := exec.Command(b.measure, append([]string{file, self}, args...)...) //nolint:gosec // this program and its companion
	cmd.Env, cmd.Stderr = b.env, os.Stderr
	if err := cmd.Run(); err != nil {
		return figure{}, err
	}
	data, err := os.ReadFile(file) //nolint:gosec // written by the companion
	if err != nil {
		return figure{}, err
	}
	var f figure
	return f, json.Unmarshal(data, &f)
}
