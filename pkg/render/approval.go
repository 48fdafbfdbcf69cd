package render

import (
	"fmt"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// What became of an approval.
const (
	ApprovalCreated   = "created"
	ApprovalUnchanged = "unchanged"
	ApprovalDryRun    = "dry-run"
)

// Approval is an approval that was made, was there already, or would be made.
type Approval struct {
	Meta
	Namespace   string     `json:"namespace"`
	Name        string     `json:"name"`
	UID         string     `json:"uid,omitempty"`
	Schema      string     `json:"schema"`
	Plan        string     `json:"plan"`
	Fingerprint string     `json:"fingerprint"`
	Result      string     `json:"result"`           // created, unchanged or dry-run
	DryRun      string     `json:"dryRun,omitempty"` // client or server
	Approver    string     `json:"approver,omitempty"`
	ApprovedAt  *time.Time `json:"approvedAt,omitempty"`
	// Rejected says whether somebody decided against the plan before.
	Rejected
	// Object is the approval as it was sent (dry run by the client) or as the server has it.
	Object *v1alpha1.PtahSchemaApproval `json:"object"`
}

// NewApproval shows an approval.
func NewApproval(object *v1alpha1.PtahSchemaApproval, result, dryRun string) *Approval {
	object = object.DeepCopy()
	object.ManagedFields = nil
	object.APIVersion, object.Kind = v1alpha1.GroupVersion.String(), "PtahSchemaApproval"
	view := &Approval{
		Meta: Meta{APIVersion: APIVersion, Kind: "Approval"}, Namespace: object.Namespace, Name: object.Name, UID: string(object.UID),
		Schema: object.Spec.SchemaRef.Name, Plan: object.Spec.PlanRef.Name, Fingerprint: object.Spec.PlanFingerprint,
		Result: result, DryRun: dryRun, Approver: object.Spec.Approver.Username, Object: object,
	}
	if !object.Spec.ApprovedAt.IsZero() {
		view.ApprovedAt = moment(&object.Spec.ApprovedAt)
	}
	return view
}

// Data is this view.
func (a *Approval) Data() any { return a }

// Names is the approval's resource name.
func (a *Approval) Names() []string {
	return []string{"ptahschemaapproval." + v1alpha1.GroupName + "/" + a.Name}
}

// Draw writes one line, as kubectl does for what it creates.
func (a *Approval) Draw(c *Canvas) {
	result := a.Result
	if a.Result == ApprovalDryRun {
		result = fmt.Sprintf("created (%s dry run)", a.DryRun)
	}
	by := ""
	if a.Approver != "" {
		by = " by " + Printable(a.Approver)
	}
	c.println(fmt.Sprintf("%s %s%s", a.Names()[0], c.paint(Good, result), by))
}
