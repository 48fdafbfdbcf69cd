package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// An executor that exits 0 without doing anything, silently or with a lie, never ends InSync and no Apply is credited to it: what counts is the
// reading afterwards. With an honest executor the same schema converges.
func TestExecutorThatDoesNothingIsNotBelieved(t *testing.T) {
	image, err := it.TestImage("executor-idle")
	require.NoError(t, err)
	t.Cleanup(func() { restoreOperator(t) })
	require.NoError(t, it.InstallOperator(t.Context(), "--set", "execution.executorImage="+image))

	liars := []*lifecycle{newLifecycle(t, "lying", 900), newLifecycle(t, "mute", 900)}
	for _, l := range liars {
		l.approve()
	}
	for _, l := range liars {
		l.eventually("the Apply ended and its proof too", func() bool {
			st := l.get().Status
			return len(l.jobsOf("apply")) > 0 && st.ActiveOperation == nil && st.PendingObservation == nil && string(st.Phase) != "Applying"
		})
		l.phase("AwaitingApproval")
		assert.Nil(t, l.get().Status.Applied)
		assert.NotEqual(t, "True", l.status(v1alpha1.ConditionInSync))
		assert.False(t, held(l.lease()))
		assert.Zero(t, l.ran(l.planned[0])+l.ran(l.planned[1]), "nothing was executed")
	}
	restoreOperator(t)
	for _, l := range liars {
		l.again()
		assert.NotNil(t, l.get().Status.Applied)
		l.accounted(1, 1)
	}
}

// status is the status of a condition now.
func (s *stage) status(kind v1alpha1.ConditionType) string {
	for _, c := range s.get().Status.Conditions {
		if c.Type == string(kind) {
			return string(c.Status)
		}
	}
	return ""
}
