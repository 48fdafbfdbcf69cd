package artifact

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ptah-run/ptah/pkg/frame"
)

// Bounds of a verification policy.
const (
	MaxPolicy        = 64 << 10 // bytes
	maxPolicyEntries = 64       // of each list
	maxPolicyEntry   = 255      // bytes
)

// The keys of a policy, which are also the names that a Verified lists.
const (
	requireDigestPin   = "require_digest_pin"
	artifactTypes      = "artifact_types"
	requireAnnotations = "require_annotations"
	requireSignature   = "require_signature"
)

// Policy says what an artifact must be before anything of it is used. Digest identifies the exact document that it was read from.
type Policy struct {
	RequireDigestPin   bool
	ArtifactTypes      []string // empty: any
	RequireAnnotations []string
	RequireSignature   bool
	Digest             string
}

type policyDocument struct {
	Version            int      `yaml:"version"`
	RequireDigestPin   bool     `yaml:"require_digest_pin"`
	ArtifactTypes      []string `yaml:"artifact_types"`
	RequireAnnotations []string `yaml:"require_annotations"`
	RequireSignature   bool     `yaml:"require_signature"`
}

// ParsePolicy reads a policy strictly: one YAML document of at most MaxPolicy bytes, version 1, no unknown or repeated key, at least
// one requirement. A refusal has CodePolicyInvalid.
func ParsePolicy(data []byte) (Policy, error) {
	if len(data) > MaxPolicy {
		return Policy{}, policyInvalid("it is over 64 KiB")
	}
	document, err := decodePolicy(data)
	if err != nil {
		return Policy{}, err
	}
	policy := Policy{
		RequireDigestPin:   document.RequireDigestPin,
		ArtifactTypes:      document.ArtifactTypes,
		RequireAnnotations: document.RequireAnnotations,
		RequireSignature:   document.RequireSignature,
		Digest:             Digest(data),
	}
	if err := checkEntries(artifactTypes, policy.ArtifactTypes); err != nil {
		return Policy{}, err
	}
	if err := checkEntries(requireAnnotations, policy.RequireAnnotations); err != nil {
		return Policy{}, err
	}
	if len(policy.requirements()) == 0 {
		return Policy{}, policyInvalid("it requires nothing; set at least one of %s, %s, %s, %s", requireDigestPin, artifactTypes, requireAnnotations, requireSignature)
	}
	return policy, nil
}

func decodePolicy(data []byte) (policyDocument, error) {
	// The mapping is looked at first, because the decoder's own text about an unknown key names Go types.
	var root yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return policyDocument{}, policyInvalid("it is empty")
		}
		return policyDocument{}, policyInvalid("it is not YAML")
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return policyDocument{}, policyInvalid("it has more than one document")
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return policyDocument{}, policyInvalid("it is not a mapping of keys to values")
	}
	if err := checkKeys(root.Content[0]); err != nil {
		return policyDocument{}, err
	}
	var document policyDocument
	if root.Decode(&document) != nil {
		return policyDocument{}, policyInvalid("a value has the wrong type (version: number; %s, %s: true or false; %s, %s: list of texts)",
			requireDigestPin, requireSignature, artifactTypes, requireAnnotations)
	}
	if document.Version != 1 {
		return policyDocument{}, policyInvalid("version %d is not known; this build reads version 1", document.Version)
	}
	return document, nil
}

func checkKeys(mapping *yaml.Node) error {
	known := []string{"version", requireDigestPin, artifactTypes, requireAnnotations, requireSignature}
	seen := map[string]bool{}
	for i := 0; i < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			return policyInvalid("line %d: key %s is not known; the keys are %s", key.Line, quoted(key.Value), strings.Join(known, ", "))
		case seen[key.Value]:
			return policyInvalid("line %d: key %q appears twice", key.Line, key.Value)
		case mapping.Content[i+1].Tag == "!!null":
			return policyInvalid("line %d: key %q has no value", key.Line, key.Value)
		}
		seen[key.Value] = true
	}
	if !seen["version"] {
		return policyInvalid("key \"version\" is missing; it must be 1")
	}
	return nil
}

func checkEntries(key string, entries []string) error {
	if len(entries) > maxPolicyEntries {
		return policyInvalid("%s has more than %d entries", key, maxPolicyEntries)
	}
	for _, entry := range entries {
		if entry == "" || len(entry) > maxPolicyEntry || strings.ContainsFunc(entry, func(c rune) bool { return c <= ' ' || c > '~' }) {
			return policyInvalid("%s has an entry that is empty, too long or not plain ASCII", key)
		}
	}
	return nil
}

func policyInvalid(format string, args ...any) error {
	return refuse(frame.CodePolicyInvalid, "reading the verification policy: "+format, args...)
}

// requirements names the keys that demand something, sorted.
func (p Policy) requirements() []string {
	var names []string
	if len(p.ArtifactTypes) > 0 {
		names = append(names, artifactTypes)
	}
	if len(p.RequireAnnotations) > 0 {
		names = append(names, requireAnnotations)
	}
	if p.RequireDigestPin {
		names = append(names, requireDigestPin)
	}
	if p.RequireSignature {
		names = append(names, requireSignature)
	}
	return names
}

// subject is what a policy judges.
type subject struct {
	requested    Reference
	artifactType string
	annotations  map[string]string
	signed       bool
}

// violations lists everything about s that p does not accept, in the order of the keys.
func (p Policy) violations(s subject) []string {
	var found []string
	if len(p.ArtifactTypes) > 0 && !slices.Contains(p.ArtifactTypes, s.artifactType) {
		found = append(found, artifactTypes+": "+quoted(s.artifactType)+" is not listed")
	}
	for _, name := range p.RequireAnnotations {
		if s.annotations[name] == "" {
			found = append(found, requireAnnotations+": "+quoted(name)+" is missing or empty")
		}
	}
	if p.RequireDigestPin && s.requested.Digest == "" {
		found = append(found, requireDigestPin+": the requested reference names a tag, not a digest")
	}
	if p.RequireSignature && !s.signed {
		found = append(found, requireSignature+": no signature is attached to the artifact")
	}
	return found
}
