package artifact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/frame"
)

const fullPolicy = `version: 1
require_digest_pin: true
artifact_types:
  - application/vnd.stokaro.ptah.schema.v1
require_annotations: [org.opencontainers.image.source]
require_signature: true
`

func TestParsePolicy(t *testing.T) {
	p, err := ParsePolicy([]byte(fullPolicy))
	require.NoError(t, err)
	assert.Equal(t, Policy{
		RequireDigestPin:   true,
		ArtifactTypes:      []string{"application/vnd.stokaro.ptah.schema.v1"},
		RequireAnnotations: []string{"org.opencontainers.image.source"},
		RequireSignature:   true,
		Digest:             Digest([]byte(fullPolicy)),
	}, p)
	assert.Equal(t, []string{"artifact_types", "require_annotations", "require_digest_pin", "require_signature"}, p.requirements())
}

func TestParsePolicyRefusals(t *testing.T) {
	cases := map[string]struct{ text, why string }{
		"empty":                     {"", "empty"},
		"only a comment":            {"# nothing\n", "empty"},
		"not YAML":                  {"a: [", "not YAML"},
		"a list":                    {"- 1\n", "mapping"},
		"no version":                {"require_digest_pin: true\n", `"version" is missing`},
		"unknown version":           {"version: 2\nrequire_digest_pin: true\n", "version 2"},
		"unknown key":               {"version: 1\nrequire_signatures: true\n", "require_signatures"},
		"unknown key with its line": {"version: 1\nrequire_digest_pin: true\nfoo: 1\n", "line 3"},
		"repeated key":              {"version: 1\nrequire_signature: true\nrequire_signature: false\n", "twice"},
		"no requirement":            {"version: 1\n", "requires nothing"},
		"requirements switched off": {"version: 1\nrequire_signature: false\nartifact_types: []\n", "requires nothing"},
		"two documents":             {"version: 1\nrequire_signature: true\n---\nversion: 1\n", "more than one document"},
		"wrong type":                {"version: 1\nrequire_signature: maybe\n", "wrong type"},
		"list of numbers in a map":  {"version: 1\nartifact_types: {a: 1}\n", "wrong type"},
		"null":                      {"version: 1\nrequire_signature:\n", "no value"},
		"empty entry":               {"version: 1\nartifact_types: ['']\n", "artifact_types has an entry"},
		"too many entries":          {"version: 1\nrequire_annotations: [" + strings.Repeat("a, ", 65) + "]\n", "more than 64"},
		"too large":                 {"# " + strings.Repeat("x", MaxPolicy) + "\n", "64 KiB"},
		"alias bomb":                {"version: 1\na: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nrequire_annotations: *b\n", "not known"},
		"merge key":                 {"version: 1\n<<: {require_signature: true}\n", "not known"},
		"lower bound of versions":   {"version: 0\nrequire_signature: true\n", "version 0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ParsePolicy([]byte(tc.text))
			requireCode(t, err, frame.CodePolicyInvalid, tc.why)
		})
	}
}

func TestAllViolationsAreReported(t *testing.T) {
	p, err := ParsePolicy([]byte(fullPolicy))
	require.NoError(t, err)
	found := p.violations(subject{requested: Reference{Tag: "v1"}, artifactType: "other"})
	assert.Equal(t, []string{
		`artifact_types: "other" is not listed`,
		`require_annotations: "org.opencontainers.image.source" is missing or empty`,
		"require_digest_pin: the requested reference names a tag, not a digest",
		"require_signature: no signature is attached to the artifact",
	}, found)
	assert.Empty(t, p.violations(subject{
		requested: Reference{Tag: "v1", Digest: someDigest}, artifactType: p.ArtifactTypes[0],
		annotations: map[string]string{"org.opencontainers.image.source": "x"}, signed: true,
	}))
}

func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte(fullPolicy))
	f.Add([]byte("version: 1\nartifact_types: &a [*a]\n"))
	f.Add([]byte("{version: 1, require_signature: true}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicy(data)
		if err != nil {
			assert.Equal(t, frame.CodePolicyInvalid, CodeOf(err))
			return
		}
		assert.NotEmpty(t, p.requirements())
		assert.Equal(t, Digest(data), p.Digest)
	})
}
