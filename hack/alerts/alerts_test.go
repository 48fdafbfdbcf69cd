// Package alerts_test checks the alerting rules that docs/alerts.md prints, as promtool would: Prometheus' own parser reads them, and its own
// rule engine evaluates them over series like those that the page's script leaves. A module of its own, so that nothing else depends on
// Prometheus.
package alerts_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var page = filepath.Join("..", "..", "docs", "alerts.md")

// printed is the one block of rules of the page, exactly as it stands there.
func printed(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	var found []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(block[1], "groups:") {
			found = append(found, block[1])
		}
	}
	require.Len(t, found, 1, "blocks of rules in %s", page)
	return []byte(found[0])
}

// TestPrometheusAcceptsTheRules is "promtool check rules".
func TestPrometheusAcceptsTheRules(t *testing.T) {
	groups, problems := rulefmt.Parse(printed(t), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	require.Empty(t, problems)
	var names []string
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			names = append(names, rule.Alert)
		}
	}
	assert.ElementsMatch(t, []string{"PtahResourceStalled", "PtahResourceUnscheduled", "PtahStalledCheckPartial", "PtahStalledCheckMissing"}, names)
	for _, name := range names {
		assert.True(t, slices.ContainsFunc(cases, func(c alertCase) bool { return c.alert == name && c.fires != nil }), "a case in which %s fires", name)
		assert.True(t, slices.ContainsFunc(cases, func(c alertCase) bool { return c.alert == name && c.fires == nil }), "a case in which %s does not fire", name)
	}
}

// alertCase is a state of the series, a time, and what one alert says then.
type alertCase struct {
	name  string
	alert string
	// series are one sample every minute, in the notation of Prometheus' own tests; "_" is no sample.
	series string
	after  time.Duration
	// fires is nil, or what the one firing alert carries: its own labels, and annotations under "summary" and "runbook".
	fires map[string]string
}

const (
	seen    = "\n  ptah_find_stalled_last_run_timestamp_seconds 0+60x300"
	orders  = `{resource_kind="schema", resource_namespace="app", resource_name="orders", phase="Resolving"}`
	schemas = `{resource_kind="schema"}`
)

var cases = []alertCase{
	{
		"a resource is stalled for a quarter of an hour", "PtahResourceStalled", "ptah_resource_stalled" + orders + " 1x300" + seen, 20 * time.Minute,
		map[string]string{
			"severity": "page", "resource_kind": "schema", "resource_namespace": "app", "resource_name": "orders",
			"summary": "schema app/orders has stopped converging", "runbook": "kubectl ptah status schema/orders -n app",
		},
	},
	{
		"a stalled resource changes its phase with every look", "PtahResourceStalled",
		"ptah_resource_stalled" + orders + strings.Repeat(" 1x9 stale _x9", 5) + "\n  ptah_resource_stalled" + strings.Replace(orders, "Resolving", "Failed", 1) + " _x10" + strings.Repeat(" 1x9 stale _x9", 5) + seen,
		55 * time.Minute,
		map[string]string{
			"severity": "page", "resource_kind": "schema", "resource_namespace": "app", "resource_name": "orders",
			"summary": "schema app/orders has stopped converging", "runbook": "kubectl ptah status schema/orders -n app",
		},
	},
	{"a resource is stalled for ten minutes only", "PtahResourceStalled", "ptah_resource_stalled" + orders + " 1x300" + seen, 10 * time.Minute, nil},
	{"a resource has caught up", "PtahResourceStalled", "ptah_resource_stalled" + orders + " 1x9 stale _x290" + seen, 40 * time.Minute, nil},
	{"nobody can say whether it is stalled", "PtahResourceStalled", "ptah_resource_stalled" + orders + " 0x300" + seen, 2 * time.Hour, nil},
	{"nothing is stalled", "PtahResourceStalled", "ptah_find_stalled_stalled" + schemas + " 0x300" + seen, 2 * time.Hour, nil},
	{
		"nothing is scheduled for half an hour", "PtahResourceUnscheduled", "ptah_resource_stalled" + orders + " 0x300" + seen, 30 * time.Minute,
		map[string]string{
			"severity": "ticket", "resource_kind": "schema", "resource_namespace": "app", "resource_name": "orders",
			"summary": "nothing is scheduled for schema app/orders",
		},
	},
	{"nothing is scheduled for twenty minutes only", "PtahResourceUnscheduled", "ptah_resource_stalled" + orders + " 0x300" + seen, 20 * time.Minute, nil},
	{"what is stalled has another alert", "PtahResourceUnscheduled", "ptah_resource_stalled" + orders + " 1x300" + seen, 2 * time.Hour, nil},
	{
		"a kind could not be seen for half an hour", "PtahStalledCheckPartial", "ptah_find_stalled_complete" + schemas + " 0x300" + seen, 30 * time.Minute,
		map[string]string{"severity": "ticket", "resource_kind": "schema", "summary": "not every schema could be seen: resources may be stalled unnoticed"},
	},
	{"a kind could be seen again", "PtahStalledCheckPartial", "ptah_find_stalled_complete" + schemas + " 0x19 1x280" + seen, 2 * time.Hour, nil},
	{"everything was seen", "PtahStalledCheckPartial", "ptah_find_stalled_complete" + schemas + " 1x300" + seen, 2 * time.Hour, nil},
	{
		"the script has not run for more than an hour", "PtahStalledCheckMissing", "ptah_find_stalled_last_run_timestamp_seconds 0+60x50 3000x250", 2 * time.Hour,
		map[string]string{"severity": "ticket", "summary": "nobody has looked for stalled Ptah resources for an hour"},
	},
	{
		"the script has never run", "PtahStalledCheckMissing", "up 1x300", 10 * time.Minute,
		map[string]string{"severity": "ticket", "summary": "nobody has looked for stalled Ptah resources for an hour"},
	},
	{"the script ran an hour ago", "PtahStalledCheckMissing", "ptah_find_stalled_last_run_timestamp_seconds 0x300", time.Hour, nil},
	{"the script runs", "PtahStalledCheckMissing", "up 1x300" + seen, 4 * time.Hour, nil},
}

// TestEachAlertFiresWhenItShould is "promtool test rules".
func TestEachAlertFiresWhenItShould(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, printed(t), 0o600))
	for _, c := range cases {
		t.Run(c.alert+": "+c.name, func(t *testing.T) {
			var want []map[string]string
			if c.fires != nil {
				want = append(want, c.fires)
			}
			assert.Equal(t, want, firing(t, file, c))
		})
	}
}

// firing evaluates the rules once a minute and returns what one alert says at the end.
func firing(t *testing.T, file string, c alertCase) []map[string]string {
	t.Helper()
	grammar := parser.NewParser(parser.Options{})
	loaded, err := promqltest.NewLazyLoader(fmt.Sprintf("load 1m\n  %s\n", c.series), promqltest.LazyLoaderOpts{Parser: grammar})
	require.NoError(t, err)
	defer func() { require.NoError(t, loaded.Close()) }()
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(loaded.QueryEngine(), loaded.Storage()), AppendableV2: loaded.Storage(), Context: t.Context(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {}, Logger: slog.New(slog.DiscardHandler), Parser: grammar,
	})
	groups, problems := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, file)
	require.Empty(t, problems)
	var said []map[string]string
	start := time.Unix(0, 0).UTC()
	for now := start; !now.After(start.Add(c.after)); now = now.Add(time.Minute) {
		loaded.WithSamplesTill(now, func(err error) {
			require.NoError(t, err)
			for _, group := range groups {
				group.Eval(loaded.Context(), now)
			}
		})
	}
	for _, group := range groups {
		for _, rule := range group.AlertingRules() {
			require.NoError(t, rule.LastError(), rule.Name())
			for _, alert := range rule.ActiveAlerts() {
				if alert.State == rules.StateFiring && rule.Name() == c.alert {
					said = append(said, carried(alert))
				}
			}
		}
	}
	return said
}

func carried(alert *rules.Alert) map[string]string {
	list := alert.Labels.Map()
	delete(list, labels.AlertName)
	for name, text := range alert.Annotations.Map() {
		list[name] = text
	}
	return list
}
