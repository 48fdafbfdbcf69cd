// Package bundle is the file format in which stored plans outlive their cluster: each plan's object, document, SQL and approvals, the digest
// of every file, and a manifest that holds them together. Reading one back needs nothing but the bytes.
//
// A bundle is a directory or a tar file of
//
//	plans/NAMESPACE/NAME/approvals.json   the approvals that name the plan
//	plans/NAMESPACE/NAME/document.json    the stored document, byte for byte: its SHA-256 is the plan's content digest
//	plans/NAMESPACE/NAME/plan.json        the plan object, as the API server had it
//	plans/NAMESPACE/NAME/plan.sql         the statements alone, for people
//	manifest.json                         what is in the bundle, with size and digest of every file above
//	SHA256SUMS                            the same digests and that of the manifest, for "sha256sum -c"
//
// A migration plan stores no SQL and has neither document.json nor plan.sql. The same plans and approvals give the same bytes: there is
// no time and no name of a machine in a bundle.
package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ptah-run/ptah/pkg/digest"
)

// APIVersion and Kind head the manifest.
const (
	APIVersion = "bundle.ptah.run/v1"
	Kind       = "PlanBundle"
)

// Names of files.
const (
	ManifestFile  = "manifest.json"
	SumsFile      = "SHA256SUMS"
	PlanFile      = "plan.json"
	DocumentFile  = "document.json"
	SQLFile       = "plan.sql"
	ApprovalsFile = "approvals.json"
	plansDir      = "plans/"
)

// Kinds of plans.
const (
	SchemaPlan    = "PtahSchemaPlan"
	MigrationPlan = "PtahMigrationPlan"
)

// Bounds of what is read back, in bytes. Anything larger was not written by this package.
const (
	maxPlan      = 4 << 20
	maxDocument  = 8 << 20
	maxSQL       = 16 << 20
	maxApprovals = 64 << 20
	maxManifest  = 256 << 20
	maxFiles     = 1 << 20
)

// Manifest says what is in a bundle.
type Manifest struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Plans      []Entry `json:"plans"`
	Files      []File  `json:"files"`
}

// Entry is one plan of a bundle.
type Entry struct {
	Kind          string `json:"kind"`
	Namespace     string `json:"namespace"`
	Name          string `json:"name"`
	UID           string `json:"uid"`
	Owner         string `json:"owner"`
	Fingerprint   string `json:"fingerprint"`
	ContentDigest string `json:"contentDigest,omitempty"` // schema plans
	// Approvals is how many name the plan; -1 when they were not exported.
	Approvals int `json:"approvals"`
	// Note says what the bundle cannot hold.
	Note string `json:"note,omitempty"`
}

// File is one file of a bundle, the manifest and the sums apart.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
}

// MigrationNote is the note of every migration plan.
const MigrationNote = "a migration plan stores no SQL: the statements are in the artifact that its spec.artifactDigest pins; keep the artifact"

// Plan is what goes into a bundle about one plan.
type Plan struct {
	Kind, Namespace, Name string
	Object                []byte // JSON, as the API server has it
	Document              []byte // schema plans: the joined and verified bytes
	// Approvals are JSON, as the API server has them; nil when they are not exported, which is not the same as none.
	Approvals [][]byte
}

// dir is where a plan's files are.
func dir(namespace, name string) string { return plansDir + namespace + "/" + name + "/" }

// canonical rewrites an object as the API server sent it: fields in order, without what is the business of that server alone, and with every
// other field, known to this program or not.
func canonical(object []byte) (json.RawMessage, error) {
	fields, err := decodeAny(object)
	if err != nil {
		return nil, err
	}
	root, ok := fields.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is no JSON object")
	}
	if metadata, ok := root["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
		delete(metadata, "resourceVersion") // means something to one cluster's store only
	}
	return encode(root)
}

func decodeAny(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("decoding JSON: %w", err)
	}
	return value, nil
}

// encode indents and leaves <, > and & readable.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return out.Bytes(), nil
}

func sumLine(f File) string { return digest.Hex(f.Digest) + "  " + f.Path + "\n" }
