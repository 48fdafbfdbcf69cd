package artifact

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/ptah-run/ptah/pkg/frame"
)

// Bounds of talking to a registry. A registry that is down is reported after at most connectTimeout × attempts plus the short waits
// between them, about 15 s; one that accepts a connection and then stays silent, after responseTimeout.
const (
	DefaultTimeout  = 2 * time.Minute // of one operation, all its requests together
	MaxCA           = 1 << 20         // bytes of a private CA bundle
	connectTimeout  = 4 * time.Second
	responseTimeout = 15 * time.Second
	retries         = 2
	retryMaxWait    = 2 * time.Second
	maxRedirects    = 5
	maxReferrerPage = 16
	transfers       = 6       // layers under way at once
	maxManifest     = 4 << 20 // bytes
	defaultAgent    = "ptah"
)

// Options say how registries are reached. The zero value is HTTPS with the system's roots, anonymous.
type Options struct {
	PlainHTTP  bool
	CAPEM      []byte // roots added to the system's, at most MaxCA bytes; not together with PlainHTTP
	Credential Credential
	UserAgent  string
	Timeout    time.Duration // of one operation; DefaultTimeout where zero
}

// Client talks to registries. It is safe for concurrent use.
type Client struct {
	options Options
	http    *http.Client
	login   login
}

// New checks the options. It makes no request.
func New(o Options) (*Client, error) {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.UserAgent == "" {
		o.UserAgent = defaultAgent
	}
	roots, err := trustedRoots(o)
	if err != nil {
		return nil, err
	}
	lg, err := newLogin(o.Credential)
	if err != nil {
		return nil, err
	}
	return &Client{options: o, http: httpClient(roots), login: lg}, nil
}

// trustedRoots is nil where the system's roots suffice.
func trustedRoots(o Options) (*x509.CertPool, error) {
	if len(o.CAPEM) == 0 {
		return nil, nil //nolint:nilnil // crypto/tls reads a nil pool as "the system's roots"
	}
	if o.PlainHTTP {
		return nil, refuse(frame.CodeConfigurationInvalid, "reading the transport: plainHTTP and a private CA exclude each other")
	}
	if len(o.CAPEM) > MaxCA {
		return nil, refuse(frame.CodeConfigurationInvalid, "reading the private CA: %d bytes are over the bound of 1 MiB", len(o.CAPEM))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(o.CAPEM) {
		return nil, refuse(frame.CodeConfigurationInvalid, "reading the private CA: it holds no PEM certificate")
	}
	return pool, nil
}

func httpClient(roots *x509.CertPool) *http.Client {
	base := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   connectTimeout,
		ResponseHeaderTimeout: responseTimeout,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   transfers,
		IdleConnTimeout:       30 * time.Second,
	}
	policy := &retry.GenericPolicy{
		Retryable: retryable,
		Backoff:   retry.DefaultBackoff,
		MinWait:   200 * time.Millisecond,
		MaxWait:   retryMaxWait,
		MaxRetry:  retries,
	}
	return &http.Client{
		Transport:     &retry.Transport{Base: base, Policy: func() retry.Policy { return policy }},
		CheckRedirect: checkRedirect,
	}
}

// retryable repeats what a moment may cure: a lost connection, a dial that timed out, 408, 429 and 5xx. A registry that accepted the
// connection and then said nothing is not asked again: three such waits would look like a hang.
func retryable(resp *http.Response, err error) (bool, error) {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() && !isDial(err) {
		return false, err
	}
	return retry.DefaultPredicate(resp, err)
}

func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// checkRedirect never lets a request leave TLS. The Authorization header is dropped by the registry client whenever a redirect leaves
// the origin; TestRedirectCarriesNoCredential holds it to that.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return errRedirectLoop
	}
	if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errRedirectDowngrade
	}
	return nil
}

// within bounds one operation. The returned context is for requests, the caller's own tells classify who ran out of time.
func (c *Client) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.options.Timeout)
}

// repository opens a client for one repository. Its credential goes to that repository's authority and nowhere else.
func (c *Client) repository(ctx context.Context, ref Reference) (*remote.Repository, error) {
	credentials, err := c.login.forAuthority(ctx, ref.Authority())
	if err != nil {
		return nil, err
	}
	host := ref.Authority()
	if host == hubAuthority {
		host = hubHost // the client library makes the same substitution, and knows the hub's scopes by this name
	}
	return &remote.Repository{
		Reference:            registry.Reference{Registry: host, Repository: ref.Repository},
		PlainHTTP:            c.options.PlainHTTP,
		Client:               c.authenticated(ref.Authority(), credentials),
		ManifestMediaTypes:   []string{ocispec.MediaTypeImageManifest, ocispec.MediaTypeImageIndex},
		MaxMetadataBytes:     maxManifest,
		ReferrerListMaxPages: maxReferrerPage,
		SkipReferrersGC:      true,
	}, nil
}

func (c *Client) authenticated(authority string, candidates []auth.Credential) remote.Client {
	clients := make([]*auth.Client, 0, len(candidates))
	for _, credential := range candidates {
		clients = append(clients, &auth.Client{
			Client:     c.http,
			Header:     http.Header{"User-Agent": {c.options.UserAgent}},
			Credential: auth.StaticCredential(authority, credential),
			Cache:      auth.NewCache(),
			ClientID:   defaultAgent,
		})
	}
	return &firstAccepted{clients: clients}
}
