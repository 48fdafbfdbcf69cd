package plugin_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	authorization "k8s.io/api/authorization/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

const crdKind = "CustomResourceDefinition"

// chartCRDs are the CRDs that every cluster has.
func chartCRDs(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "charts", "ptah-operator", "crds", "*.yaml"))
	require.NoError(t, err)
	var out []*unstructured.Unstructured
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		crd := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal(data, &crd.Object))
		out = append(out, crd)
	}
	return out
}

// looksAtCRDs keeps the six large objects out of scenarios that do not ask for them.
func looksAtCRDs(s scenario) bool {
	return strings.HasPrefix(s.Command, "preflight --for") || strings.HasPrefix(s.Command, "support-bundle")
}

// withCRDs gives a stub the chart's CRDs, with the annotations that a cluster changes.
func withCRDs(t *testing.T, objects []*unstructured.Unstructured, s scenario) []*unstructured.Unstructured {
	t.Helper()
	changes, rest := splitCRDs(objects)
	if !looksAtCRDs(s) || s.Bare {
		return rest
	}
	for _, crd := range chartCRDs(t) {
		annotations := crd.GetAnnotations()
		for key, value := range changes[crd.GetName()] {
			annotations[key] = value
			if value == "" {
				delete(annotations, key)
			}
		}
		crd.SetAnnotations(annotations)
		rest = append(rest, crd)
	}
	return rest
}

func splitCRDs(objects []*unstructured.Unstructured) (changes map[string]map[string]string, rest []*unstructured.Unstructured) {
	changes = map[string]map[string]string{}
	for _, object := range objects {
		if object.GetKind() == crdKind {
			changes[object.GetName()] = object.GetAnnotations()
			continue
		}
		rest = append(rest, object)
	}
	return changes, rest
}

// stampCRDs changes annotations of the real CRDs, and puts back what an earlier cluster changed.
func (s *realServer) stampCRDs(t *testing.T, objects []*unstructured.Unstructured, c scenario) []*unstructured.Unstructured {
	t.Helper()
	changes, rest := splitCRDs(objects)
	if !looksAtCRDs(c) {
		return rest
	}
	for _, crd := range chartCRDs(t) {
		annotations := map[string]any{}
		for key, value := range crd.GetAnnotations() {
			if strings.HasPrefix(key, v1alpha1.GroupName+"/") {
				annotations[key] = value
			}
		}
		for key, value := range changes[crd.GetName()] {
			annotations[key] = value
			if value == "" {
				annotations[key] = nil
			}
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
		require.NoError(t, err)
		_, err = s.client.RESTClient().Patch(types.MergePatchType).AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + crd.GetName()).Body(patch).DoRaw(t.Context())
		require.NoError(t, err)
	}
	return rest
}

// log is what every container has written: nothing, as in a Pod that has no node yet, unless a test says otherwise.
func (s *stub) log(w http.ResponseWriter, _ string) { _, _ = io.WriteString(w, s.logs) }

// review answers what the person may do by the same rules that the real server grants.
func (s *stub) review(w http.ResponseWriter, r *http.Request) {
	question := &authorization.SelfSubjectAccessReview{}
	must(json.NewDecoder(r.Body).Decode(question))
	a := question.Spec.ResourceAttributes
	question.Status.Allowed = s.admin || slices.ContainsFunc(grants, func(rule rbac.PolicyRule) bool {
		return !s.forbid[rule.Resources[0]] && slices.Contains(rule.APIGroups, a.Group) && slices.Contains(rule.Resources, a.Resource) && slices.Contains(rule.Verbs, a.Verb)
	}) || a.Group == v1alpha1.GroupName && slices.Contains([]string{"get", "list"}, a.Verb) && slices.Contains(plurals, a.Resource) && !s.forbid[a.Resource]
	answer(w, http.StatusCreated, question)
}
