package frame_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

func TestValidateRefuses(t *testing.T) {
	tests := map[string]struct {
		sample string
		change func(*frame.Frame)
	}{
		"unknown operation":            {"plan", func(f *frame.Frame) { f.Operation = "Drop" }},
		"other protocol":               {"plan", func(f *frame.Frame) { f.ProtocolVersion = 2 }},
		"no operation ID":              {"plan", func(f *frame.Frame) { f.OperationID = "" }},
		"operation ID with newline":    {"plan", func(f *frame.Frame) { f.OperationID = "a\nb" }},
		"exit code":                    {"failure", func(f *frame.Frame) { f.ExitCode = -1 }},
		"success with exit code":       {"plan", func(f *frame.Frame) { f.ExitCode = 1 }},
		"identity malformed":           {"plan", func(f *frame.Frame) { f.TargetIdentityDigest = "sha256:x" }},
		"identity missing":             {"plan", func(f *frame.Frame) { f.TargetIdentityDigest = "" }},
		"identity without database":    {"resolve", func(f *frame.Frame) { f.TargetIdentityDigest = digest }},
		"coordination malformed":       {"plan", func(f *frame.Frame) { f.CoordinationDigest = "x" }},
		"no payload":                   {"plan", func(f *frame.Frame) { f.Plan = nil }},
		"payload of another operation": {"plan", func(f *frame.Frame) { f.Plan, f.Apply = nil, &frame.Applied{ResultFingerprint: digest} }},
		"two payloads":                 {"plan", func(f *frame.Frame) { f.Apply = &frame.Applied{ResultFingerprint: digest} }},
		"failure with payload":         {"plan", func(f *frame.Frame) { f.Error = frame.Fail(frame.CodeInternal, "x") }},
		"unknown code":                 {"failure", func(f *frame.Frame) { f.Error.Code = "Odd" }},
		"empty message":                {"failure", func(f *frame.Frame) { f.Error.Message = "" }},
		"long message":                 {"failure", func(f *frame.Frame) { f.Error.Message = strings.Repeat("x", 1025) }},
		"message of two lines":         {"failure", func(f *frame.Frame) { f.Error.Message = "a\nb" }},
		"read-only mutation":           {"plan", func(f *frame.Frame) { f.MutationStarted = true }},
		"uncertain success":            {"apply", func(f *frame.Frame) { f.OutcomeUncertain = true }},
		"uncertain without mutation":   {"failure", func(f *frame.Frame) { f.MutationStarted = false }},
		"reference not pinned":         {"resolve", func(f *frame.Frame) { f.Resolve.ResolvedReference = "oci://h/r:latest" }},
		"reference of another digest":  {"resolve", func(f *frame.Frame) { f.Resolve.Digest = "sha256:" + strings.Repeat("b", 64) }},
		"resolved digest":              {"resolve", func(f *frame.Frame) { f.Resolve.Digest = "md5:1" }},
		"media type":                   {"resolve", func(f *frame.Frame) { f.Resolve.MediaType = "" }},
		"artifact type":                {"resolve", func(f *frame.Frame) { f.Resolve.ArtifactType = "a b" }},
		"size":                         {"resolve", func(f *frame.Frame) { f.Resolve.Size = 0 }},
		"no requirement":               {"verify", func(f *frame.Frame) { f.Verify.Requirements = nil }},
		"requirements unsorted":        {"verify", func(f *frame.Frame) { slices.Reverse(f.Verify.Requirements) }},
		"policy digest":                {"verify", func(f *frame.Frame) { f.Verify.PolicyDigest = "" }},
		"dialect":                      {"observe", func(f *frame.Frame) { f.Observe.Dialect = "oracle" }},
		"report digest":                {"observe", func(f *frame.Frame) { f.Observe.ReportDigest = "" }},
		"category":                     {"observe", func(f *frame.Frame) { f.Observe.Findings[0].Category = "rows" }},
		"severity":                     {"observe", func(f *frame.Frame) { f.Observe.Findings[0].Severity = "fatal" }},
		"count zero":                   {"observe", func(f *frame.Frame) { f.Observe.Findings[0].Count = 0 }},
		"severity order":               {"observe", func(f *frame.Frame) { slices.Reverse(f.Observe.Findings) }},
		"category twice":               {"observe", func(f *frame.Frame) { f.Observe.Findings[1].Category = f.Observe.Findings[0].Category }},
		"highest":                      {"observe", func(f *frame.Frame) { f.Observe.Highest = "safe" }},
		"highest of nothing":           {"observe nothing", func(f *frame.Frame) { f.Observe.Highest = "safe" }},
		"total":                        {"observe", func(f *frame.Frame) { f.Observe.Total = 7 }},
		"truncated but whole":          {"observe", func(f *frame.Frame) { f.Observe.Truncated = true }},
		"truncated but not full":       {"observe", func(f *frame.Frame) { f.Observe.Truncated, f.Observe.Total = true, 9 }},
		"plan and no change":           {"plan", func(f *frame.Frame) { f.Plan.NoChange = true }},
		"neither":                      {"no change", func(f *frame.Frame) { f.Plan.NoChange = false }},
		"document without newline":     {"plan", func(f *frame.Frame) { f.Plan.Document = []byte("{}") }},
		"no source fingerprint":        {"plan", func(f *frame.Frame) { f.Plan.FromFingerprint = "" }},
		"no target fingerprint":        {"plan", func(f *frame.Frame) { f.Plan.ToFingerprint = "" }},
		"negative statements":          {"apply", func(f *frame.Frame) { f.Apply.StatementsExecuted = -1 }},
		"no result fingerprint":        {"apply", func(f *frame.Frame) { f.Apply.ResultFingerprint = "" }},
		"too long an ID":               {"plan", func(f *frame.Frame) { f.OperationID = strings.Repeat("x", 129) }},
		"overflowing counts":           {"observe", func(f *frame.Frame) { f.Observe.Findings[0].Count = int(^uint(0) >> 1) }},
		"history without a payload":    {"plan", func(f *frame.Frame) { f.Operation, f.Plan = intent.History, nil }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := samples()[tt.sample]
			require.NoError(t, f.Validate())
			tt.change(&f)
			require.ErrorIs(t, f.Validate(), frame.ErrInvalid)
		})
	}
}

func TestFailFits(t *testing.T) {
	for _, text := range []string{"", "\n", "a\x00b\nc", strings.Repeat("é", 2000), strings.Repeat("x", 1024), "\xff\xfe", strings.Repeat("x", 1022) + "éé"} {
		f := samples()["failure"]
		f.Error = frame.Fail(frame.CodeInternal, "%s", text)
		require.NoError(t, f.Validate(), "%q", text)
		assert.True(t, utf8.ValidString(f.Error.Message))
	}
	assert.Equal(t, "statement 3: 42P07", frame.Fail(frame.CodeStatementFailed, "statement %d: %s", 3, "42P07").Message)
}

func TestVocabularies(t *testing.T) {
	assert.Len(t, frame.Categories(), 34)
	assert.True(t, slices.IsSorted(frame.Categories()))
	assert.Equal(t, 0, frame.SeverityRank("destructive"))
	assert.Equal(t, -1, frame.SeverityRank("fatal"))
	assert.Equal(t, declaredCodes(t), frame.Codes(), "every declared code belongs to the vocabulary")
}

// declaredCodes reads the constants of type Code from the source.
func declaredCodes(t *testing.T) []frame.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "frame.go", nil, 0)
	require.NoError(t, err)
	var list []frame.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if ident, ok := spec.Type.(*ast.Ident); ok && ident.Name == "Code" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			list = append(list, frame.Code(value))
		}
		return true
	})
	return list
}
