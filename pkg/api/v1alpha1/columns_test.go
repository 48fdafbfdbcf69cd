package v1alpha1_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// table returns what the API server prints for one resource: column names and the cells of the named object, wide columns left out.
func table(t *testing.T, resource, name string) map[string]any {
	t.Helper()
	config := rest.CopyConfig(server.config)
	config.GroupVersion = &schema.GroupVersion{Group: v1alpha1.GroupName, Version: "v1alpha1"}
	config.APIPath = "/apis"
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	require.NoError(t, err)
	raw, err := c.Get().Namespace("default").Resource(resource).Name(name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Raw()
	require.NoError(t, err)
	var got metav1.Table
	require.NoError(t, json.Unmarshal(raw, &got))
	require.Len(t, got.Rows, 1)
	cells := map[string]any{}
	for i, column := range got.ColumnDefinitions {
		if column.Priority == 0 {
			cells[strings.ToUpper(column.Name)] = got.Rows[0].Cells[i]
		}
	}
	return cells
}

func TestSchemaColumnsSayWhetherItIsFineAndWhatItWaitsFor(t *testing.T) {
	c := apiServer(t)
	var s v1alpha1.PtahSchema
	require.NoError(t, json.Unmarshal(readManifest(t, "schema-minimal"), &s))
	s.Name, s.Namespace = "columns", "default"
	require.NoError(t, c.Create(t.Context(), &s))
	t.Cleanup(func() { _ = c.Delete(context.Background(), &s) })

	next := metav1.NewTime(time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC))
	s.Status.Phase = v1alpha1.SchemaPhaseAwaitingApproval
	s.Status.NextReconciliationTime = &next
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
		Type: string(v1alpha1.ConditionReady), Status: metav1.ConditionFalse, Reason: string(v1alpha1.ReasonAwaitingApproval), ObservedGeneration: 1,
	})
	require.NoError(t, c.Status().Update(t.Context(), &s))

	cells := table(t, "ptahschemas", "columns")
	assert.Contains(t, cells, "AGE")
	delete(cells, "AGE")
	assert.Equal(t, map[string]any{
		"NAME": "columns", "PHASE": "AwaitingApproval", "READY": "False", "REASON": "AwaitingApproval", "NEXT": "2026-10-01T12:00:00Z",
	}, cells)
}

func TestPlanColumns(t *testing.T) {
	c := apiServer(t)
	var p v1alpha1.PtahSchemaPlan
	require.NoError(t, json.Unmarshal(readManifest(t, "schemaplan-one-chunk"), &p))
	p.Name, p.Namespace = "columns", "default"
	require.NoError(t, c.Create(t.Context(), &p))
	t.Cleanup(func() { _ = c.Delete(context.Background(), &p) })

	cells := table(t, "ptahschemaplans", "columns")
	assert.Contains(t, cells, "AGE")
	delete(cells, "AGE")
	assert.Equal(t, map[string]any{
		"NAME": "columns", "SCHEMA": "ledger", "FINGERPRINT": digest('a'), "STATEMENTS": float64(2), "DESTRUCTIVE": false,
	}, cells)
}

// The status carries everything the contract records; what the controller writes must survive a round trip.
func TestStatusRoundTrip(t *testing.T) {
	c := apiServer(t)
	var s v1alpha1.PtahSchema
	require.NoError(t, json.Unmarshal(readManifest(t, "schema-minimal"), &s))
	s.Name, s.Namespace = "status", "default"
	require.NoError(t, c.Create(t.Context(), &s))
	t.Cleanup(func() { _ = c.Delete(context.Background(), &s) })

	s.Status = fullSchemaStatus(t)
	want := s.Status.DeepCopy()
	require.NoError(t, c.Status().Update(t.Context(), &s))
	var got v1alpha1.PtahSchema
	require.NoError(t, c.Get(t.Context(), key("default", "status"), &got))
	wantJSON, err := json.Marshal(want)
	require.NoError(t, err)
	gotJSON, err := json.Marshal(got.Status)
	require.NoError(t, err)
	assert.JSONEq(t, string(wantJSON), string(gotJSON))
}

func fullSchemaStatus(t *testing.T) v1alpha1.PtahSchemaStatus {
	t.Helper()
	var plan v1alpha1.PtahSchemaPlan
	require.NoError(t, json.Unmarshal(readManifest(t, "schemaplan-one-chunk"), &plan))
	now := metav1.NewTime(time.Date(2026, 10, 1, 12, 0, 0, 0, time.Local))
	bindings := plan.Spec.SchemaPlanBindings
	record := v1alpha1.SchemaPlanRecord{
		Name: "ptah-plan-one", UID: "1", Fingerprint: digest('a'), ContentDigest: digest('b'), CreatedAt: now, StatementCount: 2, SchemaPlanBindings: bindings,
		Approval: &v1alpha1.ApprovalRecord{Name: "a", UID: "2", ApprovedAt: now, Approver: v1alpha1.Approver{Username: "alice", Groups: []string{"dba"}}},
	}
	source := v1alpha1.SourceBinding{
		Digest: digest('c'), ResolvedReference: "oci://registry.internal/a@" + digest('c'),
		RegistryAuthFrom: &v1alpha1.RegistryAuth{
			Name: "pull", Mode: v1alpha1.RegistryAuthEnvironment, UsernameKey: "u", PasswordKey: "p", TokenKey: "t", DockerConfigJSONKey: "d",
		},
		Transport: &v1alpha1.Transport{PlainHTTP: true},
	}
	target := v1alpha1.TargetBinding{Engine: v1alpha1.EnginePostgreSQL}
	target.URLFrom.Name, target.URLFrom.Key = "db", "url"
	object := v1alpha1.ObjectSnapshot{Name: "default", UID: "3", ResourceVersion: "4"}
	snapshot := v1alpha1.AdmissionSnapshot{
		Version: v1alpha1.AdmissionSnapshotVersion, Digest: digest('d'), TemplateDigest: digest('e'), DefaultTolerationsEnabled: true,
		DefaultNotReadyTolerationSeconds: 300, DefaultUnreachableTolerationSeconds: 300,
		LimitRanges:    []v1alpha1.LimitRangeSnapshot{{Object: object}},
		ServiceAccount: v1alpha1.ServiceAccountSnapshot{Object: object},
		PriorityClass:  v1alpha1.PriorityClassSnapshot{PreemptionPolicy: "PreemptLowerPriority"},
		RuntimeClass:   &v1alpha1.RuntimeClassSnapshot{Handler: "runsc", Object: object, OverheadDefined: true},
	}
	lock := metav1.Duration{Duration: 30 * time.Second}
	return v1alpha1.PtahSchemaStatus{
		Phase: v1alpha1.SchemaPhaseVerifyingConvergence, ObservedGeneration: 1,
		LastAttemptTime: &now, LastSuccessfulReconciliation: &now, NextReconciliationTime: &now,
		ExecutionBinding: &v1alpha1.ExecutionBinding{Epoch: bindings.ExecutionBindingID, ExecutionIdentity: bindings.ExecutionIdentity},
		Source:           &v1alpha1.SourceStatus{Digest: digest('c'), Verified: true, Size: 512, ResolvedAt: &now, VerifiedAt: &now},
		Target: &v1alpha1.TargetStatus{
			Engine: v1alpha1.EnginePostgreSQL, DriftFindingCount: 1, HighestDriftSeverity: v1alpha1.SeverityDestructive, LastObservedAt: &now,
			DriftFindings: []v1alpha1.DriftFinding{{Category: v1alpha1.DriftTablesRemoved, Count: 3, Severity: v1alpha1.SeverityDestructive}},
		},
		Plan: &record,
		Applied: &v1alpha1.AppliedRecord{
			PlanRef: v1alpha1.ObjectRef{Name: "ptah-plan-one", UID: "1"}, PlanFingerprint: digest('a'), ArtifactDigest: digest('c'),
			CoordinationDigest: digest('a'), TargetIdentityDigest: digest('a'), CompletedAt: now,
			ExecutionBindingID: bindings.ExecutionBindingID, ExecutionIdentity: bindings.ExecutionIdentity,
		},
		ActiveOperation: &v1alpha1.SchemaOperation{
			Type: v1alpha1.SchemaApply, ID: "i", Attempt: 1, InputFingerprint: "f", JobName: "j", StartedAt: now, DispatchStarted: true,
			DispatchNotAfter: &now, ExecutionNotAfter: &now, TerminationGracePeriodSeconds: 30, LeaseEpoch: "e", LeaseDurationSeconds: 90,
			Source: &source, Target: &target, ObservationDev: &v1alpha1.Dev{URLFrom: target.URLFrom}, ObservationExclude: []string{"a"},
			ObservationSeverity: v1alpha1.DriftAll, ObservationLockTimeout: lock, ObservationConnectTimeout: lock, AdmissionSnapshot: &snapshot,
		},
		PendingObservation: &v1alpha1.PendingObservation{
			Outcome: v1alpha1.OutcomeUnknown, Plan: record, ApplyOperationID: "i", ApplyGeneration: 1, ApplyPodUIDs: nil, ApplyPodCount: 2,
			CoordinationDigest: digest('a'), LeaseDurationSeconds: 90, ObserveAfter: &now, PlanRequired: true, Source: source, Target: target,
			LockTimeout: lock, ConnectTimeout: lock, DriftSeverity: v1alpha1.DriftDestructive,
		},
		PendingLockRelease: &v1alpha1.LockRelease{CoordinationDigest: digest('a'), OperationID: "i", LeaseEpoch: "e", LeaseDurationSeconds: 90},
	}
}
