package render

import (
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
)

// What became of a rejection.
const (
	RejectRejected = "rejected"
	RejectDryRun   = "dry-run"
)

// Rejection is a decision against a plan.
type Rejection struct {
	Meta
	ResourceKind string `json:"resourceKind"`
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	Plan         string `json:"plan"`
	PlanUID      string `json:"planUID"`
	Fingerprint  string `json:"fingerprint"`
	// Withdrawn are the open approvals of the plan, which are deleted.
	Withdrawn []RejectedApproval `json:"withdrawn"`
	// Spent are approvals that an earlier run used up, which stay.
	Spent []RejectedApproval `json:"spent"`
	// Policy says what the policy does with this plan whatever is rejected; empty where an approval is all that runs it.
	Policy string `json:"policy,omitempty"`
	Result string `json:"result"`           // rejected or dry-run
	DryRun string `json:"dryRun,omitempty"` // client or server
	Who    string `json:"who,omitempty"`
	Reason string `json:"reason,omitempty"`
	// RequestEvent was stored before anything was withdrawn and keeps who, when and why; Event was stored afterwards and confirms it.
	RequestEvent string `json:"requestEvent,omitempty"`
	Event        string `json:"event,omitempty"`
}

// RejectedApproval is one approval of the plan.
type RejectedApproval struct {
	Name     string `json:"name"`
	UID      string `json:"uid"`
	Approver string `json:"approver"`
}

// NewRejection shows a decision against a plan.
func NewRejection(kind, namespace, name string, plan v1alpha1.ObjectRef, fingerprint string, decision approval.Rejection) *Rejection {
	return &Rejection{
		Meta: Meta{APIVersion: APIVersion, Kind: "Rejection"}, ResourceKind: kind, Namespace: namespace, Name: name,
		Plan: plan.Name, PlanUID: string(plan.UID), Fingerprint: fingerprint,
		Withdrawn: rejected(decision.Withdraw), Spent: rejected(decision.Spent), Policy: decision.Policy, Result: RejectRejected,
	}
}

func rejected(list []approval.Standing) []RejectedApproval {
	out := make([]RejectedApproval, 0, len(list))
	for _, a := range list {
		out = append(out, RejectedApproval{a.Ref.Name, string(a.Ref.UID), a.Approver})
	}
	return out
}

// Data is this view.
func (r *Rejection) Data() any { return r }

// Names is the plan's resource name.
func (r *Rejection) Names() []string {
	return []string{"ptah" + r.ResourceKind + "plan." + v1alpha1.GroupName + "/" + r.Plan}
}

// Draw writes one line, as kubectl does for what it changes.
func (r *Rejection) Draw(c *Canvas) {
	result := c.paint(Good, r.Result)
	if r.Result == RejectDryRun {
		result = fmt.Sprintf("rejected (%s dry run)", r.DryRun)
	}
	by := ""
	if r.Who != "" {
		by = " by " + Printable(r.Who)
	}
	c.println(fmt.Sprintf("%s %s%s, %d open %s withdrawn", r.Names()[0], result, by, len(r.Withdrawn), plural(len(r.Withdrawn), "approval")))
}

// Question is what a person looks at before the decision.
func (r *Rejection) Question() View { return rejectionQuestion{r} }

type rejectionQuestion struct{ *Rejection }

// Draw writes what is rejected, and what goes with it.
func (q rejectionQuestion) Draw(c *Canvas) {
	f := c.fields()
	label := "Schema"
	if q.ResourceKind == KindMigration {
		label = "Migration"
	}
	f.line(label, c.paint(Strong, q.Namespace+"/"+q.Name))
	f.line("Plan", q.Plan)
	f.line("Fingerprint", f.identifier(q.Fingerprint, 0))
	lines := approvalLines(q.Withdrawn, "open: it is withdrawn")
	lines = append(lines, approvalLines(q.Spent, "used by an earlier run: it stays")...)
	if len(lines) == 0 {
		lines = []string{"none: nothing has to be withdrawn"}
	}
	f.line("Approvals", lines...)
	if q.Policy != "" {
		f.line("Policy", Printable(q.Policy))
	}
}

func approvalLines(list []RejectedApproval, what string) []string {
	var lines []string
	for _, a := range list {
		lines = append(lines, fmt.Sprintf("%s by %s (%s)", a.Name, Printable(a.Approver), what))
	}
	return lines
}
