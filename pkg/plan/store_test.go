package plan_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
)

func schema() *v1alpha1.PtahSchema {
	return &v1alpha1.PtahSchema{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "shop", UID: "schema-uid"}}
}

func bindings() v1alpha1.SchemaPlanBindings {
	d := func(s string) string { return digest.Bytes([]byte(s)) }
	return v1alpha1.SchemaPlanBindings{
		ArtifactDigest: d("artifact"),
		PlanBindings: v1alpha1.PlanBindings{
			PolicyFingerprint: d("policy"), VerificationPolicyUID: "policy-uid", VerificationPolicyDigest: d("policy bytes"),
			CoordinationDigest: d("realm"), TargetIdentityDigest: d("target"), ExecutionBindingID: "v1-" + strings.Repeat("0", 32),
			ExecutionIdentity: v1alpha1.ExecutionIdentity{
				ControllerImage: "m@sha256:1", ControllerRevision: "abc", ControllerStateVersion: 2, PtahVersion: "0.1.0",
				ExecutorImage: "e@sha256:2", RunnerImage: "m@sha256:1", RunnerProtocolVersion: 1,
			},
		},
	}
}

// bytesOf is an encoded document of several chunks.
func bytesOf(t require.TestingT, comment int) []byte {
	data, err := plan.Encode(document(plan.Statement{SQL: "COMMENT ON TABLE t IS '" + strings.Repeat("x", comment) + "'", Severity: plan.SeveritySafe}))
	require.NoError(t, err)
	return data
}

func TestPublishAndReadBack(t *testing.T) {
	data := bytesOf(t, 2*plan.MaxChunk)
	p, err := plan.Publish(schema(), data, bindings())
	require.NoError(t, err)
	require.Len(t, p.Chunks, 3)
	spec := p.Plan.Spec
	assert.Equal(t, "ptah-plan-"+digest.Hex(spec.Fingerprint)[:24], p.Plan.Name)
	assert.True(t, metav1.IsControlledBy(p.Plan, schema()))
	assert.EqualValues(t, 3, spec.ContractVersion)
	assert.EqualValues(t, 1, spec.StatementCount)
	assert.EqualValues(t, len(data), spec.Size)
	assert.Equal(t, digest.Bytes(data), spec.ContentDigest)
	assert.Equal(t, digest.Bytes([]byte("from")), spec.ActualStateFingerprint)
	stored := map[string][]byte{}
	for i, cm := range p.Chunks {
		assert.Equal(t, plan.ChunkName(p.Plan.Name, int32(i)), cm.Name)
		assert.True(t, *cm.Immutable)
		assert.Equal(t, p.Plan.Name, cm.Labels[v1alpha1.PlanLabel])
		assert.True(t, metav1.IsControlledBy(cm, schema()), "chunks are owned by the schema")
		require.NoError(t, plan.CheckChunk(schema(), spec.Chunks[i], cm))
		stored[cm.Name] = cm.BinaryData[v1alpha1.ChunkKey]
	}
	back, err := plan.Join(spec, func(ref v1alpha1.ChunkRef) ([]byte, error) { return stored[ref.Name], nil })
	require.NoError(t, err)
	assert.Equal(t, data, back)
	d, err := plan.Verify(p.Plan, back)
	require.NoError(t, err)
	assert.Equal(t, plan.DialectPostgres, d.Dialect)
	again, err := plan.Publish(schema(), data, bindings())
	require.NoError(t, err)
	assert.Equal(t, p, again, "the same inputs are the same plan")
}

func TestPublishRefuses(t *testing.T) {
	data := bytesOf(t, 10)
	for name, spoil := range map[string]func(*v1alpha1.SchemaPlanBindings){
		"no artifact":           func(b *v1alpha1.SchemaPlanBindings) { b.ArtifactDigest = "" },
		"no epoch":              func(b *v1alpha1.SchemaPlanBindings) { b.ExecutionBindingID = "" },
		"no state version":      func(b *v1alpha1.SchemaPlanBindings) { b.ControllerStateVersion = 0 },
		"another actual state":  func(b *v1alpha1.SchemaPlanBindings) { b.ActualStateFingerprint = digest.Bytes([]byte("x")) },
		"another desired state": func(b *v1alpha1.SchemaPlanBindings) { b.DesiredStateFingerprint = digest.Bytes([]byte("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			b := bindings()
			spoil(&b)
			_, err := plan.Publish(schema(), data, b)
			require.ErrorContains(t, err, "app/shop")
		})
	}
	_, err := plan.Publish(schema(), append(data, ' '), bindings())
	require.Error(t, err)
}

// everyField visits each leaf of a struct and yields a copy of the whole with that leaf changed.
func everyField[T any](v T, visit func(path string, changed T)) {
	var walk func(path string, index []int, t reflect.Type)
	walk = func(path string, index []int, t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			at := append(append([]int{}, index...), i)
			if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[metav1.Duration]() {
				walk(path+f.Name+".", at, f.Type)
				continue
			}
			changed := v
			leaf := reflect.ValueOf(&changed).Elem().FieldByIndex(at)
			switch leaf.Kind() {
			case reflect.String:
				leaf.SetString(leaf.String() + "x")
			case reflect.Int32, reflect.Int64:
				leaf.SetInt(leaf.Int() + 1)
			case reflect.Bool:
				leaf.SetBool(!leaf.Bool())
			case reflect.Slice:
				leaf.Set(reflect.Append(leaf, reflect.ValueOf("x").Convert(leaf.Type().Elem())))
			case reflect.Struct:
				leaf.Field(0).SetInt(leaf.Field(0).Int() + 1)
			default:
				panic("a field that the test cannot change: " + path + f.Name)
			}
			visit(path+f.Name, changed)
		}
	}
	walk("", nil, reflect.TypeOf(v))
}

func TestFingerprintBindsEveryMember(t *testing.T) {
	in := plan.FingerprintInputs{SchemaUID: "u", ContentDigest: "c", Bindings: bindings()}
	assert.Equal(t, "sha256:860798240dad4c40b825fe4b2c80d6dbbf63012d1b0705b0bce330a43c0cfbab", plan.Fingerprint(in), "another fingerprint for the same inputs is another contract version")
	seen := map[string]string{plan.Fingerprint(in): "nothing"}
	n := 0
	everyField(in, func(path string, changed plan.FingerprintInputs) {
		f := plan.Fingerprint(changed)
		require.True(t, digest.Valid(f))
		assert.Empty(t, seen[f], "changing %s and changing %s give one fingerprint", path, seen[f])
		seen[f] = path
		n++
	})
	assert.Equal(t, 18, n, "schema UID, content digest and sixteen bindings (C1 without the contract version)")
}

func TestPolicyFingerprintBindsEveryField(t *testing.T) {
	p := v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyAlways, Exclude: []string{"a"}, ProtectedTables: []string{"b"}}
	seen := map[string]string{plan.PolicyFingerprint(p): "nothing"}
	everyField(p, func(path string, changed v1alpha1.SchemaPolicy) {
		f := plan.PolicyFingerprint(changed)
		assert.Empty(t, seen[f], path)
		seen[f] = path
	})
	moved := p
	moved.Exclude, moved.ProtectedTables = p.ProtectedTables, p.Exclude
	assert.Empty(t, seen[plan.PolicyFingerprint(moved)])
}

func TestJoinAfterSplitIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, plan.MaxChunk - 1, plan.MaxChunk, plan.MaxChunk + 1, 3 * plan.MaxChunk, plan.MaxSize}).Draw(t, "size")
		data := bytes.Repeat([]byte(rapid.StringN(1, 9, 9).Draw(t, "seed")), size)[:size]
		chunks := plan.Split(data)
		require.LessOrEqual(t, len(chunks), plan.MaxChunks)
		require.Equal(t, data, bytes.Join(chunks, nil))
		for i, c := range chunks {
			require.True(t, len(c) == plan.MaxChunk || i == len(chunks)-1 && len(c) > 0)
		}
	})
}

func stored(t require.TestingT) (*v1alpha1.PtahSchemaPlan, map[string][]byte) {
	data := bytesOf(t, plan.MaxChunk+100)
	p, err := plan.Publish(schema(), data, bindings())
	require.NoError(t, err)
	chunks := map[string][]byte{}
	for _, cm := range p.Chunks {
		chunks[cm.Name] = cm.BinaryData[v1alpha1.ChunkKey]
	}
	return p.Plan, chunks
}

func TestEveryFlippedByteIsFound(t *testing.T) {
	p, chunks := stored(t)
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.IntRange(0, len(p.Spec.Chunks)-1).Draw(t, "chunk")
		name := p.Spec.Chunks[index].Name
		at := rapid.IntRange(0, len(chunks[name])-1).Draw(t, "byte")
		bit := byte(1) << rapid.IntRange(0, 7).Draw(t, "bit")
		_, err := plan.Join(p.Spec, func(ref v1alpha1.ChunkRef) ([]byte, error) {
			data := bytes.Clone(chunks[ref.Name])
			if ref.Name == name {
				data[at] ^= bit
			}
			return data, nil
		})
		var damage *plan.DamageError
		require.ErrorAs(t, err, &damage)
		require.Equal(t, name, damage.Chunk)
		require.Equal(t, p.Spec.Chunks[index].Digest, damage.Expected)
		require.True(t, digest.Valid(damage.Found))
	})
}

func TestJoinRefuses(t *testing.T) {
	p, chunks := stored(t)
	read := func(ref v1alpha1.ChunkRef) ([]byte, error) {
		data, ok := chunks[ref.Name]
		if !ok {
			return nil, plan.ErrChunkMissing
		}
		return data, nil
	}
	second := p.Spec.Chunks[1].Name
	cases := map[string]struct {
		spoil func(*v1alpha1.PtahSchemaPlanSpec)
		chunk string
	}{
		"no chunks":               {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks = nil }, ""},
		"too many chunks":         {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks = make([]v1alpha1.ChunkRef, 17) }, ""},
		"a chunk left out":        {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks = s.Chunks[:1] }, ""},
		"chunks exchanged":        {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks[0], s.Chunks[1] = s.Chunks[1], s.Chunks[0] }, second},
		"an index twice":          {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks[1].Index = 0 }, second},
		"another name":            {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks[1].Name = "kube-root-ca.crt" }, "kube-root-ca.crt"},
		"no key":                  {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks[1].Key = "" }, second},
		"a chunk's size":          {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks[1].Size++; s.Size++ }, second},
		"a short first chunk":     {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks[0].Size--; s.Size-- }, p.Spec.Chunks[0].Name},
		"a negative size":         {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks[1].Size = -1 }, second},
		"the whole's size":        {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Size++ }, ""},
		"a chunk's digest":        {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Chunks[1].Digest = digest.Bytes(nil) }, second},
		"the whole's digest":      {func(s *v1alpha1.PtahSchemaPlanSpec) { s.ContentDigest = digest.Bytes(nil) }, ""},
		"a malformed fingerprint": {func(s *v1alpha1.PtahSchemaPlanSpec) { s.Fingerprint = "x" }, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			spec := *p.Spec.DeepCopy()
			c.spoil(&spec)
			data, err := plan.Join(spec, read)
			var damage *plan.DamageError
			require.ErrorAs(t, err, &damage)
			assert.Nil(t, data, "nothing is returned of a damaged plan")
			assert.Equal(t, c.chunk, damage.Chunk)
		})
	}
	t.Run("a chunk is missing", func(t *testing.T) {
		_, err := plan.Join(p.Spec, func(v1alpha1.ChunkRef) ([]byte, error) { return nil, plan.ErrChunkMissing })
		var damage *plan.DamageError
		require.ErrorAs(t, err, &damage)
		assert.Equal(t, "nothing", damage.Found)
	})
	t.Run("a chunk cannot be read", func(t *testing.T) {
		away := errors.New("the API server is away")
		_, err := plan.Join(p.Spec, func(v1alpha1.ChunkRef) ([]byte, error) { return nil, away })
		require.ErrorIs(t, err, away)
		var damage *plan.DamageError
		assert.NotErrorAs(t, err, &damage, "not having read is not damage")
	})
}

func TestVerifyFindsAPlanThatSaysOtherwise(t *testing.T) {
	p, _ := stored(t)
	data := bytesOf(t, plan.MaxChunk+100)
	for name, spoil := range map[string]func(*v1alpha1.PtahSchemaPlan){
		"a binding":        func(p *v1alpha1.PtahSchemaPlan) { p.Spec.TargetIdentityDigest = digest.Bytes(nil) },
		"the schema":       func(p *v1alpha1.PtahSchemaPlan) { p.Spec.SchemaRef.UID = "other" },
		"the name":         func(p *v1alpha1.PtahSchemaPlan) { p.Name = "ptah-plan-other" },
		"the count":        func(p *v1alpha1.PtahSchemaPlan) { p.Spec.StatementCount++ },
		"the flag":         func(p *v1alpha1.PtahSchemaPlan) { p.Spec.Destructive = true },
		"the dialect":      func(p *v1alpha1.PtahSchemaPlan) { p.Spec.Dialect = "mysql" },
		"the contract":     func(p *v1alpha1.PtahSchemaPlan) { p.Spec.ContractVersion = 2 },
		"the fingerprint":  func(p *v1alpha1.PtahSchemaPlan) { p.Spec.Fingerprint = digest.Bytes(nil) },
		"the actual state": func(p *v1alpha1.PtahSchemaPlan) { p.Spec.ActualStateFingerprint = digest.Bytes(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			changed := p.DeepCopy()
			spoil(changed)
			_, err := plan.Verify(changed, data)
			require.Error(t, err)
		})
	}
	_, err := plan.Verify(p, data)
	require.NoError(t, err)
}

func TestCheckChunkRefuses(t *testing.T) {
	data := bytesOf(t, 10)
	p, err := plan.Publish(schema(), data, bindings())
	require.NoError(t, err)
	ref := p.Plan.Spec.Chunks[0]
	no := false
	cases := map[string]func(){
		"mutable":       func() { p.Chunks[0].Immutable = &no },
		"without mark":  func() { p.Chunks[0].Immutable = nil },
		"another owner": func() { p.Chunks[0].OwnerReferences[0].UID = "other" },
		"another key":   func() { p.Chunks[0].BinaryData = map[string][]byte{"x": data} },
		"two keys":      func() { p.Chunks[0].BinaryData["x"] = data },
		"other bytes":   func() { p.Chunks[0].BinaryData[ref.Key] = append(bytes.Clone(data), '\n') },
		"another name":  func() { p.Chunks[0].Name = "x" },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			kept := p.Chunks[0].DeepCopy()
			defer func() { p.Chunks[0] = kept }()
			spoil()
			var damage *plan.DamageError
			require.ErrorAs(t, plan.CheckChunk(schema(), ref, p.Chunks[0]), &damage)
		})
	}
}

func TestRecordCopiesTheBindings(t *testing.T) {
	p, _ := stored(t)
	p.UID = types.UID("plan-uid")
	r := plan.Record(p)
	assert.Equal(t, p.Spec.SchemaPlanBindings, r.SchemaPlanBindings)
	assert.Equal(t, p.UID, r.UID)
	assert.Nil(t, r.Approval)
}

func TestSQLText(t *testing.T) {
	d := document(
		plan.Statement{SQL: "CREATE TABLE t (id int) -- the end", Severity: plan.SeveritySafe, Reason: "declared\nbut missing\x1b[31m", Object: "public.t", Hazard: "none"},
		plan.Statement{SQL: "CREATE INDEX CONCURRENTLY i ON t (id)\n", Severity: plan.SeverityWarning, Reason: "index", Lock: "SHARE UPDATE EXCLUSIVE", Tx: "none"},
	)
	want := "-- " + d.Name + ` (postgres), 2 statements
-- from ` + d.FromFingerprint + `
-- to   ` + d.ToFingerprint + `

-- 1: safe, public.t
-- declared
-- but missing [31m
-- hazard: none
CREATE TABLE t (id int) -- the end
;

-- 2: warning
-- index
-- takes lock: SHARE UPDATE EXCLUSIVE
-- runs outside of the transaction
CREATE INDEX CONCURRENTLY i ON t (id);
`
	assert.Equal(t, want, plan.SQL(d))
	assert.Equal(t, "CREATE TABLE t (id int) -- the end\n;\nCREATE INDEX CONCURRENTLY i ON t (id);\n", plan.Statements(d))
}

// A plan and its chunks go with their schema and with nothing else: an old plan stays as evidence until then, and no chunk hangs on its plan.
func TestPlansAndChunksBelongToTheSchema(t *testing.T) {
	p, err := plan.Publish(schema(), bytesOf(t, plan.MaxChunk), bindings())
	require.NoError(t, err)
	yes := true
	owners := []metav1.OwnerReference{{
		APIVersion: "operator.ptah.run/v1alpha1", Kind: "PtahSchema", Name: "shop", UID: "schema-uid", Controller: &yes, BlockOwnerDeletion: &yes,
	}}
	assert.Equal(t, owners, p.Plan.OwnerReferences)
	assert.Equal(t, "app", p.Plan.Namespace)
	require.Len(t, p.Chunks, 2)
	for _, chunk := range p.Chunks {
		assert.Equal(t, owners, chunk.OwnerReferences)
		assert.Equal(t, "app", chunk.Namespace, "an owner in another namespace owns nothing")
	}
}
