package kubebin

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestMeterLine(t *testing.T) {
	start := time.Unix(1000, 0)
	now := start.Add(10 * time.Minute)
	for name, tc := range map[string]struct {
		meter *meter
		want  string
	}{
		"nothing known": {&meter{started: start}, "[ 10m0s] counting packages"},
		"downloading":   {&meter{started: start, downloaded: 12}, "[ 10m0s] downloading modules, 12 so far"},
		"too early to tell": {
			&meter{started: start, compiling: start, unit: "hyperkube", total: 2000, compiled: 50},
			"[ 10m0s] building hyperkube: 50 of 2000 packages",
		},
		"half way, one link to come": {
			&meter{
				started: start, compiling: start, unit: "hyperkube", total: 2000, compiled: 1000,
				links: []string{"hyperkube"},
			},
			"[ 10m0s] building hyperkube: 1000 of 2000 packages, about 10 min left",
		},
		"nearly done": {
			&meter{started: start, compiling: start, unit: "helm", total: 1000, compiled: 980},
			"[ 10m0s] building helm: 980 of 1000 packages, about 20 s left",
		},
		"all compiled": {
			&meter{started: start, compiling: start, unit: "hyperkube", total: 10, compiled: 11},
			"[ 10m0s] linking hyperkube",
		},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, tc.meter.line(now)) })
	}
}

func TestMeterWatchSortsReportsFromComplaints(t *testing.T) {
	m := &meter{}
	complaints := m.watch(strings.NewReader("go: downloading k8s.io/api v0.37.2\nk8s.io/api/core/v1\nfmt\n" +
		"# k8s.io/broken\nmain.go:3:1: syntax error\n"))
	assert.Equal(t, 1, m.downloaded)
	assert.Equal(t, 2, m.compiled)
	assert.Equal(t, "# k8s.io/broken\nmain.go:3:1: syntax error\n", complaints)
}
