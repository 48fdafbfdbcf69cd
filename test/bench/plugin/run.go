package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/ptah-run/ptah/test/bench/apiserver"
)

// figure is what one run of a program needed, as the measuring program writes it.
type figure struct {
	Elapsed  time.Duration `json:"elapsed"`
	CPU      time.Duration `json:"cpu"`
	Resident int64         `json:"resident"` // bytes, at most
}

func (f figure) mebibytes() float64 { return float64(f.Resident) / (1 << 20) }

// answers are the exit codes of a question that was answered: findings are an answer.
var answers = []int{0, 4}

// once runs a program to its end, with its output read and thrown away.
func (b *bench) once(ctx context.Context, name string, args ...string) (figure, error) {
	report := filepath.Join(filepath.Dir(b.kubeconfig), "figure")
	cmd := exec.CommandContext(ctx, b.measure, append([]string{report, name}, args...)...) //nolint:gosec // ours
	cmd.Env = append(os.Environ(), "KUBECONFIG="+b.kubeconfig, "PATH="+b.assets+":"+os.Getenv("PATH"))
	var stdout counter
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || !slices.Contains(answers, exit.ExitCode())) {
		return figure{}, fmt.Errorf("running %s %v: %w: %s", filepath.Base(name), args, err, stderr.String())
	}
	if stdout == 0 {
		return figure{}, fmt.Errorf("running %s %v: it printed nothing", filepath.Base(name), args)
	}
	var f figure
	data, err := os.ReadFile(report)
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return f, fmt.Errorf("reading what %s needed: %w", filepath.Base(name), err)
	}
	return f, nil
}

// counter counts what is written to it, and keeps none of it.
type counter int

func (c *counter) Write(data []byte) (int, error) {
	*c += counter(len(data))
	return len(data), nil
}

// best is the fastest of some runs, with the most memory that any of them needed.
func (b *bench) best(ctx context.Context, name string, args ...string) (figure, error) {
	var best figure
	var resident int64
	for range b.rounds {
		f, err := b.once(ctx, name, args...)
		if err != nil {
			return figure{}, err
		}
		resident = max(resident, f.Resident)
		if best.Elapsed == 0 || f.Elapsed < best.Elapsed {
			best = f
		}
	}
	best.Resident = resident
	return best, nil
}

// start starts a real API server with the CRDs and connects to its store.
func (b *bench) start(ctx context.Context) (func(), error) {
	server, err := apiserver.Start(b.assets, b.crds)
	if err != nil {
		return nil, err
	}
	b.kubeconfig = server.Kubeconfig
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{server.ControlPlane.Etcd.URL.String()}, DialTimeout: 10 * time.Second, Context: ctx})
	if err != nil {
		server.Stop()
		return nil, fmt.Errorf("connecting to the API server's store: %w", err)
	}
	b.store = &store{client: client}
	return func() {
		_ = client.Close()
		server.Stop()
	}, nil
}
