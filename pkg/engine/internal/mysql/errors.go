package mysql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/frame"
)

// Numbers of the server's errors that are told apart.
const (
	errAccessDeniedDatabase = 1044
	errAccessDeniedUser     = 1045
	errUnknownDatabase      = 1049
	errTableAccess          = 1142
	errColumnAccess         = 1143
	errLockWait             = 1205
	errAccessDenied         = 1227
	errGlobalVariable       = 1229
	errReadOnlyVariable     = 1238
	errUnknownVariable      = 1193
	errTooManyConnections   = 1040
	errRunningReadOnly      = 1290
	errInterrupted          = 1317
	errMaxExecution         = 3024
	errReadOnlyTransaction  = 1792
	errReadOnlyMode         = 1836
	errStatementTimeout     = 1969
	errKilled               = 1927
	errShutdown             = 1053
	errHostDenied           = 1130
	errAuthPlugin           = 1251
	errProcAccess           = 1370
	errMustChangePassword   = 1820
)

// number is the server's number of an error; 0 where the server said none.
func number(err error) uint16 {
	var e *driver.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

func isOneOf(err error, numbers ...uint16) bool { return slices.Contains(numbers, number(err)) }

// connectFault turns an error of opening a connection into ours. Nothing of the driver's or the server's text is copied.
func connectFault(err error, timeout time.Duration) *fault.Error {
	var ours *fault.Error
	if errors.As(err, &ours) {
		return ours
	}
	if number(err) != 0 {
		return serverFault(err, "opening a connection")
	}
	wrap := func(code frame.Code, reason string) *fault.Error { return fault.Wrap(err, code, "%s", reason) }
	if reason := tlsReason(err); reason != "" {
		return wrap(frame.CodeDatabaseTLS, reason)
	}
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.Is(err, driver.ErrCleartextPassword), errors.Is(err, driver.ErrNativePassword), errors.Is(err, driver.ErrOldPassword), errors.Is(err, driver.ErrUnknownPlugin):
		return wrap(frame.CodeDatabaseAuthentication, "the server and the client agree on no way to authenticate")
	case errors.As(err, &dns) && dns.IsNotFound:
		return wrap(frame.CodeDatabaseUnreachable, "the host name of the database does not resolve")
	case errors.As(err, &dns):
		return wrap(frame.CodeDatabaseUnreachable, "the host name of the database cannot be looked up")
	case errors.Is(err, syscall.ECONNREFUSED):
		return wrap(frame.CodeDatabaseUnreachable, "the database refuses connections: nothing listens at the host and port of the URL")
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return wrap(frame.CodeDatabaseUnreachable, "there is no route to the database")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return wrap(frame.CodeDatabaseUnreachable, "the database did not answer within "+timeout.String())
	}
	return wrap(frame.CodeDatabaseUnreachable, "the connection to the database broke while it was being opened")
}

func tlsReason(err error) string {
	var (
		verification *tls.CertificateVerificationError
		record       tls.RecordHeaderError
		alert        tls.AlertError
		authority    x509.UnknownAuthorityError
		invalid      x509.CertificateInvalidError
		hostname     x509.HostnameError
	)
	switch {
	case errors.Is(err, driver.ErrNoTLS):
		return "the URL demands TLS and the server does not offer it"
	case errors.As(err, &authority):
		return "the server's certificate is signed by an authority that is not trusted"
	case errors.As(err, &hostname):
		return "the server's certificate is not valid for the host name in the URL"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate has expired or is not valid yet"
	case errors.As(err, &invalid):
		return "the server's certificate is not valid"
	case errors.As(err, &verification), errors.As(err, &record), errors.As(err, &alert), strings.HasPrefix(err.Error(), "tls: "):
		return "the TLS handshake with the server did not succeed"
	}
	return ""
}

// meaning says what a server's error means outside of a planned statement.
func meaning(n uint16) (frame.Code, string) {
	switch n {
	case errAccessDeniedUser, errHostDenied, errAuthPlugin, errMustChangePassword:
		return frame.CodeDatabaseAuthentication, "the server refused the user or the password"
	case errUnknownDatabase:
		return frame.CodeDatabaseUnreachable, "the database in the URL does not exist"
	case errAccessDeniedDatabase, errTableAccess, errColumnAccess, errAccessDenied, errProcAccess:
		return frame.CodeDatabasePermission, "the account lacks a privilege"
	case errRunningReadOnly, errReadOnlyMode, errReadOnlyTransaction:
		return frame.CodeDatabasePermission, "the server is read-only"
	case errLockWait:
		return frame.CodeLockTimeout, "a lock was not obtained in time"
	case errTooManyConnections:
		return frame.CodeDatabaseUnreachable, "the server has no connection left"
	case errInterrupted, errStatementTimeout, errMaxExecution:
		return frame.CodeDeadlineExceeded, "the statement was killed or ran into its timeout"
	case errKilled, errShutdown:
		return frame.CodeDatabaseUnreachable, "the server ended the session"
	}
	return frame.CodeInternal, "the server refused"
}

func serverFault(err error, doing string) *fault.Error {
	n := number(err)
	code, reason := meaning(n)
	return fault.Wrap(err, code, "%s: %s (error %d)", doing, reason, n)
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
	if number(err) != 0 {
		return serverFault(err, doing)
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
