// Command bench measures the cold start of many schemas, a database each, on the local cluster: how long until all of them are InSync, what the
// manager needs for it, and how that compares with the node's own floor, the same number of bare Jobs of the same shape run in the same run.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/test/rig"
)

const namespacePrefix = "bench-"

// operations is how many Jobs one schema needs from nothing to InSync: Resolve, Verify, Observe, Plan, Apply, and the proof's Observe and Plan.
const operations = 7

type bench struct {
	*rig.Rig
	client client.Client
	count  int
}

func main() {
	count := flag.Int("schemas", 20, "how many schemas, a database each")
	limit := flag.Duration("timeout", 10*time.Minute, "give up after")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	if err := run(ctx, *count); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1) //nolint:gocritic // nothing is left to cancel
	}
}

func run(ctx context.Context, count int) error {
	b, err := newBench(count)
	if err != nil {
		return err
	}
	fmt.Printf("cold start of %d schemas, a database each, apply policy Always\n", count)
	floor, err := b.floor(ctx)
	if err != nil {
		return fmt.Errorf("measuring the floor: %w", err)
	}
	perMinute := func(d time.Duration) float64 { return float64(count*operations) / d.Minutes() }
	fmt.Printf("floor:     %6.1f s for %d bare Jobs in %d chains of %d (%.0f Jobs/min): what this node can do\n", floor.Seconds(), count*operations, count, operations, perMinute(floor))
	got, err := b.coldStart(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("all InSync: %5.1f s, %d Jobs (%.0f Jobs/min)\n", got.elapsed.Seconds(), got.jobs, float64(got.jobs)/got.elapsed.Minutes())
	fmt.Printf("ratio:     %6.2f of the floor\n", got.elapsed.Seconds()/floor.Seconds())
	fmt.Printf("manager:   %6.1f MiB resident, %.1f s CPU, %.0f API requests (%.1f per Job)\n", got.rss/(1<<20), got.cpu, got.requests, got.requests/float64(got.jobs))
	return nil
}

func newBench(count int) (*bench, error) {
	r, err := rig.FromEnv()
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &bench{Rig: r, client: c, count: count}, nil
}

// measured is one cold start.
type measured struct {
	elapsed            time.Duration
	jobs               int
	rss, cpu, requests float64
}

func (b *bench) coldStart(ctx context.Context) (measured, error) {
	schemas, err := b.prepare(ctx)
	if err != nil {
		return measured{}, err
	}
	before, err := b.scrape(ctx)
	if err != nil {
		return measured{}, err
	}
	manifests := make([]string, len(schemas))
	for i, s := range schemas {
		if manifests[i], err = s.Manifest(); err != nil {
			return measured{}, err
		}
	}
	began := time.Now()
	if _, err := b.Must(ctx, strings.Join(manifests, "\n---\n"), "kubectl", "apply", "-f", "-"); err != nil {
		return measured{}, err
	}
	if err := b.allInSync(ctx); err != nil {
		return measured{}, err
	}
	out := measured{elapsed: time.Since(began)}
	after, err := b.scrape(ctx)
	if err != nil {
		return out, err
	}
	out.rss, out.cpu, out.requests = after.rss, after.cpu-before.cpu, after.requests-before.requests
	var jobs batchv1.JobList
	if err := b.client.List(ctx, &jobs, client.MatchingLabels{v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue}); err != nil {
		return out, fmt.Errorf("counting Jobs: %w", err)
	}
	for i := range jobs.Items {
		if strings.HasPrefix(jobs.Items[i].Namespace, namespacePrefix) {
			out.jobs++
		}
	}
	return out, b.clear(ctx)
}

// prepare installs the operator, clears what an earlier run left, and makes empty databases and one artifact.
func (b *bench) prepare(ctx context.Context) ([]rig.Schema, error) {
	if err := b.InstallOperator(ctx); err != nil {
		return nil, err
	}
	if err := b.clear(ctx); err != nil {
		return nil, err
	}
	reference, err := b.PushSchema(ctx, "bench/shop", "test/demo/shop/v1.sql")
	if err != nil {
		return nil, err
	}
	schemas := make([]rig.Schema, b.count)
	for i := range schemas {
		name := fmt.Sprintf("s%02d", i)
		if err := b.RecreateDatabase(ctx, "bench_"+name); err != nil {
			return nil, err
		}
		schemas[i] = rig.Schema{Namespace: namespacePrefix + name, Name: name, Reference: reference, URL: b.DatabaseURL("bench_" + name), Interval: "1h", Apply: "Always"}
	}
	return schemas, nil
}

func (b *bench) clear(ctx context.Context) error {
	for i := range b.count {
		if _, err := b.Must(ctx, "", "kubectl", "delete", "namespace", fmt.Sprintf("%ss%02d", namespacePrefix, i), "--ignore-not-found", "--wait=false"); err != nil {
			return err
		}
	}
	for i := range b.count {
		if err := b.DeleteNamespace(ctx, fmt.Sprintf("%ss%02d", namespacePrefix, i)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) allInSync(ctx context.Context) error {
	for {
		var list v1alpha1.PtahSchemaList
		if err := b.client.List(ctx, &list); err != nil {
			return fmt.Errorf("listing schemas: %w", err)
		}
		done := 0
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].Namespace, namespacePrefix) && list.Items[i].Status.Applied != nil && string(list.Items[i].Status.Phase) == "InSync" {
				done++
			}
		}
		if done == b.count {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d schemas are InSync: %w", done, b.count, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// figures are what the managers say of themselves: the memory of the larger one, CPU and requests of both, because only one of them leads.
type figures struct{ rss, cpu, requests float64 }

func (b *bench) scrape(ctx context.Context) (figures, error) {
	var pods corev1.PodList
	if err := b.client.List(ctx, &pods, client.InNamespace(rig.OperatorNamespace), client.MatchingLabels{"app.kubernetes.io/component": "controller"}); err != nil {
		return figures{}, fmt.Errorf("listing the managers: %w", err)
	}
	var sum figures
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp != nil {
			continue
		}
		text, err := b.Must(ctx, "", "kubectl", "get", "--raw", "/api/v1/namespaces/"+rig.OperatorNamespace+"/pods/"+pods.Items[i].Name+":8080/proxy/metrics")
		if err != nil {
			return figures{}, fmt.Errorf("reading a manager's metrics: %w", err)
		}
		f, err := read(text)
		if err != nil {
			return figures{}, err
		}
		sum = figures{rss: max(sum.rss, f.rss), cpu: sum.cpu + f.cpu, requests: sum.requests + f.requests}
	}
	return sum, nil
}

func read(metrics string) (figures, error) {
	var f figures
	lines := bufio.NewScanner(strings.NewReader(metrics))
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), " ")
		value, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			continue
		}
		switch {
		case name == "process_resident_memory_bytes":
			f.rss = value
		case name == "process_cpu_seconds_total":
			f.cpu = value
		case strings.HasPrefix(name, "rest_client_requests_total"):
			f.requests += value
		}
	}
	return f, lines.Err()
}
