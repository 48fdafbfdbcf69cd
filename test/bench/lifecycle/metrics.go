package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		value, err := strconv.ParseFloat(lines.Text()[at+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("parsing the manager's metrics: %w", err)
		}
		series := lines.Text()[:at]
		labels := map[string]string{}
		for _, pair := range label.FindAllStringSubmatch(series, -1) {
			labels[pair[1]] = pair[2]
		}
		name, _, _ := strings.Cut(series, "{")
		s.take(name, labels, value)
	}
	return s, lines.Err()
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
