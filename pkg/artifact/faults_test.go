package artifact

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

func TestRegistryThatIsDown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	c, err := New(Options{PlainHTTP: true})
	require.NoError(t, err)
	start := time.Now()
	_, err = c.Resolve(t.Context(), Scheme+address+"/app:v1")
	requireCode(t, err, frame.CodeRegistryUnreachable, "connection refused")
	assert.Less(t, time.Since(start), 5*time.Second)
	_, err = c.Resolve(t.Context(), "oci://does-not-exist.invalid/app:v1")
	requireCode(t, err, frame.CodeRegistryUnreachable, "host name")
}

// TestPatience holds the sum of the waits to what the package promises: about 20 s for a registry that is down.
func TestPatience(t *testing.T) {
	assert.LessOrEqual(t, (retries+1)*connectTimeout+retries*retryMaxWait, 20*time.Second)
	assert.LessOrEqual(t, responseTimeout, 20*time.Second)
}

func TestRegistryThatStaysSilent(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	f.intercept(func(http.ResponseWriter, *http.Request) bool { <-release; return true })
	_, err := f.client(t, Options{Timeout: 200 * time.Millisecond}).Resolve(t.Context(), f.ref(":v1"))
	requireCode(t, err, frame.CodeRegistryUnreachable, "in time")

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err = f.client(t, Options{}).Resolve(ctx, f.ref(":v1"))
	requireCode(t, err, frame.CodeCancelled, "cancelled")

	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = f.client(t, Options{}).Resolve(ctx, f.ref(":v1"))
	requireCode(t, err, frame.CodeDeadlineExceeded, "deadline")
}

func TestStatusCodes(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	_, err := c.PushSchema(t.Context(), f.ref(":v1"), model, nil, PushOptions{})
	require.NoError(t, err)
	for status, want := range map[int]struct {
		code     frame.Code
		why      string
		requests int
	}{
		401: {frame.CodeRegistryUnauthorized, "401", 1},
		403: {frame.CodeRegistryUnauthorized, "403", 1},
		404: {frame.CodeArtifactNotFound, "no such", 1},
		429: {frame.CodeRegistryUnreachable, "429", 1 + retries},
		500: {frame.CodeRegistryUnreachable, "500", 1 + retries},
		503: {frame.CodeRegistryUnreachable, "503", 1 + retries},
	} {
		before := len(f.recorded())
		f.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"errors":[{"code":"DENIED","message":"leaky server text"}]}`))
			return true
		})
		_, err := c.Resolve(t.Context(), f.ref(":v1"))
		requireCode(t, err, want.code, want.why)
		assert.Len(t, f.recorded()[before:], want.requests, "%d", status)
	}
	f.intercept(nil)
	_, err = c.Resolve(t.Context(), f.ref(":missing"))
	requireCode(t, err, frame.CodeArtifactNotFound, "no such")
	_, err = c.Resolve(t.Context(), Scheme+f.host()+"/nobody/knows")
	requireCode(t, err, frame.CodeArtifactNotFound, "no such")
}

func TestOneHiccupIsForgiven(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	_, err := c.PushSchema(t.Context(), f.ref(":v1"), model, nil, PushOptions{})
	require.NoError(t, err)
	var seen atomic.Int32
	f.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		if seen.Add(1) > 1 {
			return false
		}
		w.WriteHeader(http.StatusBadGateway)
		return true
	})
	_, err = c.Resolve(t.Context(), f.ref(":v1"))
	require.NoError(t, err)
}

func TestNonsenseAnswers(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	c := f.client(t, Options{})
	for name, tc := range map[string]struct {
		headers map[string]string
		body    string
		code    frame.Code
	}{
		"a web page":       {map[string]string{"Content-Type": "text/html"}, "<html>leaky server text</html>", frame.CodeRegistryUnreachable},
		"a huge manifest":  {map[string]string{"Content-Type": "application/vnd.oci.image.manifest.v1+json", "Content-Length": "99999999", "Docker-Content-Digest": someDigest}, "", frame.CodeArtifactTooLarge},
		"another digest":   {map[string]string{"Content-Type": "application/vnd.oci.image.manifest.v1+json", "Content-Length": "2", "Docker-Content-Digest": someDigest}, "{}", frame.CodeArtifactInvalid},
		"not JSON":         {map[string]string{"Content-Type": "application/vnd.oci.image.manifest.v1+json", "Content-Length": "2", "Docker-Content-Digest": Digest([]byte("no"))}, "no", frame.CodeArtifactInvalid},
		"sha512":           {map[string]string{"Content-Type": "application/vnd.oci.image.manifest.v1+json", "Content-Length": "2", "Docker-Content-Digest": "sha512:" + strings.Repeat("0", 128)}, "{}", frame.CodeArtifactInvalid},
		"other media type": {map[string]string{"Content-Type": "application/vnd.oci.image.manifest.v1+json", "Content-Length": "47", "Docker-Content-Digest": Digest([]byte(`{"schemaVersion":2,"mediaType":"text/plain"}   `))}, `{"schemaVersion":2,"mediaType":"text/plain"}   `, frame.CodeArtifactInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			f.intercept(func(w http.ResponseWriter, r *http.Request) bool {
				for k, v := range tc.headers {
					w.Header().Set(k, v)
				}
				if r.Method == http.MethodGet {
					_, _ = w.Write([]byte(tc.body))
				}
				return true
			})
			_, err := c.Resolve(t.Context(), f.ref(":v1"))
			requireCode(t, err, tc.code, "")
		})
	}
}

// A registry that contradicts itself serves bad content; one whose answer breaks off is not there. Only the second is worth trying again as it is.
func TestContentThatIsNotWhatItWasCalled(t *testing.T) {
	const manifestType = "application/vnd.oci.image.manifest.v1+json"
	body := []byte(`{"schemaVersion":2}`)
	whole := Digest(body)
	head := func(w http.ResponseWriter, size int) {
		w.Header().Set("Content-Type", manifestType)
		w.Header().Set("Docker-Content-Digest", whole)
		w.Header().Set("Content-Length", strconv.Itoa(size))
	}
	for name, tc := range map[string]struct {
		get  func(w http.ResponseWriter)
		code frame.Code
		why  string
	}{
		"another length": {func(w http.ResponseWriter) {
			head(w, len(body)-1)
			_, _ = w.Write(body[1:])
		}, frame.CodeArtifactInvalid, "another size"},
		"another type": {func(w http.ResponseWriter) {
			head(w, len(body))
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write(body)
		}, frame.CodeArtifactInvalid, "another size, type"},
		"another digest": {func(w http.ResponseWriter) {
			head(w, len(body))
			w.Header().Set("Docker-Content-Digest", someDigest)
			_, _ = w.Write(body)
		}, frame.CodeArtifactInvalid, "digest"},
		"a short body that ends": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", manifestType)
			w.Header().Set("Docker-Content-Digest", whole)
			_, _ = w.Write(body[1:])
			w.(http.Flusher).Flush() // no length: the end of the chunks is the end
		}, frame.CodeArtifactInvalid, "other bytes"},
		"a body that breaks off": {func(w http.ResponseWriter) {
			head(w, len(body))
			_, _ = w.Write(body[1:])
		}, frame.CodeRegistryUnreachable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRegistry(t, registryOptions{})
			f.intercept(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodHead {
					head(w, len(body))
				} else {
					tc.get(w)
				}
				return true
			})
			_, err := f.client(t, Options{}).Resolve(t.Context(), f.ref("@"+whole))
			requireCode(t, err, tc.code, tc.why)
		})
	}
}

func TestTLSFaults(t *testing.T) {
	secure := newRegistry(t, registryOptions{tls: true})
	plain := newRegistry(t, registryOptions{})
	for name, tc := range map[string]struct {
		options Options
		ref     string
		why     string
	}{
		"authority not trusted":   {Options{}, secure.ref(":v1"), "not trusted"},
		"certificate of another":  {Options{CAPEM: secure.ca()}, strings.Replace(secure.ref(":v1"), "127.0.0.1", "localhost", 1), "another host name"},
		"TLS to a plain registry": {Options{}, plain.ref(":v1"), "plain HTTP"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(tc.options)
			require.NoError(t, err)
			_, err = c.Resolve(t.Context(), tc.ref)
			requireCode(t, err, frame.CodeRegistryUnreachable, tc.why)
		})
	}
	c, err := New(Options{PlainHTTP: true})
	require.NoError(t, err)
	_, err = c.Resolve(t.Context(), secure.ref(":v1"))
	requireCode(t, err, frame.CodeRegistryUnreachable, "400")
}

func TestOptionsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		options Options
		code    frame.Code
		why     string
	}{
		"CA with plain HTTP":    {Options{PlainHTTP: true, CAPEM: []byte("x")}, frame.CodeConfigurationInvalid, "exclude"},
		"CA is not PEM":         {Options{CAPEM: []byte("x")}, frame.CodeConfigurationInvalid, "no PEM"},
		"CA is too large":       {Options{CAPEM: make([]byte, MaxCA+1)}, frame.CodeConfigurationInvalid, "1 MiB"},
		"user without password": {Options{Credential: Credential{Username: "robot"}}, frame.CodeRegistryUnauthorized, "together"},
		"two forms":             {Options{Credential: Credential{Username: "robot", Password: "hunter2", Token: "s3cr3t-token"}}, frame.CodeConfigurationInvalid, "more than one"},
		"token with newline":    {Options{Credential: Credential{Token: "s3cr3t-token\n"}}, frame.CodeRegistryUnauthorized, "blank"},
		"config is not JSON":    {Options{Credential: Credential{DockerConfigJSON: []byte("hunter2")}}, frame.CodeRegistryUnauthorized, "not the JSON"},
		"auth is not base64":    {Options{Credential: Credential{DockerConfigJSON: []byte(`{"auths":{"x":{"auth":"hunter2!"}}}`)}}, frame.CodeRegistryUnauthorized, "base64"},
		"config is too large":   {Options{Credential: Credential{DockerConfigJSON: make([]byte, maxDockerConfig+1)}}, frame.CodeRegistryUnauthorized, "1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.options)
			requireCode(t, err, tc.code, tc.why)
		})
	}
}

func TestBasicAuthentication(t *testing.T) {
	f := newRegistry(t, registryOptions{tls: true, basic: "robot:hunter2"})
	config := func(host, auth string) Credential {
		document, err := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte(auth))}}})
		require.NoError(t, err)
		return Credential{DockerConfigJSON: document}
	}
	for name, tc := range map[string]struct {
		credential Credential
		code       frame.Code
		why        string
	}{
		"password":                     {Credential{Username: "robot", Password: "hunter2"}, "", ""},
		"Docker configuration":         {config(f.host(), "robot:hunter2"), "", ""},
		"Docker configuration, URL":    {config("https://"+f.host()+"/v1/", "robot:hunter2"), "", ""},
		"anonymous":                    {Credential{}, frame.CodeRegistryUnauthorized, "asks for credentials"},
		"wrong password":               {Credential{Username: "robot", Password: "hunter3"}, frame.CodeRegistryUnauthorized, "401"},
		"Docker configuration, others": {config("other.example", "robot:hunter2"), frame.CodeRegistryUnauthorized, "no entry for " + f.host()},
		"Docker configuration, wrong":  {config(f.host(), "robot:hunter3"), frame.CodeRegistryUnauthorized, "401"},
		"a token where basic is asked": {Credential{Token: "s3cr3t-token"}, frame.CodeRegistryUnauthorized, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := f.client(t, Options{Credential: tc.credential})
			_, err := c.PushSchema(t.Context(), f.ref(":v1"), model, nil, PushOptions{})
			if tc.code == "" {
				require.NoError(t, err)
				return
			}
			requireCode(t, err, tc.code, tc.why)
		})
	}
}

// TestToken covers both kinds of token: one that the registry takes as it is, one that its token service exchanges.
func TestToken(t *testing.T) {
	f := newRegistry(t, registryOptions{})
	var exchanged atomic.Int32
	f.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			if r.FormValue("refresh_token") != "identity-token" {
				http.Error(w, "leaky server text", http.StatusUnauthorized)
				return true
			}
			exchanged.Add(1)
			_, _ = w.Write([]byte(`{"access_token":"bearer-token"}`))
			return true
		}
		if r.Header.Get("Authorization") == "Bearer bearer-token" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+f.URL+`/token",service="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	for token, exchanges := range map[string]int32{"bearer-token": 0, "identity-token": 1} {
		exchanged.Store(0)
		c := f.client(t, Options{Credential: Credential{Token: token}})
		_, err := c.PushSchema(t.Context(), f.ref(":"+token), []byte(`{"of":"`+token+`"}`), nil, PushOptions{})
		require.NoError(t, err, token)
		assert.GreaterOrEqual(t, exchanged.Load(), exchanges, token)
	}
	_, err := f.client(t, Options{Credential: Credential{Token: "s3cr3t-token"}}).Resolve(t.Context(), f.ref(":v1"))
	requireCode(t, err, frame.CodeRegistryUnauthorized, "refused the credentials")
}

// TestRedirectCarriesNoCredential sends reads to another host, which must get no credential even when it asks for one.
func TestRedirectCarriesNoCredential(t *testing.T) {
	origin := newRegistry(t, registryOptions{tls: true, basic: "robot:hunter2"})
	elsewhere := newRegistry(t, registryOptions{tls: true})
	both := append(origin.ca(), elsewhere.ca()...)
	publisher := elsewhere.client(t, Options{})
	copied, err := publisher.PushSchema(t.Context(), elsewhere.ref(":v1"), model, nil, PushOptions{})
	require.NoError(t, err)
	c := origin.client(t, Options{CAPEM: both, Credential: Credential{Username: "robot", Password: "hunter2"}})
	pinned, err := c.PushSchema(t.Context(), origin.ref(":v1"), model, nil, PushOptions{})
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(copied, pinned[strings.Index(pinned, "@"):]))

	for _, part := range []string{"/blobs/", "/manifests/"} {
		t.Run(part, func(t *testing.T) {
			origin.intercept(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, part) {
					return false
				}
				http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
				return true
			})
			before := len(elsewhere.recorded())
			require.NoError(t, c.Fetch(t.Context(), pinned, intent.SchemaArtifact, filepath.Join(t.TempDir(), "x")))
			arrived := elsewhere.recorded()[before:]
			assert.NotEmpty(t, arrived)
			for _, r := range arrived {
				assert.Empty(t, r.authorization, r.path)
			}
			elsewhere.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("WWW-Authenticate", `Basic realm="phishing"`)
				w.WriteHeader(http.StatusUnauthorized)
				return true
			})
			before = len(elsewhere.recorded())
			err := c.Fetch(t.Context(), pinned, intent.SchemaArtifact, filepath.Join(t.TempDir(), "x"))
			requireCode(t, err, frame.CodeRegistryUnauthorized, "")
			for _, r := range elsewhere.recorded()[before:] {
				assert.Empty(t, r.authorization, r.path)
			}
			elsewhere.intercept(nil)
		})
	}
}

func TestRedirectsAreBounded(t *testing.T) {
	secure := newRegistry(t, registryOptions{tls: true})
	plain := newRegistry(t, registryOptions{})
	c := secure.client(t, Options{})
	for why, target := range map[string]string{"from https to http": plain.URL, "redirects too often": secure.URL} {
		secure.intercept(func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, target+r.URL.Path, http.StatusTemporaryRedirect)
			return true
		})
		_, err := c.Resolve(t.Context(), secure.ref(":v1"))
		requireCode(t, err, frame.CodeRegistryUnreachable, why)
	}
	assert.Empty(t, plain.recorded())
}

func TestMessagesAreClipped(t *testing.T) {
	e := refuse(frame.CodeInternal, "%s", strings.Repeat("ä", frame.MaxMessage))
	assert.LessOrEqual(t, len(e.Message), frame.MaxMessage)
	assert.True(t, strings.HasSuffix(e.Message, " …"))
	assert.Equal(t, frame.CodeInternal, CodeOf(assert.AnError))
}
