package artifact

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"oras.land/oras-go/v2/content"

	"github.com/ptah-run/ptah/pkg/frame"
)

// fakeRegistry is a real registry implementation behind a switchable front: authentication, faults and a record of requests.
type fakeRegistry struct {
	*httptest.Server
	mu       sync.Mutex
	requests []recorded
	// front, where set, may answer a request itself; it reports whether it did.
	front func(w http.ResponseWriter, r *http.Request) bool
	inner http.Handler
}

type recorded struct{ method, path, authorization string }

type registryOptions struct {
	tls         bool
	noReferrers bool
	basic       string // user:password
}

func newRegistry(t *testing.T, o registryOptions) *fakeRegistry {
	t.Helper()
	f := &fakeRegistry{inner: registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(!o.noReferrers))}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, recorded{r.Method, r.URL.Path, r.Header.Get("Authorization")})
		front := f.front
		f.mu.Unlock()
		if o.basic != "" && !authorised(r, o.basic) {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"leaky server text"}]}`, http.StatusUnauthorized)
			return
		}
		if front == nil || !front(w, r) {
			f.inner.ServeHTTP(w, r)
		}
	})
	f.Server = httptest.NewUnstartedServer(handler)
	f.Config.ErrorLog = log.New(io.Discard, "", 0)
	if o.tls {
		f.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		f.StartTLS()
	} else {
		f.Start()
	}
	t.Cleanup(f.Close)
	return f
}

func authorised(r *http.Request, basic string) bool {
	user, password, ok := r.BasicAuth()
	return ok && user+":"+password == basic
}

// intercept installs a front.
func (f *fakeRegistry) intercept(front func(w http.ResponseWriter, r *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.front = front
}

func (f *fakeRegistry) recorded() []recorded {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]recorded(nil), f.requests...)
}

func (f *fakeRegistry) host() string {
	_, host, _ := strings.Cut(f.URL, "://")
	return host
}

func (f *fakeRegistry) ref(suffix string) string { return Scheme + f.host() + "/app/orders" + suffix }

func (f *fakeRegistry) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw})
}

// client talks plain HTTP anonymously, or TLS with the server's own certificate as the private CA.
func (f *fakeRegistry) client(t *testing.T, o Options) *Client {
	t.Helper()
	if f.TLS == nil {
		o.PlainHTTP = true
	} else if o.CAPEM == nil {
		o.CAPEM = f.ca()
	}
	c, err := New(o)
	require.NoError(t, err)
	return c
}

// put stores a blob or manifest the way a hostile publisher would: without any of our checks. It returns the descriptor.
func (f *fakeRegistry) put(t *testing.T, mediaType string, data []byte) ocispec.Descriptor {
	t.Helper()
	d := content.NewDescriptorFromBytes(mediaType, data)
	target := f.URL + "/v2/app/orders/blobs/uploads/?digest=" + d.Digest.String()
	method := http.MethodPost
	if strings.Contains(mediaType, "manifest") || strings.Contains(mediaType, "index") {
		target, method = f.URL+"/v2/app/orders/manifests/"+d.Digest.String(), http.MethodPut
	}
	f.send(t, method, target, mediaType, data)
	return d
}

func (f *fakeRegistry) send(t *testing.T, method, target, mediaType string, data []byte) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(string(data)))
	request.Header.Set("Content-Type", mediaType)
	response := httptest.NewRecorder()
	f.inner.ServeHTTP(response, request)
	require.Less(t, response.Code, 300, response.Body.String())
}

// tag lets a tag name a manifest.
func (f *fakeRegistry) tag(t *testing.T, tag string, m ocispec.Manifest) ocispec.Descriptor {
	t.Helper()
	data, err := json.Marshal(m)
	require.NoError(t, err)
	f.send(t, http.MethodPut, f.URL+"/v2/app/orders/manifests/"+tag, m.MediaType, data)
	return content.NewDescriptorFromBytes(m.MediaType, data)
}

// layer stores content and returns its descriptor with a title.
func (f *fakeRegistry) layer(t *testing.T, mediaType, title string, data []byte) ocispec.Descriptor {
	t.Helper()
	d := f.put(t, mediaType, data)
	if title != "" {
		d.Annotations = map[string]string{ocispec.AnnotationTitle: title}
	}
	return d
}

// requireCode asserts a typed refusal and that nothing foreign is in its text.
func requireCode(t *testing.T, err error, code frame.Code, contains string) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, code, e.Code, e.Message)
	assert.Contains(t, e.Message, contains)
	assert.LessOrEqual(t, len(e.Message), frame.MaxMessage)
	for _, secret := range []string{"hunter2", "leaky server text", "s3cr3t-token"} {
		assert.NotContains(t, e.Message, secret)
	}
}
