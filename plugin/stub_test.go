package plugin_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
)

// stub answers the requests that the plugin makes from objects in memory. It exists for what a real API server cannot be made to do on
// demand, and for machines without one: the same scenarios run against both.
type stub struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string]*unstructured.Unstructured // resource/namespace/name
	forbid  map[string]bool
	admin   bool   // the person may do anything
	logs    string // what every container has written
	refuse  string // what admission says to a create
	bare    bool   // Ptah's kinds are not installed
	// version counts changes; changed is closed at the next one; removed is what watches have to hear of; then comes with the first watch.
	version int
	changed chan struct{}
	removed map[string]*unstructured.Unstructured
	then    func()
	// expired is how many watches are answered with "too old"; blind forbids watching.
	expired int
	blind   bool
	lacks   []string // resources that this operator is too old for
	// unselectable are resources whose CRDs declare no selectable field.
	unselectable []string
	person       string // who the person is
	// beforeWrite changes the world between a last look and a write that somebody signs.
	beforeWrite func()
	// beforePatch changes the world between a reading and the patch that rests on it.
	beforePatch func()
	// afterPatch comes between a change and its answer.
	afterPatch func()
	// refuseEvent forbids Events of a reason, except under a dry run.
	refuseEvent string
	// beforeDelete changes the world between a last look and the deletion.
	beforeDelete func(resource, name string)
	// dying refuses a deletion, and every one after it.
	dying func() bool
	// requests counts what was asked.
	requests []string
	metadata map[string]int // lists of nothing but metadata, by resource
}

func newStub() *stub {
	s := &stub{objects: map[string]*unstructured.Unstructured{}, forbid: map[string]bool{}, changed: make(chan struct{}), removed: map[string]*unstructured.Unstructured{}, metadata: map[string]int{}}
	s.Server = httptest.NewServer(s)
	return s
}

func resourceOf(object *unstructured.Unstructured) string {
	name := strings.ToLower(object.GetKind())
	if strings.HasSuffix(name, "s") {
		return name + "es"
	}
	return name + "s"
}

func (s *stub) put(objects ...*unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, object := range objects {
		object = object.DeepCopy()
		s.version++
		object.SetResourceVersion(strconv.Itoa(s.version))
		s.objects[resourceOf(object)+"/"+object.GetNamespace()+"/"+object.GetName()] = object
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stub) get(resource, namespace, name string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[resource+"/"+namespace+"/"+name]
}

// ServeHTTP routes like the real API server, as far as the plugin goes.
func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
		s.metadata[path.Base(r.URL.Path)]++
	} else {
		request := r.Method + " " + r.URL.Path
		if fields := r.URL.Query().Get("fieldSelector"); fields != "" {
			request += " where " + fields
		}
		s.requests = append(s.requests, request)
	}
	s.mu.Unlock()
	at := strings.Trim(r.URL.Path, "/")
	switch {
	case at == "version":
		answer(w, http.StatusOK, map[string]any{"major": "1", "minor": "37", "gitVersion": "v1.37.2"})
		return
	case s.bare && strings.HasPrefix(at, "apis/"+v1alpha1.GroupName):
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	case at == "apis/"+v1alpha1.GroupName:
		answer(w, http.StatusOK, map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": v1alpha1.GroupName, "versions": []any{map[string]any{"groupVersion": v1alpha1.GroupVersion.String(), "version": "v1alpha1"}}})
		return
	}
	rest := resourcePath(at)
	namespace := ""
	if rest[0] == "namespaces" && len(rest) > 2 {
		namespace, rest = rest[1], rest[2:]
	}
	switch {
	case slices.Contains(s.lacks, rest[0]):
		http.Error(w, "404 page not found", http.StatusNotFound)
	case s.forbid[rest[0]], len(rest) == 3 && s.forbid[rest[0]+"/"+rest[2]]:
		status(w, http.StatusForbidden, metav1.StatusReasonForbidden, fmt.Sprintf("%s is forbidden", rest[0]), rest[0], "")
	case len(rest) == 3 && rest[2] == "log":
		s.log(w, rest[1])
	case rest[0] == "selfsubjectreviews":
		s.whoAmI(w)
	case rest[0] == "events" && r.Method == http.MethodPost:
		s.event(w, r, namespace)
	case rest[0] == "selfsubjectaccessreviews":
		s.review(w, r)
	case r.Method == http.MethodPatch:
		s.patch(w, r, rest[0], namespace, rest[1])
	case r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1":
		s.watch(w, r, rest[0], namespace)
	case len(rest) == 2 && r.Method == http.MethodDelete:
		s.deleteOne(w, r, rest[0], namespace, rest[1])
	case len(rest) == 2:
		s.one(w, rest[0], namespace, rest[1])
	case r.Method == http.MethodPost:
		s.create(w, r, rest[0], namespace)
	default:
		s.list(w, r, rest[0], namespace)
	}
}

// resourcePath leaves out the group and version that a path begins with.
func resourcePath(path string) []string {
	parts := strings.Split(path, "/")
	prefix := map[string]int{"api": 2, "apis": 3}[parts[0]]
	return parts[min(prefix, len(parts)-1):]
}

func (s *stub) one(w http.ResponseWriter, resource, namespace, name string) {
	object := s.get(resource, namespace, name)
	if object == nil {
		status(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", resource, name), resource, name)
		return
	}
	answer(w, http.StatusOK, object.Object)
}

func (s *stub) list(w http.ResponseWriter, r *http.Request, resource, namespace string) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		status(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "unable to parse requirement: "+err.Error(), resource, "")
		return
	}
	where, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	must(err)
	if !where.Empty() && slices.Contains(s.unselectable, resource) {
		label := where.Requirements()[0].Field
		status(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "Unable to find "+resource+": field label not supported: "+label, resource, "")
		return
	}
	s.mu.Lock()
	var items []any
	for _, key := range slices.SortedFunc(maps.Keys(s.objects), cmp.Compare) {
		object := s.objects[key]
		if resourceOf(object) == resource && (namespace == "" || object.GetNamespace() == namespace) && selector.Matches(labels.Set(object.GetLabels())) && selected(where, object) {
			items = append(items, object.Object)
		}
	}
	s.mu.Unlock()
	start, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	meta := map[string]any{"resourceVersion": "1"}
	end := len(items)
	if limit > 0 && start+limit < len(items) {
		end = start + limit
		meta["continue"] = strconv.Itoa(end)
	}
	kind := map[string]string{
		"ptahschemas": "PtahSchema", "ptahmigrations": "PtahMigration", "ptahschemaplans": "PtahSchemaPlan",
		"ptahmigrationplans": "PtahMigrationPlan", "ptahschemaapprovals": "PtahSchemaApproval", "ptahmigrationapprovals": "PtahMigrationApproval",
	}[resource]
	answer(w, http.StatusOK, map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind + "List", "metadata": meta, "items": append([]any{}, items[start:end]...)})
}

// selected goes by the fields of an object, as if every one could select.
func selected(where fields.Selector, object *unstructured.Unstructured) bool {
	return !slices.ContainsFunc(where.Requirements(), func(r fields.Requirement) bool {
		value, _, _ := unstructured.NestedString(object.Object, strings.Split(r.Field, ".")...)
		return (value == r.Value) == (r.Operator == selection.NotEquals)
	})
}

func (s *stub) create(w http.ResponseWriter, r *http.Request, resource, namespace string) {
	wanted := &v1alpha1.PtahSchemaApproval{}
	must(json.NewDecoder(r.Body).Decode(wanted))
	wanted.APIVersion, wanted.Kind = v1alpha1.GroupVersion.String(), "PtahSchemaApproval"
	if s.get(resource, namespace, wanted.Name) != nil {
		status(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, "already exists", resource, wanted.Name)
		return
	}
	if s.refuse != "" {
		status(w, http.StatusForbidden, metav1.StatusReasonForbidden, `admission webhook "vapproval.operator.ptah.run" denied the request: `+s.refuse, resource, wanted.Name)
		return
	}
	must(admit(wanted, s.get("ptahschemaplans", namespace, wanted.Spec.PlanRef.Name), cmp.Or(s.person, "alice")))
	wanted.UID, wanted.CreationTimestamp = uid(4242), metav1.NewTime(now)
	object := toUnstructured(wanted)
	if r.URL.Query().Get("dryRun") == "" {
		s.put(object)
	}
	answer(w, http.StatusCreated, object.Object)
}

// admit does to an approval what mutating admission does.
func admit(wanted *v1alpha1.PtahSchemaApproval, stored *unstructured.Unstructured, user string) error {
	if stored == nil {
		return fmt.Errorf("no plan %s", wanted.Spec.PlanRef.Name)
	}
	object := &v1alpha1.PtahSchemaPlan{}
	if err := fromUnstructured(stored, object); err != nil {
		return err
	}
	if err := approval.Bind(wanted, object); err != nil {
		return err
	}
	approval.Stamp(&wanted.Spec.ApprovalStamp, approval.User{Username: user}, uid(4343), now)
	return nil
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func status(w http.ResponseWriter, code int, reason metav1.StatusReason, message, resource, name string) {
	answer(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
		Details: &metav1.StatusDetails{Name: name, Kind: resource},
	})
}
