package executor_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

const (
	emptyModel = `{"format_version":1,"dialect":"postgres"}` + "\n"
	policyText = "version: 1\nartifact_types: [" + v1alpha1.SchemaArtifactType + "]\n"
)

// hub is an in-process OCI registry that counts requests and may ask for a password.
type hub struct {
	t        *testing.T
	server   *httptest.Server
	host     string
	password string // empty for anonymous

	mu       sync.Mutex
	requests int
}

func newHub(t *testing.T, password string, secure bool) *hub {
	t.Helper()
	h := &hub{t: t, password: password}
	content := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.requests++
		h.mu.Unlock()
		if user, pw, ok := r.BasicAuth(); h.password != "" && (!ok || user != "app" || pw != h.password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		content.ServeHTTP(w, r)
	})
	h.server = httptest.NewUnstartedServer(handler)
	h.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		h.server.StartTLS()
	} else {
		h.server.Start()
	}
	t.Cleanup(h.server.Close)
	_, h.host, _ = strings.Cut(h.server.URL, "://")
	return h
}

func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests
}

// caPEM is the authority of the hub's certificate.
func (h *hub) caPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.server.Certificate().Raw})
}

func (h *hub) reference() string { return "oci://" + h.host + "/app/schema:v1" }

// push publishes a model the way kubectl ptah push does and gives the pinned reference.
func (h *hub) push(model string) string {
	h.t.Helper()
	options := artifact.Options{PlainHTTP: h.server.TLS == nil}
	if h.server.TLS != nil {
		options.CAPEM = h.caPEM()
	}
	if h.password != "" {
		options.Credential = artifact.Credential{Username: "app", Password: h.password}
	}
	client, err := artifact.New(options)
	require.NoError(h.t, err)
	pinned, err := client.PushSchema(context.Background(), h.reference(), []byte(model), []artifact.File{{Name: "shop.sql", Data: []byte("-- shop\n")}}, artifact.PushOptions{})
	require.NoError(h.t, err)
	return pinned
}

// layer of a hand-made artifact.
type rawLayer struct {
	mediaType, title string
	data             []byte
	size             int64 // what the manifest claims; the truth where 0
}

// pushRaw publishes whatever a hostile publisher likes, without any check, and gives the pinned reference.
func (h *hub) pushRaw(artifactType string, layers ...rawLayer) string {
	h.t.Helper()
	type descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int64             `json:"size"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	upload := func(data []byte) string {
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
		resp, err := http.Post(h.server.URL+"/v2/app/schema/blobs/uploads/?digest="+digest, "application/octet-stream", bytes.NewReader(data))
		require.NoError(h.t, err)
		defer func() { _ = resp.Body.Close() }()
		require.Equal(h.t, http.StatusCreated, resp.StatusCode)
		return digest
	}
	var list []descriptor
	for _, l := range layers {
		d := descriptor{MediaType: l.mediaType, Digest: upload(l.data), Size: int64(len(l.data)), Annotations: map[string]string{"org.opencontainers.image.title": l.title}}
		if l.size != 0 {
			d.Size = l.size
		}
		list = append(list, d)
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "artifactType": artifactType,
		"config": descriptor{MediaType: "application/vnd.oci.empty.v1+json", Digest: upload([]byte("{}")), Size: 2}, "layers": list,
	})
	require.NoError(h.t, err)
	req, err := http.NewRequest(http.MethodPut, h.server.URL+"/v2/app/schema/manifests/v1", bytes.NewReader(manifest))
	require.NoError(h.t, err)
	req.Header.Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(h.t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(h.t, http.StatusCreated, resp.StatusCode)
	return "oci://" + h.host + "/app/schema:v1@" + fmt.Sprintf("sha256:%x", sha256.Sum256(manifest))
}

// withSource points the order at an artifact of the hub.
func (p *pod) withSource(h *hub, pinned string) {
	p.intent.Artifact = &intent.Artifact{
		Kind: intent.SchemaArtifact, RequestedReference: h.reference(), ResolvedReference: pinned, PlainHTTP: h.server.TLS == nil, CustomCA: h.server.TLS != nil,
	}
	if h.server.TLS != nil {
		p.write(v1alpha1.CASourceMountPath+"/"+v1alpha1.CAFileName, h.caPEM())
	}
	if h.password == "" {
		return
	}
	p.intent.Artifact.AuthMode = "Environment"
	p.env[v1alpha1.RegistryUsernameEnv], p.env[v1alpha1.RegistryPasswordEnv] = "app", h.password
	p.env[v1alpha1.GrantRegistryEnv] = h.host
	if h.server.TLS != nil {
		p.env[v1alpha1.GrantCASHA256Env] = artifact.Digest(h.caPEM())
	} else {
		p.env[v1alpha1.GrantAllowPlainHTTPEnv] = "true"
	}
}

func (p *pod) withPolicy(text string) {
	p.write(v1alpha1.PolicyMountPath+"/"+v1alpha1.PolicyFileName, []byte(text))
	p.intent.Policy = &intent.Policy{Digest: artifact.Digest([]byte(text))}
}

func TestResolveVerifyFetch(t *testing.T) {
	variants := map[string]struct {
		password string
		secure   bool
		change   func(*pod, *hub)
	}{
		"anonymous":          {"", false, nil},
		"password":           {sentinel, false, nil},
		"anonymous over TLS": {"", true, nil},
		"password over TLS":  {sentinel, true, nil},
		"docker configuration": {sentinel, false, func(p *pod, h *hub) {
			p.intent.Artifact.AuthMode = "DockerConfigJSON"
			delete(p.env, v1alpha1.RegistryUsernameEnv)
			delete(p.env, v1alpha1.RegistryPasswordEnv)
			entry := base64.StdEncoding.EncodeToString([]byte("app:" + sentinel))
			p.write(v1alpha1.DockerConfigPath+"/config.json", []byte(`{"auths":{"`+h.host+`":{"auth":"`+entry+`"}}}`))
		}},
	}
	for name, v := range variants {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, v.password, v.secure)
			pinned := h.push(emptyModel)
			in := func(op intent.Operation) *pod {
				p := newPod(t, op)
				p.withSource(h, pinned)
				if v.change != nil {
					v.change(p, h)
				}
				return p
			}
			p := in(intent.Resolve)
			resolved := p.succeeded(p.run("run")).Resolve
			assert.Equal(t, pinned, resolved.ResolvedReference)
			assert.Equal(t, v1alpha1.SchemaArtifactType, resolved.ArtifactType)

			p = in(intent.Verify)
			p.withPolicy(policyText)
			verified := p.succeeded(p.run("run")).Verify
			assert.Equal(t, []string{"artifact_types"}, verified.Requirements)
			assert.Equal(t, p.intent.Policy.Digest, verified.PolicyDigest)

			p = in(intent.Observe)
			credentials := map[string]string{}
			for _, key := range []string{v1alpha1.RegistryUsernameEnv, v1alpha1.RegistryPasswordEnv} {
				if value, ok := p.env[key]; ok {
					credentials[key] = value
					delete(p.env, key)
				}
			}
			p.silent(p.run("prepare"))
			assertInstalled(t, p)
			require.NoError(t, os.RemoveAll(filepath.Join(p.root, v1alpha1.CASourceMountPath))) // fetch uses the snapshot
			for key, value := range credentials {
				p.env[key] = value
			}
			p.silent(p.run("fetch"))
			model, err := os.ReadFile(filepath.Join(p.root, v1alpha1.WorkMountPath, "artifact/schema.json"))
			require.NoError(t, err)
			assert.Equal(t, emptyModel, string(model))
			assert.FileExists(t, filepath.Join(p.root, v1alpha1.WorkMountPath, "artifact/sources/shop.sql"))
		})
	}
}

func assertInstalled(t *testing.T, p *pod) {
	t.Helper()
	installed := filepath.Join(p.root, v1alpha1.RunnerBinary)
	info, err := os.Stat(installed)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), info.Mode())
	want, err := os.ReadFile(binary)
	require.NoError(t, err)
	got, err := os.ReadFile(installed)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got))
	entries, err := os.ReadDir(filepath.Dir(installed))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file stays")
}

func TestPrepareOfAnApplyOnlyInstalls(t *testing.T) {
	p := applyPod(t)
	p.silent(p.run("prepare"))
	assertInstalled(t, p)
	p.silent(p.run("prepare")) // a restarted init container
}

func TestPrepareReportsAReadOnlyVolume(t *testing.T) {
	p := applyPod(t)
	require.NoError(t, os.RemoveAll(filepath.Join(p.root, v1alpha1.RunnerMountPath)))
	p.failed(p.run("prepare"), frame.CodeConfigurationInvalid)
}

// A missing or different grant stops before any request, in every stage that checks it.
func TestGrantsAreCheckedBeforeAnyRequest(t *testing.T) {
	tests := map[string]struct {
		secure bool
		code   frame.Code
		change func(*pod, *hub)
	}{
		"docker configuration, no registry": {false, frame.CodeRegistryGrantRefused, func(p *pod, h *hub) {
			p.intent.Artifact.AuthMode = "DockerConfigJSON"
			p.write(v1alpha1.DockerConfigPath+"/config.json", []byte(`{"auths":{"`+h.host+`":{"username":"app","password":"`+sentinel+`"}}}`))
			delete(p.env, v1alpha1.GrantRegistryEnv)
		}},
		"no registry":          {false, frame.CodeRegistryGrantRefused, func(p *pod, _ *hub) { delete(p.env, v1alpha1.GrantRegistryEnv) }},
		"another registry":     {false, frame.CodeRegistryGrantRefused, func(p *pod, _ *hub) { p.env[v1alpha1.GrantRegistryEnv] = "registry.example" }},
		"registry with scheme": {false, frame.CodeRegistryGrantRefused, func(p *pod, h *hub) { p.env[v1alpha1.GrantRegistryEnv] = "http://" + h.host }},
		"no plain HTTP":        {false, frame.CodeRegistryGrantRefused, func(p *pod, _ *hub) { delete(p.env, v1alpha1.GrantAllowPlainHTTPEnv) }},
		"plain HTTP spelling":  {false, frame.CodeRegistryGrantRefused, func(p *pod, _ *hub) { p.env[v1alpha1.GrantAllowPlainHTTPEnv] = "True" }},
		"no CA digest":         {true, frame.CodeRegistryGrantRefused, func(p *pod, _ *hub) { delete(p.env, v1alpha1.GrantCASHA256Env) }},
		"another CA digest":    {true, frame.CodeRegistryGrantRefused, func(p *pod, _ *hub) { p.env[v1alpha1.GrantCASHA256Env] = someDigest }},
		"CA with a newline more": {true, frame.CodeRegistryGrantRefused, func(p *pod, h *hub) {
			p.write(v1alpha1.CASourceMountPath+"/"+v1alpha1.CAFileName, append(h.caPEM(), '\n'))
		}},
		"CA over 1 MiB": {true, frame.CodeConfigurationInvalid, func(p *pod, _ *hub) {
			p.write(v1alpha1.CASourceMountPath+"/"+v1alpha1.CAFileName, make([]byte, 1<<20+1))
		}},
		"anonymous, CA over 1 MiB": {true, frame.CodeConfigurationInvalid, func(p *pod, _ *hub) {
			p.intent.Artifact.AuthMode = ""
			p.write(v1alpha1.CASourceMountPath+"/"+v1alpha1.CAFileName, make([]byte, 1<<20+1))
		}},
		"CA empty": {true, frame.CodeConfigurationInvalid, func(p *pod, _ *hub) { p.write(v1alpha1.CASourceMountPath+"/"+v1alpha1.CAFileName, nil) }},
		"CA missing": {true, frame.CodeConfigurationInvalid, func(p *pod, _ *hub) {
			_ = os.Remove(filepath.Join(p.root, v1alpha1.CASourceMountPath, v1alpha1.CAFileName))
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, sentinel, tt.secure)
			for op, stage := range map[intent.Operation]string{intent.Resolve: "run", intent.Verify: "run", intent.Observe: "prepare", intent.Plan: "prepare"} {
				p := newPod(t, op)
				p.withSource(h, "oci://"+h.host+"/app/schema@"+someDigest)
				p.withPolicy(policyText)
				tt.change(p, h)
				p.failed(p.run(stage), tt.code)
				assert.NoFileExists(t, filepath.Join(p.root, v1alpha1.RunnerBinary), "nothing is installed for an operation that may not run")
			}
			assert.Zero(t, h.count(), "no request may be made")
		})
	}
}

// A ConfigMap that is updated while a Pod runs changes no trust root of that Pod: fetch uses the bytes that prepare judged.
func TestFetchTrustsTheSnapshotOfTheCA(t *testing.T) {
	for name, password := range map[string]string{"password": sentinel, "anonymous": ""} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, password, true)
			p := newPod(t, intent.Observe)
			p.withSource(h, h.push(emptyModel))
			user, secret := p.env[v1alpha1.RegistryUsernameEnv], p.env[v1alpha1.RegistryPasswordEnv]
			delete(p.env, v1alpha1.RegistryUsernameEnv)
			delete(p.env, v1alpha1.RegistryPasswordEnv)
			p.silent(p.run("prepare"))
			source, snapshot := v1alpha1.CASourceMountPath+"/"+v1alpha1.CAFileName, v1alpha1.CAMountPath+"/"+v1alpha1.CAFileName
			p.write(source, []byte("no certificate"))
			if password != "" {
				p.env[v1alpha1.RegistryUsernameEnv], p.env[v1alpha1.RegistryPasswordEnv] = user, secret
			}
			p.silent(p.run("fetch"))
			assert.FileExists(t, filepath.Join(p.root, v1alpha1.WorkMountPath, "artifact/schema.json"))

			require.NoError(t, os.RemoveAll(filepath.Join(p.root, v1alpha1.WorkMountPath, "artifact")))
			require.NoError(t, os.Remove(filepath.Join(p.root, snapshot)))
			p.write(snapshot, []byte("no certificate"))
			p.write(source, h.caPEM())
			p.failed(p.run("fetch"), frame.CodeConfigurationInvalid)
		})
	}
}

func TestRegistryFaults(t *testing.T) {
	model := rawLayer{v1alpha1.SchemaModelLayerMediaType, "schema.json", []byte(emptyModel), 0}
	tests := map[string]struct {
		stage  string
		code   frame.Code
		pinned func(*hub) string
		change func(*pod)
	}{
		"tag missing":       {"resolve", frame.CodeArtifactNotFound, nil, nil},
		"digest missing":    {"fetch", frame.CodeArtifactNotFound, nil, nil},
		"wrong type":        {"fetch", frame.CodeArtifactTypeRefused, func(h *hub) string { return h.pushRaw("application/vnd.example", model) }, nil},
		"wrong type, early": {"verify", frame.CodeArtifactTypeRefused, func(h *hub) string { return h.pushRaw(v1alpha1.MigrationArtifactType, model) }, nil},
		"wrong layer": {"fetch", frame.CodeArtifactTypeRefused, func(h *hub) string {
			return h.pushRaw(v1alpha1.SchemaArtifactType, rawLayer{"text/plain", "schema.sql", []byte("x"), 0})
		}, nil},
		"over size": {"fetch", frame.CodeArtifactTooLarge, func(h *hub) string {
			return h.pushRaw(v1alpha1.SchemaArtifactType, rawLayer{v1alpha1.SchemaModelLayerMediaType, "schema.json", []byte(emptyModel), 9 << 20})
		}, nil},
		"title leaves": {"fetch", frame.CodeArtifactInvalid, func(h *hub) string {
			return h.pushRaw(v1alpha1.SchemaArtifactType, model, rawLayer{v1alpha1.SourceLayerMediaType, "sources/../../../escaped", []byte("x"), 0})
		}, nil},
		"registry down": {"resolve", frame.CodeRegistryUnreachable, func(h *hub) string { h.server.Close(); return "" }, nil},
		"no credential": {"resolve", frame.CodeRegistryUnauthorized, nil, func(p *pod) {
			p.intent.Artifact.AuthMode = "Environment"
			p.env[v1alpha1.GrantRegistryEnv], _, _ = strings.Cut(strings.TrimPrefix(p.intent.Artifact.RequestedReference, "oci://"), "/")
			p.env[v1alpha1.GrantAllowPlainHTTPEnv] = "true"
		}},
		"no docker configuration": {"fetch", frame.CodeRegistryUnauthorized, nil, func(p *pod) { p.intent.Artifact.AuthMode = "DockerConfigJSON" }},
		"unknown mode":            {"fetch", frame.CodeConfigurationInvalid, nil, func(p *pod) { p.intent.Artifact.AuthMode = "Kerberos" }},
		"no artifact":             {"fetch", frame.CodeConfigurationInvalid, nil, func(p *pod) { p.intent.Artifact = nil }},
		"policy refuses": {"verify", frame.CodePolicyRefused, func(h *hub) string { return h.push(emptyModel) }, func(p *pod) {
			p.withPolicy("version: 1\nrequire_digest_pin: true\nrequire_signature: true\n")
		}},
		"policy replaced": {"verify", frame.CodePolicyInvalid, func(h *hub) string { return h.push(emptyModel) }, func(p *pod) {
			p.write(v1alpha1.PolicyMountPath+"/"+v1alpha1.PolicyFileName, []byte("version: 1\nrequire_digest_pin: true\n"))
		}},
		"policy broken":   {"verify", frame.CodePolicyInvalid, nil, func(p *pod) { p.withPolicy("version: 1\nodd: true\n") }},
		"policy missing":  {"verify", frame.CodePolicyInvalid, nil, func(p *pod) { require.NoError(p.t, os.RemoveAll(filepath.Join(p.root, v1alpha1.PolicyMountPath))) }},
		"policy unnamed":  {"verify", frame.CodeConfigurationInvalid, nil, func(p *pod) { p.intent.Policy = nil }},
		"deadline passed": {"fetch", frame.CodeDeadlineExceeded, nil, func(p *pod) { p.withDeadlines(-2, -1) }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, "", false)
			pinned := "oci://" + h.host + "/app/schema@" + someDigest
			if tt.pinned != nil {
				pinned = tt.pinned(h)
			}
			op, stage := map[string]intent.Operation{"resolve": intent.Resolve, "verify": intent.Verify, "fetch": intent.Observe}[tt.stage], "run"
			if tt.stage == "fetch" {
				stage = "fetch"
			}
			p := newPod(t, op)
			p.withSource(h, pinned)
			p.withPolicy(policyText)
			if tt.change != nil {
				tt.change(p)
			}
			p.failed(p.run(stage), tt.code)
			entries, err := os.ReadDir(filepath.Join(p.root, v1alpha1.WorkMountPath))
			require.NoError(t, err)
			assert.Empty(t, entries, "a failed fetch leaves nothing")
			assert.NoFileExists(t, filepath.Join(p.root, "escaped"))
		})
	}
}

func TestWrongPasswordIsNotEchoed(t *testing.T) {
	h := newHub(t, "the right one", false)
	p := newPod(t, intent.Resolve)
	p.withSource(h, "")
	p.env[v1alpha1.RegistryPasswordEnv] = sentinel
	p.failed(p.run("run"), frame.CodeRegistryUnauthorized)
}
