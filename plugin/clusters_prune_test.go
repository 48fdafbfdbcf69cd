package plugin_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/plan"
)

const days = 24 * time.Hour

func init() {
	clusters["retention"] = withGeneration(retentionCluster)
	clusters["retention-operating"] = withGeneration(retentionOperatingCluster)
	clusters["retention-clean"] = withGeneration(retentionCleanCluster)
	clusters["retention-lost"] = withGeneration(retentionLostCluster)
	clusters["retention-altered"] = withGeneration(retentionAlteredCluster)
}

// withGeneration gives plans the generation that an API server gives them, so that an export of both servers has the same bytes.
func withGeneration(build func() []runtime.Object) func() []runtime.Object {
	return func() []runtime.Object {
		objects := build()
		for _, object := range objects {
			if p, ok := object.(*v1alpha1.PtahSchemaPlan); ok {
				p.Generation = 1
			}
		}
		return objects
	}
}

// publishMigration stores a plan of a migration.
func publishMigration(migration *v1alpha1.PtahMigration, id int, age time.Duration, from int64, files ...v1alpha1.PlannedMigration) *v1alpha1.PtahMigrationPlan {
	fingerprint := digest.Tuple("test-migration-plan", string(migration.UID), digest.Int(int64(id)))
	yes := true
	return &v1alpha1.PtahMigrationPlan{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahMigrationPlan"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: migration.Namespace, Name: v1alpha1.MigrationPlanPrefix + digest.Hex(fingerprint)[:24], UID: uid(id), CreationTimestamp: ago(age), Generation: 1,
			Labels: map[string]string{v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue, v1alpha1.MigrationLabel: migration.Name},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahMigration", Name: migration.Name, UID: migration.UID, Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Spec: v1alpha1.PtahMigrationPlanSpec{
			MigrationRef: v1alpha1.ObjectRef{Name: migration.Name, UID: migration.UID}, Fingerprint: fingerprint, ContractVersion: v1alpha1.MigrationPlanContractVersion,
			CreatedAt: ago(age), CurrentVersion: from, HistoryFingerprint: sum("history"), ArtifactDigest: sum(migration.Name), Migrations: files,
			PlanBindings: v1alpha1.PlanBindings{
				PolicyFingerprint: sum("migration policy"), VerificationPolicyUID: uid(900), VerificationPolicyDigest: sum("policy"),
				CoordinationDigest: sum("realm"), TargetIdentityDigest: sum(migration.Name + " database"), ExecutionBindingID: epoch, ExecutionIdentity: identity,
			},
		},
	}
}

func file(version int64, description string) v1alpha1.PlannedMigration {
	key := digest.Int(version)
	return v1alpha1.PlannedMigration{Version: version, VersionKey: "00" + key, Description: description, Checksum: "h1:" + digest.Hex(sum(description))[:43] + "="}
}

// retentionCleanCluster has one schema: a plan that waits, one that was applied, and two that nothing names.
func retentionCleanCluster() []runtime.Object {
	orders := newSchema("app", "orders", 1)
	applied1, objects := publish(orders, 3, 44*days, safeStatements[:1])
	_, more := publish(orders, 4, 41*days, safeStatements[1:2])
	objects = append(objects, more...)
	_, more = publish(orders, 5, 3*days, safeStatements[1:])
	objects = append(objects, more...)
	_, more = awaitApproval(orders, 2, safeStatements)
	orders.Status.Applied = applied(applied1, 44*days)
	return append(append([]runtime.Object{orders}, objects...), more...)
}

// retentionCluster adds everything else that pins, and what an interrupted deletion leaves.
func retentionCluster() []runtime.Object {
	objects := retentionCleanCluster()
	orders := objects[0].(*v1alpha1.PtahSchema)
	authorized, more := publish(orders, 6, 38*days, destructiveStatements)
	objects = append(objects, more...)
	objects = append(objects, newApproval(authorized, "release-7", 60, condition(v1alpha1.ConditionStale, metav1.ConditionTrue, v1alpha1.ReasonStale, "")))
	_, more = publish(orders, 7, 50*days, append(destructiveStatements, safeStatements...))
	objects = append(objects, more[1:]...) // its chunk alone
	ledger := newMigration("app", "ledger", 11)
	unaccounted(ledger)
	run := publishMigration(ledger, 12, 33*days, 12, file(13, "split names"), file(14, "drop full name"))
	ledger.Status.UnresolvedRun.PlanRef = &v1alpha1.ObjectRef{Name: run.Name, UID: run.UID}
	older := publishMigration(ledger, 13, 60*days, 11, file(12, "add names"))
	catalog := newSchema("shop", "catalog", 20)
	_, more = publish(catalog, 21, 40*days, safeStatements)
	mine := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "ptah-settings", UID: uid(99), Labels: map[string]string{v1alpha1.PlanLabel: more[0].(*v1alpha1.PtahSchemaPlan).Name}},
		Data:       map[string]string{"mine": "yes"},
	}
	return append(append(objects, ledger, run, older, catalog, mine), more...)
}

// retentionOperatingCluster is the same while orders is being observed and the proof of catalog's Apply is owed.
func retentionOperatingCluster() []runtime.Object {
	objects := retentionCleanCluster()
	orders := objects[0].(*v1alpha1.PtahSchema)
	orders.Status.ActiveOperation = &v1alpha1.SchemaOperation{
		Type: v1alpha1.SchemaObserve, ID: sum("observe"), Attempt: 1, InputFingerprint: sum("inputs"), JobName: "ptah-observe-orders-0123456789abcdef", StartedAt: ago(time.Minute),
	}
	idle := newSchema("app", "idle", 30)
	_, more := publish(idle, 31, 40*days, safeStatements)
	return append(append(objects, idle), more...)
}

// retentionLostCluster has lost the plan that was applied.
func retentionLostCluster() []runtime.Object {
	objects := retentionCleanCluster()
	return append(objects[:1:1], objects[3:]...)
}

// retentionAlteredCluster has a plan of several chunks that nothing names, one of them altered.
func retentionAlteredCluster() []runtime.Object {
	objects := retentionCleanCluster()
	orders := objects[0].(*v1alpha1.PtahSchema)
	_, more := publish(orders, 8, 42*days, manyStatements(2*plan.MaxChunk))
	more[2].(*corev1.ConfigMap).BinaryData[v1alpha1.ChunkKey][1000] ^= 1
	return append(objects, more...)
}
