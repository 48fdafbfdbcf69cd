package podspec_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/podspec"
)

var at = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func envelope(op intent.Operation) podspec.Envelope {
	e := podspec.Envelope{
		Family: podspec.Schema, Namespace: "app", Name: "shop", ResourceUID: "schema-uid",
		Operation: op, OperationID: digest.Bytes([]byte("op")), Attempt: 1, InputFingerprint: digest.Bytes([]byte("in")), Epoch: "v1-a",
		Identity: v1alpha1.ExecutionIdentity{
			ControllerImage: "r/manager@sha256:1", ControllerRevision: "abc", ControllerStateVersion: 2, PtahVersion: "0.1.0",
			ExecutorImage: "r/executor@sha256:2", RunnerImage: "r/manager@sha256:1", RunnerProtocolVersion: 1,
		},
	}
	if op == intent.Apply {
		e.PlanFingerprint, e.ContentDigest = digest.Bytes([]byte("plan")), digest.Bytes([]byte("content"))
	}
	return e
}

type option func(*podspec.Request)

func withAuth(mode v1alpha1.RegistryAuthMode) option {
	return func(r *podspec.Request) {
		if r.Source != nil {
			r.Source.Auth = &v1alpha1.RegistryAuth{Name: "registry", Mode: mode}
		}
	}
}

func withCA(r *podspec.Request) {
	if r.Source != nil {
		r.Source.Transport = &v1alpha1.Transport{CAFrom: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "roots"}, Key: "bundle.pem"}}
	}
}

func withDev(r *podspec.Request) {
	if r.Operation == intent.Plan {
		r.Database.DevURLFrom = selector("dev", "url")
	}
}

func selector(name, key string) *corev1.SecretKeySelector {
	return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
}

func request(op intent.Operation, options ...option) podspec.Request {
	r := podspec.Request{Envelope: envelope(op), Execution: v1alpha1.Execution{
		ActiveDeadlineSeconds: 900,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000m")}, Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		},
	}}
	if op != intent.Apply {
		r.Source = &podspec.Source{Requested: "oci://registry.example/shop:1"}
		if op != intent.Resolve {
			r.Source.Resolved = "oci://registry.example/shop@" + digest.Bytes([]byte("a"))
		}
	}
	if op == intent.Verify {
		r.Policy = &podspec.Policy{From: corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "policy"}, Key: "p"}, Digest: digest.Bytes([]byte("p"))}
	}
	if op == intent.Observe || op == intent.Plan || op == intent.Apply {
		r.Database = &podspec.Database{Engine: "postgres", CoordinationDigest: digest.Bytes([]byte("realm")), URLFrom: *selector("target", "url")}
	}
	if op == intent.Apply {
		r.Plan = &v1alpha1.PtahSchemaPlanSpec{Fingerprint: r.PlanFingerprint, ContentDigest: r.ContentDigest, Size: 600000, Chunks: []v1alpha1.ChunkRef{
			{Index: 0, Name: "ptah-plan-x-000", Key: "chunk", Size: 524288, Digest: "d0"}, {Index: 1, Name: "ptah-plan-x-001", Key: "chunk", Size: 75712, Digest: "d1"},
		}}
		start, end := podspec.Deadlines(at, 900)
		r.DispatchNotAfter, r.ExecutionNotAfter = &start, &end
	}
	for _, o := range options {
		o(&r)
	}
	return r
}

var operations = []intent.Operation{intent.Resolve, intent.Verify, intent.Observe, intent.Plan, intent.Apply}

// wiring writes a Pod the way the table of credentials reads: per container its image, command, environment and mounts.
func wiring(spec corev1.PodSpec) string {
	volumes := map[string]string{}
	for _, v := range spec.Volumes {
		switch {
		case v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory && v.EmptyDir.SizeLimit != nil:
			volumes[v.Name] = "memory"
		case v.Secret != nil:
			volumes[v.Name] = "secret " + v.Secret.SecretName + "/" + v.Secret.Items[0].Key + " as " + v.Secret.Items[0].Path
		case v.ConfigMap != nil:
			volumes[v.Name] = "config " + v.ConfigMap.Name + "/" + v.ConfigMap.Items[0].Key + " as " + v.ConfigMap.Items[0].Path
		default:
			volumes[v.Name] = "UNKNOWN"
		}
	}
	var b strings.Builder
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		fmt.Fprintf(&b, "%s: %s %s\n", c.Name, c.Image, strings.Join(c.Command, " "))
		for _, e := range c.Env {
			if ref := e.ValueFrom; ref != nil {
				fmt.Fprintf(&b, "  %s = secret %s/%s\n", e.Name, ref.SecretKeyRef.Name, ref.SecretKeyRef.Key)
			} else if e.Name != v1alpha1.IntentEnv {
				fmt.Fprintf(&b, "  %s = LITERAL\n", e.Name)
			}
		}
		for _, m := range c.VolumeMounts {
			mode := "rw"
			if m.ReadOnly {
				mode = "ro"
			}
			fmt.Fprintf(&b, "  %s %s <- %s %s\n", m.MountPath, mode, m.Name, volumes[m.Name])
		}
	}
	return b.String()
}

func build(t require.TestingT, r podspec.Request) corev1.PodSpec {
	job, err := podspec.Build(r)
	require.NoError(t, err)
	return job.Spec.Template.Spec
}

const (
	runImage  = "r/manager@sha256:1"
	execImage = "r/executor@sha256:2"
	grants    = `  PTAH_GRANT_REGISTRY = secret registry/registry
  PTAH_GRANT_ALLOW_PLAIN_HTTP = secret registry/allowPlainHTTP
  PTAH_GRANT_CA_SHA256 = secret registry/caSHA256
`
	credentials = `  PTAH_REGISTRY_USERNAME = secret registry/username
  PTAH_REGISTRY_PASSWORD = secret registry/password
  PTAH_REGISTRY_TOKEN = secret registry/token
`
)

// TestCredentialRouting is table A3 of the runtime sheet, whole: what each container of each operation gets, and nothing besides.
func TestCredentialRouting(t *testing.T) {
	target := "  PTAH_DATABASE_URL = secret target/url\n"
	prepare := "prepare: " + runImage + " /ptah-runner runner prepare\n"
	fetch := "fetch: " + runImage + " /ptah-runner runner fetch\n"
	inRunner := "operation: " + runImage + " /ptah-runner runner run\n"
	inExecutor := "operation: " + execImage + " /ptah/runner/ptah-runner runner run\n"
	installs := "  /ptah/runner rw <- runner memory\n"
	runs := "  /ptah/runner ro <- runner memory\n  /tmp rw <- scratch memory\n"
	scratch := "  /tmp rw <- scratch memory\n"
	writes, reads := "  /ptah/work rw <- work memory\n", "  /ptah/work ro <- work memory\n"
	policy := "  /ptah/policy ro <- verification-policy config policy/p as policy.yaml\n"
	chunks := "  /ptah/plan/000 ro <- plan-000 config ptah-plan-x-000/chunk as chunk\n  /ptah/plan/001 ro <- plan-001 config ptah-plan-x-001/chunk as chunk\n"
	docker := "  /ptah/registry ro <- registry-config secret registry/.dockerconfigjson as config.json\n"
	takesCA := "  /ptah/ca-source ro <- ca-source config roots/bundle.pem as ca.crt\n  /ptah/ca rw <- ca memory\n"
	usesCA := "  /ptah/ca ro <- ca memory\n"
	env, file := withAuth(""), withAuth(v1alpha1.RegistryAuthDockerConfigJSON)

	cases := map[string]struct {
		request podspec.Request
		want    string
	}{
		"Resolve, anonymous":            {request(intent.Resolve), inRunner + scratch},
		"Resolve, environment":          {request(intent.Resolve, env), inRunner + grants + credentials + scratch},
		"Resolve, file and CA":          {request(intent.Resolve, file, withCA), inRunner + grants + scratch + takesCA + docker},
		"Verify, anonymous and CA":      {request(intent.Verify, withCA), inRunner + scratch + takesCA + policy},
		"Verify, environment":           {request(intent.Verify, env), inRunner + grants + credentials + scratch + policy},
		"Observe, anonymous":            {request(intent.Observe), prepare + installs + fetch + writes + inExecutor + target + runs + reads},
		"Observe, environment and CA":   {request(intent.Observe, env, withCA), prepare + grants + installs + takesCA + fetch + credentials + writes + usesCA + inExecutor + target + runs + reads},
		"Observe, file":                 {request(intent.Observe, file), prepare + grants + installs + fetch + writes + docker + inExecutor + target + runs + reads},
		"Plan, environment and scratch": {request(intent.Plan, env, withDev), prepare + grants + installs + fetch + credentials + writes + inExecutor + target + "  PTAH_DEV_DATABASE_URL = secret dev/url\n" + runs + reads},
		"Plan, without scratch":         {request(intent.Plan), prepare + installs + fetch + writes + inExecutor + target + runs + reads},
		"Apply":                         {request(intent.Apply), prepare + installs + inExecutor + target + runs + chunks},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, wiring(build(t, c.request)))
		})
	}
}

// TestCredentialsNeverMeet says the same as a rule, over every combination.
func TestCredentialsNeverMeet(t *testing.T) {
	for _, op := range operations {
		for _, o := range [][]option{{}, {withAuth("")}, {withAuth(v1alpha1.RegistryAuthDockerConfigJSON)}, {withAuth(""), withCA, withDev}} {
			spec := build(t, request(op, o...))
			for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
				registry, database, dev := false, false, false
				for _, e := range c.Env {
					registry = registry || strings.HasPrefix(e.Name, "PTAH_REGISTRY_")
					database = database || e.Name == v1alpha1.DatabaseURLEnv
					dev = dev || e.Name == v1alpha1.DevDatabaseURLEnv
					if e.ValueFrom != nil {
						assert.True(t, *e.ValueFrom.SecretKeyRef.Optional, "a missing key must not keep the Pod from saying so")
					}
				}
				for _, m := range c.VolumeMounts {
					registry = registry || m.Name == v1alpha1.DockerConfigVolume
					assert.False(t, database && strings.HasPrefix(m.Name, "ca"), "the database's container sees no CA")
				}
				assert.False(t, registry && (database || dev), "%s %s", op, c.Name)
				assert.False(t, dev && op != intent.Plan)
				assert.Equal(t, database, c.Name == v1alpha1.OperationContainer && op != intent.Resolve && op != intent.Verify)
			}
		}
	}
}

// TestHardening is table A4 of the runtime sheet.
func TestHardening(t *testing.T) {
	for _, op := range operations {
		t.Run(string(op), func(t *testing.T) {
			job, err := podspec.Build(request(op, withAuth(""), withCA, withDev))
			require.NoError(t, err)
			assert.EqualValues(t, 900, *job.Spec.ActiveDeadlineSeconds)
			assert.EqualValues(t, 0, *job.Spec.BackoffLimit)
			assert.EqualValues(t, 1, *job.Spec.Parallelism**job.Spec.Completions)
			assert.Nil(t, job.Spec.TTLSecondsAfterFinished)
			assert.Nil(t, job.Spec.PodFailurePolicy)
			spec := job.Spec.Template.Spec
			assert.Equal(t, corev1.RestartPolicyNever, spec.RestartPolicy)
			assert.False(t, *spec.AutomountServiceAccountToken)
			assert.False(t, *spec.EnableServiceLinks)
			assert.True(t, *spec.SecurityContext.RunAsNonRoot)
			assert.EqualValues(t, 65532, *spec.SecurityContext.RunAsUser)
			assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, spec.SecurityContext.SeccompProfile.Type)
			assert.EqualValues(t, 30, *spec.TerminationGracePeriodSeconds)
			assert.Nil(t, spec.Resources, "no resources on the Pod itself")
			assert.False(t, spec.HostNetwork || spec.HostPID || spec.HostIPC || spec.ShareProcessNamespace != nil)
			for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
				s := c.SecurityContext
				assert.True(t, *s.ReadOnlyRootFilesystem && *s.RunAsNonRoot && !*s.AllowPrivilegeEscalation && !*s.Privileged)
				assert.Equal(t, []corev1.Capability{"ALL"}, s.Capabilities.Drop)
				assert.Empty(t, s.Capabilities.Add)
				assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, s.SeccompProfile.Type)
				assert.Empty(t, c.Args)
				assert.NotContains(t, strings.Join(c.Command, " "), "sh ")
				order, err := intent.Decode(c.Env[0].Value)
				require.NoError(t, err, "every container gets the whole order")
				assert.Equal(t, op, order.Operation)
			}
			for _, v := range spec.Volumes {
				if v.EmptyDir != nil {
					assert.Equal(t, corev1.StorageMediumMemory, v.EmptyDir.Medium)
					assert.NotNil(t, v.EmptyDir.SizeLimit)
				}
			}
		})
	}
}

func TestResourcesGoToTheContainerThatRunsSQL(t *testing.T) {
	for _, op := range operations {
		spec := build(t, request(op))
		sql := op != intent.Resolve && op != intent.Verify
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			memory := c.Resources.Limits[corev1.ResourceMemory]
			assert.Equal(t, sql && c.Name == v1alpha1.OperationContainer, memory.String() == "1Gi", "%s %s", op, c.Name)
			assert.False(t, memory.IsZero(), "what writes into memory is bounded")
		}
	}
}

func TestIntentFollowsTheRequest(t *testing.T) {
	in := request(intent.Plan, withAuth(v1alpha1.RegistryAuthDockerConfigJSON), withCA, withDev).Intent()
	assert.Equal(t, intent.Artifact{
		Kind: intent.SchemaArtifact, RequestedReference: "oci://registry.example/shop:1", ResolvedReference: "oci://registry.example/shop@" + digest.Bytes([]byte("a")),
		CustomCA: true, AuthMode: "DockerConfigJSON",
	}, *in.Artifact)
	assert.True(t, in.Scope.Dev)
	assert.Equal(t, "postgres", in.Engine)
	apply := request(intent.Apply).Intent()
	assert.Nil(t, apply.Artifact)
	require.Len(t, apply.Plan.Chunks, 2)
	assert.Equal(t, intent.Chunk{Index: 1, Name: "ptah-plan-x-001", Key: "chunk", Size: 75712, Digest: "d1"}, apply.Plan.Chunks[1])
	assert.True(t, apply.DispatchNotAfter.Before(*apply.ExecutionNotAfter))
	assert.Equal(t, "Environment", request(intent.Resolve, withAuth("")).Intent().Artifact.AuthMode)
	assert.Empty(t, request(intent.Resolve).Intent().Artifact.AuthMode)
}

func TestTheOrderIsTheSameAfterARestartElsewhere(t *testing.T) {
	before := request(intent.Apply)
	after := request(intent.Apply)
	elsewhere := after.DispatchNotAfter.In(time.FixedZone("elsewhere", 3600)).Add(time.Millisecond)
	after.DispatchNotAfter = &elsewhere
	assert.Equal(t, build(t, before), build(t, after))
}

func TestBuildRefuses(t *testing.T) {
	clientCertificate := func(r *podspec.Request) {
		r.Source.Transport = &v1alpha1.Transport{ClientCertificateFrom: &v1alpha1.ClientCertificate{Name: "c"}}
	}
	cases := map[string]struct {
		op     intent.Operation
		change option
		want   string
	}{
		"a client certificate":           {intent.Resolve, clientCertificate, "clientCertificateFrom"},
		"a client certificate to fetch":  {intent.Plan, clientCertificate, "clientCertificateFrom"},
		"plain HTTP with a CA":           {intent.Resolve, func(r *podspec.Request) { withCA(r); r.Source.Transport.PlainHTTP = true }, "exclude each other"},
		"an unknown mode":                {intent.Resolve, withAuth("Magic"), "unknown mode"},
		"an auth without a Secret":       {intent.Resolve, func(r *podspec.Request) { r.Source.Auth = &v1alpha1.RegistryAuth{} }, "names no Secret"},
		"a database for a Resolve":       {intent.Resolve, func(r *podspec.Request) { r.Database = request(intent.Plan).Database }, "has a target"},
		"an Observe without a database":  {intent.Observe, func(r *podspec.Request) { r.Database = nil }, "has a target"},
		"an artifact for an Apply":       {intent.Apply, func(r *podspec.Request) { r.Source = request(intent.Plan).Source }, "no artifact"},
		"a scratch database for Observe": {intent.Observe, func(r *podspec.Request) { r.Database.DevURLFrom = selector("d", "k") }, "scratch"},
		"an Apply without a plan":        {intent.Apply, func(r *podspec.Request) { r.Plan = nil }, "has a plan"},
		"an Apply without deadlines":     {intent.Apply, func(r *podspec.Request) { r.DispatchNotAfter = nil }, "deadlines"},
		"deadlines out of order":         {intent.Apply, func(r *podspec.Request) { r.DispatchNotAfter = r.ExecutionNotAfter }, "deadlines"},
		"deadlines on a read":            {intent.Observe, func(r *podspec.Request) { r.ExecutionNotAfter = &at }, "deadlines"},
		"a Verify without a policy":      {intent.Verify, func(r *podspec.Request) { r.Policy = nil }, "policy"},
		"an unresolved Plan":             {intent.Plan, func(r *podspec.Request) { r.Source.Resolved = "" }, "reference"},
		"no URL key":                     {intent.Plan, func(r *podspec.Request) { r.Database.URLFrom.Key = "" }, "target.urlFrom"},
		"no epoch":                       {intent.Plan, func(r *podspec.Request) { r.Epoch = "" }, "binding"},
		"no operation id":                {intent.Plan, func(r *podspec.Request) { r.OperationID = "" }, "identified"},
		"History of a schema":            {intent.Observe, func(r *podspec.Request) { r.Operation = intent.History }, "no operation"},
		"a deadline too short":           {intent.Plan, func(r *podspec.Request) { r.Execution.ActiveDeadlineSeconds = 29 }, "below 30"},
		"an order over the limit":        {intent.Plan, func(r *podspec.Request) { r.Database.Scope.Exclude = []string{strings.Repeat("x", 130<<10)} }, "fit a variable"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := podspec.Build(request(c.op, c.change))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestJobNameTellsEverythingApart(t *testing.T) {
	base := envelope(intent.Observe)
	first, err := base.JobName()
	require.NoError(t, err)
	assert.Regexp(t, `^ptah-observe-shop-[0-9a-f]{16}$`, first)
	again, err := base.JobName()
	require.NoError(t, err)
	assert.Equal(t, first, again)
	for name, change := range map[string]func(*podspec.Envelope){
		"uid": func(e *podspec.Envelope) { e.ResourceUID = "x" }, "id": func(e *podspec.Envelope) { e.OperationID = "x" },
		"epoch": func(e *podspec.Envelope) { e.Epoch = "x" }, "input": func(e *podspec.Envelope) { e.InputFingerprint = "x" },
		"attempt": func(e *podspec.Envelope) { e.Attempt++ }, "type": func(e *podspec.Envelope) { e.Operation = intent.Plan },
	} {
		e := base
		change(&e)
		other, err := e.JobName()
		require.NoError(t, err)
		assert.NotEqual(t, first[len(first)-16:], other[len(other)-16:], name)
	}
	_, err = podspec.Envelope{Operation: intent.History}.JobName()
	require.Error(t, err)
}

func TestJobNameFitsForEveryResource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := envelope(rapid.SampledFrom(operations).Draw(t, "operation"))
		if rapid.Bool().Draw(t, "migration") {
			e.Family, e.Operation = podspec.Migration, rapid.SampledFrom([]intent.Operation{intent.Resolve, intent.Verify, intent.History, intent.Apply}).Draw(t, "operation of a migration")
		}
		e.Name = rapid.StringMatching(`[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?`).Filter(func(s string) bool {
			return len(validation.IsDNS1123Subdomain(s)) == 0
		}).Draw(t, "name")
		name, err := e.JobName()
		require.NoError(t, err)
		require.LessOrEqual(t, len(name), 57)
		require.Empty(t, validation.IsDNS1123Subdomain(name), name)
		require.True(t, podspec.ReservedPrefix(name))
		require.True(t, podspec.GeneratedName(name+"-abc12", name+"-", name))
	})
}

func TestGeneratedName(t *testing.T) {
	long := strings.Repeat("j", 60)
	cases := map[string]struct {
		pod, generate, job string
		want               bool
	}{
		"as made":               {"job-abc12", "job-", "job", true},
		"cut prefix":            {long[:58] + "abc12", long + "-", long, true},
		"uncut long prefix":     {long + "-abc12", long + "-", long, false},
		"four characters":       {"job-abc1", "job-", "job", false},
		"six characters":        {"job-abc123", "job-", "job", false},
		"upper case":            {"job-ABC12", "job-", "job", false},
		"another prefix":        {"job2-abc12", "job2-", "job", false},
		"name alone":            {"job-abc12", "", "job", false},
		"generateName no dash":  {"jobabc12", "job", "job", false},
		"nothing":               {"", "", "", false},
		"a dash in the suffix":  {"job--bc12", "job-", "job", false},
		"an empty job's prefix": {"-abc12", "-", "", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, podspec.GeneratedName(c.pod, c.generate, c.job))
		})
	}
}

func TestDeadlines(t *testing.T) {
	start, end := podspec.Deadlines(at, 30)
	assert.Equal(t, at.Add(15*time.Second), start)
	assert.Equal(t, at.Add(30*time.Second), end)
	assert.Equal(t, 90*time.Second, podspec.LeaseDuration(30), "the shortest Apply Lease of the contract's time table")
	assert.False(t, podspec.NothingWritesAfter(end).After(at.Add(podspec.LeaseDuration(30))), "a Lease taken at dispatch covers everything that may write")
}

func TestBuildSharesNothingWithTheRequest(t *testing.T) {
	r := request(intent.Plan)
	r.Execution.NodeSelector = map[string]string{"a": "b"}
	before, err := json.Marshal(r)
	require.NoError(t, err)
	job, err := podspec.Build(r)
	require.NoError(t, err)
	job.Spec.Template.Spec.NodeSelector["a"] = "changed"
	job.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("9")
	after, err := json.Marshal(r)
	require.NoError(t, err)
	assert.JSONEq(t, string(before), string(after))
}

// A Job goes with the resource that it works for. It has no time to live of its own while nobody read its result.
func TestJobBelongsToItsResource(t *testing.T) {
	yes := true
	for kind, r := range map[string]podspec.Request{"PtahSchema": request(intent.Apply), "PtahMigration": request(intent.Resolve, ofMigration)} {
		job, err := podspec.Build(r)
		require.NoError(t, err)
		assert.Equal(t, []metav1.OwnerReference{{
			APIVersion: "operator.ptah.run/v1alpha1", Kind: kind, Name: r.Name, UID: r.ResourceUID, Controller: &yes, BlockOwnerDeletion: &yes,
		}}, job.OwnerReferences)
		assert.Equal(t, r.Namespace, job.Namespace)
		assert.Nil(t, job.Spec.TTLSecondsAfterFinished)
		assert.Empty(t, job.Finalizers)
	}
}

func ofMigration(r *podspec.Request) { r.Family = podspec.Migration }
