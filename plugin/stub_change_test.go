package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// patch merges a JSON document into an object, as the API server does, with the same preconditions: a UID and a resourceVersion in the
// document have to be those of the object.
func (s *stub) patch(w http.ResponseWriter, r *http.Request, resource, namespace, name string) {
	if s.beforePatch != nil {
		s.beforePatch()
	}
	object := s.get(resource, namespace, name)
	if object == nil {
		status(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", resource, name), resource, name)
		return
	}
	data, err := io.ReadAll(r.Body)
	must(err)
	change := map[string]any{}
	must(json.Unmarshal(data, &change))
	wanted := &unstructured.Unstructured{Object: change}
	if uid, version := wanted.GetUID(), wanted.GetResourceVersion(); (uid != "" && uid != object.GetUID()) || (version != "" && version != object.GetResourceVersion()) {
		status(w, http.StatusConflict, metav1.StatusReasonConflict, fmt.Sprintf("Operation cannot be fulfilled on %s %q: the object has been modified", resource, name), resource, name)
		return
	}
	unstructured.RemoveNestedField(change, "metadata")
	changed := object.DeepCopy()
	changed.Object = merge(changed.Object, change)
	if changed.Object["spec"] != nil && !assert.ObjectsAreEqual(object.Object["spec"], changed.Object["spec"]) {
		changed.SetGeneration(object.GetGeneration() + 1)
	}
	if r.URL.Query().Get("dryRun") == "" {
		s.put(changed)
		if s.afterPatch != nil {
			s.afterPatch()
		}
	}
	answer(w, http.StatusOK, changed.Object)
}

func merge(into, change map[string]any) map[string]any {
	for field, value := range change {
		inner, isObject := value.(map[string]any)
		old, wasObject := into[field].(map[string]any)
		switch {
		case value == nil:
			delete(into, field)
		case isObject && wasObject:
			into[field] = merge(old, inner)
		default:
			into[field] = value
		}
	}
	return into
}

// watch streams what changes of one resource. The first watch brings the change that the scenario announces.
func (s *stub) watch(w http.ResponseWriter, r *http.Request, resource, namespace string) {
	_, name, _ := strings.Cut(r.URL.Query().Get("fieldSelector"), "metadata.name=")
	since, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if s.blind {
		status(w, http.StatusForbidden, metav1.StatusReasonForbidden, "may not watch", resource, name)
		return
	}
	s.mu.Lock()
	old := s.expired > 0
	s.expired--
	s.mu.Unlock()
	if old {
		status(w, http.StatusGone, metav1.StatusReasonExpired, "too old resource version", resource, name)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	s.mu.Lock()
	then := s.then
	s.then = nil
	s.mu.Unlock()
	if then != nil {
		then()
	}
	gone := map[string]bool{}
	for {
		s.mu.Lock()
		changed := s.changed
		for key, object := range s.objects {
			version, _ := strconv.Atoi(object.GetResourceVersion())
			if !strings.HasPrefix(key, resource+"/"+namespace) || (name != "" && object.GetName() != name) || version <= since {
				continue
			}
			send(w, "MODIFIED", object)
		}
		for key, object := range s.removed {
			if strings.HasPrefix(key, resource+"/"+namespace+"/"+name) && !gone[key] {
				gone[key] = true
				send(w, "DELETED", object)
			}
		}
		since = max(since, s.version)
		s.mu.Unlock()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func send(w http.ResponseWriter, kind string, object *unstructured.Unstructured) {
	_ = json.NewEncoder(w).Encode(map[string]any{"type": kind, "object": object.Object})
	w.(http.Flusher).Flush()
}

func (s *stub) remove(object *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := resourceOf(object) + "/" + object.GetNamespace() + "/" + object.GetName()
	delete(s.objects, key)
	s.removed[key] = object
	close(s.changed)
	s.changed = make(chan struct{})
}

// later arranges for a cluster's next state to come while a command watches.
func (s *stubServer) later(_ *testing.T, from, to []*unstructured.Unstructured) {
	s.current.then = func() {
		for _, object := range without(from, to) {
			s.current.remove(object)
		}
		s.current.put(to...)
	}
}

func (s *realServer) later(t *testing.T, from, to []*unstructured.Unstructured) {
	t.Helper()
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	ctx := context.WithoutCancel(t.Context()) // the command may be done before all of it is stored
	go func() {
		defer close(done)
		time.Sleep(300 * time.Millisecond) // the command has to have looked once, which takes a tenth of this
		for _, object := range without(from, to) {
			_, err := s.store.Delete(ctx, key(object))
			assert.NoError(t, err)
		}
		for _, object := range to {
			data, err := json.Marshal(object.Object)
			assert.NoError(t, err)
			_, err = s.store.Put(ctx, key(object), string(data))
			assert.NoError(t, err)
		}
	}()
}

// without lists the objects of one state that another does not have.
func without(from, to []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(from), func(a *unstructured.Unstructured) bool {
		return slices.ContainsFunc(to, func(b *unstructured.Unstructured) bool { return key(a) == key(b) })
	})
}

func TestMerge(t *testing.T) {
	into := map[string]any{"spec": map[string]any{"a": 1, "b": 2}, "x": 1}
	require.Equal(t, map[string]any{"spec": map[string]any{"a": 1, "b": 3}}, merge(into, map[string]any{"spec": map[string]any{"b": 3}, "x": nil}))
}
