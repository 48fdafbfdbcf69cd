package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Unresolved is one record of a mutation that nobody accounted for.
type Unresolved struct {
	Family string
	// Since is when the operator could first have settled it.
	Since time.Time
}

// View reads every such record from durable status. synced is false until the view behind it has caught up.
type View func() (records []Unresolved, synced bool, err error)

// unresolved rebuilds the gauges on every scrape, so that they survive a restart. While nobody can have looked, it publishes no counts:
// an absent series and a zero mean opposite things.
type unresolved struct {
	view           View
	now            func() time.Time
	attempts, owed *prometheus.Desc
	synced         *prometheus.Desc
	readFailures   prometheus.Counter
}

// RegisterUnresolved publishes the gauges of what is still unaccounted for.
func RegisterUnresolved(r prometheus.Registerer, view View, now func() time.Time) error {
	family := []string{"family"}
	return r.Register(&unresolved{
		view: view, now: now,
		attempts: prometheus.NewDesc("ptah_operator_unresolved_attempts", "Resources with a record of a mutation that nobody accounted for.", family, nil),
		owed:     prometheus.NewDesc("ptah_operator_unresolved_owed_seconds", "Seconds since the oldest such record could have been settled.", family, nil),
		synced:   prometheus.NewDesc("ptah_operator_unresolved_view_synced", "1 once the view behind these gauges has caught up.", nil, nil),
		readFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ptah_operator_unresolved_view_read_failures_total", Help: "Scrapes that could not read that state.",
		}),
	})
}

// Describe names the series.
func (u *unresolved) Describe(ch chan<- *prometheus.Desc) {
	ch <- u.attempts
	ch <- u.owed
	ch <- u.synced
	u.readFailures.Describe(ch)
}

// Collect reads the view.
func (u *unresolved) Collect(ch chan<- prometheus.Metric) {
	records, synced, err := u.view()
	if err != nil {
		u.readFailures.Inc()
	}
	ch <- u.readFailures
	if err != nil || !synced {
		ch <- prometheus.MustNewConstMetric(u.synced, prometheus.GaugeValue, 0)
		return
	}
	ch <- prometheus.MustNewConstMetric(u.synced, prometheus.GaugeValue, 1)
	counts := map[string]int{FamilySchema: 0, FamilyMigration: 0}
	oldest := map[string]time.Time{}
	for _, r := range records {
		counts[r.Family]++
		if first, ok := oldest[r.Family]; !ok || r.Since.Before(first) {
			oldest[r.Family] = r.Since
		}
	}
	for family, n := range counts {
		ch <- prometheus.MustNewConstMetric(u.attempts, prometheus.GaugeValue, float64(n), family)
	}
	for family, since := range oldest {
		ch <- prometheus.MustNewConstMetric(u.owed, prometheus.GaugeValue, max(0, u.now().Sub(since).Seconds()), family)
	}
}
