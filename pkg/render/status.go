package render

import (
	"fmt"
	"strings"
	"time"
)

// Status is where one resource stands, in full.
type Status struct {
	Meta
	Resource

	now time.Time
}

// NewStatus shows one resource in full.
func NewStatus(resource *Resource, now time.Time) *Status {
	return &Status{Meta: Meta{APIVersion: APIVersion, Kind: "ResourceStatus"}, Resource: *resource, now: now}
}

// statusPair is a schema and a migration of one name, each in full.
type statusPair struct {
	*StatusList
}

// NewStatusPair shows resources in full, one after the other. Its document is a StatusList.
func NewStatusPair(items []*Resource, now time.Time) View {
	return statusPair{NewStatusList(items, nil, now, false)}
}

// Draw writes each resource in full.
func (p statusPair) Draw(c *Canvas) {
	for i, item := range p.Items {
		if i > 0 {
			c.println("")
		}
		NewStatus(item, p.now).Draw(c)
	}
}

// Data is this view.
func (s *Status) Data() any { return s }

// Names is the resource's name.
func (s *Status) Names() []string { return []string{s.typeName()} }

// Draw writes everything that is known about the resource.
func (s *Status) Draw(c *Canvas) {
	f := c.fields()
	f.line(strings.ToUpper(s.ResourceKind[:1])+s.ResourceKind[1:], c.paint(Strong, s.Namespace+"/"+s.Name))
	f.line("Phase", c.paint(phaseTone(s.Phase), s.phase()))
	f.line("Waiting for", s.waitingText(c))
	if p := s.Problem; p != nil {
		f.line("Problem", c.mark(Bad)+" "+oneLine(p.Condition+": "+p.text()))
	}
	f.line("Next look", s.next())
	f.line("Source", s.source(c, f)...)
	s.drawDatabase(c, f)
	s.drawPlan(c, f)
	s.drawWork(c, f)
	if s.Manager != nil {
		f.line("Manager", fmt.Sprintf("ptah %s, revision %s", s.Manager.PtahVersion, short(s.Manager.Revision, 12)))
	}
	s.drawConditions(c)
}

func (s *Status) phase() string {
	text := Printable(s.Phase)
	if s.ObservedGeneration < s.Generation {
		text += fmt.Sprintf(" (of generation %d; the resource is at %d)", s.ObservedGeneration, s.Generation)
	}
	if s.Suspended && s.Phase != phaseSuspended {
		text += ", suspended (spec.suspend)"
	}
	if s.Deleting {
		text += ", being deleted"
	}
	return text
}

func (s *Status) waitingText(c *Canvas) string {
	if s.WaitingFor.Text == "" {
		return c.none()
	}
	return Printable(s.WaitingFor.Text)
}

// text is the message, or the reason where there is none.
func (p *Problem) text() string {
	if p.Message == "" {
		return p.Reason
	}
	return p.Message
}

// oneLine makes a text from the cluster fit a line.
func oneLine(text string) string { return strings.Join(strings.Fields(Printable(text)), " ") }

func (s *Status) next() string {
	if text := s.Operation.now(s.now); text != "" {
		return text
	}
	if s.proofHeld() {
		return "once it is resumed"
	}
	if s.NextReconciliation == nil {
		return "not scheduled"
	}
	return Stamp(*s.NextReconciliation, s.now)
}

func (s *Status) source(c *Canvas, f *fields) []string {
	lines := []string{Printable(s.Source.Requested)}
	if s.Source.Digest == "" {
		return append(lines, "not resolved yet")
	}
	note := "   " + c.paint(Caution, "not verified")
	if s.Source.Verified {
		text := "verified"
		if s.Source.VerifiedAt != nil {
			text += " " + Relative(*s.Source.VerifiedAt, s.now)
		}
		note = "   " + c.paint(Good, text)
	}
	return append(lines, f.identifier(s.Source.Digest, width(note))+note)
}

func (s *Status) drawDatabase(c *Canvas, f *fields) {
	f.line("Engine", fmt.Sprintf("%s, apply policy %s", s.Engine, s.ApplyPolicy))
	if s.ResourceKind == KindSchema {
		s.drawDrift(c, f)
		return
	}
	h := s.History
	if h == nil {
		f.line("History read", "not yet")
		return
	}
	f.line("History read", Stamp(h.ObservedAt, s.now))
	f.line("Version", fmt.Sprint(h.CurrentVersion))
	if h.CheckpointVersion != 0 {
		f.line("Checkpoint", fmt.Sprint(h.CheckpointVersion))
	}
	f.line("Applied", fmt.Sprint(h.Applied))
	f.line("Pending", fmt.Sprint(h.Pending))
	if h.Dirty {
		f.line("Dirty", c.mark(Bad)+" a failed or interrupted row is present")
	}
	f.line("Modified", versions(h.ModifiedVersions)...)
	f.line("Out of order", versions(h.OutOfOrderVersions)...)
}

func versions(list []int64) []string {
	if len(list) == 0 {
		return nil
	}
	return []string{strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")}
}

func (s *Status) drawDrift(c *Canvas, f *fields) {
	o := s.Observation
	if o == nil {
		f.line("Observed", "not yet")
		return
	}
	f.line("Observed", Stamp(o.ObservedAt, s.now))
	f.line("Drift", s.driftLines(c)...)
}

func driftTone(severity string) Tone {
	switch severity {
	case "destructive", "error":
		return Bad
	case "warning":
		return Caution
	default:
		return Plain
	}
}

func (s *Status) drawPlan(c *Canvas, f *fields) {
	if p := s.Plan; p == nil {
		f.line("Plan", "none")
	} else {
		f.line("Plan", planLines(c, p, s.now)...)
	}
	if a := s.Applied; a != nil {
		f.line("Applied", fmt.Sprintf("%s, proven %s", a.Plan, Stamp(a.CompletedAt, s.now)))
	} else if s.ResourceKind == KindSchema {
		f.line("Applied", "no run proven for this artifact and database")
	}
	if r := s.LastRun; r != nil {
		f.line("Last run", runText(r, s.now))
		f.line("Run applied", versions(r.AppliedVersions)...)
		if r.Message != "" {
			f.line("Run message", Printable(r.Message))
		}
	}
}

// fromLast marks what a reading that is under way has not confirmed.
const fromLast = "from the last reading; a new one is under way"

func planLines(c *Canvas, p *PlanInfo, now time.Time) []string {
	lines := []string{p.Name}
	if p.FromLastReading {
		lines = append(lines, fromLast)
	}
	if p.Fingerprint != "" {
		detail := fmt.Sprintf("%d %s", p.Statements, plural(int(p.Statements), "statement"))
		if p.Destructive {
			detail += ", " + c.paint(Bad, "destructive")
		}
		if p.StoredAt != nil {
			detail += ", stored " + Stamp(*p.StoredAt, now)
		}
		lines = append(lines, detail)
	}
	if a := p.Approval; a != nil {
		lines = append(lines, fmt.Sprintf("approved by %s %s", Printable(a.Approver), Stamp(a.ApprovedAt, now)))
	}
	return append(lines, p.lines(c, now)...)
}

func runText(r *Run, now time.Time) string {
	at := r.StartedAt
	if r.FinishedAt != nil {
		at = *r.FinishedAt
	}
	return Printable(r.Outcome) + " at " + Stamp(at, now)
}

// drawWork writes what is running, what is owed, and what nobody accounted for.
func (s *Status) drawWork(c *Canvas, f *fields) {
	if op := s.Operation; op != nil {
		f.line("Operation", operationLines(c, op, s.now)...)
	} else {
		f.line("Operation", "none")
	}
	if p := s.PendingProof; p != nil {
		text := fmt.Sprintf("%s a proof is owed for %s: %s", c.mark(Caution), p.Plan, Printable(p.Outcome))
		if p.ObserveAfter != nil {
			text += ", not before " + Stamp(*p.ObserveAfter, s.now)
		}
		f.line("After Apply", text)
	}
	if u := s.UnresolvedRun; u != nil {
		text := fmt.Sprintf("%s %s, recorded %s; nobody accounted for it", c.mark(Bad), Printable(u.Outcome), Stamp(u.RecordedAt, s.now))
		f.line("Unresolved run", text, unresolvedDetail(u))
	}
	if s.LockReleaseOwed {
		f.line("Database lock", c.mark(Caution)+" its release is owed and tried again in every pass")
	}
}

func operationLines(c *Canvas, op *Operation, now time.Time) []string {
	state := "starting"
	if op.Dispatched {
		state = "running"
	}
	lines := []string{fmt.Sprintf("%s, attempt %d, %s since %s", op.Type, op.Attempt, state, Stamp(op.StartedAt, now)), "Job " + op.JobName}
	if op.ExecutionNotAfter != nil {
		lines = append(lines, "deadline "+Stamp(*op.ExecutionNotAfter, now))
	}
	if op.RetryNotBefore != nil {
		lines = append(lines, "not before "+Stamp(*op.RetryNotBefore, now))
	}
	if op.LeaseContinuityLost {
		lines = append(lines, c.mark(Bad)+" the database lock was interrupted: the result will not be read")
	}
	return lines
}

func unresolvedDetail(u *Unresolved) string {
	var parts []string
	for _, part := range [][2]string{{"plan ", u.Plan}, {"Job ", u.JobName}, {"operation ", u.OperationID}} {
		if part[1] != "" {
			parts = append(parts, part[0]+part[1])
		}
	}
	if len(parts) == 0 {
		return "the record names no plan, no Job and no operation"
	}
	return strings.Join(parts, ", ")
}

func (s *Status) drawConditions(c *Canvas) {
	c.println("")
	if len(s.Conditions) == 0 {
		c.println("no conditions yet")
		return
	}
	t := c.table(column{title: "CONDITION"}, column{title: "STATUS"}, column{title: "REASON"}, column{title: "SINCE"}, column{title: "MESSAGE", flexible: true})
	for _, condition := range s.Conditions {
		t.rows = append(t.rows, []cell{
			{text: condition.Type},
			{text: condition.Status, tone: conditionTone(condition)},
			{text: condition.Reason},
			{text: Age(s.now.Sub(condition.LastTransitionTime))},
			{text: conditionMessage(condition)},
		})
	}
	t.draw(&c.out, c.Headers)
}

func conditionMessage(condition Condition) string {
	text := oneLine(condition.Message)
	switch {
	case !condition.FromLastReading:
		return text
	case text == "":
		return "(from the last reading)"
	default:
		return "(from the last reading) " + text
	}
}

// conditionTone knows that True is not good for every type.
func conditionTone(condition Condition) Tone {
	good := "True"
	switch condition.Type {
	case "DriftDetected", "ApprovalRequired", "ReconciliationFailed", "Suspended", "Blocked":
		good = "False"
	case "Applying", "Progressing", "PlanReady":
		return Plain
	}
	switch condition.Status {
	case good:
		return Good
	case "Unknown":
		return Dim
	default:
		return Caution
	}
}

func phaseTone(phase string) Tone {
	switch phase {
	case "InSync":
		return Good
	case "Failed", "Blocked":
		return Bad
	case "AwaitingApproval", "Suspended":
		return Caution
	default:
		return Plain
	}
}

// now says what an operation does at this moment; empty where it waits for its time, or ran past its deadline and nobody noticed.
func (op *Operation) now(at time.Time) string {
	switch {
	case op == nil, op.RetryNotBefore != nil && op.RetryNotBefore.After(at), op.ExecutionNotAfter != nil && at.Sub(*op.ExecutionNotAfter) > slack:
		return ""
	case op.Dispatched:
		return fmt.Sprintf("now: %s runs %s", op.Type, Age(at.Sub(op.StartedAt)))
	case at.Sub(op.StartedAt) > slack:
		return fmt.Sprintf("now: starting %s since %s", op.Type, Age(at.Sub(op.StartedAt)))
	default:
		return "now: starting " + op.Type
	}
}

// short cuts an identifier that only helps recognising.
func short(text string, length int) string {
	if len(text) <= length {
		return text
	}
	return text[:length]
}
