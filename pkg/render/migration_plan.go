package render

import (
	"fmt"
	"time"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// MigrationPlan is a stored plan of a migration. It has no SQL: the statements are in the artifact that it pins.
type MigrationPlan struct {
	Meta
	Namespace            string    `json:"namespace"`
	Migration            string    `json:"migration"`
	Name                 string    `json:"name"`
	UID                  string    `json:"uid"`
	Role                 string    `json:"role"`
	Fingerprint          string    `json:"fingerprint"`
	HistoryFingerprint   string    `json:"historyFingerprint"`
	ArtifactDigest       string    `json:"artifactDigest"`
	TargetIdentityDigest string    `json:"targetIdentityDigest"`
	CurrentVersion       int64     `json:"currentVersion"`
	StoredAt             time.Time `json:"storedAt"`
	// Unresolved: the migration carries a run nobody accounted for, and this is the plan that it was carrying out.
	Unresolved bool `json:"unresolved"`
	Rejected
	// Migrations in the order in which they run.
	Migrations []PlannedMigration `json:"migrations"`

	now time.Time
}

// PlannedMigration is one file of the sequence.
type PlannedMigration struct {
	Version         int64  `json:"version"`
	VersionKey      string `json:"versionKey,omitempty"`
	Description     string `json:"description,omitempty"`
	Checksum        string `json:"checksum"`
	TransactionMode string `json:"transactionMode,omitempty"`
	Checkpoint      bool   `json:"checkpoint,omitempty"`
}

// NewMigrationPlan shows a migration's plan; the migration is nil where it is gone.
func NewMigrationPlan(migration *v1alpha1.PtahMigration, object *v1alpha1.PtahMigrationPlan, now time.Time) *MigrationPlan {
	spec := object.Spec
	view := &MigrationPlan{
		Meta: Meta{APIVersion: APIVersion, Kind: "MigrationPlan"}, Namespace: object.Namespace, Migration: spec.MigrationRef.Name, Name: object.Name,
		UID: string(object.UID), Role: RoleStored, Fingerprint: spec.Fingerprint, HistoryFingerprint: spec.HistoryFingerprint,
		ArtifactDigest: spec.ArtifactDigest, TargetIdentityDigest: spec.TargetIdentityDigest, CurrentVersion: spec.CurrentVersion,
		StoredAt: object.CreationTimestamp.UTC(), Migrations: make([]PlannedMigration, 0, len(spec.Migrations)), now: now,
	}
	for _, m := range spec.Migrations {
		view.Migrations = append(view.Migrations, PlannedMigration{
			Version: m.Version, VersionKey: m.VersionKey, Description: m.Description, Checksum: m.Checksum,
			TransactionMode: string(m.TransactionMode), Checkpoint: m.Checkpoint,
		})
	}
	if migration == nil {
		return view
	}
	if ref := migration.Status.Plan; ref != nil && ref.UID == object.UID {
		view.Role = RoleCurrent
	}
	if run := migration.Status.UnresolvedRun; run != nil && run.PlanRef != nil && run.PlanRef.UID == object.UID {
		view.Unresolved = true
	}
	return view
}

// Data is this view.
func (p *MigrationPlan) Data() any { return p }

// Names is the plan's resource name.
func (p *MigrationPlan) Names() []string {
	return []string{"ptahmigrationplan." + v1alpha1.GroupName + "/" + p.Name}
}

// Draw writes the plan for a person.
func (p *MigrationPlan) Draw(c *Canvas) {
	f := c.fields()
	f.line("Migration", c.paint(Strong, p.Namespace+"/"+p.Migration))
	f.line("Plan", fmt.Sprintf("%s (%s)", p.Role, p.Name))
	f.line("Fingerprint", f.identifier(p.Fingerprint, 0))
	f.line("Artifact", f.identifier(p.ArtifactDigest, 0))
	f.line("Database", f.identifier(p.TargetIdentityDigest, 0))
	f.line("Starts from", fmt.Sprintf("version %d", p.CurrentVersion))
	f.line("Stored", Stamp(p.StoredAt, p.now))
	f.line("Rejected", p.labelled(c, p.now)...)
	f.line("Statements", "in the artifact: a migration plan stores no SQL")
	if p.Unresolved {
		f.line("Unaccounted", c.mark(Bad)+" a run nobody accounted for carried out this plan (status.unresolvedRun)")
	}
	c.println("")
	sequence(c, p.Migrations)
}

// sequence draws what a plan runs, in order.
func sequence(c *Canvas, migrations []PlannedMigration) {
	t := c.table(column{title: "VERSION"}, column{title: "DESCRIPTION", flexible: true}, column{title: "MODE", spare: 2}, column{title: "CHECKSUM", spare: 1})
	for _, m := range migrations {
		version := m.VersionKey
		if version == "" {
			version = fmt.Sprint(m.Version)
		}
		if m.Checkpoint {
			version += " (checkpoint)"
		}
		t.rows = append(t.rows, []cell{{text: Printable(version)}, {text: orNone(c, Printable(m.Description))}, {text: orNone(c, m.TransactionMode)}, {text: Printable(m.Checksum)}})
	}
	t.draw(&c.out, c.Headers)
}
