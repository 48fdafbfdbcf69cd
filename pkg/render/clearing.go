package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	runs "github.com/ptah-run/ptah/pkg/unresolved"
)

// What became of clearing a record.
const (
	ClearCleared = "cleared"
	ClearRefused = "refused"
	ClearDryRun  = "dry-run"
)

// Clearing is the record of a run that nobody accounted for, everything that decides whether it may be cleared, and what became of it.
type Clearing struct {
	Meta
	Namespace string       `json:"namespace"`
	Name      string       `json:"name"`
	UID       string       `json:"uid"`
	Run       RecordedRun  `json:"run"`
	Writing   WritingState `json:"writing"`
	// ComesBack lists the standing refusals that would write the record again.
	ComesBack []RefusalText `json:"comesBack"`
	// Uncounted says why it could not be told who else claims the database, which would bring the record back too.
	Uncounted string `json:"uncounted,omitempty"`
	// Refusals are all that stand against clearing; none means that it may be cleared.
	Refusals []RefusalText `json:"refusals"`
	Notes    []string      `json:"notes"`
	// Confirm is what a person repeats to say which run they established.
	Confirm ConfirmToken `json:"confirm"`

	Result string `json:"result,omitempty"` // cleared, refused or dry-run
	DryRun string `json:"dryRun,omitempty"` // client or server
	Who    string `json:"who,omitempty"`
	Reason string `json:"reason,omitempty"`
	// RequestEvent was stored before the write and keeps who, when and why; Event was stored after it and confirms it.
	RequestEvent string `json:"requestEvent,omitempty"`
	Event        string `json:"event,omitempty"`
	// NextPass is what the operator's next pass showed: Pending, Stayed, Returned, Blocked or Replaced.
	NextPass string   `json:"nextPass,omitempty"`
	Comeback []string `json:"comeback,omitempty"`
	// Removes lists what the one write takes away.
	Removes []string `json:"removes"`

	now time.Time
}

// RecordedRun is what the record says.
type RecordedRun struct {
	Outcome     string       `json:"outcome"`
	RecordedAt  time.Time    `json:"recordedAt"`
	Adopted     bool         `json:"adopted"`
	OperationID string       `json:"operationID,omitempty"`
	Plan        RecordedPlan `json:"plan"`
	JobName     string       `json:"jobName,omitempty"`
	JobUID      string       `json:"jobUID,omitempty"`
	// JobFound is a Job that carries the operation, where the record names none.
	JobFound             string `json:"jobFound,omitempty"`
	Job                  string `json:"job"` // Present, Gone or Unknown
	TargetIdentityDigest string `json:"targetIdentityDigest,omitempty"`
	// CannotSay lists what the record leaves open.
	CannotSay []string `json:"cannotSay"`
}

// RecordedPlan is the plan that the run was carrying out.
type RecordedPlan struct {
	Name        string  `json:"name,omitempty"`
	UID         string  `json:"uid,omitempty"`
	Presence    string  `json:"presence,omitempty"` // Present, Gone or Unknown
	Problem     string  `json:"problem,omitempty"`
	Fingerprint string  `json:"fingerprint,omitempty"`
	FromVersion int64   `json:"fromVersion,omitempty"`
	Versions    []int64 `json:"versions,omitempty"`
}

// WritingState says whether the run could still be writing.
type WritingState struct {
	Answer string   `json:"answer"` // Yes, No or Unknown
	Why    []string `json:"why"`
}

// RefusalText is one reason against, under the name of its guard.
type RefusalText struct {
	Guard string `json:"guard"`
	Text  string `json:"text"`
}

// ConfirmToken is what is asked for.
type ConfirmToken struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// NewClearing shows a record and the decision about it.
func NewClearing(in runs.Input, v runs.Verdict, plan RecordedPlan, now time.Time) *Clearing {
	m := in.Migration
	run := m.Status.UnresolvedRun
	token := runs.TokenOf(run)
	return &Clearing{
		Meta: Meta{APIVersion: APIVersion, Kind: "UnresolvedRunClearing"}, Namespace: m.Namespace, Name: m.Name, UID: string(m.UID),
		Run: RecordedRun{
			Outcome: string(run.Outcome), RecordedAt: run.RecordedAt.UTC(), Adopted: runs.Adopted(run), OperationID: run.OperationID,
			Plan: plan, JobName: run.JobName, JobUID: string(run.JobUID), JobFound: in.Job.Name, Job: string(in.Job.Presence),
			TargetIdentityDigest: run.TargetIdentityDigest, CannotSay: append([]string{}, runs.CannotSay(run)...),
		},
		Writing:   WritingState{Answer: string(v.Writing.Answer), Why: append([]string{}, v.Writing.Why...)},
		ComesBack: refusalTexts(v.Rebuilt), Uncounted: v.Uncounted, Refusals: refusalTexts(v.Refusals), Notes: append([]string{}, v.Notes...),
		Confirm: ConfirmToken{token.Kind, token.Value}, Removes: []string{"status.unresolvedRun", "status.conditions[Blocked]"}, now: now,
	}
}

func refusalTexts(list []runs.Refusal) []RefusalText {
	texts := make([]RefusalText, 0, len(list))
	for _, r := range list {
		texts = append(texts, RefusalText{string(r.Guard), r.Text})
	}
	return texts
}

// Data is this view.
func (v *Clearing) Data() any { return v }

// Names is the migration's name.
func (v *Clearing) Names() []string {
	return []string{"ptahmigration." + v1alpha1.GroupName + "/" + v.Name}
}

// Draw writes the record and the decision.
func (v *Clearing) Draw(c *Canvas) {
	f := c.fields()
	r := &v.Run
	f.line("Migration", c.paint(Strong, v.Namespace+"/"+v.Name))
	adopted := ""
	if r.Adopted {
		adopted = ", adopted by an upgrade"
	}
	f.line("Run", c.mark(Bad)+" "+Printable(r.Outcome)+", recorded "+Stamp(r.RecordedAt, v.now)+adopted)
	f.line("Attempt", orText(r.OperationID, "not recorded"))
	f.line("Plan", r.planText())
	f.line("Job", v.jobText())
	f.line("Database", orText(r.TargetIdentityDigest, "not recorded"))
	f.line("Cannot say", r.CannotSay...)
	f.line("Still writing?", writingText(c, v.Writing))
	f.line("Comes back?", v.comesBack(c)...)
	f.line("Note", v.Notes...)
}

func (v *Clearing) comesBack(c *Canvas) []string {
	lines := make([]string, 0, len(v.ComesBack)+1)
	for _, refusal := range v.ComesBack {
		lines = append(lines, c.mark(Bad)+" yes: "+Printable(refusal.Text))
	}
	switch {
	case v.Uncounted != "":
		return append(lines, c.mark(Caution)+" could not be told: who else claims this database: "+Printable(v.Uncounted))
	case len(lines) == 0:
		return []string{c.mark(Good) + " no: nothing that stands would write the record again"}
	}
	return lines
}

func (r *RecordedRun) planText() string {
	p := r.Plan
	switch {
	case p.Name == "":
		return "not recorded"
	case p.Presence == string(runs.Gone):
		return p.Name + " (gone: what it would have run cannot be looked up)"
	case p.Presence != string(runs.There):
		return p.Name + " (could not be read: " + p.Problem + ")"
	}
	return fmt.Sprintf("%s (%d %s from version %d: %s)", p.Name, len(p.Versions), plural(len(p.Versions), "migration"), p.FromVersion, strings.Join(versions(p.Versions), ""))
}

func (v *Clearing) jobText() string {
	switch {
	case v.Run.JobName == "" && v.Run.JobFound != "":
		return v.Namespace + "/" + v.Run.JobFound + " (the record names none; this one carries its operation)"
	case v.Run.JobName == "" && v.Run.Job == string(runs.Gone):
		return "none that was ever confirmed, and none carries its operation"
	case v.Run.JobName == "":
		return "none that was ever confirmed; whether one exists could not be told"
	case v.Run.Job == string(runs.Gone):
		return v.Namespace + "/" + v.Run.JobName + " (gone, its logs with it)"
	case v.Run.Job == string(runs.NotTold):
		return v.Namespace + "/" + v.Run.JobName + " (could not be read)"
	}
	return v.Namespace + "/" + v.Run.JobName + " (its logs may still be there)"
}

func writingText(c *Canvas, w WritingState) string {
	mark, word := c.mark(Good), "no"
	switch w.Answer {
	case string(runs.Yes):
		mark, word = c.mark(Bad), "yes"
	case string(runs.Unknown):
		mark, word = c.mark(Caution), "could not be told"
	}
	return mark + " " + word + ": " + Printable(strings.Join(w.Why, "; "))
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// Brief draws one line for what was done; its document is the whole.
func (v *Clearing) Brief() View { return briefClearing{v} }

type briefClearing struct{ *Clearing }

// Draw writes one line, as kubectl does for what it changes.
func (v briefClearing) Draw(c *Canvas) {
	result := c.paint(Good, ClearCleared)
	if v.Result == ClearDryRun {
		result = fmt.Sprintf("%s (%s dry run)", ClearCleared, v.DryRun)
	}
	by := ""
	if v.Who != "" {
		by = " by " + Printable(v.Who)
	}
	c.println(fmt.Sprintf("%s %s%s", v.Names()[0], result, by))
}
