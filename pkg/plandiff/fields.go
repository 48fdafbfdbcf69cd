package plandiff

import (
	"fmt"
	"strconv"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Field is one thing that two plans say differently of themselves.
type Field struct {
	Name     string
	From, To string
}

// SchemaFields compares what two plans of schemas were computed under.
func SchemaFields(a, b *v1alpha1.PtahSchemaPlan) []Field {
	x, y := a.Spec, b.Spec
	return differing(append([]Field{
		{"schema", x.SchemaRef.Name, y.SchemaRef.Name},
		{"schema UID", string(x.SchemaRef.UID), string(y.SchemaRef.UID)},
		{"contract version", number(int64(x.ContractVersion)), number(int64(y.ContractVersion))},
		{"dialect", x.Dialect, y.Dialect},
		{"destructive", strconv.FormatBool(x.Destructive), strconv.FormatBool(y.Destructive)},
		{"statements", number(int64(x.StatementCount)), number(int64(y.StatementCount))},
		{"size", number(x.Size), number(y.Size)},
		{"fingerprint", x.Fingerprint, y.Fingerprint},
		{"content digest", x.ContentDigest, y.ContentDigest},
		{"artifact digest", x.ArtifactDigest, y.ArtifactDigest},
		{"database before", x.ActualStateFingerprint, y.ActualStateFingerprint},
		{"database after", x.DesiredStateFingerprint, y.DesiredStateFingerprint},
	}, bindings(x.PlanBindings, y.PlanBindings)...))
}

// MigrationFields compares what two plans of migrations were computed under.
func MigrationFields(a, b *v1alpha1.PtahMigrationPlan) []Field {
	x, y := a.Spec, b.Spec
	return differing(append([]Field{
		{"migration", x.MigrationRef.Name, y.MigrationRef.Name},
		{"migration UID", string(x.MigrationRef.UID), string(y.MigrationRef.UID)},
		{"contract version", number(int64(x.ContractVersion)), number(int64(y.ContractVersion))},
		{"starts from version", number(x.CurrentVersion), number(y.CurrentVersion)},
		{"migrations", number(int64(len(x.Migrations))), number(int64(len(y.Migrations)))},
		{"fingerprint", x.Fingerprint, y.Fingerprint},
		{"artifact digest", x.ArtifactDigest, y.ArtifactDigest},
		{"history", x.HistoryFingerprint, y.HistoryFingerprint},
	}, bindings(x.PlanBindings, y.PlanBindings)...))
}

func bindings(x, y v1alpha1.PlanBindings) []Field {
	return []Field{
		{"policy", x.PolicyFingerprint, y.PolicyFingerprint},
		{"verification policy UID", string(x.VerificationPolicyUID), string(y.VerificationPolicyUID)},
		{"verification policy", x.VerificationPolicyDigest, y.VerificationPolicyDigest},
		{"realm", x.CoordinationDigest, y.CoordinationDigest},
		{"database", x.TargetIdentityDigest, y.TargetIdentityDigest},
		{"epoch", x.ExecutionBindingID, y.ExecutionBindingID},
		{"manager image", x.ControllerImage, y.ControllerImage},
		{"manager revision", x.ControllerRevision, y.ControllerRevision},
		{"manager state version", number(int64(x.ControllerStateVersion)), number(int64(y.ControllerStateVersion))},
		{"Ptah version", x.PtahVersion, y.PtahVersion},
		{"executor image", x.ExecutorImage, y.ExecutorImage},
		{"runner image", x.RunnerImage, y.RunnerImage},
		{"runner protocol", number(int64(x.RunnerProtocolVersion)), number(int64(y.RunnerProtocolVersion))},
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func differing(all []Field) []Field {
	fields := all[:0]
	for _, f := range all {
		if f.From != f.To {
			fields = append(fields, f)
		}
	}
	return fields
}

// File is one migration of either plan.
type File struct {
	Change   Change
	From, To int // positions, counted from 1; 0 is in neither
	Old, New *v1alpha1.PlannedMigration
}

// Files compares two sequences by what identifies a file: its version key, or its version where it has none. The entries are those of the
// new plan in its order, then what is gone.
func Files(a, b *v1alpha1.PtahMigrationPlan) []File {
	positions := map[string]int{}
	for i, m := range a.Spec.Migrations {
		positions[identity(m)] = i
	}
	var files []File
	found := map[int]bool{}
	last := -1
	for j := range b.Spec.Migrations {
		now := &b.Spec.Migrations[j]
		i, ok := positions[identity(*now)]
		if !ok || found[i] {
			files = append(files, File{Change: Added, To: j + 1, New: now})
			continue
		}
		found[i] = true
		change := Same
		switch {
		case a.Spec.Migrations[i] != *now:
			change = Changed
		case i < last:
			change = Moved
		}
		last = max(last, i)
		files = append(files, File{Change: change, From: i + 1, To: j + 1, Old: &a.Spec.Migrations[i], New: now})
	}
	for i := range a.Spec.Migrations {
		if !found[i] {
			files = append(files, File{Change: Removed, From: i + 1, Old: &a.Spec.Migrations[i]})
		}
	}
	return files
}

func identity(m v1alpha1.PlannedMigration) string {
	if m.VersionKey != "" {
		return m.VersionKey
	}
	return fmt.Sprintf("\x00%d", m.Version)
}
