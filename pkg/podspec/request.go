package podspec

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/intent"
)

// Request is everything that one operation's Job is built from. Selectors name Secrets and ConfigMaps; contents never pass here.
type Request struct {
	Envelope

	Source   *Source   // every operation but a schema Apply
	Policy   *Policy   // Verify
	Database *Database // operations that open the target
	Plan     *v1alpha1.PtahSchemaPlanSpec

	DispatchNotAfter, ExecutionNotAfter *time.Time // Apply

	Execution v1alpha1.Execution
}

// Source is the artifact and the way to its registry.
type Source struct {
	Requested string // oci://…, as the author wrote it
	Resolved  string // digest-pinned; every operation after Resolve
	Auth      *v1alpha1.RegistryAuth
	Transport *v1alpha1.Transport
}

// Policy is the verification policy's ConfigMap key and the digest of the bytes that the manager read.
type Policy struct {
	From   corev1.ConfigMapKeySelector
	Digest string
}

// Database is the target, and for a Plan the scratch database.
type Database struct {
	Engine               string // normalised
	CoordinationDigest   string
	TargetIdentityDigest string // "" while no reading has named the database
	URLFrom              corev1.SecretKeySelector
	DevURLFrom           *corev1.SecretKeySelector // Plan only
	Scope                intent.Scope              // Dev is set from DevURLFrom
}

// TerminationGrace is how long a Pod may take to stop.
const TerminationGrace = 30 * time.Second

// leaseGrace is what a Lease lasts beyond the Job's deadline: the Pod's grace and as much again for clocks and the kubelet.
const leaseGrace = 60 * time.Second

// CleanupTTLSeconds is the only change that a finished, or uncertain, Job may get: how long it stays after it finished.
const CleanupTTLSeconds int32 = 300

// Deadlines bounds a mutating child from the instant of its dispatch: it may start during the first half of the Job's deadline and must have
// ended at its end, so that it never starts without at least half of the time that the author granted.
func Deadlines(dispatch time.Time, activeDeadlineSeconds int64) (dispatchNotAfter, executionNotAfter time.Time) {
	d := time.Duration(activeDeadlineSeconds) * time.Second
	return dispatch.Add(d / 2).Truncate(time.Second), dispatch.Add(d).Truncate(time.Second)
}

// LeaseDuration covers a Job's deadline and the grace after it (90 s at the API's minimum).
func LeaseDuration(activeDeadlineSeconds int64) time.Duration {
	return time.Duration(activeDeadlineSeconds)*time.Second + leaseGrace
}

// NothingWritesAfter is the instant from which no Pod of a dispatch with this execution deadline can write any more.
func NothingWritesAfter(executionNotAfter time.Time) time.Time {
	return executionNotAfter.Add(TerminationGrace)
}

func (r Request) opensDatabase() bool {
	switch r.Operation {
	case intent.Observe, intent.Plan, intent.Apply, intent.History:
		return true
	}
	return false
}

// fetches reports whether init containers bring the artifact into the Pod before a database is opened.
func (r Request) fetches() bool { return r.opensDatabase() && r.Source != nil }

// check refuses a request that does not fit its operation: too little to run it, or more than the operation may hold.
func (r Request) check() error {
	for _, problem := range []func() string{r.problem, r.partsProblem, r.deadlineProblem, r.sourceProblem, r.otherSelectorProblem} {
		if p := problem(); p != "" {
			return fmt.Errorf("building %s job for %s/%s: %s", r.Operation, r.Namespace, r.Name, p)
		}
	}
	return nil
}

// partsProblem holds that each operation has the parts that it needs and no other: table A3 of the runtime sheet, before a Pod exists.
func (r Request) partsProblem() string {
	schemaApply := r.Family == Schema && r.Operation == intent.Apply
	switch {
	case prefixes[r.Family][r.Operation] == "":
		return fmt.Sprintf("a %s has no operation %q", r.Family.Kind(), r.Operation)
	case schemaApply == (r.Source != nil):
		return "a schema Apply has no artifact and every other operation has one"
	case (r.Operation == intent.Verify) != (r.Policy != nil):
		return "a Verify has a policy and no other operation has one"
	case r.opensDatabase() != (r.Database != nil):
		return "an operation that opens a database has a target and no other has one"
	case r.Database != nil && r.Database.DevURLFrom != nil && r.Operation != intent.Plan:
		return "only a Plan has a scratch database"
	case schemaApply != (r.Plan != nil):
		return "a schema Apply has a plan and no other operation has one"
	}
	return ""
}

func (r Request) deadlineProblem() string {
	switch {
	case r.Operation == intent.Apply && !ordered(r.DispatchNotAfter, r.ExecutionNotAfter):
		return "an Apply has two deadlines in order"
	case r.Operation != intent.Apply && (r.DispatchNotAfter != nil || r.ExecutionNotAfter != nil):
		return "only an Apply has deadlines of its own"
	case r.Execution.ActiveDeadlineSeconds < 30:
		return "activeDeadlineSeconds is below 30"
	}
	return ""
}

func ordered(a, b *time.Time) bool { return a != nil && b != nil && a.Before(*b) }

func (r Request) sourceProblem() string {
	s := r.Source
	if s == nil {
		return ""
	}
	if r.Operation == intent.Resolve && s.Requested == "" || r.Operation != intent.Resolve && s.Resolved == "" {
		return "the artifact's reference is missing"
	}
	if t := s.Transport; t != nil {
		switch {
		case t.ClientCertificateFrom != nil:
			return "clientCertificateFrom is refused: a certificate cannot be kept to one host across redirects"
		case t.PlainHTTP && t.CAFrom != nil:
			return "plainHTTP and caFrom exclude each other"
		case t.CAFrom != nil && (t.CAFrom.Name == "" || t.CAFrom.Key == ""):
			return "caFrom names no ConfigMap key"
		}
	}
	if a := s.Auth; a != nil {
		switch {
		case a.Name == "":
			return "registryAuthFrom names no Secret"
		case authMode(a) != v1alpha1.RegistryAuthEnvironment && authMode(a) != v1alpha1.RegistryAuthDockerConfigJSON:
			return "registryAuthFrom has an unknown mode"
		}
	}
	return ""
}

func (r Request) otherSelectorProblem() string {
	if p := r.Policy; p != nil && (p.From.Name == "" || p.From.Key == "" || p.Digest == "") {
		return "the verification policy is not selected completely"
	}
	if d := r.Database; d != nil {
		switch {
		case d.URLFrom.Name == "" || d.URLFrom.Key == "":
			return "target.urlFrom names no Secret key"
		case d.DevURLFrom != nil && (d.DevURLFrom.Name == "" || d.DevURLFrom.Key == ""):
			return "dev.urlFrom names no Secret key"
		case d.Engine == "" || d.CoordinationDigest == "":
			return "the target is not identified"
		}
	}
	return ""
}

// Intent is the order that the Pod carries out: the same value for each of its containers.
func (r Request) Intent() intent.Intent {
	in := intent.Intent{
		ProtocolVersion: intent.ProtocolVersion, Operation: r.Operation, OperationID: r.OperationID, ResourceUID: string(r.ResourceUID),
		DispatchNotAfter: asStored(r.DispatchNotAfter), ExecutionNotAfter: asStored(r.ExecutionNotAfter),
	}
	if s := r.Source; s != nil {
		in.Artifact = r.artifact(s)
	}
	if r.Policy != nil {
		in.Policy = &intent.Policy{Digest: r.Policy.Digest}
	}
	if d := r.Database; d != nil {
		in.Engine, in.CoordinationDigest, in.TargetIdentityDigest = d.Engine, d.CoordinationDigest, d.TargetIdentityDigest
		scope := d.Scope
		scope.Dev = d.DevURLFrom != nil
		in.Scope = &scope
	}
	if p := r.Plan; p != nil {
		in.Plan = &intent.PlanRef{Fingerprint: p.Fingerprint, ContentDigest: p.ContentDigest, Size: p.Size}
		for _, c := range p.Chunks {
			in.Plan.Chunks = append(in.Plan.Chunks, intent.Chunk{Index: int(c.Index), Name: c.Name, Key: c.Key, Size: c.Size, Digest: c.Digest})
		}
	}
	return in
}

// asStored writes an instant as it comes back from a status, whole seconds in UTC: a request built before and one built after a restart, in
// whatever time zone, are the same order to the byte.
func asStored(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	stored := t.UTC().Truncate(time.Second)
	return &stored
}

func (r Request) artifact(s *Source) *intent.Artifact {
	a := &intent.Artifact{Kind: intent.SchemaArtifact, RequestedReference: s.Requested, ResolvedReference: s.Resolved}
	if r.Family == Migration {
		a.Kind = intent.MigrationArtifact
	}
	if s.Transport != nil {
		a.PlainHTTP, a.CustomCA = s.Transport.PlainHTTP, s.Transport.CAFrom != nil
	}
	if s.Auth != nil {
		a.AuthMode = string(authMode(s.Auth))
	}
	return a
}

// authMode is the mode with the API's default.
func authMode(a *v1alpha1.RegistryAuth) v1alpha1.RegistryAuthMode {
	if a.Mode == "" {
		return v1alpha1.RegistryAuthEnvironment
	}
	return a.Mode
}
