package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/realm"
)

const (
	largeNamespace = "large"
	largeName      = "ledger"
	// fleets is how many namespaces the many resources share.
	fleets = 50
	// batch is how many objects go into one transaction of etcd.
	batch = 100
	epoch = "v1-0123456789abcdef0123456789abcdef"
)

// store writes objects where the API server keeps them.
type store struct {
	client *clientv3.Client
	next   int
	puts   []clientv3.Op
}

func (s *store) uid() types.UID {
	s.next++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.next))
}

func (s *store) put(ctx context.Context, key string, object any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", key, err)
	}
	s.puts = append(s.puts, clientv3.OpPut("/registry/"+key, string(data)))
	if len(s.puts) < batch {
		return nil
	}
	return s.flush(ctx)
}

func (s *store) flush(ctx context.Context) error {
	if _, err := s.client.Txn(ctx).Then(s.puts...).Commit(); err != nil {
		return fmt.Errorf("writing to the store: %w", err)
	}
	s.puts = nil
	return nil
}

func meta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind}
}

func condition(kind v1alpha1.ConditionType, status metav1.ConditionStatus, reason v1alpha1.ConditionReason) metav1.Condition {
	return metav1.Condition{Type: string(kind), Status: status, Reason: string(reason), Message: "as the last pass found it", ObservedGeneration: 1, LastTransitionTime: metav1.Now()}
}

// schema is a schema in sync; every four hundredth is looked after by nobody.
func (s *store) schema(namespace, name string, i int) *v1alpha1.PtahSchema {
	next := metav1.NewTime(time.Now().Add(7 * time.Minute))
	if i%400 == 7 {
		next = metav1.NewTime(time.Now().Add(-3 * time.Hour))
	}
	return asStored(s.bare(namespace, name, i, next))
}

// asStored adds what every real object carries: the manifest as "kubectl apply" keeps it, and who manages which field.
func asStored(schema *v1alpha1.PtahSchema) *v1alpha1.PtahSchema {
	manifest, _ := json.Marshal(map[string]any{"apiVersion": schema.APIVersion, "kind": schema.Kind, "metadata": map[string]any{"name": schema.Name, "namespace": schema.Namespace}, "spec": schema.Spec})
	schema.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: string(manifest)}
	for manager, part := range map[string]any{"kubectl-client-side-apply": map[string]any{"spec": schema.Spec}, "ptah-manager": map[string]any{"status": schema.Status}} {
		data, _ := json.Marshal(part)
		var value any
		_ = json.Unmarshal(data, &value)
		fields, _ := json.Marshal(fieldsOf(value))
		schema.ManagedFields = append(schema.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: schema.APIVersion, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(fields)),
		})
	}
	return schema
}

// fieldsOf is the set of a value's fields as the API server notes it.
func fieldsOf(value any) map[string]any {
	set := map[string]any{}
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			set["f:"+name] = fieldsOf(member)
		}
	case []any:
		for _, member := range v {
			if m, ok := member.(map[string]any); ok && m["type"] != nil {
				set[fmt.Sprintf(`k:{"type":%q}`, m["type"])] = fieldsOf(member)
			}
		}
	}
	return set
}

func (s *store) bare(namespace, name string, i int, next metav1.Time) *v1alpha1.PtahSchema {
	policy := v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyOnApproval, DriftSeverity: v1alpha1.DriftAll, LockTimeout: metav1.Duration{Duration: 30 * time.Second}, TransactionMode: v1alpha1.TransactionFile}
	return &v1alpha1.PtahSchema{
		TypeMeta:   meta("PtahSchema"),
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(fmt.Sprintf("00000000-0000-4000-9000-%012d", i)), Generation: 1, CreationTimestamp: metav1.NewTime(time.Now().Add(-1000 * time.Hour))},
		Spec: v1alpha1.PtahSchemaSpec{
			Target: v1alpha1.Target{
				Engine: "PostgreSQL", CoordinationKey: namespace + "-" + name,
				URLFrom: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name + "-database"}, Key: "url"},
			},
			Desired: v1alpha1.Source{
				OCIRef:                 "oci://registry.example/" + namespace + "/" + name + ":v1",
				VerificationPolicyFrom: corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "verification"}, Key: "policy.yaml"},
			},
			Interval: metav1.Duration{Duration: 10 * time.Minute}, Policy: policy,
			Execution: v1alpha1.Execution{ActiveDeadlineSeconds: 900, ConnectTimeout: metav1.Duration{Duration: 10 * time.Second}, FailureRetryInterval: metav1.Duration{Duration: 30 * time.Second}},
		},
		Status: v1alpha1.PtahSchemaStatus{
			Phase: v1alpha1.SchemaPhaseInSync, ObservedGeneration: 1, NextReconciliationTime: &next,
			Conditions: []metav1.Condition{
				condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync), condition(v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonScopedConverged),
				condition(v1alpha1.ConditionPlanReady, metav1.ConditionFalse, v1alpha1.ReasonNoChanges), condition(v1alpha1.ConditionArtifactVerified, metav1.ConditionTrue, v1alpha1.ReasonPolicySatisfied),
			},
			Source: &v1alpha1.SourceStatus{RequestedReference: "oci://registry.example/" + namespace + "/" + name + ":v1", Digest: sum(name), ArtifactType: v1alpha1.SchemaArtifactType},
			Target: &v1alpha1.TargetStatus{Engine: "PostgreSQL", CoordinationDigest: realm.Digest("postgres", namespace+"-"+name), IdentityDigest: sum(name + " database"), DriftReportDigest: sum("report")},
		},
	}
}

func sum(text string) string { return digest.Bytes([]byte(text)) }

func fleet(i int) (namespace, name string) {
	return fmt.Sprintf("fleet-%02d", i%fleets), fmt.Sprintf("schema-%05d", i)
}

// schemas writes schemas from one number up to another.
func (s *store) schemas(ctx context.Context, from, to int) error {
	for i := from; i < to; i++ {
		namespace, name := fleet(i)
		if err := s.put(ctx, v1alpha1.GroupName+"/ptahschemas/"+namespace+"/"+name, s.schema(namespace, name, i)); err != nil {
			return err
		}
	}
	return s.flush(ctx)
}

// publish writes a plan of a schema with its chunks.
func (s *store) publish(ctx context.Context, schema *v1alpha1.PtahSchema, statements []plan.Statement) (*v1alpha1.PtahSchemaPlan, int, error) {
	data, err := plan.Encode(plan.Seal(plan.Document{Dialect: plan.DialectPostgres, FromFingerprint: sum("from"), ToFingerprint: sum("to" + statements[0].SQL), Statements: statements}))
	if err != nil {
		return nil, 0, fmt.Errorf("encoding a plan: %w", err)
	}
	publication, err := plan.Publish(schema, data, v1alpha1.SchemaPlanBindings{
		ArtifactDigest: schema.Status.Source.Digest,
		PlanBindings: v1alpha1.PlanBindings{
			PolicyFingerprint: plan.PolicyFingerprint(schema.Spec.Policy), VerificationPolicyUID: s.uid(), VerificationPolicyDigest: sum("policy"),
			CoordinationDigest: schema.Status.Target.CoordinationDigest, TargetIdentityDigest: schema.Status.Target.IdentityDigest, ExecutionBindingID: epoch,
			ExecutionIdentity: v1alpha1.ExecutionIdentity{
				ControllerImage: "registry.example/ptah/manager@" + sum("manager"), ControllerRevision: "8191b07c2f5be1a01d7be57ed8b8d2d7cf8d6f11", ControllerStateVersion: 2,
				PtahVersion: "0.1.0", ExecutorImage: "registry.example/ptah/executor@" + sum("executor"), RunnerImage: "registry.example/ptah/runner@" + sum("runner"), RunnerProtocolVersion: 1,
			},
		},
	})
	if err != nil {
		return nil, 0, fmt.Errorf("building a plan: %w", err)
	}
	object := publication.Plan
	object.TypeMeta, object.UID, object.CreationTimestamp = meta("PtahSchemaPlan"), s.uid(), metav1.NewTime(time.Now().Add(-60*24*time.Hour))
	object.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonPublished)}
	for i, chunk := range publication.Chunks {
		chunk.TypeMeta, chunk.UID, chunk.CreationTimestamp = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, s.uid(), object.CreationTimestamp
		object.Status.PublishedChunks = append(object.Status.PublishedChunks, v1alpha1.PublishedChunk{Index: int32(i), Name: chunk.Name, UID: chunk.UID}) //nolint:gosec // at most 16
		if err := s.put(ctx, "configmaps/"+chunk.Namespace+"/"+chunk.Name, chunk); err != nil {
			return nil, 0, err
		}
		if len(data) > plan.MaxChunk { // a transaction of etcd is bounded
			if err := s.flush(ctx); err != nil {
				return nil, 0, err
			}
		}
	}
	return object, len(data), s.put(ctx, v1alpha1.GroupName+"/ptahschemaplans/"+object.Namespace+"/"+object.Name, object)
}

// largePlan writes a schema whose current plan is about as large as a plan may be, and returns its size in bytes.
func (s *store) largePlan(ctx context.Context) (int, error) {
	schema := s.schema(largeNamespace, largeName, 999_999)
	var statements []plan.Statement
	for i := range 7700 {
		table := fmt.Sprintf("archive_%05d", i)
		statements = append(statements, plan.Statement{
			SQL: fmt.Sprintf(`CREATE TABLE "app"."%s" ("id" bigint NOT NULL, %s"total" numeric(12,2))`, table, strings.Repeat(`"a_rather_long_column" character varying(64), `, 16)), Severity: plan.SeveritySafe,
			Reason: "table app." + table + " is declared", Kind: "create_table", Object: "app." + table, Table: "app." + table,
		})
	}
	object, size, err := s.publish(ctx, schema, statements)
	if err != nil {
		return 0, err
	}
	record := plan.Record(object)
	schema.Status.Plan = &record
	schema.Status.Phase = v1alpha1.SchemaPhaseAwaitingApproval
	if err := s.put(ctx, v1alpha1.GroupName+"/ptahschemas/"+largeNamespace+"/"+largeName, schema); err != nil {
		return 0, err
	}
	return size, s.flush(ctx)
}

// plans writes plans with one chunk each, and an approval for every second of them; the schemas that own them are there already.
func (s *store) plans(ctx context.Context, count int) error {
	for i := range count {
		namespace, name := fleet(i)
		schema := s.schema(namespace, name, i)
		table := fmt.Sprintf("t%05d", i)
		object, _, err := s.publish(ctx, schema, []plan.Statement{{
			SQL: `CREATE TABLE "app"."` + table + `" ("id" bigint NOT NULL)`, Severity: plan.SeveritySafe, Reason: "table is declared", Kind: "create_table", Object: "app." + table, Table: "app." + table,
		}})
		if err != nil {
			return err
		}
		if i%2 == 0 {
			if err := s.approve(ctx, object); err != nil {
				return err
			}
		}
	}
	return s.flush(ctx)
}

func (s *store) approve(ctx context.Context, object *v1alpha1.PtahSchemaPlan) error {
	now := metav1.Now()
	approval := &v1alpha1.PtahSchemaApproval{
		TypeMeta:   meta("PtahSchemaApproval"),
		ObjectMeta: metav1.ObjectMeta{Namespace: object.Namespace, Name: object.Name + "-1", UID: s.uid(), CreationTimestamp: now, Generation: 1},
		Spec: v1alpha1.PtahSchemaApprovalSpec{
			SchemaRef: object.Spec.SchemaRef, PlanRef: v1alpha1.ObjectRef{Name: object.Name, UID: object.UID}, PlanFingerprint: object.Spec.Fingerprint,
			ApprovalStamp: v1alpha1.ApprovalStamp{Approver: v1alpha1.Approver{Username: "bob"}, ApprovedAt: now, MutationRequestUID: s.uid()}, SchemaPlanBindings: object.Spec.SchemaPlanBindings,
		},
	}
	return s.put(ctx, v1alpha1.GroupName+"/ptahschemaapprovals/"+approval.Namespace+"/"+approval.Name, approval)
}
