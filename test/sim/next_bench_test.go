package sim

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/ptah-run/ptah/pkg/operation"
)

// stages are the snapshots of a whole convergence of a real schema family, each with the step that Next answers.
func stages() (names []string, snapshots []operation.Snapshot) {
	w, b := newWorld(), &brain{}
	seen := map[string]bool{}
	for range 400 {
		s := w.schema.DeepCopy()
		snap := w.gather(b, s)
		step := operation.Next(snap)
		name := fmt.Sprintf("%T", step)[len("operation."):]
		if p, ok := step.(operation.PatchStatus); ok {
			name += "-" + p.Reason
		}
		if op := s.Status.ActiveOperation; op != nil {
			name += "-" + string(op.Type)
		}
		if !seen[name] {
			seen[name] = true
			names, snapshots = append(names, name), append(snapshots, snap)
		}
		if _, waiting := w.pass(b, succeeds).(operation.Wait); waiting {
			switch {
			case w.startPods(), w.runPods(), w.approve():
			default:
				return names, snapshots
			}
		}
	}
	return names, snapshots
}

// BenchmarkNext times one decision at every stage of a convergence, over the real schema family. The baseline of the same run is encoding the
// resource once, the least that a status write costs. The writes of a claim and of its admission snapshot build a whole Pod; they happen once
// for each operation. Nothing in a snapshot grows with the number of resources: other claimants arrive as counts.
func BenchmarkNext(b *testing.B) {
	names, snapshots := stages()
	encoding := baseline(b)
	for _, resources := range []int{1, 5000} {
		worlds := make([]*world, resources) // what a manager of so many holds beside
		for i := range worlds {
			worlds[i] = newWorld()
		}
		for i, snap := range snapshots {
			snap.Census.Value.Claimants = resources
			b.Run(fmt.Sprintf("%s/%d", names[i], resources), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					operation.Next(snap)
				}
				perDecision := float64(b.Elapsed()) / float64(b.N)
				b.ReportMetric(perDecision/encoding, "x-encoding")
			})
		}
		runtime.KeepAlive(worlds)
	}
}

func baseline(b *testing.B) float64 {
	const n = 2000
	s := newWorld().schema
	began := time.Now()
	for range n {
		if _, err := json.Marshal(s); err != nil {
			b.Fatal(err)
		}
	}
	return float64(time.Since(began)) / n
}
