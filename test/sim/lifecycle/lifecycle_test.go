package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/test/sim/lifecycle"
)

// Without any hostile move both families converge under both policies, and nothing is violated on the way.
func TestKindWorld(t *testing.T) {
	r := lifecycle.Check(lifecycle.Bound{Roots: lifecycle.Roots(0)})
	require.Empty(t, r.Violation, strings.Join(r.Trace, "\n"))
	require.True(t, r.Complete)
	assert.Greater(t, r.States, 10_000)
	t.Logf("%d states, %d transitions, depth %d", r.States, r.Transitions, r.Depth)
}

// One hostile move anywhere around every stage of a kind run. make sim walks on from here.
func TestHostileMoveAtEveryStage(t *testing.T) {
	var roots []lifecycle.State
	for _, root := range lifecycle.Roots(1) {
		roots = append(roots, lifecycle.Midway(root, 1, false)...)
	}
	r := lifecycle.Check(lifecycle.Bound{Roots: roots, States: 100_000})
	require.Empty(t, r.Violation, strings.Join(r.Trace, "\n"))
	assert.GreaterOrEqual(t, r.States, 100_000)
}
