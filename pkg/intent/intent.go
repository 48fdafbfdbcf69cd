// Package intent is the order that one operation Pod carries out: what pkg/podspec writes into the Pod's environment and
// pkg/executor reads back. It holds names, digests, bounds and deadlines, never a credential, so it may be logged.
package intent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// ProtocolVersion is the runner protocol that this build speaks: the shape of an Intent and of a result frame together.
const ProtocolVersion = 1

// Operation names one step of the lifecycle, as the API spells it.
type Operation string

// The operations of both families.
const (
	Resolve Operation = "Resolve"
	Verify  Operation = "Verify"
	Observe Operation = "Observe"
	Plan    Operation = "Plan"
	Apply   Operation = "Apply"
	History Operation = "History"
)

// ArtifactKind tells the two artifact families apart.
type ArtifactKind string

// The artifact kinds.
const (
	SchemaArtifact    ArtifactKind = "schema"
	MigrationArtifact ArtifactKind = "migration"
)

// Intent is one operation, complete. Digests are "sha256:" + 64 lower-case hex digits.
type Intent struct {
	ProtocolVersion    int       `json:"protocolVersion"`
	Operation          Operation `json:"operation"`
	OperationID        string    `json:"operationID"`
	ResourceUID        string    `json:"resourceUID"`
	Engine             string    `json:"engine,omitempty"` // normalised: "postgres" or "mysql"; empty for Resolve and Verify
	CoordinationDigest string    `json:"coordinationDigest,omitempty"`
	// TargetIdentityDigest is the database that the URL must lead to; empty while no reading has named one yet.
	TargetIdentityDigest string `json:"targetIdentityDigest,omitempty"`

	Artifact *Artifact `json:"artifact,omitempty"` // absent on a schema Apply
	Policy   *Policy   `json:"policy,omitempty"`   // Verify only
	Scope    *Scope    `json:"scope,omitempty"`    // operations that open a database
	Plan     *PlanRef  `json:"plan,omitempty"`     // schema Apply only

	// DispatchNotAfter and ExecutionNotAfter bound a mutating child: it must start before the one and end before the other.
	DispatchNotAfter  *time.Time `json:"dispatchNotAfter,omitempty"`
	ExecutionNotAfter *time.Time `json:"executionNotAfter,omitempty"`
}

// Artifact says where an OCI artifact is and how its registry may be reached.
type Artifact struct {
	Kind ArtifactKind `json:"kind"`
	// RequestedReference is what the author wrote (oci://…); ResolvedReference is the same with the tag replaced by a digest.
	RequestedReference string `json:"requestedReference,omitempty"`
	ResolvedReference  string `json:"resolvedReference,omitempty"`
	PlainHTTP          bool   `json:"plainHTTP,omitempty"`
	CustomCA           bool   `json:"customCA,omitempty"`
	// AuthMode is "" for anonymous, "Environment" or "DockerConfigJSON".
	AuthMode string `json:"authMode,omitempty"`
}

// Policy binds the verification policy file to the bytes that the manager read.
type Policy struct {
	Digest string `json:"digest"`
}

// Scope is what the database operations are told about the managed scope and their patience.
type Scope struct {
	Exclude         []string `json:"exclude,omitempty"`
	ProtectedTables []string `json:"protectedTables,omitempty"`
	DriftSeverity   string   `json:"driftSeverity,omitempty"` // "all" or "destructive"
	TransactionMode string   `json:"transactionMode,omitempty"`
	ConnectTimeout  Duration `json:"connectTimeout,omitempty"`
	LockTimeout     Duration `json:"lockTimeout,omitempty"`
	Dev             bool     `json:"dev,omitempty"` // a scratch database URL is present
}

// PlanRef describes the plan bytes mounted for an Apply, chunk by chunk. Chunk i lies at PlanMountPath/<index, three digits>.
type PlanRef struct {
	Fingerprint   string  `json:"fingerprint"`
	ContentDigest string  `json:"contentDigest"`
	Size          int64   `json:"size"` // bytes
	Chunks        []Chunk `json:"chunks"`
}

// Chunk is one stored piece of a plan.
type Chunk struct {
	Index  int    `json:"index"`
	Name   string `json:"name"`
	Key    string `json:"key"`
	Size   int64  `json:"size"` // bytes
	Digest string `json:"digest"`
}

// Duration is a time.Duration that travels in Go's own notation ("30s").
type Duration time.Duration

// MarshalText writes the duration as "1m30s".
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("parsing duration %q: %w", text, err)
	}
	*d = Duration(v)
	return nil
}

// Encode writes the intent as compact JSON with a fixed key order.
func Encode(in Intent) (string, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("encoding intent: %w", err)
	}
	return string(b), nil
}

// Decode reads an intent strictly: unknown fields, another protocol version or trailing data are errors.
func Decode(text string) (Intent, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	var in Intent
	if err := dec.Decode(&in); err != nil {
		return Intent{}, fmt.Errorf("decoding intent: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Intent{}, errors.New("decoding intent: data after the document")
	}
	if in.ProtocolVersion != ProtocolVersion {
		return Intent{}, fmt.Errorf("decoding intent: runner protocol %d, this build speaks %d", in.ProtocolVersion, ProtocolVersion)
	}
	return in, nil
}
