package metrics_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/metrics"
	"github.com/ptah-run/ptah/pkg/operation"
)

func TestCountersHaveClosedLabels(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := metrics.New(registry)
	require.NoError(t, err)
	m.Reconciled(metrics.FamilySchema, true)
	m.Note(metrics.FamilySchema, operation.Metric{Kind: operation.MetricApply, Outcome: "uncertain"})
	m.Note(metrics.FamilySchema, operation.Metric{Kind: operation.MetricPlan, Engine: "postgres", Outcome: "true"})
	m.Note(metrics.FamilySchema, operation.Metric{Kind: operation.MetricFailure, Operation: "observe", Category: "shop-42"})
	m.Note(metrics.FamilySchema, operation.Metric{})
	assert.Equal(t, []string{
		`ptah_operator_applies_total{family="schema",outcome="uncertain"} 1`,
		`ptah_operator_failures_total{category="other",family="schema",stage="observe"} 1`,
		`ptah_operator_plans_total{destructive="true",engine="postgres",family="schema"} 1`,
		`ptah_operator_reconciliations_total{family="schema",result="success"} 1`,
	}, series(t, registry))
}

// series writes what a scrape would show, sorted.
func series(t *testing.T, registry *prometheus.Registry) []string {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			out = append(out, fmt.Sprintf("%s{%s} %v", f.GetName(), strings.Join(labels, ","), m.GetCounter().GetValue()+m.GetGauge().GetValue()))
		}
	}
	return out
}

// While nobody can have looked there is no count at all: an absent series and a zero mean opposite things.
func TestUnresolvedView(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var records []metrics.Unresolved
	synced, failure := false, error(nil)
	registry := prometheus.NewRegistry()
	require.NoError(t, metrics.RegisterUnresolved(registry, func() ([]metrics.Unresolved, bool, error) { return records, synced, failure }, func() time.Time { return now }))
	const failures = `ptah_operator_unresolved_view_read_failures_total{} %d`
	unseen := func(n int) []string {
		return []string{fmt.Sprintf(failures, n), `ptah_operator_unresolved_view_synced{} 0`}
	}
	assert.Equal(t, unseen(0), series(t, registry), "not caught up")
	synced, failure = true, errors.New("no answer")
	assert.Equal(t, unseen(1), series(t, registry), "not readable")
	failure = nil
	records = []metrics.Unresolved{{Family: "schema", Since: now.Add(-time.Minute)}, {Family: "schema", Since: now.Add(-time.Hour)}}
	assert.Equal(t, []string{
		`ptah_operator_unresolved_attempts{family="migration"} 0`,
		`ptah_operator_unresolved_attempts{family="schema"} 2`,
		`ptah_operator_unresolved_owed_seconds{family="schema"} 3600`,
		fmt.Sprintf(failures, 1),
		`ptah_operator_unresolved_view_synced{} 1`,
	}, series(t, registry))
}
