package mysql_test

import (
	"testing"

	"github.com/ptah-run/ptah/pkg/engine/internal/probetest"
)

func TestProbesFile(t *testing.T) {
	var all []probetest.Probe
	for name, p := range probes {
		all = append(all, probetest.Probe{Name: name, A: cut(p.a), B: cut(p.b)})
	}
	probetest.CheckFile(t, all, 43)
}
