package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/kubernetes"
)

// sample is what the manager says of itself at one instant.
type sample struct {
	cpu     float64            // seconds
	codes   map[string]float64 // requests by status code
	queue   histogram          // seconds that work waited
	working histogram          // seconds that a pass took
	errors  float64            // passes that failed
}

// histogram counts observations up to each bound, and sums them.
type histogram struct {
	upTo map[float64]float64
	sum  float64
}

var label = regexp.MustCompile(`(\w+)="([^"]*)"`)

func read(metrics io.Reader) (*sample, error) {
	s := &sample{codes: map[string]float64{}, queue: histogram{upTo: map[float64]float64{}}, working: histogram{upTo: map[float64]float64{}}}
	return s, each(metrics, s.take)
}

// each reads series in the text format.
func each(metrics io.Reader, take func(name string, labels map[string]string, value float64)) error {
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		value, err := strconv.ParseFloat(lines.Text()[at+1:], 64)
		if err != nil {
			return fmt.Errorf("parsing metrics: %w", err)
		}
		series := lines.Text()[:at]
		labels := map[string]string{}
		for _, pair := range label.FindAllStringSubmatch(series, -1) {
			labels[pair[1]] = pair[2]
		}
		name, _, _ := strings.Cut(series, "{")
		take(name, labels, value)
	}
	return lines.Err()
}

// heldBack is what the server's priority and fairness did to service accounts, of which the manager is the only one.
type heldBack struct{ requests, waited, rejected float64 }

func (b *bench) heldBack(ctx context.Context) (heldBack, error) {
	var out heldBack
	core, err := kubernetes.NewForConfig(b.server.Config)
	if err != nil {
		return out, fmt.Errorf("making a client: %w", err)
	}
	text, err := core.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return out, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	return out, each(bytes.NewReader(text), func(name string, labels map[string]string, value float64) {
		if labels["flow_schema"] != "service-accounts" {
			return
		}
		switch name {
		case "apiserver_flowcontrol_request_wait_duration_seconds_count":
			out.requests += value
		case "apiserver_flowcontrol_request_wait_duration_seconds_sum":
			out.waited += value
		case "apiserver_flowcontrol_rejected_requests_total":
			out.rejected += value
		}
	})
}

func (s *sample) take(name string, labels map[string]string, value float64) {
	switch name {
	case "process_cpu_seconds_total":
		s.cpu = value
	case "rest_client_requests_total":
		s.codes[labels["code"]] += value
	case "workqueue_queue_duration_seconds_bucket":
		s.queue.add(labels["le"], value)
	case "workqueue_work_duration_seconds_bucket":
		s.working.add(labels["le"], value)
	case "workqueue_queue_duration_seconds_sum":
		s.queue.sum += value
	case "workqueue_work_duration_seconds_sum":
		s.working.sum += value
	case "controller_runtime_reconcile_errors_total":
		s.errors += value
	}
}

func (h histogram) add(bound string, count float64) {
	if le, err := strconv.ParseFloat(bound, 64); err == nil {
		h.upTo[le] += count
	}
}

// since is what was observed after another sample.
func (h histogram) since(before histogram) histogram {
	out := histogram{map[float64]float64{}, h.sum - before.sum}
	for le, count := range h.upTo {
		out.upTo[le] = count - before.upTo[le]
	}
	return out
}

func (h histogram) count() float64 { return h.upTo[math.Inf(1)] }

func (h histogram) mean() float64 { return h.sum / max(h.count(), 1) }

// within is the bound that a part of all observations kept; the bounds are powers of ten.
func (h histogram) within(part float64) float64 {
	for _, le := range slices.Sorted(maps.Keys(h.upTo)) {
		if h.upTo[le] >= part*h.count() {
			return le
		}
	}
	return math.Inf(1)
}

func (s *sample) requests() float64 {
	sum := 0.0
	for _, n := range s.codes {
		sum += n
	}
	return sum
}
