package plugin_test

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/realm"
)

// now is what the clock says in every scenario.
var now = time.Date(2026, 11, 29, 5, 4, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time     { return metav1.NewTime(now.Add(-d)) }
func agoPtr(d time.Duration) *metav1.Time { at := ago(d); return &at }
func uid(n int) types.UID                 { return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) }
func sum(text string) string              { return digest.Bytes([]byte(text)) }

func secretKey(name string) corev1.SecretKeySelector {
	return corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "url"}
}

func source(ref string) v1alpha1.Source {
	return v1alpha1.Source{OCIRef: ref, VerificationPolicyFrom: corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "verification"}, Key: "policy.yaml"}}
}

var identity = v1alpha1.ExecutionIdentity{
	ControllerImage: "registry.example/ptah/manager@" + sum("manager"), ControllerRevision: "8191b07c2f5be1a01d7be57ed8b8d2d7cf8d6f11",
	ControllerStateVersion: 2, PtahVersion: "0.1.0", ExecutorImage: "registry.example/ptah/executor@" + sum("executor"),
	RunnerImage: "registry.example/ptah/runner@" + sum("runner"), RunnerProtocolVersion: 1,
}

const epoch = "v1-0123456789abcdef0123456789abcdef"

func condition(kind v1alpha1.ConditionType, status metav1.ConditionStatus, reason v1alpha1.ConditionReason, message string) metav1.Condition {
	return metav1.Condition{Type: string(kind), Status: status, Reason: string(reason), Message: message, ObservedGeneration: 2, LastTransitionTime: ago(2 * time.Hour)}
}

// newSchema is a schema that is in sync.
func newSchema(namespace, name string, id int) *v1alpha1.PtahSchema {
	ref := "registry.example/" + namespace + "/" + name
	return &v1alpha1.PtahSchema{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahSchema"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: uid(id), Generation: 2, CreationTimestamp: ago(12 * 24 * time.Hour), Labels: map[string]string{"team": name},
		},
		Spec: v1alpha1.PtahSchemaSpec{
			Target:   v1alpha1.Target{Engine: "PostgreSQL", CoordinationKey: namespace + "-" + name, URLFrom: secretKey(name + "-database")},
			Desired:  source("oci://" + ref + ":v2"),
			Interval: metav1.Duration{Duration: 10 * time.Minute},
			Policy:   v1alpha1.SchemaPolicy{Apply: v1alpha1.ApplyOnApproval, DriftSeverity: v1alpha1.DriftAll, LockTimeout: metav1.Duration{Duration: 30 * time.Second}, TransactionMode: v1alpha1.TransactionFile},
			Execution: v1alpha1.Execution{
				ActiveDeadlineSeconds: 900, ConnectTimeout: metav1.Duration{Duration: 10 * time.Second}, FailureRetryInterval: metav1.Duration{Duration: 30 * time.Second},
			},
		},
		Status: v1alpha1.PtahSchemaStatus{
			Phase: v1alpha1.SchemaPhaseInSync, ObservedGeneration: 2,
			Conditions: []metav1.Condition{
				condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonInSync, "a separate read-only plan is empty"),
				condition(v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonScopedConverged, ""),
			},
			NextReconciliationTime: agoPtr(-7 * time.Minute),
			ExecutionBinding:       &v1alpha1.ExecutionBinding{Epoch: epoch, ExecutionIdentity: identity},
			Source: &v1alpha1.SourceStatus{
				RequestedReference: "oci://" + ref + ":v2", ResolvedReference: "oci://" + ref + "@" + sum(name), Digest: sum(name),
				ArtifactType: v1alpha1.SchemaArtifactType, ResolvedAt: agoPtr(3 * time.Minute), Verified: true, VerifiedAt: agoPtr(3 * time.Minute),
				VerificationPolicyUID: uid(900), VerificationPolicyDigest: sum("policy"),
			},
			Target: &v1alpha1.TargetStatus{
				Engine: "PostgreSQL", CoordinationDigest: realm.Digest("postgres", namespace+"-"+name), IdentityDigest: sum(name + " database"),
				LastObservedAt: agoPtr(3 * time.Minute), DriftReportDigest: sum("report"),
			},
		},
	}
}

var safeStatements = []plan.Statement{
	{SQL: `CREATE TYPE "app"."channel" AS ENUM ('web', 'shop')`, Severity: plan.SeveritySafe, Reason: "enum app.channel is declared", Kind: "create_enum", Object: "app.channel"},
	{
		SQL: `ALTER TABLE "app"."orders" ADD COLUMN "note" text`, Severity: plan.SeveritySafe, Reason: "column note is declared",
		Kind: "add_column", Object: "app.orders.note", Table: "app.orders", Lock: "ACCESS EXCLUSIVE",
	},
	{
		SQL: `CREATE INDEX "orders_note" ON "app"."orders" ("note")`, Severity: plan.SeveritySafe, Reason: "index orders_note is declared",
		Kind: "create_index", Object: "app.orders_note", Table: "app.orders", Lock: "SHARE", Hazard: "scans the table while writes wait",
	},
}

var destructiveStatements = []plan.Statement{
	{
		SQL: `ALTER TABLE "app"."orders" DROP COLUMN "total"`, Severity: plan.SeverityDestructive, Reason: "column total is not declared",
		Kind: "drop_column", Object: "app.orders.total", Table: "app.orders", Lock: "ACCESS EXCLUSIVE", Hazard: "loses data",
	},
}

// publish stores a plan of a schema: the object, Ready, and its chunks.
func publish(schema *v1alpha1.PtahSchema, id int, age time.Duration, statements []plan.Statement) (*v1alpha1.PtahSchemaPlan, []runtime.Object) {
	document := plan.Seal(plan.Document{Dialect: plan.DialectPostgres, FromFingerprint: sum("from" + string(schema.UID)), ToFingerprint: sum("to" + statements[0].SQL), Statements: statements})
	data, err := plan.Encode(document)
	must(err)
	publication, err := plan.Publish(schema, data, v1alpha1.SchemaPlanBindings{
		ArtifactDigest: schema.Status.Source.Digest,
		PlanBindings: v1alpha1.PlanBindings{
			PolicyFingerprint: plan.PolicyFingerprint(schema.Spec.Policy), VerificationPolicyUID: uid(900), VerificationPolicyDigest: sum("policy"),
			CoordinationDigest: schema.Status.Target.CoordinationDigest, TargetIdentityDigest: schema.Status.Target.IdentityDigest,
			ExecutionBindingID: epoch, ExecutionIdentity: identity,
		},
	})
	must(err)
	object := publication.Plan
	object.UID, object.CreationTimestamp = uid(id), ago(age)
	object.Status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonPublished, "")}
	objects := []runtime.Object{object}
	for i, chunk := range publication.Chunks {
		chunk.UID, chunk.CreationTimestamp = uid(id*100+i), ago(age)
		chunk.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
		object.Status.PublishedChunks = append(object.Status.PublishedChunks, v1alpha1.PublishedChunk{Index: int32(i), Name: chunk.Name, UID: chunk.UID})
		objects = append(objects, chunk)
	}
	return object, objects
}

// record is what status.plan says of a plan.
func record(object *v1alpha1.PtahSchemaPlan) *v1alpha1.SchemaPlanRecord {
	return &v1alpha1.SchemaPlanRecord{
		Name: object.Name, UID: object.UID, Fingerprint: object.Spec.Fingerprint, ContentDigest: object.Spec.ContentDigest, CreatedAt: object.CreationTimestamp,
		Destructive: object.Spec.Destructive, StatementCount: object.Spec.StatementCount, SchemaPlanBindings: object.Spec.SchemaPlanBindings,
	}
}

// awaitApproval gives a schema a published plan that waits for a person.
func awaitApproval(schema *v1alpha1.PtahSchema, id int, statements []plan.Statement) (*v1alpha1.PtahSchemaPlan, []runtime.Object) {
	object, objects := publish(schema, id, 2*time.Hour, statements)
	status := &schema.Status
	status.Phase = v1alpha1.SchemaPhaseAwaitingApproval
	status.Plan = record(object)
	status.NextReconciliationTime = agoPtr(-4 * time.Minute)
	status.Conditions = []metav1.Condition{
		condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonAwaitingApproval, "the plan needs an approval"),
		condition(v1alpha1.ConditionPlanReady, metav1.ConditionTrue, v1alpha1.ReasonPublished, "every chunk is stored and was read back"),
		condition(v1alpha1.ConditionApprovalRequired, metav1.ConditionTrue, v1alpha1.ReasonAwaitingApproval, "the plan needs an approval"),
		condition(v1alpha1.ConditionDriftDetected, metav1.ConditionTrue, v1alpha1.ReasonScopedChanges, ""),
	}
	status.Target.DriftFindingCount = 2
	status.Target.HighestDriftSeverity = v1alpha1.SeverityInfo
	status.Target.DriftFindings = []v1alpha1.DriftFinding{
		{Category: v1alpha1.DriftColumnsAdded, Count: 1, Severity: v1alpha1.SeverityInfo}, {Category: v1alpha1.DriftIndexesAdded, Count: 1, Severity: v1alpha1.SeveritySafe},
	}
	return object, objects
}

// applied says that a plan ran and was proven.
func applied(object *v1alpha1.PtahSchemaPlan, age time.Duration) *v1alpha1.AppliedRecord {
	return &v1alpha1.AppliedRecord{
		PlanRef: v1alpha1.ObjectRef{Name: object.Name, UID: object.UID}, PlanFingerprint: object.Spec.Fingerprint, ArtifactDigest: object.Spec.ArtifactDigest,
		CoordinationDigest: object.Spec.CoordinationDigest, TargetIdentityDigest: object.Spec.TargetIdentityDigest, CompletedAt: ago(age),
		ExecutionBindingID: epoch, ExecutionIdentity: identity,
	}
}

// newMigration is a migration whose history matches.
func newMigration(namespace, name string, id int) *v1alpha1.PtahMigration {
	ref := "registry.example/" + namespace + "/" + name
	return &v1alpha1.PtahMigration{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahMigration"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid(id), Generation: 2, CreationTimestamp: ago(90 * 24 * time.Hour)},
		Spec: v1alpha1.PtahMigrationSpec{
			Target:   v1alpha1.Target{Engine: "PostgreSQL", CoordinationKey: namespace + "-" + name, URLFrom: secretKey(name + "-database")},
			Artifact: source("oci://" + ref + ":v13"),
			Policy:   v1alpha1.MigrationPolicy{Apply: v1alpha1.ApplyOnApproval},
		},
		Status: v1alpha1.PtahMigrationStatus{
			Phase: v1alpha1.MigrationPhaseInSync, ObservedGeneration: 2,
			Conditions: []metav1.Condition{
				condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonHistoryMatched, "nothing is pending"),
				condition(v1alpha1.ConditionArtifactVerified, metav1.ConditionTrue, v1alpha1.ReasonPolicySatisfied, ""),
			},
			NextReconciliationTime: agoPtr(-9 * time.Minute),
			Artifact:               &v1alpha1.SourceBinding{Digest: sum(name), ResolvedReference: "oci://" + ref + "@" + sum(name)},
			History: &v1alpha1.HistoryStatus{
				ContractVersion: 1, CurrentVersion: 12, AppliedCount: 12, Fingerprint: sum("history"), TargetIdentityDigest: sum(name + " database"), ObservedAt: ago(time.Minute),
			},
		},
	}
}

// unaccounted gives a migration a run that nobody accounted for.
func unaccounted(migration *v1alpha1.PtahMigration) {
	status := &migration.Status
	status.Phase = v1alpha1.MigrationPhaseBlocked
	status.Conditions = []metav1.Condition{
		condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonApplyOutcomeUnknown, "a run has to be accounted for"),
		condition(v1alpha1.ConditionBlocked, metav1.ConditionTrue, v1alpha1.ReasonApplyOutcomeUnknown, "a run has to be accounted for"),
	}
	status.History.PendingCount = 1
	status.LastRun = &v1alpha1.MigrationRun{
		Outcome: v1alpha1.RunPartial, StartedAt: ago(2*time.Hour + time.Minute), FinishedAt: agoPtr(2 * time.Hour), AppliedVersions: []int64{11, 12},
		JobName: "ptah-mapply-ledger-1f0c1f0c1f0c1f0c", Message: "the second statement of version 13 was refused",
	}
	status.UnresolvedRun = &v1alpha1.UnresolvedRun{
		Outcome: v1alpha1.RunPartial, RecordedAt: ago(2 * time.Hour), OperationID: sum("operation"),
		PlanRef: &v1alpha1.ObjectRef{Name: "ptah-mplan-" + strings.Repeat("19ce44", 4), UID: uid(77)}, JobName: "ptah-mapply-ledger-1f0c1f0c1f0c1f0c",
	}
}

// newApproval is a stamped approval of a plan.
func newApproval(object *v1alpha1.PtahSchemaPlan, name string, id int, conditions ...metav1.Condition) *v1alpha1.PtahSchemaApproval {
	return &v1alpha1.PtahSchemaApproval{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahSchemaApproval"},
		ObjectMeta: metav1.ObjectMeta{Namespace: object.Namespace, Name: name, UID: uid(id), CreationTimestamp: ago(time.Hour), Generation: 1},
		Spec: v1alpha1.PtahSchemaApprovalSpec{
			SchemaRef: object.Spec.SchemaRef, PlanRef: v1alpha1.ObjectRef{Name: object.Name, UID: object.UID}, PlanFingerprint: object.Spec.Fingerprint,
			ApprovalStamp:      v1alpha1.ApprovalStamp{Approver: v1alpha1.Approver{Username: "bob"}, ApprovedAt: ago(time.Hour), MutationRequestUID: uid(id + 1)},
			SchemaPlanBindings: object.Spec.SchemaPlanBindings,
		},
		Status: v1alpha1.ApprovalStatus{Conditions: conditions},
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// approvalName is the name that the plugin documents for the first approval of a plan.
func approvalName(object *v1alpha1.PtahSchemaPlan) string {
	tuple := digest.Tuple("approval-name", string(object.Spec.SchemaRef.UID), string(object.UID), object.Spec.Fingerprint)
	return object.Name + "-" + digest.Hex(tuple)[:8]
}
