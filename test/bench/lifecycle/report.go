package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// report is everything that one run measured.
type report struct {
	floor, cold                  chains
	idle, coldMemory, waveMemory memory
	before, started, ended       *sample
	server                       heldBack
	missed                       []string
}

// bound prints one line with its verdict, and keeps what was missed.
func (r *report) bound(kept bool, format string, arguments ...any) {
	line := fmt.Sprintf(format, arguments...)
	verdict := "PASS"
	if !kept {
		verdict = "MISS"
		r.missed = append(r.missed, strings.Join(strings.Fields(line), " "))
	}
	fmt.Printf("%s  %s\n", line, verdict)
}

// print tells everything, and returns the bounds that were missed.
func (r *report) print(b *bench, m *manager) error {
	t := b.work.tally()
	jobs := b.count * operations
	fmt.Printf("floor            %7.1f s for %d bare Jobs in %d chains of %d, %.1f s in the middle, %d of them slow\n", r.floor.all.Seconds(), jobs, b.count, operations, r.floor.median.Seconds(), t.floorSlow)
	fmt.Printf("all InSync       %7.1f s, %.1f s in the middle: %.2f and %.2f of the floor\n", r.cold.all.Seconds(), r.cold.median.Seconds(),
		r.cold.all.Seconds()/r.floor.all.Seconds(), r.cold.median.Seconds()/r.floor.median.Seconds())
	fmt.Printf("operations       %7d, %d of them slow, %d failed\n", t.jobs, t.slow, t.failed)
	r.printMemory()
	r.printRequests(t)
	if err := r.printTrouble(m); err != nil {
		return err
	}
	r.printLeases(&b.view.leases)
	r.printEnd(b, t)
	if len(r.missed) > 0 {
		return fmt.Errorf("missing bounds:\n  %s", strings.Join(r.missed, "\n  "))
	}
	return nil
}

func (r *report) printMemory() {
	for _, line := range []struct {
		what  string
		bytes int64
	}{
		{"RSS idle", r.idle.now}, {"RSS cold start", r.coldMemory.peak}, {"RSS wave", r.waveMemory.peak}, {"RSS end", r.waveMemory.now},
	} {
		r.bound(line.bytes <= maxResident, "%-16s %7.1f MiB, at most %d", line.what, float64(line.bytes)/mebibyte, maxResident/mebibyte)
	}
}

func (r *report) printRequests(t tally) {
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(r.ended.codes)) {
		codes = append(codes, fmt.Sprintf("%s: %.0f", code, r.ended.codes[code]))
	}
	fmt.Printf("requests         %7.0f, %.1f an operation (%s)\n", r.ended.requests(), (r.ended.requests()-r.before.requests())/float64(t.jobs), strings.Join(codes, ", "))
	r.bound(r.ended.codes["429"] == 0 && r.server.rejected == 0, "throttled        %7.0f by the server; the client has no limiter (--kube-api-qps is -1, its default)", max(r.ended.codes["429"], r.server.rejected))
	fmt.Printf("fairness         %7.0f requests of the manager waited %.4f s on average for a seat at the server\n", r.server.requests, r.server.waited/max(r.server.requests, 1))
	for _, phase := range []struct {
		what        string
		before, now *sample
	}{{"cold start", r.before, r.started}, {"wave", r.started, r.ended}} {
		queue, working := phase.now.queue.since(phase.before.queue), phase.now.working.since(phase.before.working)
		if working.count() == 0 {
			fmt.Printf("%-16s no pass\n", phase.what)
			continue
		}
		fmt.Printf("%-16s %7.0f passes of %.3f s on average (p50 within %.3g s, p99 within %.3g s) after %.3f s in the queue (p50 within %.3g s, p99 within %.3g s), %.1f s CPU\n", phase.what,
			working.count(), working.mean(), working.within(0.5), working.within(0.99), queue.mean(), queue.within(0.5), queue.within(0.99), phase.now.cpu-phase.before.cpu)
	}
}

func (r *report) printTrouble(m *manager) error {
	complaints, err := m.complaints()
	if err != nil {
		return err
	}
	fmt.Printf("manager's errors %7d in its log, %.0f passes that failed and were repeated\n", complaints, r.ended.errors)
	return nil
}

func (r *report) printLeases(l *leases) {
	renewals, taken, oldest := l.figures()
	r.bound(len(renewals) > 0, "Leases           %7d taken, %d renewals: without one nothing is shown", taken, len(renewals))
	if len(renewals) > 0 {
		latest := slices.Max(renewals)
		r.bound(latest <= maxAge, "renewed after    %7.3f of a Lease in the middle, %.3f at the latest, at most %.1f", renewals.median(), latest, maxAge)
	}
	r.bound(oldest <= maxAge, "oldest while held %6.3f of a Lease, at most %.1f", oldest, maxAge)
}

func (r *report) printEnd(b *bench, t tally) {
	fmt.Printf("InSync           %7d of %d schemas, seen once more after the wave\n", b.count, b.count)
	r.bound(t.applied == b.count && b.work.twice() == 0, "Applies          %7d, one a schema; %d ran again", t.applied, b.work.twice())
	if b.wait > b.interval {
		r.bound(t.refreshed == b.count, "refreshed        %7d of %d schemas, in one wave at least", t.refreshed, b.count)
	} else {
		fmt.Printf("refreshed        %7d of %d schemas: no whole wave is expected in %s\n", t.refreshed, b.count, b.wait)
	}
}
