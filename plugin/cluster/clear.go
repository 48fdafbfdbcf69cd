package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	authentication "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// fieldManager names the plugin in what it writes.
const fieldManager = "kubectl-ptah"

// PatchMigrationStatus merges a document into the status of a PtahMigration. The document carries the UID and the resource version that it is
// meant for; IsConflict tells that there is a newer one.
func (c *Client) PatchMigrationStatus(ctx context.Context, namespace, name string, patch []byte, dryRun bool) (*v1alpha1.PtahMigration, error) {
	options := &metav1.PatchOptions{FieldManager: fieldManager}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	stored := &v1alpha1.PtahMigration{}
	err := c.ptah.Patch(types.MergePatchType).Resource(Migrations).Namespace(namespace).Name(name).SubResource("status").
		VersionedParams(options, metav1.ParameterCodec).Body(patch).Do(ctx).Into(stored)
	return stored, explain(err, c.host, "changing the status of migration "+namespace+"/"+name, "patch", Migrations+"/status", namespace)
}

// CreateEvent writes an Event. With dryRun the server only says whether it would take it.
func (c *Client) CreateEvent(ctx context.Context, event *corev1.Event, dryRun bool) error {
	doing := "writing an Event in namespace " + event.Namespace
	body, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	request := c.ptah.Post().AbsPath(KindEvents.path(event.Namespace, "")...).Param("fieldManager", fieldManager).
		SetHeader("Content-Type", "application/json").Body(body)
	if dryRun {
		request = request.Param("dryRun", metav1.DryRunAll)
	}
	if _, err := raw(ctx, request); err != nil {
		return c.explainKind(err, KindEvents, doing, "create", event.Namespace)
	}
	return nil
}

// WhoAmI asks the API server for the identity that it authenticates.
func (c *Client) WhoAmI(ctx context.Context) (string, error) {
	const doing = "asking who this user is"
	kind := Kind{Group: "authentication.k8s.io", Version: "v1", Plural: "selfsubjectreviews", Word: "SelfSubjectReview"}
	review := authentication.SelfSubjectReview{TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "SelfSubjectReview"}}
	body, err := json.Marshal(review)
	if err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	data, err := raw(ctx, c.ptah.Post().AbsPath(kind.path("", "")...).SetHeader("Content-Type", "application/json").Body(body))
	if err != nil {
		return "", c.explainKind(err, kind, doing, "create", "")
	}
	answer := authentication.SelfSubjectReview{}
	if err := decodeJSON(data, &answer, doing); err != nil {
		return "", err
	}
	if answer.Status.UserInfo.Username == "" {
		return "", &Error{doing: doing, why: "the API server names nobody"}
	}
	return answer.Status.UserInfo.Username, nil
}
