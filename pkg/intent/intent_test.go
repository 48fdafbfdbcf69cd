package intent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/intent"
)

func sample() intent.Intent {
	dispatch := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	execution := dispatch.Add(time.Minute)
	return intent.Intent{
		ProtocolVersion: intent.ProtocolVersion, Operation: intent.Apply, OperationID: "id", ResourceUID: "uid", Engine: "postgres",
		CoordinationDigest: "sha256:c", TargetIdentityDigest: "sha256:t",
		Artifact:         &intent.Artifact{Kind: intent.SchemaArtifact, RequestedReference: "oci://h/r:v1", ResolvedReference: "oci://h/r@sha256:d", AuthMode: "Environment"},
		Policy:           &intent.Policy{Digest: "sha256:p"},
		Scope:            &intent.Scope{Exclude: []string{"a.*"}, ProtectedTables: []string{"b"}, DriftSeverity: "all", TransactionMode: "file", ConnectTimeout: intent.Duration(10 * time.Second), LockTimeout: intent.Duration(90 * time.Second)},
		Plan:             &intent.PlanRef{Fingerprint: "sha256:f", ContentDigest: "sha256:d", Size: 3, Chunks: []intent.Chunk{{Index: 0, Name: "n", Key: "chunk", Size: 3, Digest: "sha256:d"}}},
		DispatchNotAfter: &dispatch, ExecutionNotAfter: &execution,
	}
}

func TestRoundTrip(t *testing.T) {
	for name, in := range map[string]intent.Intent{
		"full":  sample(),
		"small": {ProtocolVersion: intent.ProtocolVersion, Operation: intent.Resolve, OperationID: "id", ResourceUID: "uid"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := intent.Encode(in)
			require.NoError(t, err)
			again, err := intent.Encode(in)
			require.NoError(t, err)
			assert.Equal(t, text, again)
			got, err := intent.Decode(text)
			require.NoError(t, err)
			assert.Equal(t, in, got)
		})
	}
}

func TestDecodeIsStrict(t *testing.T) {
	text, err := intent.Encode(sample())
	require.NoError(t, err)
	for name, broken := range map[string]string{
		"empty":           "",
		"not JSON":        "x",
		"unknown field":   strings.Replace(text, `"operation"`, `"odd":1,"operation"`, 1),
		"other protocol":  strings.Replace(text, `"protocolVersion":1`, `"protocolVersion":2`, 1),
		"second document": text + text,
		"closing brace":   text + "}",
		"closing bracket": text + "]",
		"text after":      text + "x",
		"bad duration":    strings.Replace(text, `"10s"`, `"10"`, 1),
		"bad time":        strings.Replace(text, "2030", "30", 1),
		"truncated":       text[:len(text)-1],
	} {
		_, err := intent.Decode(broken)
		assert.ErrorContains(t, err, "decoding intent", name)
	}
}

func FuzzDecode(f *testing.F) {
	text, err := intent.Encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text string) {
		in, err := intent.Decode(text)
		if err != nil {
			return
		}
		again, err := intent.Encode(in)
		if err != nil {
			return // years outside of RFC 3339 decode and do not encode
		}
		if _, err := intent.Decode(again); err != nil {
			t.Fatalf("refused its own text: %v", err)
		}
	})
}
