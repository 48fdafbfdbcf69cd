package schema

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

const (
	isTrue    = metav1.ConditionTrue
	isFalse   = metav1.ConditionFalse
	isUnknown = metav1.ConditionUnknown
)

// maxConditionMessage bounds a condition's message, in bytes.
const maxConditionMessage = 1024

// set writes one condition of a status in the making.
func (w *writer) set(t v1alpha1.ConditionType, status metav1.ConditionStatus, reason v1alpha1.ConditionReason, message string) {
	meta.SetStatusCondition(&w.status.Conditions, metav1.Condition{
		Type: string(t), Status: status, Reason: string(reason), Message: clip(message, maxConditionMessage),
		ObservedGeneration: w.about, LastTransitionTime: *stamp(w.view.Now),
	})
}

// is reports whether a condition has a status.
func is(st *v1alpha1.PtahSchemaStatus, t v1alpha1.ConditionType, status metav1.ConditionStatus) bool {
	c := meta.FindStatusCondition(st.Conditions, string(t))
	return c != nil && c.Status == status
}

// because reports whether a condition has a reason.
func because(st *v1alpha1.PtahSchemaStatus, t v1alpha1.ConditionType, reason v1alpha1.ConditionReason) bool {
	c := meta.FindStatusCondition(st.Conditions, string(t))
	return c != nil && c.Reason == string(reason)
}

// says reports whether a condition has exactly this reason and message.
func says(st *v1alpha1.PtahSchemaStatus, t v1alpha1.ConditionType, reason v1alpha1.ConditionReason, message string) bool {
	c := meta.FindStatusCondition(st.Conditions, string(t))
	return c != nil && c.Reason == string(reason) && c.Message == clip(message, maxConditionMessage)
}

// clip cuts a text at a bound without splitting a character.
func clip(s string, bound int) string {
	if len(s) <= bound {
		return s
	}
	const mark = "…"
	cut := bound - len(mark)
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + mark
}

func quoted(s string) string { return strconv.Quote(clip(s, 64)) }
