package timeline_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/timeline"
)

var start = time.Date(2026, 11, 29, 5, 0, 0, 0, time.UTC)

func event(kind, name string, uid types.UID, minute int, reason, message string) corev1.Event {
	at := metav1.NewTime(start.Add(time.Duration(minute) * time.Minute))
	return corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name, UID: uid}, FirstTimestamp: at, LastTimestamp: at, Count: 1,
		Type: "Normal", Reason: reason, Message: message,
	}
}

const job = "ptah-observe-orders-0123456789abcdef"

func TestMergePicksWhatBelongsToTheResource(t *testing.T) {
	schema := &v1alpha1.PtahSchema{ObjectMeta: metav1.ObjectMeta{Name: "orders", UID: "u1"}}
	schema.Status.ActiveOperation = &v1alpha1.SchemaOperation{JobName: "ptah-plan-orders-fedcba9876543210"}
	scope := timeline.SchemaScope(schema)
	scope.Owned = []types.UID{"plan"}
	events := []corev1.Event{
		event("Pod", job+"-abcde", "p", 2, "Pulled", "image"),
		event("PtahSchema", "orders", "u1", 1, "OperationStarted", "Observe started as Job "+job),
		event("Job", job, "j", 2, "SuccessfulCreate", "Created pod"),
		event("Job", "ptah-plan-orders-fedcba9876543210", "j2", 9, "SuccessfulCreate", "Created pod"),
		event("PtahSchemaPlan", "p", "plan", 5, "X", ""),
		event("PtahSchema", "orders", "u0", 0, "Old", "a namesake that was deleted"),
		event("PtahSchema", "other", "u2", 0, "Other", ""),
		event("Job", "ptah-observe-other-0123456789abcdef", "j3", 2, "SuccessfulCreate", ""),
		event("Pod", job+"x-abcde", "p2", 2, "Pulled", "of another Job"),
		event("PtahSchemaApproval", "a", "not-owned", 2, "ApprovalStale", ""),
		event("PtahSchemaApproval", "b", "", 2, "ApprovalStale", ""),
	}
	var got []string
	for _, e := range timeline.Merge(events, scope) {
		got = append(got, e.Kind+" "+e.Reason)
	}
	assert.Equal(t, []string{"PtahSchema OperationStarted", "Job SuccessfulCreate", "Pod Pulled", "PtahSchemaPlan X", "Job SuccessfulCreate"}, got)
}

func TestMergeCountsRepetitions(t *testing.T) {
	scope := timeline.Scope{Kind: "PtahSchema", Name: "orders", UID: "u1"}
	again := event("PtahSchema", "orders", "u1", 7, "OperationFailed", "Observe failed: LockTimeout")
	again.Count = 3
	series := event("PtahSchema", "orders", "u1", 0, "Newer", "")
	series.FirstTimestamp, series.LastTimestamp, series.Count = metav1.Time{}, metav1.Time{}, 0
	series.EventTime = metav1.NewMicroTime(start)
	series.Series = &corev1.EventSeries{Count: 5, LastObservedTime: metav1.NewMicroTime(start.Add(time.Hour))}
	entries := timeline.Merge([]corev1.Event{event("PtahSchema", "orders", "u1", 1, "OperationFailed", "Observe failed: LockTimeout"), again, series}, scope)
	assert.Len(t, entries, 2)
	assert.Equal(t, timeline.Entry{
		First: start.Add(time.Minute), Last: start.Add(7 * time.Minute), Count: 4, Kind: "PtahSchema", Name: "orders", Reason: "OperationFailed", Message: "Observe failed: LockTimeout",
	}, entries[0])
	assert.Equal(t, int32(5), entries[1].Count)
	assert.Equal(t, start.Add(time.Hour), entries[1].Last)
}

// Whatever order the server lists them in, the story is the same, in the order of time, and nothing is lost.
func TestMergeDoesNotDependOnOrder(t *testing.T) {
	scope := timeline.Scope{Kind: "PtahSchema", Name: "orders", UID: "u1"}
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) corev1.Event {
			return event("PtahSchema", "orders", "u1", rapid.IntRange(0, 20).Draw(t, "minute"), rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "reason"), "")
		}), 0, 30).Draw(t, "events")
		shuffled := rapid.Permutation(events).Draw(t, "shuffled")
		merged := timeline.Merge(events, scope)
		assert.Equal(t, merged, timeline.Merge(shuffled, scope))
		total := int32(0)
		for i, e := range merged {
			total += e.Count
			assert.False(t, e.Last.Before(e.First))
			assert.True(t, i == 0 || !e.Last.Before(merged[i-1].Last))
		}
		assert.Equal(t, len(events), int(total))
	})
}
