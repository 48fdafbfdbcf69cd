package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
)

// Problem is one thing that is wrong with a bundle.
type Problem struct {
	Path string `json:"path"` // file or plan that it is about; empty for the bundle as a whole
	Text string `json:"text"`
}

// checkPlan proves the files of one plan against each other. where is their directory.
func checkPlan(entry Entry, where string, files map[string][]byte) []Problem {
	c := &checker{where: where}
	switch entry.Kind {
	case SchemaPlan:
		c.schemaPlan(entry, files)
	case MigrationPlan:
		c.migrationPlan(entry, files)
	default:
		c.add("", "the manifest says kind %q, which this program does not know", entry.Kind)
	}
	return c.problems
}

type checker struct {
	where    string
	problems []Problem
}

func (c *checker) add(file, format string, args ...any) {
	c.problems = append(c.problems, Problem{Path: c.where + file, Text: fmt.Sprintf(format, args...)})
}

// same reports two values that have to agree.
func (c *checker) same(file, what, found, expected string) {
	if found != expected {
		c.add(file, "%s is %q, expected %q", what, found, expected)
	}
}

func (c *checker) schemaPlan(entry Entry, files map[string][]byte) {
	object := v1alpha1.PtahSchemaPlan{}
	if !c.decode(files, PlanFile, &object) {
		return
	}
	c.identity(entry, SchemaPlan, object.Kind, object.Namespace, object.Name, string(object.UID), object.Spec.SchemaRef.Name, object.Spec.Fingerprint)
	c.same(PlanFile, "the content digest", object.Spec.ContentDigest, entry.ContentDigest)
	document, ok := files[DocumentFile]
	if !ok {
		c.add(DocumentFile, "is missing")
		return
	}
	c.document(&object, document, files)
	c.schemaApprovals(&object, entry, files)
}

// unproven is what a reader has to know of a plan whose fingerprint cannot be formed again: its bytes and its approvals agree with nothing but
// themselves. It does not stop an export.
func unproven(files map[string][]byte) string {
	object := v1alpha1.PtahSchemaPlan{}
	if utiljson.Unmarshal(files[PlanFile], &object) != nil || object.Kind != SchemaPlan || object.Spec.ContractVersion == v1alpha1.SchemaPlanContractVersion {
		return ""
	}
	return fmt.Sprintf("is of contract %d, and this program forms fingerprints of contract %d only: that the statements are those of the fingerprint, which was approved, could not be proven",
		object.Spec.ContractVersion, v1alpha1.SchemaPlanContractVersion)
}

// document proves the bytes: every chunk, the whole, and what the object says of them.
func (c *checker) document(object *v1alpha1.PtahSchemaPlan, data []byte, files map[string][]byte) {
	offset := int64(0)
	_, err := plan.Join(object.Spec, func(ref v1alpha1.ChunkRef) ([]byte, error) {
		start := min(offset, int64(len(data)))
		offset = start + ref.Size
		return data[start:min(offset, int64(len(data)))], nil
	})
	var damage *plan.DamageError
	switch {
	case errors.As(err, &damage) && damage.Chunk != "":
		c.add(DocumentFile, "chunk %s: found %s, expected %s", damage.Chunk, damage.Found, damage.Expected)
		return
	case err != nil:
		c.add(DocumentFile, "%s", err)
		return
	case offset != int64(len(data)):
		c.add(DocumentFile, "holds %d bytes beyond the last chunk", int64(len(data))-offset)
		return
	}
	document, err := plan.Decode(data)
	if err != nil {
		c.add(DocumentFile, "%s", err)
		return
	}
	if object.Spec.ContractVersion == v1alpha1.SchemaPlanContractVersion {
		if _, err := plan.Verify(object, data); err != nil {
			c.add(PlanFile, "%s", err)
		}
	}
	sql, ok := files[SQLFile]
	switch {
	case !ok:
		c.add(SQLFile, "is missing")
	case string(sql) != plan.Statements(document):
		c.add(SQLFile, "is not the SQL of the document")
	}
}

func (c *checker) migrationPlan(entry Entry, files map[string][]byte) {
	object := v1alpha1.PtahMigrationPlan{}
	if !c.decode(files, PlanFile, &object) {
		return
	}
	c.identity(entry, MigrationPlan, object.Kind, object.Namespace, object.Name, string(object.UID), object.Spec.MigrationRef.Name, object.Spec.Fingerprint)
	if hex := digest.Hex(object.Spec.Fingerprint); hex == "" {
		c.add(PlanFile, "the fingerprint %q is no digest", object.Spec.Fingerprint)
	} else {
		c.same(PlanFile, "the name", object.Name, v1alpha1.MigrationPlanPrefix+hex[:24])
	}
	for _, name := range []string{DocumentFile, SQLFile} {
		if _, ok := files[name]; ok {
			c.add(name, "does not belong to a migration plan, which stores no SQL")
		}
	}
	var list []v1alpha1.PtahMigrationApproval
	if !c.approvals(entry, files, &list) {
		return
	}
	c.same(ApprovalsFile, "the number of approvals", fmt.Sprint(len(list)), fmt.Sprint(entry.Approvals))
	for _, a := range list {
		c.approval(a.Namespace, a.Name, a.Spec.PlanRef, a.Spec.PlanFingerprint, entry)
		if a.Spec.HistoryFingerprint != object.Spec.HistoryFingerprint || a.Spec.ArtifactDigest != object.Spec.ArtifactDigest || a.Spec.PlanBindings != object.Spec.PlanBindings {
			c.add(ApprovalsFile, "approval %s binds something else than the plan", a.Name)
		}
	}
}

func (c *checker) schemaApprovals(object *v1alpha1.PtahSchemaPlan, entry Entry, files map[string][]byte) {
	var list []v1alpha1.PtahSchemaApproval
	if !c.approvals(entry, files, &list) {
		return
	}
	c.same(ApprovalsFile, "the number of approvals", fmt.Sprint(len(list)), fmt.Sprint(entry.Approvals))
	for _, a := range list {
		c.approval(a.Namespace, a.Name, a.Spec.PlanRef, a.Spec.PlanFingerprint, entry)
		if a.Spec.SchemaPlanBindings != object.Spec.SchemaPlanBindings {
			c.add(ApprovalsFile, "approval %s binds something else than the plan", a.Name)
		}
	}
}

// approvals decodes the list; false when there is none to look at.
func (c *checker) approvals(entry Entry, files map[string][]byte, into any) bool {
	if _, ok := files[ApprovalsFile]; !ok {
		if entry.Approvals >= 0 {
			c.add(ApprovalsFile, "is missing")
		}
		return false
	}
	if entry.Approvals < 0 {
		c.add(ApprovalsFile, "is there although the manifest says that approvals were not exported")
		return false
	}
	return c.decode(files, ApprovalsFile, into)
}

// approval has to name this plan and no other.
func (c *checker) approval(namespace, name string, ref v1alpha1.ObjectRef, fingerprint string, entry Entry) {
	switch {
	case namespace != entry.Namespace || ref.Name != entry.Name || string(ref.UID) != entry.UID:
		c.add(ApprovalsFile, "approval %s names plan %s/%s (%s)", name, namespace, ref.Name, ref.UID)
	case fingerprint != entry.Fingerprint:
		c.add(ApprovalsFile, "approval %s names fingerprint %s", name, fingerprint)
	}
}

func (c *checker) identity(entry Entry, wantKind, kind, namespace, name, uid, owner, fingerprint string) {
	c.same(PlanFile, "the kind", kind, wantKind)
	c.same(PlanFile, "the namespace", namespace, entry.Namespace)
	c.same(PlanFile, "the name", name, entry.Name)
	c.same(PlanFile, "the UID", uid, entry.UID)
	c.same(PlanFile, "the owner", owner, entry.Owner)
	c.same(PlanFile, "the fingerprint", fingerprint, entry.Fingerprint)
	if uid == "" {
		c.add(PlanFile, "has no UID")
	}
}

func (c *checker) decode(files map[string][]byte, name string, into any) bool {
	data, ok := files[name]
	if !ok {
		c.add(name, "is missing")
		return false
	}
	if err := utiljson.Unmarshal(data, into); err != nil {
		c.add(name, "cannot be decoded: %s", err)
		return false
	}
	if again, err := rewrite(name, data); err != nil || !bytes.Equal(again, data) {
		c.add(name, "is not written as a bundle writes it, so that programs may read different things in it: a field may be there twice")
	}
	return true
}

// rewrite is what a bundle would hold of a plan or its approvals.
func rewrite(name string, data []byte) ([]byte, error) {
	if name != ApprovalsFile {
		return canonical(data)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("decoding JSON: %w", err)
	}
	items := make([][]byte, len(list))
	for i, item := range list {
		items[i] = item
	}
	return approvals(items)
}

// parsePath splits a plan file's path; false for every path that no bundle has.
func parsePath(path string) (where, name string, ok bool) {
	rest, ok := strings.CutPrefix(path, plansDir)
	if !ok {
		return "", "", false
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 3 || slices.ContainsFunc(parts[:2], func(part string) bool { return !objectName(part) }) || sizeLimit(parts[2]) == 0 {
		return "", "", false
	}
	return dir(parts[0], parts[1]), parts[2], true
}

// objectName accepts what Kubernetes accepts as a name, and so neither "." nor ".." nor anything with a separator.
func objectName(name string) bool {
	if name == "" || len(name) > 253 || name[0] == '.' || name[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
	})
}

// sizeLimit bounds a plan's file; 0 is a name that none has.
func sizeLimit(name string) int64 {
	switch name {
	case PlanFile:
		return maxPlan
	case DocumentFile:
		return maxDocument
	case SQLFile:
		return maxSQL
	case ApprovalsFile:
		return maxApprovals
	default:
		return 0
	}
}
