package artifact

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"unicode/utf8"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/ptah-run/ptah/pkg/frame"
)

// Error is a typed refusal. Message is written here, holds no credential and nothing that a server said, and is at most
// frame.MaxMessage bytes.
type Error struct {
	Code    frame.Code
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// CodeOf returns the code of an error of this package, and CodeInternal for any other.
func CodeOf(err error) frame.Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return frame.CodeInternal
}

func refuse(code frame.Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: clip(fmt.Sprintf(format, args...))}
}

// clip shortens a message to the bound of the frame, never inside a rune.
func clip(s string) string {
	const ellipsis = " …"
	if len(s) <= frame.MaxMessage {
		return s
	}
	cut := frame.MaxMessage - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + ellipsis
}

// errRedirectDowngrade and errRedirectLoop are what our redirect check answers; classify words them.
var (
	errRedirectDowngrade = errors.New("redirect from https to http")
	errRedirectLoop      = errors.New("too many redirects")
)

// classify turns whatever the registry client returned into a typed refusal. doing is a gerund phrase ("resolving oci://…"); ctx is
// the caller's context, which tells an outside cancellation from a registry that does not answer.
func classify(ctx context.Context, doing string, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	code, why := cause(ctx, err)
	return refuse(code, "%s: %s", doing, why)
}

func cause(ctx context.Context, err error) (frame.Code, string) {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return frame.CodeCancelled, "cancelled from outside"
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return frame.CodeDeadlineExceeded, "the deadline of the operation passed"
	case errors.Is(err, errdef.ErrNotFound):
		return frame.CodeArtifactNotFound, "the registry has no such repository, tag or digest"
	case errors.Is(err, errdef.ErrSizeExceedsLimit), errors.Is(err, errdef.ErrTooManyPages):
		return frame.CodeArtifactTooLarge, "the registry's answer is over the size bound"
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData), errors.Is(err, content.ErrInvalidDescriptorSize):
		return frame.CodeArtifactInvalid, "the registry served other bytes than the digest names"
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return frame.CodeRegistryUnauthorized, "the registry asks for credentials and none were given"
	}
	// The library has no typed error for two answers that contradict each other; its text is read, not passed on.
	for _, contradiction := range []string{"mismatch Content-Length", "mismatch response Content-Type", "digest mismatch in "} {
		if strings.Contains(err.Error(), contradiction) {
			return frame.CodeArtifactInvalid, "the registry served content of another size, type or digest than it was asked for"
		}
	}
	// The library has no typed error for a token where a password is asked; its text is read, not passed on.
	if strings.Contains(err.Error(), "missing username or password") {
		return frame.CodeRegistryUnauthorized, "the registry asks for user name and password, and only a token was given"
	}
	var answer *errcode.ErrorResponse
	if errors.As(err, &answer) {
		return causeOfStatus(answer)
	}
	return frame.CodeRegistryUnreachable, causeOfTransport(err)
}

func causeOfStatus(answer *errcode.ErrorResponse) (frame.Code, string) {
	switch answer.StatusCode {
	case http.StatusUnauthorized:
		return frame.CodeRegistryUnauthorized, "the registry refused the credentials, or asks for some (HTTP 401)"
	case http.StatusForbidden:
		return frame.CodeRegistryUnauthorized, "the registry does not allow this to these credentials (HTTP 403)"
	case http.StatusNotFound:
		return frame.CodeArtifactNotFound, "the registry has no such repository, tag or digest"
	case http.StatusRequestEntityTooLarge:
		return frame.CodeArtifactTooLarge, "the registry does not take a body of this size (HTTP 413)"
	case http.StatusTooManyRequests:
		return frame.CodeRegistryUnreachable, "the registry limits the request rate (HTTP 429)"
	default:
		return frame.CodeRegistryUnreachable, fmt.Sprintf("the registry answered HTTP %d", answer.StatusCode)
	}
}

// causeOfTransport words a failure below the registry protocol. The order matters: a certificate error is also an OpError.
func causeOfTransport(err error) string {
	if why, ok := causeOfTLS(err); ok {
		return why
	}
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, errRedirectDowngrade):
		return "the registry redirects from https to http, which is refused"
	case errors.Is(err, errRedirectLoop):
		return "the registry redirects too often"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "the registry speaks plain HTTP where HTTPS is required (--plain-http, or transport.plainHTTP in a resource, only if that is intended)"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host name of the registry does not resolve"
	case errors.As(err, &dns):
		return "the host name of the registry could not be looked up"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "no route to the registry"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "the registry did not answer in time"
	case errors.Is(err, syscall.ECONNRESET):
		return "the registry closed the connection"
	default:
		return "the registry did not answer, or gave an answer that is not of the OCI distribution protocol"
	}
}

func causeOfTLS(err error) (string, bool) {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &authority):
		return "the registry's certificate is signed by an authority that is not trusted (a private one belongs into caFrom)", true
	case errors.As(err, &host):
		return "the registry's certificate is for another host name", true
	case errors.As(err, &invalid):
		if invalid.Reason == x509.Expired {
			return "the registry's certificate has expired or is not valid yet", true
		}
		return "the registry's certificate is not valid", true
	case errors.As(err, &verification):
		return "the registry's certificate could not be verified", true
	case errors.As(err, &record):
		return "the registry does not speak TLS on this port", true
	case errors.As(err, &alert):
		return "the registry broke off the TLS handshake", true
	default:
		return "", false
	}
}

// quoted makes a name of foreign origin printable and short enough for a message.
func quoted(name string) string {
	const most = 120
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return fmt.Sprintf("%q", name)
}
