package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/test/rig"
)

func shop(t *testing.T, edition string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(it.Root, "test/demo/shop", edition+".sql"))
	require.NoError(t, err)
	return string(data)
}

// The whole path: publish, plan, approve, apply, prove; then the contract's own commands on what it left.
func TestSchemaConvergesAndIsReadableByTheContractsCommands(t *testing.T) {
	s := newStage(t, "converge")
	s.schema.Reference = s.publish(shop(t, "v1"))
	s.apply()
	s.phase("AwaitingApproval")
	count, err := it.Query(t.Context(), s.database(), "SELECT count(*)::text FROM pg_tables WHERE schemaname='shop'")
	require.NoError(t, err)
	assert.Equal(t, "0", count, "nothing may run before the approval")

	s.approve()
	s.phase("InSync")
	count, err = it.Query(t.Context(), s.database(), "SELECT count(*)::text FROM pg_tables WHERE schemaname='shop'")
	require.NoError(t, err)
	assert.Equal(t, "9", count)

	got := s.get()
	require.NotNil(t, got.Status.Applied)
	assert.Nil(t, got.Status.PendingObservation)
	assert.Nil(t, got.Status.ActiveOperation)

	t.Run("finding a resource that has stopped converging", func(t *testing.T) {
		out, err := it.Must(t.Context(), "", "bash", "-c", `kubectl get ptahschemas,ptahmigrations -A -o custom-columns=\
KIND:.kind,NS:.metadata.namespace,NAME:.metadata.name,\
PHASE:.status.phase,READY:'.status.conditions[?(@.type=="Ready")].status',\
NEXT:.status.nextReconciliationTime`)
		require.NoError(t, err)
		assert.Regexp(t, `PtahSchema\s+e2e-converge\s+converge\s+InSync\s+True\s+20\d\d-`, out)
	})
	t.Run("exporting a plan by hand", func(t *testing.T) {
		dir := t.TempDir()
		script := "cd " + dir + "\nNS=" + s.ns + "\nPLAN=" + got.Status.Applied.PlanRef.Name + `
kubectl -n "$NS" get ptahschemaplan "$PLAN" -o json > "$PLAN.plan.json"
jq -r '.spec.chunks | sort_by(.index)[] | "\(.name) \(.key)"' "$PLAN.plan.json" |
  while read -r chunk key; do
    kubectl -n "$NS" get configmap "$chunk" -o json |
      jq -r --arg key "$key" '.binaryData[$key]' | base64 -d
  done > "$PLAN.sql"
kubectl -n "$NS" get ptahschemaapprovals -o json |
  jq --arg plan "$PLAN" '[.items[] | select(.spec.planRef.name == $plan)]' \
  > "$PLAN.approvals.json"
jq -r .spec.contentDigest "$PLAN.plan.json"`
		out, err := it.Must(t.Context(), "", "bash", "-euo", "pipefail", "-c", script)
		require.NoError(t, err)
		data, err := os.ReadFile(filepath.Join(dir, got.Status.Applied.PlanRef.Name+".sql"))
		require.NoError(t, err)
		sum := sha256.Sum256(data)
		assert.Equal(t, strings.TrimSpace(out), "sha256:"+hex.EncodeToString(sum[:]))
		approvals, err := os.ReadFile(filepath.Join(dir, got.Status.Applied.PlanRef.Name+".approvals.json"))
		require.NoError(t, err)
		assert.Contains(t, string(approvals), `"username": "ptah-cluster-admin"`, "the approval names who approved")
	})
	t.Run("reading the applied plan", func(t *testing.T) {
		out, err := it.Must(t.Context(), "", "kubectl-ptah", "plan", s.name, "-n", s.ns, "--applied", "-o", "sql")
		require.NoError(t, err)
		assert.Contains(t, out, `"shop"."order_lines"`)
		res, err := it.Run(t.Context(), "", "kubectl-ptah", "plan", s.name, "-n", s.ns, "--current")
		require.NoError(t, err)
		assert.Equal(t, 3, res.Code, "no plan is current once InSync: %s", res.Stderr)
		assert.Empty(t, res.Stdout)
	})
}

func TestSecondVersionDestructiveRefusalAndDrift(t *testing.T) {
	s := newStage(t, "lifecycle")
	s.schema.Interval = "20s"
	s.schema.Apply = "Always"
	s.schema.Reference = s.publish(shop(t, "v1"))
	s.apply()
	s.phase("InSync")

	s.schema.Reference = s.publish(shop(t, "v2"))
	s.apply()
	require.NoError(t, it.WaitField(t.Context(), s.ns, "ptahschema", s.name, ".status.source.resolvedReference", s.schema.Reference, time.Minute, nil))
	s.phase("InSync")

	s.schema.Reference = s.publish(shop(t, "v3"))
	s.apply()
	s.phase("Blocked")
	s.condition("Ready", "False", "DestructiveChangesDisabled")
	res, err := it.Run(t.Context(), "", "kubectl-ptah", "approve", s.name, "-n", s.ns, "--yes")
	require.NoError(t, err)
	assert.NotEqual(t, 0, res.Code, "a destructive plan that policy forbids takes no approval")
	kept, err := it.Query(t.Context(), s.database(), "SELECT count(*)::text FROM information_schema.columns WHERE table_name='orders' AND column_name='legacy_code'")
	require.NoError(t, err)
	assert.Equal(t, "1", kept)

	s.schema.Reference = s.publish(shop(t, "v2"))
	s.apply()
	s.phase("InSync")
	require.NoError(t, it.Exec(t.Context(), s.database(), "DROP INDEX shop.payments_by_order"))
	require.Eventually(t, func() bool {
		back, err := it.Query(t.Context(), s.database(), "SELECT count(*)::text FROM pg_indexes WHERE indexname='payments_by_order'")
		return err == nil && back == "1"
	}, 2*time.Minute, time.Second, "drift made by hand is planned away")
	s.phase("InSync")
}

func TestManagerHoldsNoDangerousPermission(t *testing.T) {
	account := "system:serviceaccount:" + rig.OperatorNamespace + ":" + it.ManagerAccount(t.Context())
	for _, verb := range []string{"get", "list", "watch", "create", "update", "delete"} {
		res, err := it.Run(t.Context(), "", "kubectl", "auth", "can-i", verb, "secrets", "-A", "--as", account)
		require.NoError(t, err)
		assert.Equal(t, "no", strings.TrimSpace(res.Stdout), "%s secrets", verb)
	}
	for _, line := range []string{"create pods", "delete pods", "delete jobs", "create pods/exec", "list leases", "delete leases", "impersonate users"} {
		verb, resource, _ := strings.Cut(line, " ")
		res, err := it.Run(t.Context(), "", "kubectl", "auth", "can-i", verb, resource, "-A", "--as", account)
		require.NoError(t, err)
		assert.Equal(t, "no", strings.TrimSpace(res.Stdout), line)
	}
}
