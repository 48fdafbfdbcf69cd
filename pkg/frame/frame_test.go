package frame_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

const (
	id     = "5a0c7b4e-1f0c-4f3a-9f3e-0d9a4a0f7a11"
	digest = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

func header(op intent.Operation) frame.Frame {
	f := frame.Frame{ProtocolVersion: intent.ProtocolVersion, Operation: op, OperationID: id}
	if op != intent.Resolve && op != intent.Verify {
		f.TargetIdentityDigest = digest
	}
	return f
}

func samples() map[string]frame.Frame {
	list := map[string]frame.Frame{}
	f := header(intent.Resolve)
	f.Resolve = &frame.Resolved{ResolvedReference: "oci://registry.example/app/schema@" + digest, Digest: digest, MediaType: "application/vnd.oci.image.manifest.v1+json", ArtifactType: "application/vnd.stokaro.ptah.schema.v1", Size: 700}
	list["resolve"] = f
	f = header(intent.Verify)
	f.Verify = &frame.Verified{ArtifactType: "application/vnd.stokaro.ptah.schema.v1", PolicyDigest: digest, Requirements: []string{"artifact_types", "require_digest_pin"}}
	list["verify"] = f
	f = header(intent.Observe)
	f.Observe = &frame.Observed{Dialect: "postgres", ReportDigest: digest}
	list["observe nothing"] = f
	f = header(intent.Observe)
	f.Observe = &frame.Observed{Dialect: "postgres", ReportDigest: digest, Total: 6, Highest: "destructive", Findings: []frame.Finding{
		{Category: "columns_removed", Count: 1, Severity: "destructive"}, {Category: "tables_removed", Count: 2, Severity: "destructive"}, {Category: "tables_added", Count: 3, Severity: "safe"},
	}}
	list["observe"] = f
	f = header(intent.Plan)
	f.Plan = &frame.Planned{NoChange: true, FromFingerprint: digest, ToFingerprint: digest}
	list["no change"] = f
	f = header(intent.Plan)
	f.CoordinationDigest = digest
	f.Plan = &frame.Planned{Document: []byte("{\"sql\":\"<>&\"}\n"), FromFingerprint: digest, ToFingerprint: digest}
	list["plan"] = f
	f = header(intent.Apply)
	f.MutationStarted = true
	f.Apply = &frame.Applied{StatementsExecuted: 3, ResultFingerprint: digest}
	list["apply"] = f
	f = header(intent.Apply)
	f.ExitCode, f.MutationStarted, f.OutcomeUncertain = 137, true, true
	f.Error = frame.Fail(frame.CodeOutputInvalid, "the engine was killed")
	list["failure"] = f
	return list
}

func encode(t *testing.T, f frame.Frame) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, frame.Encode(&out, f))
	return out.String()
}

func parse(text string, op intent.Operation) (frame.Frame, error) {
	return frame.Parse(strings.NewReader(text), frame.Expect{Operation: op, OperationID: id})
}

func TestRoundTrip(t *testing.T) {
	for name, f := range samples() {
		t.Run(name, func(t *testing.T) {
			text := encode(t, f)
			assert.Equal(t, text, encode(t, f), "equal frames have equal text")
			assert.Regexp(t, `^PTAH-FRAME v1 \d+ sha256:[0-9a-f]{64}\n[A-Za-z0-9+/=\n]+\nPTAH-FRAME-END\n$`, text)
			got, err := parse(text, f.Operation)
			require.NoError(t, err)
			assert.Equal(t, f, got)
			got, err = frame.Parse(iotest.OneByteReader(strings.NewReader(text)), frame.Expect{Operation: f.Operation, OperationID: id})
			require.NoError(t, err)
			assert.Equal(t, f, got)
		})
	}
}

// Every beginning of a frame is incomplete, never accepted, and never mistaken for damage.
func TestEveryTruncationIsIncomplete(t *testing.T) {
	for name, f := range samples() {
		text := encode(t, f)
		for n := range len(text) {
			_, err := parse(text[:n], f.Operation)
			want := frame.ErrTruncated
			if n == 0 {
				want = frame.ErrNoFrame
			}
			require.ErrorIs(t, err, want, "%s cut at %d", name, n)
			require.True(t, frame.Incomplete(err))
		}
	}
}

// No single changed, added or lost byte goes through.
func TestEveryAlterationIsRefused(t *testing.T) {
	f := samples()["plan"]
	text := encode(t, f)
	for n := range len(text) {
		for what, altered := range map[string]string{
			"changed":  text[:n] + string(text[n]^1) + text[n+1:],
			"lost":     text[:n] + text[n+1:],
			"inserted": text[:n] + "A" + text[n:],
			"newline":  text[:n] + "\n" + text[n:],
		} {
			if altered == text {
				continue
			}
			_, err := parse(altered, f.Operation)
			require.Error(t, err, "%s at %d", what, n)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	text := encode(t, samples()["observe"])
	tests := map[string]struct {
		text string
		want error
	}{
		"text before":              {"starting\n" + text, frame.ErrSurplus},
		"newline before":           {"\n" + text, frame.ErrSurplus},
		"text after":               {text + "done\n", frame.ErrSurplus},
		"newline after":            {text + "\n", frame.ErrSurplus},
		"two frames":               {text + text, frame.ErrSurplus},
		"beginning rotated away":   {text[200:], frame.ErrSurplus},
		"windows line ends":        {strings.ReplaceAll(text, "\n", "\r\n"), frame.ErrAltered},
		"next frame version":       {strings.Replace(text, " v1 ", " v2 ", 1), frame.ErrProtocol},
		"huge length":              {"PTAH-FRAME v1 99999999999 " + digest + "\n", frame.ErrTooLarge},
		"length over the bound":    {"PTAH-FRAME v1 52428801 " + digest + "\n", frame.ErrTooLarge},
		"length with zeros":        {strings.Replace(text, " v1 ", " v1 0", 1), frame.ErrAltered},
		"negative length":          {"PTAH-FRAME v1 -4 " + digest + "\n", frame.ErrAltered},
		"no digest":                {"PTAH-FRAME v1 4\nAAAA\nPTAH-FRAME-END\n", frame.ErrAltered},
		"endless header":           {"PTAH-FRAME v1 " + strings.Repeat("1", 1<<16), frame.ErrAltered},
		"endless text":             {strings.Repeat("x", 1<<16), frame.ErrSurplus},
		"not base64":               {wrap([]byte("????")), frame.ErrAltered},
		"not compressed":           {wrap([]byte(base64.StdEncoding.EncodeToString([]byte("{}")))), frame.ErrAltered},
		"not JSON":                 {pack("hello"), frame.ErrAltered},
		"unknown field":            {pack(edit(t, `"protocolVersion"`, `"new":1,"protocolVersion"`)), frame.ErrAltered},
		"repeated field":           {pack(edit(t, `"exitCode"`, `"exitCode":1,"exitCode"`)), frame.ErrAltered},
		"other letter case":        {pack(edit(t, `"exitCode"`, `"ExitCode"`)), frame.ErrAltered},
		"blanks":                   {pack(edit(t, `"exitCode":`, `"exitCode": `)), frame.ErrAltered},
		"second document":          {pack(edit(t, "\n", "\n{}\n")), frame.ErrAltered},
		"other protocol":           {pack(edit(t, `"protocolVersion":1`, `"protocolVersion":2`)), frame.ErrProtocol},
		"other operation":          {pack(edit(t, `"Observe"`, `"Plan"`)), frame.ErrForeign},
		"other run":                {pack(edit(t, id, "another")), frame.ErrForeign},
		"rule broken":              {pack(edit(t, `"count":1`, `"count":-1`)), frame.ErrInvalid},
		"data after the gzip":      {wrap([]byte(base64.StdEncoding.EncodeToString(append(zip([]byte(edit(t, "", ""))), "more"...)))), frame.ErrAltered},
		"second gzip member":       {wrap([]byte(base64.StdEncoding.EncodeToString(append(zip([]byte(edit(t, "", ""))), zip(nil)...)))), frame.ErrAltered},
		"bomb":                     {wrap([]byte(base64.StdEncoding.EncodeToString(zip(bytes.Repeat([]byte(" "), frame.MaxDecoded+2))))), frame.ErrTooLarge},
		"carriage return in chars": {wrap([]byte("AAAA\rAAA")), frame.ErrAltered},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse(tt.text, intent.Observe)
			require.ErrorIs(t, err, tt.want)
			assert.False(t, frame.Incomplete(err))
		})
	}
}

// A reader that breaks is no statement about the frame.
func TestParsePassesReaderErrorsOn(t *testing.T) {
	text := encode(t, samples()["plan"])
	broken := errors.New("connection lost")
	for _, n := range []int{0, 5, 100, len(text) - 3, len(text)} {
		_, err := frame.Parse(io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(broken)), frame.Expect{Operation: intent.Plan, OperationID: id})
		require.ErrorIs(t, err, broken, n)
		assert.False(t, frame.Incomplete(err))
	}
}

// edit gives the JSON of the observe sample with one replacement.
func edit(t *testing.T, from, to string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(samples()["observe"]))
	return strings.Replace(b.String(), from, to, 1)
}

func zip(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func pack(document string) string {
	return wrap([]byte(base64.StdEncoding.EncodeToString(zip([]byte(document)))))
}

// wrap writes the text form around characters, right or wrong.
func wrap(encoded []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "PTAH-FRAME v1 %d sha256:%x\n", len(encoded), sha256.Sum256(encoded))
	for len(encoded) > 0 {
		n := min(4096, len(encoded))
		b.Write(encoded[:n])
		b.WriteByte('\n')
		encoded = encoded[n:]
	}
	b.WriteString("PTAH-FRAME-END\n")
	return b.String()
}

func TestLargestPlan(t *testing.T) {
	document := make([]byte, frame.MaxDocument)
	src := rand.NewChaCha8([32]byte{1})
	_, _ = src.Read(document) // incompressible: the worst case for the text
	document[len(document)-1] = '\n'
	f := samples()["plan"]
	f.Plan.Document = document
	text := encode(t, f)
	assert.Less(t, len(text), 16<<20)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := parse(text, intent.Plan)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(document, got.Plan.Document))
	t.Logf("text %d bytes, parsing allocated %d MiB in total", len(text), (after.TotalAlloc-before.TotalAlloc)>>20)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(160<<20))

	f.Plan.Document = append(document, '\n')
	require.ErrorIs(t, frame.Encode(io.Discard, f), frame.ErrInvalid)
}

func FuzzParse(f *testing.F) {
	for _, s := range samples() {
		var b bytes.Buffer
		if err := frame.Encode(&b, s); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, op := range []intent.Operation{intent.Resolve, intent.Plan, intent.Apply} {
			got, err := frame.Parse(bytes.NewReader(data), frame.Expect{Operation: op, OperationID: id})
			if err != nil {
				continue
			}
			var again bytes.Buffer
			if err := frame.Encode(&again, got); err != nil {
				t.Fatalf("accepted what cannot be encoded: %v", err)
			}
			if _, err := frame.Parse(&again, frame.Expect{Operation: op, OperationID: id}); err != nil {
				t.Fatalf("refused its own text: %v", err)
			}
		}
	})
}

// FuzzExpand reaches behind the digest.
func FuzzExpand(f *testing.F) {
	for _, s := range samples() {
		b, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b) + "\n")
	}
	f.Fuzz(func(t *testing.T, document string) {
		for _, op := range []intent.Operation{intent.Observe, intent.Plan, intent.Apply} {
			got, err := frame.Parse(strings.NewReader(pack(document)), frame.Expect{Operation: op, OperationID: id})
			if err == nil && got.Validate() != nil {
				t.Fatal("accepted an invalid frame")
			}
		}
	})
}
