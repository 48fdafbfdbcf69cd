// Package metrics is the collectors of the contract: counters that move on transitions, and gauges that are rebuilt from durable status on
// every scrape. Every label comes from a closed set; no object, digest or text is ever one.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ptah-run/ptah/pkg/operation"
)

// Families.
const (
	FamilySchema    = "schema"
	FamilyMigration = "migration"
)

// unlisted takes the place of a label value that is in no closed set.
const unlisted = "other"

var (
	engines    = set("postgres", "mysql")
	outcomes   = set("succeeded", "refused", "failed", "uncertain", "stale", "required", "accepted", "started", "completed", "drift", "in-sync", "true", "false", "unknown")
	operations = set("resolve", "verify", "observe", "plan", "apply", "history", "controller")
	categories = set("infrastructure", "configuration", "operation", "policy-change", "stale-input", "uncertain-outcome")
)

func set(members ...string) map[string]bool {
	m := make(map[string]bool, len(members))
	for _, x := range members {
		m[x] = true
	}
	return m
}

func closed(members map[string]bool, value string) string {
	if members[value] {
		return value
	}
	return unlisted
}

// Recorder counts what the contract counts.
type Recorder struct {
	reconciliations, drift, plans, approvals, applies, failures *prometheus.CounterVec
	duration                                                    *prometheus.HistogramVec
}

// New makes the counters and registers them.
func New(r prometheus.Registerer) (*Recorder, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "ptah_operator", Name: name, Help: help}, labels)
	}
	m := &Recorder{
		reconciliations: counter("reconciliations_total", "Reconciliations by result.", "family", "result"),
		drift:           counter("drift_observations_total", "Readings of a database by what the scoped plan found.", "engine", "outcome"),
		plans:           counter("plans_total", "Published plans.", "family", "engine", "destructive"),
		approvals:       counter("approvals_total", "Approval transitions.", "family", "outcome"),
		applies:         counter("applies_total", "Apply transitions.", "family", "outcome"),
		failures:        counter("failures_total", "Failures by stage and category.", "family", "stage", "category"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "ptah_operator", Name: "operation_duration_seconds", Help: "Time from an operation's claim to its outcome.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024},
		}, []string{"family", "operation", "outcome"}),
	}
	for _, c := range []prometheus.Collector{m.reconciliations, m.drift, m.plans, m.approvals, m.applies, m.failures, m.duration} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Reconciled counts one reconciliation.
func (m *Recorder) Reconciled(family string, ok bool) {
	result := "success"
	if !ok {
		result = "failure"
	}
	m.reconciliations.WithLabelValues(family, result).Inc()
}

// Failed counts a failure of the operator itself.
func (m *Recorder) Failed(family, category string) {
	m.failures.WithLabelValues(family, "controller", closed(categories, category)).Inc()
}

// Note counts the transition that a step stood for.
func (m *Recorder) Note(family string, x operation.Metric) {
	outcome := closed(outcomes, x.Outcome)
	switch x.Kind {
	case operation.MetricDrift:
		m.drift.WithLabelValues(closed(engines, x.Engine), outcome).Inc()
	case operation.MetricPlan:
		m.plans.WithLabelValues(family, closed(engines, x.Engine), outcome).Inc()
	case operation.MetricApproval:
		m.approvals.WithLabelValues(family, outcome).Inc()
	case operation.MetricApply:
		m.applies.WithLabelValues(family, outcome).Inc()
	case operation.MetricDuration:
		m.duration.WithLabelValues(family, closed(operations, x.Operation), outcome).Observe(max(0, x.Seconds))
	case operation.MetricFailure:
		m.failures.WithLabelValues(family, closed(operations, x.Operation), closed(categories, x.Category)).Inc()
	}
}
