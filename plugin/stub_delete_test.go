package plugin_test

import (
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deleteOne deletes an object when it is the one that the preconditions name.
func (s *stub) deleteOne(w http.ResponseWriter, r *http.Request, resource, namespace, name string) {
	wanted := &metav1.DeleteOptions{}
	must(json.NewDecoder(r.Body).Decode(wanted))
	object := s.get(resource, namespace, name)
	if s.dying != nil && s.dying() {
		status(w, http.StatusForbidden, metav1.StatusReasonForbidden, "the process is gone", resource, name)
		return
	}
	if s.beforeDelete != nil {
		s.beforeDelete(resource, name)
		object = s.get(resource, namespace, name)
	}
	switch p := wanted.Preconditions; {
	case object == nil:
		s.one(w, resource, namespace, name)
		return
	case p == nil || p.UID == nil:
		status(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "the stub wants a precondition on the UID", resource, name)
		return
	case *p.UID != object.GetUID(), p.ResourceVersion != nil && *p.ResourceVersion != object.GetResourceVersion():
		status(w, http.StatusConflict, metav1.StatusReasonConflict, "Precondition failed", resource, name)
		return
	}
	if len(wanted.DryRun) == 0 {
		s.remove(object)
	}
	answer(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}
