package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type proof struct{ file, test, row string }

const (
	tags     = "test/sim/tags_test.go"
	discard  = "test/sim/discard_test.go"
	same     = "test/sim/contract_test.go"
	registry = "pkg/executor/registry_test.go"
	grant    = "pkg/artifact/grant_test.go"
	verify   = "pkg/artifact/verify_test.go"
	routing  = "pkg/podspec/request_test.go"
	live     = "pkg/controller/schema_test.go"
	fresh    = "pkg/controller/freshness_test.go"
)

var tagsAndOutages = []struct {
	sentence string
	proofs   []proof
}{
	{"Every reconciliation interval resolves the requested reference again.", []proof{{tags, "TestEveryIntervalResolvesAgain", ""}}},
	{"A moved tag clears dependent plan and applied evidence, then repeats verification and observation against the new digest.", []proof{
		{tags, "TestDueRefreshVoidsWhatMoved", "moved tag"}, {discard, "TestChangedInputsClearTheAppliedRecord", "moved tag"},
	}},
	{"An old approval cannot authorize the new plan.", []proof{
		{discard, "TestChangedInputsDiscardThePlan", "moved tag"}, {fresh, "TestDueRefreshComesBeforeTheApproval", ""},
	}},
	{"This cadence also applies while a plan is ready to apply, waiting for approval, or Blocked.", []proof{{tags, "TestEveryIntervalResolvesAgain", ""}}},
	{"The same immutable plan returns as current when its inputs are unchanged, and no Apply Job is created during the refresh.", []proof{
		{same, "TestRefreshReturnsTheSamePlan", ""}, {"pkg/controller/plans_test.go", "TestRefreshWritesNoSecondPlan", ""},
	}},
	{"A moved tag or database drift observed by a due refresh invalidates stale plan or approval evidence before mutation can begin.", []proof{
		{tags, "TestDueRefreshVoidsWhatMoved", "drift"}, {fresh, "TestDueRefreshComesBeforeTheApproval", ""},
	}},
	{"Native verification always inspects the resolved digest.", []proof{{verify, "TestVerifyInspectsWhatWasResolved", ""}}},
	{"A tag or implicit latest is refused even though it resolved successfully, while an explicit digest remains eligible.", []proof{
		{verify, "TestVerify", "digest pin is judged on the request"}, {registry, "TestRegistryFaults", "policy refuses"},
	}},
	{"Policies that permit tags retain the refresh behavior above without weakening any later digest binding.", []proof{{tags, "TestTagThatMovesDuringAChain", ""}}},
	{"During a failed refresh the last source, target, plan, applied record, and successful reconciliation timestamp remain historical evidence.", []proof{
		{tags, "TestOutage", ""}, {live, "TestRegistryOutageKeepsHistory", ""},
	}},
	{"ArtifactResolved=Unknown with reason RefreshFailed, PlanReady and InSync Unknown with reason SourceFreshnessUnknown.", []proof{
		{tags, "TestOutage", ""}, {live, "TestRegistryOutageKeepsHistory", ""},
	}},
	{"No Verify, Observe, Plan, or Apply follows that failed Resolve.", []proof{{tags, "TestOutage", ""}, {live, "TestRegistryOutageKeepsHistory", ""}}},
	{"After connectivity returns, the operator must resolve and verify again, then observe and plan.", []proof{{tags, "TestOutage", ""}}},
	{"A same-digest, no-drift recovery ends with PlanReady=False/NoChanges, InSync=True/ScopedConverged, and no Apply.", []proof{
		{tags, "TestOutage", "InSync"}, {live, "TestRegistryOutageKeepsHistory", ""},
	}},
	{"Observe and plan also need to fetch the schema, so an outage can delay database checks without causing mutation.", []proof{
		{tags, "TestOutageInTheMiddleOfAChain", ""},
	}},
	{"Every registry-authentication Secret must include registry: <host[:port]>.", []proof{{grant, "TestCheckGrant", "missing"}, {grant, "TestCheckGrant", "port is not collapsed"}}},
	{"This applies to both environment-key and Docker config JSON representations.", []proof{
		{registry, "TestGrantsAreCheckedBeforeAnyRequest", "docker configuration, no registry"}, {routing, "TestCredentialRouting", ""},
	}},
	{"A source under oci://docker.io/... grants registry-1.docker.io.", []proof{{grant, "TestCheckGrant", "hub needs its real host"}, {grant, "TestCheckGrant", "hub alias is not the host"}}},
	{"Missing, malformed, or mismatched authority grants stop the Job before a registry request.", []proof{
		{registry, "TestGrantsAreCheckedBeforeAnyRequest", "no registry"},
		{registry, "TestGrantsAreCheckedBeforeAnyRequest", "registry with scheme"},
		{registry, "TestGrantsAreCheckedBeforeAnyRequest", "another registry"},
	}},
	{"Authenticated plain HTTP also requires allowPlainHTTP: \"true\".", []proof{
		{grant, "TestCheckGrant", "plain HTTP nearly granted"}, {registry, "TestGrantsAreCheckedBeforeAnyRequest", "no plain HTTP"},
	}},
	{"clientCertificateFrom is currently refused.", []proof{
		{routing, "TestBuildRefuses", "a client certificate"}, {"pkg/api/v1alpha1/crd_test.go", "TestBadManifestsAreRefused", ""},
	}},
	{"An authenticated source with transport.caFrom must also place caSHA256 in that same registry Secret.", []proof{
		{grant, "TestCheckGrant", "CA not granted"}, {grant, "TestCheckGrant", "CA digest upper case"},
	}},
	{"The digest is over the exact selected ConfigMap value, including its final newline.", []proof{
		{grant, "TestCheckGrant", "CA without newline"}, {registry, "TestGrantsAreCheckedBeforeAnyRequest", "CA with a newline more"},
	}},
	{"Missing or changed grant bytes fail before the registry client starts.", []proof{
		{registry, "TestGrantsAreCheckedBeforeAnyRequest", "no CA digest"}, {registry, "TestGrantsAreCheckedBeforeAnyRequest", "another CA digest"},
	}},
	{"The operator snapshots the selected CA once per Job.", []proof{{registry, "TestResolveVerifyFetch", "password over TLS"}, {registry, "TestFetchTrustsTheSnapshotOfTheCA", ""}}},
	{"Until both projections agree, read-only source operations fail closed.", []proof{{registry, "TestGrantsAreCheckedBeforeAnyRequest", "another CA digest"}}},
	{"Anonymous custom-CA sources do not need a Secret grant but use the same snapshot boundary and 1 MiB limit.", []proof{
		{grant, "TestCheckGrant", "anonymous CA"},
		{registry, "TestResolveVerifyFetch", "anonymous over TLS"},
		{registry, "TestGrantsAreCheckedBeforeAnyRequest", "anonymous, CA over 1 MiB"},
		{registry, "TestFetchTrustsTheSnapshotOfTheCA", ""},
	}},
}

func TestEverySentenceOfTagsAndOutagesIsProven(t *testing.T) {
	files := map[string]string{}
	for _, s := range tagsAndOutages {
		assert.NotEmpty(t, s.proofs, s.sentence)
		for _, p := range s.proofs {
			if files[p.file] == "" {
				data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(p.file)))
				require.NoError(t, err, s.sentence)
				files[p.file] = string(data)
			}
			_, body, found := strings.Cut(files[p.file], "\nfunc "+p.test+"(t *testing.T) {\n")
			require.True(t, found, "%s has no %s: %s", p.file, p.test, s.sentence)
			body, _, _ = strings.Cut(body, "\n}\n")
			if p.row != "" && p.file != tags {
				assert.Contains(t, body, `"`+p.row+`"`, "%s: %s", p.test, s.sentence)
			}
		}
	}
}
