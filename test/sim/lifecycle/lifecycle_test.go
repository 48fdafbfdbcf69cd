package lifecycle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without any hostile move both families converge under both policies, and nothing is violated on the way.
func TestKindWorld(t *testing.T) {
	for _, root := range Roots(0) {
		r := Check(Bound{Roots: []State{root}})
		t.Logf("%d states", r.States)
		require.Empty(t, r.Violation, strings.Join(r.Trace, "\n"))
		require.True(t, r.Complete)
		t.Logf("family %d always %v: %d states, %d transitions, depth %d", root.Family, root.Always, r.States, r.Transitions, r.Depth)
	}
}

func TestOneFault(t *testing.T) {
	for _, root := range Roots(1) {
		r := Check(Bound{Roots: []State{root}})
		require.Empty(t, r.Violation, strings.Join(r.Trace, "\n"))
		t.Logf("family %d always %v: %d states, %d transitions, depth %d", root.Family, root.Always, r.States, r.Transitions, r.Depth)
	}
}
