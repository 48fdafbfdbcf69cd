package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/frame"
)

// SQLSTATEs that are told apart.
const (
	stateUndefinedDatabase  = "3D000"
	statePermission         = "42501"
	stateLockTimeout        = "55P03"
	stateQueryCanceled      = "57014"
	stateReadOnly           = "25006"
	stateTooManyConnections = "53300"
	stateCannotCoerce       = "42846"
	stateDuplicateDatabase  = "42P04"
	stateDuplicateObject    = "42710"
)

// sqlState is the server's code of an error; "" where the server said none.
func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// connectFault turns an error of opening a connection into ours. Nothing of the library's text is copied: it holds the user, the host
// and sometimes more.
func connectFault(err error, timeout time.Duration) *fault.Error {
	wrap := func(code frame.Code, format string, args ...any) *fault.Error {
		return fault.Wrap(err, code, format, args...)
	}
	if state := sqlState(err); state != "" {
		return stateFault(err, state, "opening a connection")
	}
	switch message := err.Error(); {
	case isTLS(err), strings.Contains(message, "server refused TLS connection"), strings.Contains(message, "sslcertmode"):
		return wrap(frame.CodeDatabaseTLS, "%s", tlsReason(err))
	case strings.Contains(message, "SASL"), strings.Contains(message, "SCRAM"), strings.Contains(message, "unknown authentication"), strings.Contains(message, "require_auth"):
		return wrap(frame.CodeDatabaseAuthentication, "the server and the client agree on no way to authenticate")
	}
	return wrap(frame.CodeDatabaseUnreachable, "%s", unreachableReason(err, timeout))
}

func isTLS(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		record       tls.RecordHeaderError
		alert        tls.AlertError
		authority    x509.UnknownAuthorityError
		invalid      x509.CertificateInvalidError
		hostname     x509.HostnameError
		roots        x509.SystemRootsError
	)
	return errors.As(err, &verification) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &authority) ||
		errors.As(err, &invalid) || errors.As(err, &hostname) || errors.As(err, &roots)
}

func tlsReason(err error) string {
	var (
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		hostname  x509.HostnameError
		record    tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &authority):
		return "the server's certificate is signed by an authority that is not trusted"
	case errors.As(err, &hostname):
		return "the server's certificate is not valid for the host name in the URL"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate has expired or is not valid yet"
	case errors.As(err, &invalid):
		return "the server's certificate is not valid"
	case errors.As(err, &record):
		return "the server answered in plain text where TLS was expected"
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return "the URL demands TLS and the server refuses it"
	}
	return "the TLS handshake with the server did not succeed"
}

func unreachableReason(err error, timeout time.Duration) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host name of the database does not resolve"
	case errors.As(err, &dns):
		return "the host name of the database cannot be looked up"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the database refuses connections: nothing listens at the host and port of the URL"
	case errors.Is(err, syscall.ENOENT), errors.Is(err, os.ErrNotExist):
		return "the database's socket does not exist"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to the database"
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return "the database did not answer within " + timeout.String()
	}
	return "the connection to the database broke while it was being opened"
}

// stateFault is the error for a server answer outside of a planned statement.
func stateFault(err error, state, doing string) *fault.Error {
	code, reason := frame.CodeDatabaseUnreachable, "the server refused with SQLSTATE "+state
	switch {
	case strings.HasPrefix(state, "28"):
		code, reason = frame.CodeDatabaseAuthentication, "the server refused the user or the password (SQLSTATE "+state+")"
		var pg *pgconn.PgError
		if errors.As(err, &pg) && strings.Contains(pg.Message, "pg_hba.conf") && strings.Contains(pg.Message, "no encryption") {
			reason += "; it has no entry for this user, database and client without TLS"
		}
	case state == stateUndefinedDatabase:
		reason = "the database in the URL does not exist (SQLSTATE 3D000)"
	case state == statePermission:
		code, reason = frame.CodeDatabasePermission, "the role lacks a privilege (SQLSTATE 42501)"
	case state == stateReadOnly:
		code, reason = frame.CodeDatabasePermission, "the server or the role is read-only (SQLSTATE 25006)"
	case state == stateLockTimeout:
		code, reason = frame.CodeLockTimeout, "a lock was not obtained in time (SQLSTATE 55P03)"
	case state == stateTooManyConnections:
		reason = "the server has no connection left (SQLSTATE 53300)"
	case strings.HasPrefix(state, "57P"):
		reason = "the server is starting up, shutting down or ended the session (SQLSTATE " + state + ")"
	case state == stateQueryCanceled:
		code, reason = frame.CodeDeadlineExceeded, "the statement was cancelled or ran into its timeout (SQLSTATE 57014)"
	case strings.HasPrefix(state, "53"):
		code, reason = frame.CodeInternal, "the server lacks a resource such as memory, disk or lock table space (SQLSTATE "+state+")"
	case strings.HasPrefix(state, "08"):
	default:
		code = frame.CodeInternal
	}
	return fault.Wrap(err, code, "%s: %s", doing, reason)
}

// queryFault turns an error of one of our own queries into ours.
func queryFault(ctx context.Context, err error, doing string) *fault.Error {
	var ours *fault.Error
	if errors.As(err, &ours) {
		return ours
	}
	if ctx.Err() != nil {
		return interrupted(ctx, err).Prefix(doing)
	}
	if state := sqlState(err); state != "" {
		return stateFault(err, state, doing)
	}
	return fault.Wrap(err, frame.CodeDatabaseUnreachable, "%s: the connection to the database broke", doing)
}

// interrupted is the error for a context that has ended.
func interrupted(ctx context.Context, cause error) *fault.Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Wrap(cause, frame.CodeDeadlineExceeded, "the deadline of the operation has passed")
	}
	return fault.Wrap(cause, frame.CodeCancelled, "the operation was cancelled from outside")
}
