package plugin_test

import (
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// whoAmI answers a SelfSubjectReview. A test may change the world on this occasion, which lies between looking and writing.
func (s *stub) whoAmI(w http.ResponseWriter) {
	if s.beforeWrite != nil {
		s.beforeWrite()
	}
	name := s.person
	if name == "" {
		name = "alice"
	}
	answer(w, http.StatusCreated, map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "status": map[string]any{"userInfo": map[string]any{"username": name}},
	})
}

// event stores an Event.
func (s *stub) event(w http.ResponseWriter, r *http.Request, namespace string) {
	object := map[string]any{}
	must(json.NewDecoder(r.Body).Decode(&object))
	event := &unstructured.Unstructured{Object: object}
	if s.get("events", namespace, event.GetName()) != nil {
		status(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, "already exists", "events", event.GetName())
		return
	}
	if reason, _, _ := unstructured.NestedString(object, "reason"); s.refuseEvent == reason && r.URL.Query().Get("dryRun") == "" {
		status(w, http.StatusForbidden, metav1.StatusReasonForbidden, "no more Events", "events", event.GetName())
		return
	}
	if r.URL.Query().Get("dryRun") == "" {
		s.put(event)
	}
	answer(w, http.StatusCreated, object)
}
