// Command check walks every interleaving of the operation lifecycle within a bound and prints what it walked. It exits 1 with a readable
// trace where a promise is broken, and where a deliberate bug is not noticed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/ptah-run/ptah/test/sim/lifecycle"
	"github.com/ptah-run/ptah/test/sim/mutants"
)

func main() {
	var o options
	flag.UintVar(&o.faults, "faults", 1, "hostile moves in one run")
	flag.IntVar(&o.states, "states", 0, "stop after about this many distinct states; 0 walks all of them")
	flag.BoolVar(&o.midway, "midway", false, "begin at every stage of a kind run instead of at its start")
	flag.BoolVar(&o.applying, "applying", false, "with -midway: only the stages around an Apply")
	flag.BoolVar(&o.detours, "detours", false, "begin wherever a kind run around an Apply leads that met one hostile move, with one more left")
	flag.BoolVar(&o.mutants, "mutants", false, "afterwards, check that every deliberate bug is caught; needs the Go toolchain and the repository")
	only := flag.String("only", "", "with -mutants: those whose name holds this text")
	flag.Parse()
	debug.SetGCPercent(200) // states are made and dropped by the million; memory is bounded by the batch
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok := o.walk()
	if ok && o.mutants {
		ok = hunt(ctx, *only)
	}
	if !ok {
		os.Exit(1) //nolint:gocritic // nothing is left to be tidied up
	}
}

type options struct {
	faults                             uint
	states                             int
	midway, applying, detours, mutants bool
}

func (o options) walk() bool {
	start := time.Now()
	faults := uint8(min(o.faults, 9)) //nolint:gosec // at most 9
	roots := lifecycle.Roots(faults)
	if o.midway {
		var stages []lifecycle.State
		for _, root := range roots {
			stages = append(stages, lifecycle.Midway(root, faults, o.applying)...)
		}
		roots = stages
	}
	if o.detours {
		faults, roots = 2, nil
		for _, root := range lifecycle.Roots(0) {
			roots = append(roots, lifecycle.Detours(root)...)
		}
	}
	r := lifecycle.Check(lifecycle.Bound{States: o.states, Roots: roots})
	if r.Violation != "" {
		fmt.Printf("violated     %s\n%s\n", r.Violation, strings.Join(r.Trace, "\n"))
		return false
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	seconds := time.Since(start).Seconds()
	fmt.Printf("bound        up to %d hostile moves in one run; two families, two policies; complete: %v\n", faults, r.Complete)
	fmt.Printf("states       %d distinct\ntransitions  %d\ndepth        %d\n", r.States, r.Transitions, r.Depth)
	fmt.Printf("invariants   %d hold in every state\n", len(lifecycle.Invariants))
	for _, i := range lifecycle.Invariants {
		fmt.Printf("  %-4s %s\n", i.Name, i.Text)
	}
	fmt.Printf("time         %.1f s, %.0f states per second\nmemory       %d MiB\n", seconds, float64(r.States)/seconds, memory.Sys>>20)
	return true
}

// hunt builds the checker with each deliberate bug and demands that it finds it.
func hunt(ctx context.Context, only string) bool {
	start := time.Now()
	var all []mutants.Mutant
	for _, m := range mutants.All {
		if strings.Contains(m.Name, only) {
			all = append(all, m)
		}
	}
	// Without a bug the same search must find nothing, or what it finds says nothing about the bug.
	for faults := range 2 {
		control := mutants.Mutant{Name: "no bug", File: "step.go", Old: "package operation", New: "package operation", Faults: faults + 1}
		if by := caught(ctx, control); strings.HasPrefix(by, "I") {
			fmt.Printf("  without any bug, %d hostile moves: %s\n", faults+1, by)
			return false
		}
	}
	var wg sync.WaitGroup
	results := make([]string, len(all))
	work := make(chan int)
	for range max(1, runtime.GOMAXPROCS(0)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range work {
				results[i] = caught(ctx, all[i])
			}
		}()
	}
	for i := range all {
		work <- i
	}
	close(work)
	wg.Wait()
	n := 0
	for i, m := range all {
		by := results[i]
		if strings.HasPrefix(by, "I") {
			n++
		} else {
			by = "NOT CAUGHT: " + by
		}
		fmt.Printf("  %-55s %s\n", m.Name, by)
	}
	fmt.Printf("mutants      %d of %d caught, in %.1f s\n", n, len(all), time.Since(start).Seconds())
	return n == len(all)
}

// caught says which promise a deliberate bug breaks first.
func caught(ctx context.Context, m mutants.Mutant) string {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary, err := m.Build(ctx, ".", dir)
	if err != nil {
		return err.Error()
	}
	out, err := exec.CommandContext(ctx, binary, m.Arguments()...).Output() //nolint:gosec // our own build
	first, _, _ := strings.Cut(string(out), "\n")
	if found, violated := strings.CutPrefix(first, "violated     "); violated {
		return found
	}
	if err != nil {
		return err.Error()
	}
	return "no promise is broken within the bound"
}
