package schema

import (
	"strings"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/podspec"
)

// finding is what a result means to a schema, in the form that the status is written from.
type finding struct {
	kind    findingKind
	message string // for a person
	code    frame.Code
}

type findingKind uint8

const (
	foundSuccess      findingKind = iota
	foundFailure                  // worth another attempt
	foundPolicyRefuse             // the verification policy says no
	foundProtected                // the plan touches a fenced table
	foundElsewhere                // the URL leads to another database than the last reading did
	foundStalePlan                // the database moved; nothing was executed
	foundNotRun                   // the Apply ended before its first statement
	foundUncertain                // nobody knows what the Apply did
)

// Verdicts on stored evidence, for TurnEvidence.
type evidenceVerdict uint8

const (
	verdictPolicyUnusable evidenceVerdict = iota + 1
	verdictPlanUnusable
	verdictRevoked
)

// Judge says what the evidence of a finished operation means.
func (v *View) Judge(c operation.Claim, e operation.Evidence) operation.Judgement {
	if c.Mutating {
		return v.judgeApply(c, e)
	}
	if e.Kind != operation.EvidenceFrame {
		return failed(lowerFirst(string(c.Type)) + " left no result: " + e.Detail)
	}
	f := &e.Result.Frame
	if f.Error != nil {
		return v.judgeFailure(c, f.Error)
	}
	switch c.Type {
	case intent.Resolve:
		return judgeResolve(f)
	case intent.Verify:
		return v.judgeVerify(f)
	case intent.Observe:
		return v.judgeObserve(f)
	case intent.Plan:
		return v.judgePlan(f)
	}
	return failed("the operation " + quoted(string(c.Type)) + " is not one of a schema")
}

func failed(message string) operation.Judgement {
	return operation.Judgement{Outcome: operation.Failed, Again: true, Detail: finding{kind: foundFailure, message: message}}
}

func refused(kind findingKind, message string, code frame.Code) operation.Judgement {
	return operation.Judgement{Outcome: operation.Refused, Detail: finding{kind: kind, message: message, code: code}}
}

func succeeded() operation.Judgement {
	return operation.Judgement{Outcome: operation.Succeeded, Detail: finding{kind: foundSuccess}}
}

// judgeFailure tells deliberate refusals, which stand until an input changes, from failures, which are tried again.
func (v *View) judgeFailure(c operation.Claim, f *frame.Failure) operation.Judgement {
	message := v.failureText(f)
	switch {
	case c.Type == intent.Verify && (f.Code == frame.CodePolicyRefused || f.Code == frame.CodeArtifactTypeRefused):
		return refused(foundPolicyRefuse, message, f.Code)
	case c.Type == intent.Plan && f.Code == frame.CodeProtectedTable:
		return v.protected(message)
	case c.Type == intent.Plan && f.Code == frame.CodeTargetChanged && !v.proving():
		return refused(foundElsewhere, message, f.Code)
	}
	j := failed(message)
	j.Detail = finding{kind: foundFailure, message: message, code: f.Code}
	return j
}

// failureText is what people read of a failure: its code, the executor's words, and the Secret that those are about, which only the manager
// can name.
func (v *View) failureText(f *frame.Failure) string {
	text := string(f.Code) + ": " + f.Message
	op := v.Schema.Status.ActiveOperation
	if op == nil {
		return text
	}
	switch f.Code {
	case frame.CodeCredentialMissing:
		from, field := op.Target, "spec.target.urlFrom"
		if strings.Contains(f.Message, "dev.urlFrom") && op.ObservationDev != nil {
			return text + "; " + missing(op.ObservationDev.URLFrom.Name, op.ObservationDev.URLFrom.Key, "spec.dev.urlFrom")
		}
		if from != nil {
			return text + "; " + missing(from.URLFrom.Name, from.URLFrom.Key, field)
		}
	case frame.CodeDatabaseURLInvalid, frame.CodeDatabaseAuthentication, frame.CodeDatabaseTLS:
		if op.Target != nil {
			return text + "; the URL is key " + quoted(op.Target.URLFrom.Key) + " of Secret " + quoted(op.Target.URLFrom.Name)
		}
	case frame.CodeRegistryUnauthorized, frame.CodeRegistryGrantRefused:
		if auth := v.Schema.Spec.Desired.RegistryAuthFrom; auth != nil {
			return text + "; the registry Secret is " + quoted(auth.Name)
		}
	}
	return text
}

func missing(name, key, field string) string {
	return "Secret " + quoted(name) + " with key " + quoted(key) + " (" + field + ") was not found, or the key is empty"
}

func judgeResolve(f *frame.Frame) operation.Judgement {
	r := f.Resolve
	if r == nil || !digest.Valid(r.Digest) || !strings.HasSuffix(r.ResolvedReference, "@"+r.Digest) {
		return failed("resolve answered without a digest")
	}
	return succeeded()
}

func (v *View) judgeVerify(f *frame.Frame) operation.Judgement {
	op := v.Schema.Status.ActiveOperation
	if f.Verify == nil || op == nil || f.Verify.PolicyDigest != op.VerificationPolicyDigest {
		return failed("verify answered for another policy")
	}
	return succeeded()
}

func (v *View) judgeObserve(f *frame.Frame) operation.Judgement {
	o := f.Observe
	if o == nil || !digest.Valid(f.TargetIdentityDigest) {
		return failed("observe answered without a database or a report")
	}
	if err := o.Validate(); err != nil { // its words are ours and hold nothing of the report
		return failed("observe answered with a report that cannot be recorded: " + err.Error())
	}
	for _, x := range o.Findings {
		if !known[v1alpha1.DriftCategory(x.Category)] || !severities[v1alpha1.DriftSeverity(x.Severity)] {
			return failed("observe reported a category that this manager does not know")
		}
	}
	op := v.Schema.Status.ActiveOperation
	if v.proving() && (op == nil || f.TargetIdentityDigest != op.TargetIdentityDigest) {
		return v.elsewhere()
	}
	j := succeeded()
	j.Reading = true
	return j
}

func (v *View) judgePlan(f *frame.Frame) operation.Judgement {
	op := v.Schema.Status.ActiveOperation
	switch {
	case f.Plan == nil || op == nil || !digest.Valid(f.TargetIdentityDigest):
		return failed("plan answered without a database or a plan")
	case f.TargetIdentityDigest != op.TargetIdentityDigest:
		return v.elsewhere()
	case f.Plan.NoChange:
		j := succeeded()
		j.Proved = v.proving()
		return j
	}
	doc, err := plan.Decode(f.Plan.Document)
	if err != nil {
		return failed("plan answered with a document that is not valid: " + err.Error())
	}
	if doc.FromFingerprint != f.Plan.FromFingerprint || doc.ToFingerprint != f.Plan.ToFingerprint {
		return failed("plan answered with a document of other states than it names")
	}
	if v.proving() {
		return operation.Judgement{Outcome: operation.Succeeded, Proved: true, Detail: finding{kind: foundSuccess}}
	}
	if hit := plan.TouchesProtected(doc, v.Schema.Spec.Policy.ProtectedTables); len(hit) > 0 {
		return v.protected("the plan would change protected tables: " + strings.Join(hit, ", "))
	}
	j := succeeded()
	if v.Published == nil {
		pub, err := plan.Publish(v.Schema, f.Plan.Document, v.bindings())
		if err != nil {
			return failed("the plan cannot be stored: " + err.Error())
		}
		j.Publish = pub
	}
	return j
}

// elsewhere is a Plan that opened another database than the reading before it. A proof cannot end on it; anything else observes again.
func (v *View) elsewhere() operation.Judgement {
	const message = "the database URL leads to another database than the reading before it"
	if v.proving() {
		return failed(message)
	}
	return refused(foundElsewhere, message, frame.CodeTargetChanged)
}

// protected ends a proof that finds changes on a fenced table as one that finds changes.
func (v *View) protected(message string) operation.Judgement {
	j := refused(foundProtected, message, frame.CodeProtectedTable)
	j.Proved = v.proving()
	return j
}

func (v *View) proving() bool { return v.Schema.Status.PendingObservation != nil }

// bindings is everything that a plan of this schema rests on now, besides its states.
func (v *View) bindings() v1alpha1.SchemaPlanBindings {
	st := &v.Schema.Status
	b := v1alpha1.SchemaPlanBindings{ArtifactDigest: st.Source.Digest}
	b.PlanBindings = v1alpha1.PlanBindings{
		PolicyFingerprint:     v.policyFingerprint(),
		VerificationPolicyUID: st.Source.VerificationPolicyUID, VerificationPolicyDigest: st.Source.VerificationPolicyDigest,
		CoordinationDigest: v.realm(), TargetIdentityDigest: v.identityDigest(),
		ExecutionBindingID: v.epoch(), ExecutionIdentity: v.Identity,
	}
	return b
}

// preMutation are the typed refusals that an Apply can answer before its first statement. Everything else after a dispatch is uncertain,
// whatever it says.
var preMutation = map[frame.Code]bool{
	frame.CodeConfigurationInvalid: true, frame.CodeCredentialMissing: true, frame.CodeDatabaseURLInvalid: true,
	frame.CodeDatabaseUnreachable: true, frame.CodeDatabaseAuthentication: true, frame.CodeDatabaseTLS: true,
	frame.CodeTargetChanged: true, frame.CodeStalePlan: true, frame.CodePlanDamaged: true,
	frame.CodeLockTimeout: true, frame.CodeLockUnverified: true,
}

// refusedUnopened recognises a deadline that the guard refused, or a signal that came, before the runner had read its database URL: such a frame
// names no database and no exit code, and the child that could write is only ever started after both are known. Once a frame names the
// database, a timeout, a cancellation or a missing privilege is an unknown outcome, whatever its flags say (contract: Failure recovery).
func refusedUnopened(f *frame.Frame) bool {
	switch f.Error.Code {
	case frame.CodeDeadlineExceeded, frame.CodeCancelled:
		return f.TargetIdentityDigest == "" && f.ExitCode == 0
	}
	return false
}

func (v *View) judgeApply(c operation.Claim, e operation.Evidence) operation.Judgement {
	if e.Kind == operation.EvidenceNeverRan {
		return operation.Judgement{Outcome: operation.Failed, Detail: finding{kind: foundNotRun, message: e.Detail}}
	}
	if e.Kind != operation.EvidenceFrame {
		return v.uncertain(c, e, e.Detail)
	}
	f := &e.Result.Frame
	op := v.Schema.Status.ActiveOperation
	if f.Error != nil {
		message := v.failureText(f.Error)
		if f.MutationStarted || f.OutcomeUncertain || (!preMutation[f.Error.Code] && !refusedUnopened(f)) {
			return v.uncertain(c, e, message)
		}
		kind := foundNotRun
		if f.Error.Code == frame.CodeStalePlan {
			if kind = foundStalePlan; !v.namesSource(f.Error.Message) {
				return v.uncertain(c, e, message+"; it does not name the state that the plan starts from")
			}
		}
		return operation.Judgement{Outcome: operation.Failed, Detail: finding{kind: kind, message: message, code: f.Error.Code}}
	}
	switch {
	case f.Apply == nil || f.OutcomeUncertain || f.ExitCode != 0 || !e.Job.Succeeded:
		return v.uncertain(c, e, "the Apply answered without saying that it succeeded")
	case op == nil || f.TargetIdentityDigest != op.TargetIdentityDigest || f.CoordinationDigest != op.CoordinationDigest:
		return v.uncertain(c, e, "the Apply opened another database than the plan was computed against")
	}
	return succeeded()
}

// namesSource reports whether a stale-plan refusal names, untruncated, the state that the applied plan starts from: only then it is about this
// plan and came before the first statement (contract: Failure recovery).
func (v *View) namesSource(message string) bool {
	p := v.Schema.Status.Plan
	if p == nil || p.ActualStateFingerprint == "" || strings.HasSuffix(message, frame.Ellipsis) {
		return false
	}
	for _, word := range strings.Fields(message) {
		if strings.TrimRight(word, ".,;:") == p.ActualStateFingerprint {
			return true
		}
	}
	return false
}

// uncertain holds the proof back for as long as the Apply may still write, unless the API server showed that nothing of it executes.
func (v *View) uncertain(c operation.Claim, e operation.Evidence, message string) operation.Judgement {
	j := operation.Judgement{Outcome: operation.Uncertain, Detail: finding{kind: foundUncertain, message: message}}
	if !e.Quiet {
		j.ObserveAfter = podspec.NothingWritesAfter(c.ExecutionNotAfter)
		if c.ExecutionNotAfter.IsZero() {
			j.ObserveAfter = podspec.NothingWritesAfter(v.Now.Add(v.deadline()))
		}
	}
	return j
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
