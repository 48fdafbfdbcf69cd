package engine_test

import (
	"strings"
	"testing"

	"github.com/ptah-run/ptah/pkg/engine/internal/probetest"
)

// TestProbesFile is about the newest server: the probes that converge, those that are refused by name, and one for every kind that is not modelled.
func TestProbesFile(t *testing.T) {
	var all []probetest.Probe
	here := strings.NewReplacer("{{s}}", "public", "{{n}}", "app")
	add := func(name, a, b string) {
		p := probetest.Probe{Name: name}
		for list, sql := range map[*[]string]string{&p.A: a, &p.B: b} {
			if sql != "" {
				*list = append(*list, here.Replace(sql))
			}
		}
		all = append(all, p)
	}
	for name, p := range allProbes(18) {
		add(name, p.a, p.b)
	}
	for name, r := range refusals {
		add(name, r.a, r.b)
	}
	for kind, u := range unmodelled {
		add("another kind: "+kind, "CREATE SCHEMA app", "CREATE SCHEMA app; "+u.sql)
	}
	probetest.CheckFile(t, all, 72)
}
