package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Error is a request that did not succeed. Its text is ours; what the server or the network said stays inside, for errors.As.
type Error struct {
	doing string
	why   string
	err   error
}

// Error says what was being done, and why it did not work.
func (e *Error) Error() string {
	if e.doing == "" {
		return e.why
	}
	return e.doing + ": " + e.why
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.err }

// Why is the reason without what was being done.
func (e *Error) Why() string { return e.why }

// explain turns a request's error into words: what is missing, who may change it. The server's own text is kept where it is about the
// object, as an admission refusal is, and never where it could carry an address with a password.
func explain(err error, host, doing, verb, resource, namespace string) error {
	if err == nil {
		return nil
	}
	return &Error{doing: doing, why: reason(err, host, verb, resource, namespace), err: err}
}

func reason(err error, host, verb, resource, namespace string) string {
	switch {
	case KindMissing(err):
		return "this cluster does not know the kind: Ptah's CRDs are not installed, or are older than this plugin"
	case apierrors.IsNotFound(err):
		return "not found"
	case IsAdmissionRefusal(err):
		return admissionText(err)
	case apierrors.IsForbidden(err):
		return forbidden(verb, resource, namespace)
	case apierrors.IsUnauthorized(err):
		return "the API server does not accept the credentials of this kubeconfig context; log in again"
	case apierrors.IsAlreadyExists(err):
		return "it exists already"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsConflict(err):
		return firstLine(err.Error())
	case apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err), apierrors.IsInternalError(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err):
		return "the API server is overloaded or failing; try again"
	case apierrors.IsResourceExpired(err):
		return "the list took longer than the API server keeps it; try again"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return unreachable + address(host) + ": " + networkText(err)
}

func forbidden(verb, resource, namespace string) string {
	group := v1alpha1.GroupName
	if resource == configMaps {
		group = "the core group"
	}
	return fmt.Sprintf("forbidden: this user may not %s %s (%s)%s", verb, resource, group, where(namespace))
}

// networkText says what is known to be free of addresses and credentials.
func networkText(err error) string {
	var dns *net.DNSError
	var operation *net.OpError
	var link *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &link) && link.Timeout():
		return "no answer in time"
	case errors.As(err, &dns):
		return "no such host"
	case errors.As(err, &operation) && operation.Err != nil:
		return strings.TrimPrefix(operation.Err.Error(), "connect: ")
	case errors.As(err, &link) && strings.Contains(link.Err.Error(), "x509:"):
		_, text, _ := strings.Cut(link.Err.Error(), "x509: ")
		return "its certificate is not trusted: " + firstLine(text)
	case errors.As(err, &link) && strings.Contains(link.Err.Error(), "getting credentials"):
		return "the credential program of this kubeconfig context did not succeed"
	default:
		return "the connection or the answer broke off"
	}
}

// address keeps host and port of the server's address.
func address(host string) string {
	parsed, err := url.Parse(host)
	if err != nil || parsed.Host == "" {
		return "the configured address"
	}
	return parsed.Host
}

// unreachable introduces what a server says nothing about, because it was not reached.
const unreachable = "reaching the API server at "

// Once drops errors that say no more than one before them: a server that cannot be reached is one fact, however much was asked of it.
func Once(errs []error) []error {
	told := map[string]bool{}
	var kept []error
	for _, err := range errs {
		var request *Error
		if errors.As(err, &request) && strings.HasPrefix(request.why, unreachable) {
			if told[request.why] {
				continue
			}
			told[request.why] = true
		}
		kept = append(kept, err)
	}
	return kept
}

// IsNotFound tells an object that does not exist from every other error. A kind that does not exist is not that.
func IsNotFound(err error) bool { return apierrors.IsNotFound(err) && !KindMissing(err) }

// Answered tells a refusal by the server, after which nothing was changed, from a failure that leaves open what the server did.
func Answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code < http.StatusInternalServerError
}

// IsForbidden tells a missing permission.
func IsForbidden(err error) bool { return apierrors.IsForbidden(err) && !IsAdmissionRefusal(err) }

// IsAlreadyExists tells a name that is taken.
func IsAlreadyExists(err error) bool { return apierrors.IsAlreadyExists(err) }

// KindMissing tells a server that does not serve the kind at all.
func KindMissing(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// FieldUnknown tells a list that cannot be selected by a field: the CRD of this operator does not declare it.
func FieldUnknown(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "field label not supported")
}

// admissionMark is how the API server introduces what a webhook said.
const admissionMark = "denied the request: "

// IsAdmissionRefusal tells a refusal by one of the admission webhooks, whose text is written for the person.
func IsAdmissionRefusal(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && strings.Contains(status.Status().Message, admissionMark)
}

func admissionText(err error) string {
	_, text, _ := strings.Cut(err.Error(), admissionMark)
	return "admission refused it: " + firstLine(text)
}

// maxText bounds what is taken over from elsewhere, in bytes.
const maxText = 1000

func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	return text
}

// absent is a named object that does not exist: an answer, and no failure of a request.
func absent(err error, resource, namespace, name string) error {
	why := fmt.Sprintf("no %s %q in namespace %q", singular(resource), name, namespace)
	if resource == Schemas || resource == Migrations {
		why += `; "kubectl ptah status -A" lists all`
	}
	return &Error{why: why, err: err}
}

var singulars = map[string]string{
	Schemas: "schema", SchemaPlans: "plan", SchemaApprovals: "approval",
	Migrations: "migration", MigrationPlans: "migration plan", MigrationReviews: "migration approval",
	configMaps: "ConfigMap",
}

func singular(resource string) string {
	if word, ok := singulars[resource]; ok {
		return word
	}
	return resource
}
