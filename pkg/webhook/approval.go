package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
)

// Kinds of approval.
const (
	schemaApproval    = "PtahSchemaApproval"
	migrationApproval = "PtahMigrationApproval"
)

func userOf(info authenticationv1.UserInfo) approval.User {
	return approval.User{Username: info.Username, UID: info.UID, Groups: info.Groups}
}

// approvalMutator completes a new approval from the plan that it names and stamps it with the authenticated user.
type approvalMutator struct{ base }

// Handle answers a request of mutating admission.
func (m *approvalMutator) Handle(ctx context.Context, req admission.Request) admission.Response {
	if req.Operation != admissionv1.Create {
		return admission.Allowed("")
	}
	switch req.Kind.Kind {
	case schemaApproval:
		return m.schema(ctx, req)
	case migrationApproval:
		return m.migration(ctx, req)
	}
	return admission.Denied(fmt.Sprintf("%s is no approval", req.Kind.Kind))
}

func (m *approvalMutator) schema(ctx context.Context, req admission.Request) admission.Response {
	var a v1alpha1.PtahSchemaApproval
	if err := m.decoder.Decode(req, &a); err != nil {
		return malformed(schemaApproval)
	}
	var plan v1alpha1.PtahSchemaPlan
	if response, ok := m.plan(ctx, req.Namespace, a.Spec.PlanRef.Name, &plan); !ok {
		return response
	}
	if err := approval.Bind(&a, &plan); err != nil {
		return admission.Denied(err.Error())
	}
	approval.Stamp(&a.Spec.ApprovalStamp, userOf(req.UserInfo), req.UID, m.now())
	return patched(req, &a)
}

func (m *approvalMutator) migration(ctx context.Context, req admission.Request) admission.Response {
	var a v1alpha1.PtahMigrationApproval
	if err := m.decoder.Decode(req, &a); err != nil {
		return malformed(migrationApproval)
	}
	var plan v1alpha1.PtahMigrationPlan
	if response, ok := m.plan(ctx, req.Namespace, a.Spec.PlanRef.Name, &plan); !ok {
		return response
	}
	if err := approval.BindMigration(&a, &plan); err != nil {
		return admission.Denied(err.Error())
	}
	approval.Stamp(&a.Spec.ApprovalStamp, userOf(req.UserInfo), req.UID, m.now())
	return patched(req, &a)
}

func (m *approvalMutator) plan(ctx context.Context, namespace, name string, into client.Object) (admission.Response, bool) {
	if name == "" {
		return admission.Denied("spec.planRef.name is missing: name the plan that you approve"), false
	}
	found, err := m.get(ctx, namespace, name, into)
	switch {
	case err != nil:
		return m.unreadable("plan "+name, err), false
	case !found:
		return admission.Denied(fmt.Sprintf("there is no plan %s in namespace %s", name, namespace)), false
	}
	return admission.Response{}, true
}

func patched(req admission.Request, object any) admission.Response {
	data, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encoding approval: %w", err))
	}
	return admission.PatchResponseFromRaw(req.Object.Raw, data)
}

// approvalValidator refuses an approval that does not authorise the current plan of a schema that waits for one.
type approvalValidator struct{ base }

// Handle answers a request of validating admission.
func (v *approvalValidator) Handle(ctx context.Context, req admission.Request) admission.Response {
	switch {
	case req.Operation == admissionv1.Create && req.Kind.Kind == schemaApproval:
		return v.create(ctx, req)
	case req.Operation == admissionv1.Create && req.Kind.Kind == migrationApproval:
		return admission.Denied("this version of Ptah runs no migrations")
	case req.Operation == admissionv1.Update:
		return v.update(req)
	}
	return admission.Allowed("")
}

func (v *approvalValidator) update(req admission.Request) admission.Response {
	var old, updated struct {
		Spec map[string]any `json:"spec"`
	}
	if json.Unmarshal(req.OldObject.Raw, &old) != nil || json.Unmarshal(req.Object.Raw, &updated) != nil {
		return malformed(req.Kind.Kind)
	}
	if !equality.Semantic.DeepEqual(old.Spec, updated.Spec) {
		return admission.Denied("spec is immutable: an approval never changes, create another instead")
	}
	return admission.Allowed("")
}

func (v *approvalValidator) create(ctx context.Context, req admission.Request) admission.Response {
	var a v1alpha1.PtahSchemaApproval
	if err := v.decoder.Decode(req, &a); err != nil {
		return malformed(schemaApproval)
	}
	if problem := approval.CheckStamp(a.Spec.ApprovalStamp, userOf(req.UserInfo)); problem != "" {
		return admission.Denied(problem)
	}
	var schema v1alpha1.PtahSchema
	found, err := v.get(ctx, req.Namespace, a.Spec.SchemaRef.Name, &schema)
	switch {
	case err != nil:
		return v.unreadable("schema "+a.Spec.SchemaRef.Name, err)
	case !found:
		return admission.Denied(fmt.Sprintf("there is no schema %s in namespace %s", a.Spec.SchemaRef.Name, req.Namespace))
	}
	in := approval.Input{Stage: approval.Admission, Schema: &schema, Identity: &v.identity}
	var plan v1alpha1.PtahSchemaPlan
	if found, err = v.get(ctx, req.Namespace, a.Spec.PlanRef.Name, &plan); err != nil {
		return v.unreadable("plan "+a.Spec.PlanRef.Name, err)
	} else if found {
		in.Plan = &plan
	}
	if in.Policy, err = v.policy(ctx, &schema); err != nil {
		return v.unreadable("the verification policy", err)
	}
	if verdict := approval.Judge(in, &a); verdict.Outcome != approval.Accepted {
		return admission.Denied(fmt.Sprintf("%s: %s", verdict.Reason, verdict.Message))
	}
	return admission.Allowed("")
}

// policy identifies the schema's verification policy as it is now; one that is gone, or that may change, is nobody's.
func (v *approvalValidator) policy(ctx context.Context, schema *v1alpha1.PtahSchema) (*approval.PolicySource, error) {
	from := schema.Spec.Desired.VerificationPolicyFrom
	cm, err := v.configMap(ctx, schema.Namespace, from)
	if err != nil || cm == nil {
		return &approval.PolicySource{}, err
	}
	source, _, err := approval.PolicyOf(cm, from.Key)
	if err != nil {
		return &approval.PolicySource{}, nil //nolint:nilerr // no usable policy is an answer: it matches no plan
	}
	return &source, nil
}
