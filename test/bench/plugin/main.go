// Command plugin measures kubectl ptah against the contract's own kubectl and jq pipelines, on the same real API server in the same run: how
// long each takes, and how much memory the plugin needs. Objects are written straight into the server's store, so that thousands of them take
// seconds.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	var b bench
	flag.StringVar(&b.plugin, "plugin", filepath.Join("bin", "kubectl-ptah"), "the plugin to measure")
	flag.StringVar(&b.measure, "measure", filepath.Join("bin", "measure"), "the program that measures one run of another")
	flag.StringVar(&b.assets, "assets", os.Getenv("KUBEBUILDER_ASSETS"), "directory with kube-apiserver, etcd and kubectl")
	flag.StringVar(&b.crds, "crds", filepath.Join("charts", "ptah-operator", "crds"), "directory with the CRDs")
	flag.IntVar(&b.count, "count", 10_000, "how many resources, and how many plans")
	flag.IntVar(&b.rounds, "rounds", 3, "how often everything runs; the fastest counts")
	hold := flag.Bool("hold", false, "keep the API server running afterwards, until interrupted, and say where its kubeconfig is")
	flag.Parse()
	b.hold = *hold
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

type bench struct {
	plugin, measure, assets, crds string
	count, rounds                 int
	hold                          bool

	kubeconfig string
	store      *store
}

func (b *bench) run(ctx context.Context) error {
	if err := b.locate(); err != nil {
		return err
	}
	stop, err := b.start(ctx)
	if err != nil {
		return err
	}
	defer stop()
	for _, measure := range []func(context.Context) error{b.coldStart, b.largePlan, b.findStalled, b.prune} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	if b.hold {
		fmt.Println("KUBECONFIG=" + b.kubeconfig)
		<-ctx.Done()
	}
	return nil
}

// locate makes the paths absolute, and says early what is missing.
func (b *bench) locate() error {
	for name, path := range map[string]*string{"the plugin": &b.plugin, "the measuring program": &b.measure, "the assets directory": &b.assets, "the CRDs": &b.crds} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("locating %s: %w", name, err)
		}
		if _, err := os.Stat(absolute); err != nil || *path == "" {
			return fmt.Errorf("finding %s at %q: run through \"make bench-plugin\"", name, *path)
		}
		*path = absolute
	}
	return nil
}

// compare prints one line of the result: the plugin beside the recipe.
func compare(what string, ours, recipe figure) {
	fmt.Printf("%-38s plugin %7.2f s %6.1f MiB   recipe %7.2f s   ratio %5.1f times faster\n", what, ours.Elapsed.Seconds(), ours.mebibytes(), recipe.Elapsed.Seconds(),
		recipe.Elapsed.Seconds()/ours.Elapsed.Seconds())
}

func (b *bench) coldStart(ctx context.Context) error {
	var elapsed, cpu []time.Duration
	for range 40 {
		f, err := b.once(ctx, b.plugin, "version", "--client")
		if err != nil {
			return err
		}
		elapsed, cpu = append(elapsed, f.Elapsed), append(cpu, f.CPU)
	}
	baseline, err := b.best(ctx, filepath.Join(b.assets, "kubectl"), "version", "--client")
	if err != nil {
		return err
	}
	slices.Sort(elapsed)
	slices.Sort(cpu)
	fmt.Printf("%-38s plugin %7.1f ms at best, %.1f ms in the middle (%.1f ms CPU)   kubectl %.1f ms\n", "cold start", ms(elapsed[0]), ms(elapsed[len(elapsed)/2]), ms(cpu[len(cpu)/2]), ms(baseline.Elapsed))
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (b *bench) largePlan(ctx context.Context) error {
	size, err := b.store.largePlan(ctx)
	if err != nil {
		return err
	}
	recipe, err := b.best(ctx, "bash", "-euo", "pipefail", "-c", chunkRecipe)
	if err != nil {
		return err
	}
	for _, format := range []string{"sql", "text", "json"} {
		ours, err := b.best(ctx, b.plugin, "plan", largeName, "-n", largeNamespace, "-o", format)
		if err != nil {
			return err
		}
		compare(fmt.Sprintf("plan -o %s of %.1f MiB", format, float64(size)/(1<<20)), ours, recipe)
	}
	return nil
}

func (b *bench) findStalled(ctx context.Context) error {
	tenth := b.count / 10
	if err := b.store.schemas(ctx, 0, tenth); err != nil {
		return err
	}
	few, err := b.best(ctx, b.plugin, "find-stalled", "-A")
	if err != nil {
		return err
	}
	if err := b.store.schemas(ctx, tenth, b.count); err != nil {
		return err
	}
	ours, err := b.best(ctx, b.plugin, "find-stalled", "-A")
	if err != nil {
		return err
	}
	recipe, err := b.best(ctx, "bash", "-euo", "pipefail", "-c", stalledRecipe)
	if err != nil {
		return err
	}
	compare(fmt.Sprintf("find-stalled over %d", b.count), ours, recipe)
	fmt.Printf("%-38s %.1f MiB over %d, %.1f MiB over %d\n", "  its memory", few.mebibytes(), tenth, ours.mebibytes(), b.count)
	return nil
}

func (b *bench) prune(ctx context.Context) error {
	if err := b.store.plans(ctx, b.count); err != nil {
		return err
	}
	ours, err := b.best(ctx, b.plugin, "prune", "-A")
	if err != nil {
		return err
	}
	recipe, err := b.best(ctx, "bash", "-euo", "pipefail", "-c", pinnedRecipe)
	if err != nil {
		return err
	}
	compare(fmt.Sprintf("prune (dry run) over %d and %d", b.count, b.count/2), ours, recipe)
	return nil
}
