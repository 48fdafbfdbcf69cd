// Package frame is how an operation Pod answers: one integrity-framed, bounded, typed result on its log. The runner encodes,
// the manager parses; anything that is not exactly one whole frame of the expected operation is no result at all.
package frame

import "github.com/ptah-run/ptah/pkg/intent"

// Frame is one operation's result. Exactly one of the payloads is set on success; none on failure.
type Frame struct {
	ProtocolVersion    int              `json:"protocolVersion"`
	Operation          intent.Operation `json:"operation"`
	OperationID        string           `json:"operationID"`
	ExitCode           int              `json:"exitCode"` // of the engine child; 0 where none was started
	CoordinationDigest string           `json:"coordinationDigest,omitempty"`
	// TargetIdentityDigest names the database that the URL in the Pod leads to, as parsed and opened there.
	TargetIdentityDigest string `json:"targetIdentityDigest,omitempty"`
	// MutationStarted says that the first changing statement was sent; OutcomeUncertain that nobody knows what it did.
	MutationStarted  bool `json:"mutationStarted,omitempty"`
	OutcomeUncertain bool `json:"outcomeUncertain,omitempty"`

	Error *Failure `json:"error,omitempty"`

	Resolve *Resolved `json:"resolve,omitempty"`
	Verify  *Verified `json:"verify,omitempty"`
	Observe *Observed `json:"observe,omitempty"`
	Plan    *Planned  `json:"plan,omitempty"`
	Apply   *Applied  `json:"apply,omitempty"`
}

// Failure is a typed refusal. Message is written by Ptah (never copied from a server or a library), holds no credential, no row and
// no SQL, and is at most MaxMessage bytes.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// MaxMessage bounds Failure.Message, in bytes.
const MaxMessage = 1024

// Code is the closed vocabulary of failures.
type Code string

// Failure codes. The comment says what a person does about it.
const (
	CodeConfigurationInvalid   Code = "ConfigurationInvalid"         // fix the resource or the operator's settings
	CodeRegistryUnreachable    Code = "RegistryUnreachable"          // the registry did not answer
	CodeRegistryUnauthorized   Code = "RegistryUnauthorized"         // credentials missing or refused
	CodeRegistryGrantRefused   Code = "RegistryGrantRefused"         // registry, allowPlainHTTP or caSHA256 missing or different
	CodeArtifactNotFound       Code = "ArtifactNotFound"             // no such repository, tag or digest
	CodeArtifactTypeRefused    Code = "ArtifactTypeRefused"          // artifactType or layer layout is not this family's
	CodeArtifactTooLarge       Code = "ArtifactTooLarge"             // over a size bound
	CodeArtifactInvalid        Code = "ArtifactInvalid"              // digest mismatch, unsafe path, damaged content
	CodePolicyInvalid          Code = "PolicyInvalid"                // the verification policy cannot be read
	CodePolicyRefused          Code = "PolicyRefused"                // the artifact does not satisfy the policy
	CodeDesiredSchemaInvalid   Code = "DesiredSchemaInvalid"         // the declared schema cannot be used
	CodeUnsupportedObject      Code = "UnsupportedObject"            // something in scope that the engine does not model; message names it
	CodeCredentialMissing      Code = "CredentialMissing"            // the URL is absent or empty
	CodeDatabaseURLInvalid     Code = "DatabaseURLInvalid"           // grammar; says which part, never the text
	CodeDatabaseUnreachable    Code = "DatabaseUnreachable"          // no connection within connectTimeout
	CodeDatabaseAuthentication Code = "DatabaseAuthenticationFailed" // user or password refused
	CodeDatabaseTLS            Code = "DatabaseTLSFailed"            // TLS demanded and refused, or certificate not trusted
	CodeDatabasePermission     Code = "DatabasePermissionDenied"     // role lacks a privilege
	CodeTargetChanged          Code = "TargetChanged"                // the URL leads to another database than the one planned against
	CodeNondeterministicPlan   Code = "NondeterministicPlan"         // two plans of one state differ
	CodePlanTooLarge           Code = "PlanTooLarge"                 // over 8 MiB
	CodeProtectedTable         Code = "ProtectedTable"               // the plan touches a fenced table
	CodeStalePlan              Code = "StalePlan"                    // database moved since planning; nothing was executed
	CodePlanDamaged            Code = "PlanDamaged"                  // chunk or content digest differs
	CodeLockTimeout            Code = "LockTimeout"                  // database lock not obtained in time
	CodeLockUnverified         Code = "LockUnverified"               // a pooler stands between: the lock does not hold
	CodeStatementFailed        Code = "StatementFailed"              // the server refused a statement; message names index, object and SQLSTATE
	CodeDeadlineExceeded       Code = "DeadlineExceeded"             // execution deadline or dispatch window passed
	CodeCancelled              Code = "Cancelled"                    // terminated from outside
	CodeOutputInvalid          Code = "OutputInvalid"                // engine child printed something that is not its contract
	CodeInternal               Code = "Internal"                     // a defect: report it
)

// Resolved is the evidence of a Resolve.
type Resolved struct {
	ResolvedReference string `json:"resolvedReference"`
	Digest            string `json:"digest"`
	MediaType         string `json:"mediaType"`
	ArtifactType      string `json:"artifactType"`
	Size              int64  `json:"size"` // of the manifest, bytes
}

// Verified is the evidence of a Verify that accepted. A refusal is a Failure with CodePolicyRefused.
type Verified struct {
	ArtifactType string   `json:"artifactType"`
	PolicyDigest string   `json:"policyDigest"`
	Requirements []string `json:"requirements"` // names of the policy keys that were satisfied, sorted
}

// Observed is a raw drift report without object names: at most 64 categories, severity descending then category ascending.
type Observed struct {
	Dialect      string    `json:"dialect"`
	ReportDigest string    `json:"reportDigest"`
	Total        int       `json:"total"`
	Highest      string    `json:"highest,omitempty"`
	Findings     []Finding `json:"findings,omitempty"`
	Truncated    bool      `json:"truncated,omitempty"`
}

// Finding counts one kind of difference.
type Finding struct {
	Category string `json:"category"`
	Count    int    `json:"count"`
	Severity string `json:"severity"`
}

// Planned is an authoritative scoped plan: either no change, or the exact document bytes (pkg/plan), newline included.
type Planned struct {
	NoChange        bool   `json:"noChange,omitempty"`
	Document        []byte `json:"document,omitempty"`
	FromFingerprint string `json:"fromFingerprint"`
	ToFingerprint   string `json:"toFingerprint"`
}

// Applied is what an Apply is allowed to say when it succeeded.
type Applied struct {
	StatementsExecuted int    `json:"statementsExecuted"`
	ResultFingerprint  string `json:"resultFingerprint"`
}
