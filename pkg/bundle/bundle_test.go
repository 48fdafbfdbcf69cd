package bundle_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/bundle"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
)

func sum(text string) string { return digest.Bytes([]byte(text)) }

var bindings = v1alpha1.PlanBindings{
	PolicyFingerprint: sum("policy"), VerificationPolicyUID: "v1", VerificationPolicyDigest: sum("verification"), CoordinationDigest: sum("realm"),
	TargetIdentityDigest: sum("target"), ExecutionBindingID: "epoch-1",
	ExecutionIdentity: v1alpha1.ExecutionIdentity{
		ControllerImage: "m", ControllerRevision: "r", ControllerStateVersion: 1, PtahVersion: "1", ExecutorImage: "e", RunnerImage: "u", RunnerProtocolVersion: 1,
	},
}

// schemaPlan is a stored plan of so many bytes, with one approval.
func schemaPlan(t require.TestingT, uid types.UID, size int) (bundle.Plan, *v1alpha1.PtahSchemaPlan) {
	schema := &v1alpha1.PtahSchema{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "orders", UID: "s1"}}
	document := plan.Document{Dialect: plan.DialectPostgres, FromFingerprint: sum("from"), ToFingerprint: sum("to" + string(uid))}
	for i := 0; i == 0 || size > 0; i++ {
		sql := fmt.Sprintf(`COMMENT ON TABLE "app"."t%d" IS '%s & <more>'`, i, strings.Repeat("x", 2000))
		document.Statements = append(document.Statements, plan.Statement{SQL: sql, Severity: plan.SeveritySafe, Reason: "declared"})
		size -= len(sql)
	}
	data, err := plan.Encode(plan.Seal(document))
	require.NoError(t, err)
	publication, err := plan.Publish(schema, data, v1alpha1.SchemaPlanBindings{ArtifactDigest: sum("artifact"), PlanBindings: bindings})
	require.NoError(t, err)
	object := publication.Plan
	object.UID = uid
	object.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "ptah-operator"}}
	approval := &v1alpha1.PtahSchemaApproval{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahSchemaApproval"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "release"},
		Spec: v1alpha1.PtahSchemaApprovalSpec{
			SchemaRef: object.Spec.SchemaRef, PlanRef: v1alpha1.ObjectRef{Name: object.Name, UID: uid}, PlanFingerprint: object.Spec.Fingerprint,
			SchemaPlanBindings: object.Spec.SchemaPlanBindings,
		},
	}
	raw := strings.Replace(string(marshal(t, object)), `"spec":{`, `"spec":{"fieldOfTomorrow":12345678901234567890,`, 1)
	return bundle.Plan{
		Kind: bundle.SchemaPlan, Namespace: "app", Name: object.Name, Object: []byte(raw), Document: data, Approvals: [][]byte{marshal(t, approval)},
	}, object
}

func migrationPlan(t require.TestingT) bundle.Plan {
	fingerprint := sum("migration plan")
	object := &v1alpha1.PtahMigrationPlan{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: bundle.MigrationPlan},
		ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "ptah-mplan-" + digest.Hex(fingerprint)[:24], UID: "m1"},
		Spec: v1alpha1.PtahMigrationPlanSpec{
			MigrationRef: v1alpha1.ObjectRef{Name: "ledger", UID: "l1"}, Fingerprint: fingerprint, ContractVersion: 1, HistoryFingerprint: sum("history"),
			ArtifactDigest: sum("artifact"), PlanBindings: bindings, Migrations: []v1alpha1.PlannedMigration{{Version: 1, Checksum: "h1"}},
		},
	}
	approval := &v1alpha1.PtahMigrationApproval{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "go"}}
	approval.Spec.PlanRef, approval.Spec.PlanFingerprint = v1alpha1.ObjectRef{Name: object.Name, UID: "m1"}, fingerprint
	approval.Spec.HistoryFingerprint, approval.Spec.ArtifactDigest, approval.Spec.PlanBindings = object.Spec.HistoryFingerprint, object.Spec.ArtifactDigest, bindings
	return bundle.Plan{Kind: bundle.MigrationPlan, Namespace: "app", Name: object.Name, Object: marshal(t, object), Approvals: [][]byte{marshal(t, approval)}}
}

func marshal(t require.TestingT, value any) []byte {
	data, err := json.Marshal(value)
	require.NoError(t, err)
	return data
}

// memory is a bundle in memory: a sink, and after that a source.
type memory struct {
	paths []string
	files map[string][]byte
	open  *bytes.Reader
	next  int
}

func (m *memory) WriteFile(path string, data []byte) error {
	if m.files == nil {
		m.files = map[string][]byte{}
	}
	m.paths = append(m.paths, path)
	m.files[path] = bytes.Clone(data)
	return nil
}

func (m *memory) Next() (string, int64, error) {
	if m.next == len(m.paths) {
		return "", 0, io.EOF
	}
	path := m.paths[m.next]
	m.next++
	m.open = bytes.NewReader(m.files[path])
	return path, int64(len(m.files[path])), nil
}

func (m *memory) Read(p []byte) (int, error) { return m.open.Read(p) }

func (m *memory) drop(path string) {
	m.paths = slices.DeleteFunc(m.paths, func(p string) bool { return p == path })
	delete(m.files, path)
}

// write makes a bundle of one plan of two chunks and one migration plan.
func write(t require.TestingT) (*memory, string) {
	m := &memory{}
	w := bundle.NewWriter(m)
	schema, _ := schemaPlan(t, "p1", plan.MaxChunk+1000)
	for _, p := range []bundle.Plan{migrationPlan(t), schema} {
		_, err := w.Add(p)
		require.NoError(t, err)
	}
	id, err := w.Close()
	require.NoError(t, err)
	return m, id
}

func check(t require.TestingT, m *memory) *bundle.Report {
	m.next = 0
	report, err := bundle.Check(m)
	require.NoError(t, err)
	return report
}

func TestRoundTrip(t *testing.T) {
	m, id := write(t)
	report := check(t, m)
	assert.Empty(t, report.Problems)
	assert.Equal(t, id, report.Digest)
	require.Len(t, report.Manifest.Plans, 2)
	assert.Equal(t, 1, report.Manifest.Plans[1].Approvals)
	assert.Len(t, m.files, 2+4+2)

	path := "plans/app/" + report.Manifest.Plans[1].Name + "/"
	assert.Contains(t, string(m.files[path+bundle.PlanFile]), `"fieldOfTomorrow": 12345678901234567890`, "fields that this program does not know are kept, exactly")
	assert.NotContains(t, string(m.files[path+bundle.PlanFile]), "managedFields")
	assert.Contains(t, string(m.files[path+bundle.SQLFile]), "& <more>';\n")
	assert.Equal(t, report.Manifest.Plans[1].ContentDigest, digest.Bytes(m.files[path+bundle.DocumentFile]))
	for _, line := range strings.Split(strings.TrimSuffix(string(m.files[bundle.SumsFile]), "\n"), "\n") {
		found := sha256.Sum256(m.files[line[66:]])
		assert.Equal(t, hex.EncodeToString(found[:]), line[:64], "sha256sum -c must agree")
	}
}

func TestTheSamePlansGiveTheSameBytes(t *testing.T) {
	build := func(turn bool) []byte {
		var out bytes.Buffer
		sink := bundle.NewTarSink(&out)
		w := bundle.NewWriter(sink)
		p, _ := schemaPlan(t, "p1", 100)
		second := bytes.Replace(p.Approvals[0], []byte(`"release"`), []byte(`"another"`), 1)
		p.Approvals = [][]byte{p.Approvals[0], second}
		if turn { // any order of a listing
			slices.Reverse(p.Approvals)
		}
		_, err := w.Add(p)
		require.NoError(t, err)
		_, err = w.Close()
		require.NoError(t, err)
		require.NoError(t, sink.Close())
		return out.Bytes()
	}
	first := build(false)
	assert.Equal(t, first, build(true))
	report, err := bundle.Check(bundle.NewTarSource(bytes.NewReader(first)))
	require.NoError(t, err)
	assert.Empty(t, report.Problems)
}

func TestWriterRefusesWhatWouldNotVerify(t *testing.T) {
	cases := map[string]struct {
		change func(*bundle.Plan)
		want   string
	}{
		"altered document": {func(p *bundle.Plan) { p.Document = bytes.Replace(p.Document, []byte("xxxx"), []byte("xxyx"), 1) }, "chunk ptah-plan-"},
		"approval of another plan": {
			func(p *bundle.Plan) {
				p.Approvals[0] = bytes.Replace(p.Approvals[0], []byte(`"uid":"p1"`), []byte(`"uid":"p2"`), 1)
			},
			"approval release names plan app/ptah-plan-",
		},
		"approval with other bindings": {func(p *bundle.Plan) {
			p.Approvals[0] = bytes.Replace(p.Approvals[0], []byte(`"executionBindingID":"epoch-1"`), []byte(`"executionBindingID":"epoch-2"`), 1)
		}, "approval release binds something else than the plan"},
		"altered object": {func(p *bundle.Plan) {
			p.Object = bytes.Replace(p.Object, []byte(`"destructive":false`), []byte(`"destructive":true`), 1)
		}, "destructive flag"},
		"no object": {func(p *bundle.Plan) { p.Object = []byte("[]") }, "it is no JSON object"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, _ := schemaPlan(t, "p1", 100)
			c.change(&p)
			_, err := bundle.NewWriter(&memory{}).Add(p)
			assert.ErrorContains(t, err, c.want)
		})
	}
	p, _ := schemaPlan(t, "p1", 100)
	w := bundle.NewWriter(&memory{})
	_, err := w.Add(p)
	require.NoError(t, err)
	_, err = w.Add(p)
	assert.ErrorContains(t, err, "in order and once")
}

func TestCheckFindsWhatWasChanged(t *testing.T) {
	_, object := schemaPlan(t, "p1", plan.MaxChunk+1000)
	where := "plans/app/" + object.Name + "/"
	replace := func(path, old, with string) func(*memory) {
		return func(m *memory) { m.files[path] = bytes.Replace(m.files[path], []byte(old), []byte(with), 1) }
	}
	cases := map[string]struct {
		change func(*memory)
		want   []string
	}{
		"one byte of the second chunk": {
			func(m *memory) { m.files[where+bundle.DocumentFile][plan.MaxChunk+10] ^= 1 },
			[]string{"the manifest says", "chunk " + object.Name + "-001: found sha256:", "SHA256SUMS does not say"},
		},
		"document cut off": {func(m *memory) {
			m.files[where+bundle.DocumentFile] = m.files[where+bundle.DocumentFile][:plan.MaxChunk]
		}, []string{"the manifest says", "chunk " + object.Name + "-001: found 0 bytes"}},
		"SQL that lies":       {replace(where+bundle.SQLFile, "COMMENT", "DROP ON"), []string{"is not the SQL of the document"}},
		"fingerprint":         {replace(where+bundle.PlanFile, object.Spec.ArtifactDigest, sum("another")), []string{"fingerprint"}},
		"approval forged":     {replace(where+bundle.ApprovalsFile, object.Name, "ptah-plan-other"), []string{"approval release names plan app/ptah-plan-other"}},
		"approval removed":    {func(m *memory) { m.files[where+bundle.ApprovalsFile] = []byte("[]\n") }, []string{"number of approvals differ"}},
		"file missing":        {func(m *memory) { m.drop(where + bundle.SQLFile) }, []string{"is listed in the manifest and missing", "plan.sql is missing"}},
		"approvals missing":   {func(m *memory) { m.drop(where + bundle.ApprovalsFile) }, []string{"is listed in the manifest and missing"}},
		"manifest missing":    {func(m *memory) { m.drop(bundle.ManifestFile) }, []string{"manifest.json is missing"}},
		"sums missing":        {func(m *memory) { m.drop(bundle.SumsFile) }, []string{"SHA256SUMS is missing"}},
		"file too many":       {func(m *memory) { _ = m.WriteFile("plans/app/more/plan.json", []byte("{}")) }, []string{"is not listed in the manifest"}},
		"another file":        {func(m *memory) { _ = m.WriteFile("run.sh", []byte("x")) }, []string{"run.sh is no file of a bundle"}},
		"path that climbs":    {func(m *memory) { _ = m.WriteFile("plans/../../etc/plan.json", []byte("x")) }, []string{"is no file of a bundle"}},
		"path from the root":  {func(m *memory) { _ = m.WriteFile("/plans/app/a/plan.json", []byte("x")) }, []string{"is no file of a bundle"}},
		"version of tomorrow": {replace(bundle.ManifestFile, "bundle.ptah.run/v1", "bundle.ptah.run/v2"), []string{"is bundle.ptah.run/v2 PlanBundle, and this program reads"}},
		"manifest garbled":    {func(m *memory) { m.files[bundle.ManifestFile] = []byte("{") }, []string{"cannot be decoded"}},
		"owner in manifest":   {replace(bundle.ManifestFile, `"owner": "orders"`, `"owner": "others"`), []string{"is not the plan that the manifest describes"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, _ := write(t)
			c.change(m)
			var texts []string
			for _, p := range check(t, m).Problems {
				texts = append(texts, p.Path+" "+p.Text)
			}
			for _, want := range c.want {
				assert.Contains(t, strings.Join(texts, "\n"), want)
			}
		})
	}
}

// forge writes the manifest and the sums anew, as somebody would who changed a bundle and knows how it is made.
func forge(t *testing.T, m *memory) {
	t.Helper()
	manifest := bundle.Manifest{}
	require.NoError(t, json.Unmarshal(m.files[bundle.ManifestFile], &manifest))
	for i, f := range manifest.Files {
		manifest.Files[i].Size, manifest.Files[i].Digest = int64(len(m.files[f.Path])), digest.Bytes(m.files[f.Path])
	}
	for i := range manifest.Plans {
		object := v1alpha1.PtahSchemaPlan{}
		require.NoError(t, json.Unmarshal(m.files["plans/"+manifest.Plans[i].Namespace+"/"+manifest.Plans[i].Name+"/plan.json"], &object))
		if manifest.Plans[i].Kind == bundle.SchemaPlan {
			manifest.Plans[i].ContentDigest = object.Spec.ContentDigest
		}
	}
	m.files[bundle.ManifestFile] = marshal(t, manifest)
	var lines []string
	for path, data := range m.files {
		if path != bundle.SumsFile {
			lines = append(lines, digest.Hex(digest.Bytes(data))+"  "+path)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	m.files[bundle.SumsFile] = []byte(strings.Join(lines, "\n") + "\n")
}

// Whoever changes the statements of an approved plan and every digest in the bundle is left with a fingerprint that does not follow, and must
// not get past that by calling the plan one of another contract.
func TestCheckDoesNotBelieveTheFingerprintOfAnUnknownContract(t *testing.T) {
	m, _ := write(t)
	_, object := schemaPlan(t, "p1", plan.MaxChunk+1000)
	where := "plans/app/" + object.Name + "/"
	document, err := plan.Decode(m.files[where+bundle.DocumentFile])
	require.NoError(t, err)
	document.Statements = []plan.Statement{{SQL: `DROP TABLE "app"."orders"`, Severity: plan.SeveritySafe, Reason: "declared"}}
	data, err := plan.Encode(plan.Seal(document))
	require.NoError(t, err)
	var stored map[string]any
	require.NoError(t, json.Unmarshal(m.files[where+bundle.PlanFile], &stored))
	spec := stored["spec"].(map[string]any)
	spec["contractVersion"], spec["contentDigest"], spec["size"], spec["statementCount"] = 2, digest.Bytes(data), len(data), 1
	spec["chunks"] = plan.Describe(object.Name, data)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(stored))
	m.files[where+bundle.PlanFile], m.files[where+bundle.DocumentFile], m.files[where+bundle.SQLFile] = out.Bytes(), data, []byte(plan.Statements(document))
	forge(t, m)
	problems := check(t, m).Problems
	require.NotEmpty(t, problems)
	assert.Contains(t, fmt.Sprint(problems), "is of contract 2")
}

// A field that is there twice, or in another spelling too, is one thing to this program and another to the next.
func TestCheckRefusesWhatProgramsReadDifferently(t *testing.T) {
	_, object := schemaPlan(t, "p1", plan.MaxChunk+1000)
	path := "plans/app/" + object.Name + "/" + bundle.PlanFile
	for name, change := range map[string][2]string{
		"twice":            {`"spec": {`, `"spec": {"artifactDigest": "` + sum("forged") + `"}, "spec": {`},
		"another spelling": {`"artifactDigest": "`, `"artifactDigest": "` + sum("forged") + `", "ArtifactDigest": "`},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := write(t)
			m.files[path] = bytes.Replace(m.files[path], []byte(change[0]), []byte(change[1]), 1)
			forge(t, m)
			assert.NotEmpty(t, check(t, m).Problems)
		})
	}
	m, _ := write(t)
	forge(t, m)
	assert.Empty(t, check(t, m).Problems, "what was only written anew is whole")
}

// A file of a few bytes that claims to be 256 MiB of zeros is not unpacked.
func TestSparseFileIsNoPlainFile(t *testing.T) {
	var records string
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=" + bundle.ManifestFile, "GNU.sparse.realsize=268435456"} {
		records += fmt.Sprintf("%d %s\n", len(r)+4, r)
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, body := range []string{records, "0\n" + strings.Repeat("\x00", 510)} {
		require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "entry", Size: int64(len(body))}))
		_, err := w.Write([]byte(body))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	head := out.Bytes()[:512] // tar.Writer does not write such a header, so a plain one is turned into it
	head[156] = tar.TypeXHeader
	copy(head[148:156], "        ")
	total := 0
	for _, b := range head {
		total += int(b)
	}
	copy(head[148:156], fmt.Sprintf("%06o\x00 ", total))
	report, err := bundle.Check(bundle.NewTarSource(&out))
	require.NoError(t, err)
	assert.Zero(t, report.Bytes)
	assert.Contains(t, fmt.Sprint(report.Problems), "is a sparse file, and a bundle has only plain files")
}

func TestNoByteCanChangeUnnoticed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &memory{}
		w := bundle.NewWriter(m)
		schema, _ := schemaPlan(t, "p1", 100)
		for _, p := range []bundle.Plan{migrationPlan(t), schema} {
			_, err := w.Add(p)
			require.NoError(t, err)
		}
		id, err := w.Close()
		require.NoError(t, err)
		path := rapid.SampledFrom(m.paths).Draw(t, "file")
		at := rapid.IntRange(0, len(m.files[path])-1).Draw(t, "at")
		m.files[path][at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		if report := check(t, m); len(report.Problems) == 0 && report.Digest == id {
			t.Fatalf("byte %d of %s was changed and nobody noticed", at, path)
		}
	})
}

func TestTarWithoutPlainFilesIsRefused(t *testing.T) {
	for kind, flag := range map[string]byte{"symlink": tar.TypeSymlink, "hard link": tar.TypeLink, "device": tar.TypeChar, "fifo": tar.TypeFifo} {
		t.Run(kind, func(t *testing.T) {
			var out bytes.Buffer
			w := tar.NewWriter(&out)
			require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: flag, Name: "plans/app/a/plan.json", Linkname: "/etc/passwd"}))
			require.NoError(t, w.Close())
			report, err := bundle.Check(bundle.NewTarSource(&out))
			require.NoError(t, err)
			assert.Contains(t, report.Problems[0].Text, "a bundle has only plain files")
		})
	}
}

func TestHeaderThatLiesAboutItsSize(t *testing.T) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "plans/app/a/document.json", Size: 8 << 20}))
	_, err := bundle.Check(bundle.NewTarSource(&out))
	assert.ErrorContains(t, err, "reading plans/app/a/document.json")

	out.Reset()
	w = tar.NewWriter(&out)
	require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "plans/app/a/document.json", Size: 1 << 40}))
	_, err = bundle.Check(bundle.NewTarSource(&out))
	assert.Error(t, err, "a terabyte is not read")
}

func FuzzCheck(f *testing.F) {
	m, _ := write(f)
	var out bytes.Buffer
	sink := bundle.NewTarSink(&out)
	for _, path := range m.paths {
		if path != "" && len(m.files[path]) < 64<<10 {
			require.NoError(f, sink.WriteFile(path, m.files[path]))
		}
	}
	require.NoError(f, sink.Close())
	f.Add(out.Bytes())
	f.Add([]byte("not a tar"))
	f.Fuzz(func(t *testing.T, data []byte) {
		report, err := bundle.Check(bundle.NewTarSource(bytes.NewReader(data)))
		if err != nil {
			return
		}
		if len(report.Problems) == 0 && report.Digest == "" {
			t.Fatal("a bundle without a manifest passed")
		}
	})
}
