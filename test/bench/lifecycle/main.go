// Command lifecycle measures many schemas on a real API server: the cold start against the floor of bare Jobs in the same run, the manager's memory,
// its requests and its work queue, and how late Leases are renewed. The manager is the real one, a process of its own with a service account's
// share of the API server; Jobs are completed by a stand-in node in this process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/test/bench/apiserver"
	"github.com/ptah-run/ptah/test/standin"
)

const (
	// operations is how many Jobs one schema needs from nothing to InSync: Resolve, Verify, Observe, Plan, Apply, and the proof's Observe and Plan.
	operations = 7
	// deadline of an operation, in seconds. Its Lease is a minute longer, and due for renewal after a third.
	deadline = 60
	// slowness is how long every tenth Apply and Plan takes: longer than a third of the Lease, and in time for the deadline.
	slowness   = 50 * time.Second
	mebibyte   = 1 << 20
	namespaces = 10
)

// The bounds that the exit code stands for.
const (
	maxResident = 128 * mebibyte
	maxAge      = 0.5 // of a Lease
)

type bench struct {
	manager, assets, crds string
	count                 int
	interval, wait, limit time.Duration

	server *apiserver.Server
	client client.WithWatch
	model  *standin.Model
	work   *work
	view   *view
}

func main() {
	var b bench
	flag.StringVar(&b.manager, "manager", filepath.Join("bin", "manager"), "the manager to measure")
	flag.StringVar(&b.assets, "assets", os.Getenv("KUBEBUILDER_ASSETS"), "directory with kube-apiserver and etcd")
	flag.StringVar(&b.crds, "crds", filepath.Join("charts", "ptah-operator", "crds"), "directory with the CRDs")
	flag.IntVar(&b.count, "schemas", 500, "how many schemas, a database each")
	flag.DurationVar(&b.interval, "interval", 10*time.Minute, "how often a schema is refreshed")
	minutes := flag.Float64("minutes", 12, "how long to watch after the cold start; a whole wave of refreshes is demanded where this is longer than the interval")
	flag.DurationVar(&b.limit, "timeout", 30*time.Minute, "how long the floor, the cold start and the end may take, each")
	flag.Parse()
	b.wait = time.Duration(*minutes * float64(time.Minute))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func (b *bench) run(ctx context.Context) error {
	if err := b.locate(); err != nil {
		return err
	}
	var err error
	if b.server, err = apiserver.Start(b.assets, b.crds); err != nil {
		return err
	}
	defer b.server.Stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	fmt.Printf("%d schemas, a database each, refreshed every %s, apply policy Always; every tenth Apply and Plan takes %s of a deadline of %d s\n",
		b.count, b.interval, slowness, deadline)
	floor, err := b.floor(ctx)
	if err != nil {
		return fmt.Errorf("measuring the floor: %w", err)
	}
	m, err := b.launch(ctx)
	if err != nil {
		return err
	}
	defer m.stop()
	r, err := b.measure(ctx, m)
	if err != nil {
		return errors.Join(err, m.lastWords())
	}
	r.floor = floor
	return r.print(b, m)
}

// locate makes the paths absolute, and says early what is missing.
func (b *bench) locate() error {
	for name, path := range map[string]*string{"the manager": &b.manager, "the assets directory": &b.assets, "the CRDs": &b.crds} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("locating %s: %w", name, err)
		}
		if _, err := os.Stat(absolute); err != nil || *path == "" {
			return fmt.Errorf("finding %s at %q: run through \"make bench-lifecycle\"", name, *path)
		}
		*path = absolute
	}
	return nil
}

// measure takes a manager without work through the cold start and a wave of refreshes.
func (b *bench) measure(ctx context.Context, m *manager) (*report, error) {
	r := &report{}
	if err := sleep(ctx, 10*time.Second); err != nil {
		return nil, err
	}
	var err error
	if r.idle, err = m.memory(); err != nil {
		return nil, err
	}
	if r.before, err = m.scrape(ctx); err != nil {
		return nil, err
	}
	m.forgetPeak()
	began := time.Now()
	if err := b.createSchemas(ctx); err != nil {
		return nil, err
	}
	if err := b.await(ctx, "cold start", b.view.started); err != nil {
		return nil, err
	}
	r.cold = b.view.chains(began)
	if r.coldMemory, err = m.memory(); err != nil {
		return nil, err
	}
	if r.started, err = m.scrape(ctx); err != nil {
		return nil, err
	}
	m.forgetPeak()
	b.work.beginWave()
	if err := sleep(ctx, b.wait); err != nil {
		return nil, err
	}
	if err := b.await(ctx, "end", b.view.settledFrom()); err != nil {
		return nil, err
	}
	if r.waveMemory, err = m.memory(); err != nil {
		return nil, err
	}
	if r.ended, err = m.scrape(ctx); err != nil {
		return nil, err
	}
	r.server, err = b.heldBack(ctx)
	return r, err
}

// await waits until as many schemas as there are fit, and tells how far they are.
func (b *bench) await(ctx context.Context, what string, count func() int) error {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	told := time.Now()
	for {
		done := count()
		if done == b.count {
			return nil
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			fmt.Fprintf(os.Stderr, "%s: %d of %d schemas are InSync\n", what, done, b.count)
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("%s: %d of %d schemas are InSync: %w", what, done, b.count, err)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
