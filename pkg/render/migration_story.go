package render

import (
	"strings"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
	runs "github.com/ptah-run/ptah/pkg/unresolved"
)

// MigrationStory is everything that is known about one migration.
type MigrationStory struct {
	Meta
	Resource
	// CurrentPlan is the plan that waits or runs, where it could be read.
	CurrentPlan *StoryPlan `json:"currentPlan,omitempty"`
	// Pending lists what the current plan would run, in order.
	Pending []PlannedMigration `json:"pending"`
	// Approvals name the current plan.
	Approvals []StoryApproval `json:"approvals"`
	// Record is the whole record of a run that nobody accounted for.
	Record *StoryRecord `json:"record,omitempty"`
	// Unseen lists what could not be read.
	Unseen []Unseen `json:"unseen"`

	now time.Time
}

// StoryPlan is a migration's current plan without its sequence.
type StoryPlan struct {
	Name               string    `json:"name"`
	UID                string    `json:"uid"`
	Fingerprint        string    `json:"fingerprint"`
	HistoryFingerprint string    `json:"historyFingerprint"`
	ArtifactDigest     string    `json:"artifactDigest"`
	CurrentVersion     int64     `json:"currentVersion"`
	StoredAt           time.Time `json:"storedAt"`
}

// StoryApproval is a decision about the current plan.
type StoryApproval struct {
	Name       string    `json:"name"`
	Approver   string    `json:"approver"`
	ApprovedAt time.Time `json:"approvedAt"`
	State      string    `json:"state"` // Open, Spent or Stale
}

// StoryRecord is the record of a run that nobody accounted for.
type StoryRecord struct {
	Adopted              bool     `json:"adopted"`
	PlanUID              string   `json:"planUID,omitempty"`
	JobUID               string   `json:"jobUID,omitempty"`
	TargetIdentityDigest string   `json:"targetIdentityDigest,omitempty"`
	CannotSay            []string `json:"cannotSay"`
}

// NewMigrationStory begins a story with what the migration itself says.
func NewMigrationStory(m *v1alpha1.PtahMigration, now time.Time) *MigrationStory {
	view := &MigrationStory{
		Meta: Meta{APIVersion: APIVersion, Kind: "MigrationStory"}, Resource: *MigrationResource(m),
		Pending: []PlannedMigration{}, Approvals: []StoryApproval{}, Unseen: []Unseen{}, now: now,
	}
	if run := m.Status.UnresolvedRun; run != nil {
		view.Record = &StoryRecord{
			Adopted: runs.Adopted(run), JobUID: string(run.JobUID), TargetIdentityDigest: run.TargetIdentityDigest, CannotSay: runs.CannotSay(run),
		}
		if run.PlanRef != nil {
			view.Record.PlanUID = string(run.PlanRef.UID)
		}
	}
	return view
}

// SetPlan adds the current plan.
func (s *MigrationStory) SetPlan(object *v1alpha1.PtahMigrationPlan) {
	plan := NewMigrationPlan(nil, object, s.now)
	s.CurrentPlan = &StoryPlan{
		Name: plan.Name, UID: plan.UID, Fingerprint: plan.Fingerprint, HistoryFingerprint: plan.HistoryFingerprint,
		ArtifactDigest: plan.ArtifactDigest, CurrentVersion: plan.CurrentVersion, StoredAt: plan.StoredAt,
	}
	s.Pending = plan.Migrations
}

// AddApproval adds an approval of the current plan.
func (s *MigrationStory) AddApproval(a *v1alpha1.PtahMigrationApproval) {
	s.Approvals = append(s.Approvals, StoryApproval{
		Name: a.Name, Approver: a.Spec.Approver.Username, ApprovedAt: a.Spec.ApprovedAt.UTC(), State: approvalState(a.Status),
	})
}

func approvalState(status v1alpha1.ApprovalStatus) string {
	switch {
	case approval.IsConsumed(status):
		return "Spent"
	case approval.IsStale(status):
		return "Stale"
	}
	return "Open"
}

// approvalWord is a state of an approval in plain words.
func approvalWord(state string) string {
	switch state {
	case "Spent":
		return "used"
	case "Stale":
		return "overtaken"
	}
	return strings.ToLower(state)
}

// Data is this view.
func (s *MigrationStory) Data() any { return s }

// Names is the migration's name.
func (s *MigrationStory) Names() []string { return []string{s.typeName()} }

// Draw writes the status in full, then the plan's sequence, its approvals and the record.
func (s *MigrationStory) Draw(c *Canvas) {
	NewStatus(&s.Resource, s.now).Draw(c)
	s.drawPlan(c)
	s.drawRecord(c)
}

func (s *MigrationStory) drawPlan(c *Canvas) {
	if s.CurrentPlan == nil {
		return
	}
	c.println("")
	f := c.fields()
	f.line("Current plan", s.CurrentPlan.Name+", stored "+Stamp(s.CurrentPlan.StoredAt, s.now))
	f.line("Fingerprint", f.identifier(s.CurrentPlan.Fingerprint, 0))
	lines := make([]string, 0, len(s.Approvals))
	for _, a := range s.Approvals {
		lines = append(lines, Printable(a.Approver)+" "+Stamp(a.ApprovedAt, s.now)+" ("+a.Name+", "+approvalWord(a.State)+")")
	}
	if len(lines) == 0 && len(s.Unseen) == 0 {
		lines = append(lines, "none")
	}
	f.line("Approvals", lines...)
	c.println("")
	sequence(c, s.Pending)
}

func (s *MigrationStory) drawRecord(c *Canvas) {
	r := s.Record
	if r == nil {
		return
	}
	c.println("")
	c.println(c.mark(Bad) + " The record of the run that nobody accounted for:")
	f := c.fields()
	f.line("Attempt", orText(s.UnresolvedRun.OperationID, "not recorded"))
	f.line("Plan", orText(s.UnresolvedRun.Plan, "not recorded"))
	f.line("Job", orText(s.UnresolvedRun.JobName, "none that was ever confirmed"))
	f.line("Database", orText(r.TargetIdentityDigest, "not recorded"))
	f.line("Cannot say", r.CannotSay...)
}
