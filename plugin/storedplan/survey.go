package storedplan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/pin"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
)

// Lister is what finding out about pins needs from the cluster: list on both families, their plans and their approvals.
type Lister interface {
	EachSchema(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahSchema) error) error
	EachMigration(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahMigration) error) error
	EachSchemaPlan(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahSchemaPlan) error) error
	EachMigrationPlan(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahMigrationPlan) error) error
	EachSchemaApproval(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahSchemaApproval) error) error
	EachMigrationApproval(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahMigrationApproval) error) error
}

// ChunkLister lists the metadata of chunks.
type ChunkLister interface {
	EachConfigMapMeta(ctx context.Context, query cluster.Query, visit func(*metav1.PartialObjectMetadata) error) error
}

// Scope bounds a survey.
type Scope struct {
	Namespace string // "" is all
	Families  []pin.Family
	PageSize  int64
}

// Survey is everything that live objects say about stored plans, and what could not be read.
type Survey struct {
	pin.World
	Chunks   []pin.Chunk
	Unseen   []render.Unseen
	Failures []error
	// PlanFailures are those of Failures that hid plans, rather than what names them.
	PlanFailures []error
	// lost is why there is no use in asking further: the API server cannot be reached.
	lost error
	// Missing are families whose kinds the cluster does not have; they have no plans.
	Missing []pin.Family
}

// Look reads every list of the scope. One list that cannot be read makes its family blind and does not stop the others. Of each object
// only a small record is kept.
func Look(ctx context.Context, lister Lister, scope Scope, now time.Time) *Survey {
	s := &Survey{World: pin.World{Now: now, Blind: map[pin.Family]string{}}}
	for _, family := range scope.Families {
		s.family(ctx, lister, scope, family)
	}
	return s
}

// try makes one request, unless the one before showed that there is no use.
func (s *Survey) try(list func() error) error {
	if s.lost != nil {
		return s.lost
	}
	err := list()
	if err != nil && !cluster.IsForbidden(err) && !cluster.KindMissing(err) {
		s.lost = err
	}
	return err
}

// reading is one list of a family.
type reading struct {
	resource string
	err      error
}

// family reads plans first: what names them is then never older than they are, so that nothing may go which was named before it was judged.
func (s *Survey) family(ctx context.Context, lister Lister, scope Scope, family pin.Family) {
	query := cluster.Query{Namespace: scope.Namespace, PageSize: scope.PageSize}
	var readings []reading
	if family == pin.Schema {
		plans := s.schemaPlans(ctx, lister, query)
		readings = append(s.schemaPins(ctx, lister, query), reading{cluster.SchemaPlans, plans})
	} else {
		plans := s.migrationPlans(ctx, lister, query)
		readings = append(s.migrationPins(ctx, lister, query), reading{cluster.MigrationPlans, plans})
	}
	s.note(scope.Namespace, family, readings)
}

func (s *Survey) schemaPlans(ctx context.Context, lister Lister, query cluster.Query) error {
	return s.try(func() error {
		return lister.EachSchemaPlan(ctx, query, func(p *v1alpha1.PtahSchemaPlan) error {
			s.Plans = append(s.Plans, pin.OfSchemaPlan(p))
			return nil
		})
	})
}

func (s *Survey) migrationPlans(ctx context.Context, lister Lister, query cluster.Query) error {
	return s.try(func() error {
		return lister.EachMigrationPlan(ctx, query, func(p *v1alpha1.PtahMigrationPlan) error {
			s.Plans = append(s.Plans, pin.OfMigrationPlan(p))
			return nil
		})
	})
}

func (s *Survey) schemaPins(ctx context.Context, lister Lister, query cluster.Query) []reading {
	approvals := s.schemaApprovals(ctx, lister, query)
	return []reading{{cluster.SchemaApprovals, approvals}, {cluster.Schemas, s.schemas(ctx, lister, query)}}
}

func (s *Survey) migrationPins(ctx context.Context, lister Lister, query cluster.Query) []reading {
	approvals := s.migrationApprovals(ctx, lister, query)
	return []reading{{cluster.MigrationReviews, approvals}, {cluster.Migrations, s.migrations(ctx, lister, query)}}
}

func (s *Survey) schemaApprovals(ctx context.Context, lister Lister, query cluster.Query) error {
	return s.try(func() error {
		return lister.EachSchemaApproval(ctx, query, func(a *v1alpha1.PtahSchemaApproval) error {
			s.Pins.Add(pin.OfSchemaApproval(a)...)
			return nil
		})
	})
}

func (s *Survey) schemas(ctx context.Context, lister Lister, query cluster.Query) error {
	return s.try(func() error {
		return lister.EachSchema(ctx, query, func(o *v1alpha1.PtahSchema) error {
			s.Pins.Add(pin.OfSchema(o)...)
			s.Owners.Add(pin.OwnerOfSchema(o))
			return nil
		})
	})
}

func (s *Survey) migrationApprovals(ctx context.Context, lister Lister, query cluster.Query) error {
	return s.try(func() error {
		return lister.EachMigrationApproval(ctx, query, func(a *v1alpha1.PtahMigrationApproval) error {
			s.Pins.Add(pin.OfMigrationApproval(a)...)
			return nil
		})
	})
}

func (s *Survey) migrations(ctx context.Context, lister Lister, query cluster.Query) error {
	return s.try(func() error {
		return lister.EachMigration(ctx, query, func(o *v1alpha1.PtahMigration) error {
			s.Pins.Add(pin.OfMigration(o)...)
			s.Owners.Add(pin.OwnerOfMigration(o))
			return nil
		})
	})
}

// note records what could not be read. A family none of whose kinds exist is missing, as with an older operator; one that is only half
// there could not be read.
func (s *Survey) note(namespace string, family pin.Family, readings []reading) {
	missing := 0
	for _, r := range readings {
		if cluster.KindMissing(r.err) {
			missing++
		}
	}
	if missing == len(readings) {
		s.Missing = append(s.Missing, family)
		return
	}
	for _, r := range readings {
		if r.err != nil {
			s.miss(r.resource, namespace, family, r.err)
		}
	}
}

func (s *Survey) miss(resource, namespace string, family pin.Family, err error) {
	s.Unseen = append(s.Unseen, render.Unseen{Resource: resource, Namespace: namespace, Why: Why(err)})
	if !slices.Contains(s.Failures, err) { // the same error again is a request that was not even made
		s.Failures = append(s.Failures, err)
	}
	if resource == cluster.SchemaPlans || resource == cluster.MigrationPlans {
		s.PlanFailures = append(s.PlanFailures, err)
	}
	if s.Blind[family] == "" {
		s.Blind[family] = fmt.Sprintf("%s could not be listed", resource)
	}
}

// Getter reads single plans.
type Getter interface {
	SchemaPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchemaPlan, error)
	MigrationPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahMigrationPlan, error)
}

// Get reads one plan afresh.
func Get(ctx context.Context, getter Getter, family pin.Family, namespace, name string) (pin.Plan, error) {
	if family == pin.Migration {
		p, err := getter.MigrationPlan(ctx, namespace, name)
		if err != nil {
			return pin.Plan{}, err
		}
		return pin.OfMigrationPlan(p), nil
	}
	p, err := getter.SchemaPlan(ctx, namespace, name)
	if err != nil {
		return pin.Plan{}, err
	}
	return pin.OfSchemaPlan(p), nil
}

// Dangling lists the pins that lead nowhere, each looked up once more: a plan that was published while the lists were read is not missing.
func (s *Survey) Dangling(ctx context.Context, getter Getter) ([]pin.Finding, error) {
	var findings []pin.Finding
	for _, f := range pin.Dangling(&s.World) {
		if f.Pin.Plan.Name == "" {
			findings = append(findings, f)
			continue
		}
		p, err := Get(ctx, getter, f.Pin.Family, f.Pin.By.Namespace, f.Pin.Plan.Name)
		switch {
		case cluster.IsNotFound(err):
			findings = append(findings, f)
		case err != nil:
			return findings, err
		case !f.Pin.Resolves(p):
			findings = append(findings, f)
		}
	}
	return findings, nil
}

// LookAtChunks adds the chunks that there are. Without them no schema plan can be deleted whole.
func (s *Survey) LookAtChunks(ctx context.Context, lister ChunkLister, scope Scope) {
	query := cluster.Query{Namespace: scope.Namespace, PageSize: scope.PageSize, Selector: v1alpha1.PlanLabel}
	err := s.try(func() error {
		return lister.EachConfigMapMeta(ctx, query, func(m *metav1.PartialObjectMetadata) error {
			s.Chunks = append(s.Chunks, pin.OfChunk(m))
			return nil
		})
	})
	if err != nil {
		s.miss(cluster.ConfigMaps, scope.Namespace, pin.Schema, err)
	}
}

// Why is the reason of a failed request, without what was being done.
func Why(err error) string {
	var request *cluster.Error
	if errors.As(err, &request) {
		return request.Why()
	}
	return err.Error()
}
