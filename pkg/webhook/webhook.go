// Package webhook is the admission of approvals and of operation Pods: shells that read straight from the API server and ask pkg/approval and
// pkg/podspec. A decision never rests on a cache, which may be older than what it authorises.
package webhook

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Paths of the handlers, as the chart's webhook configurations name them.
const (
	MutateApprovalPath   = "/mutate-approval"
	ValidateApprovalPath = "/validate-approval"
	ValidatePodPath      = "/validate-pod"
)

// Identities of kube-controller-manager's controllers, which run under their own service accounts.
const (
	jobController    = "system:serviceaccount:kube-system:job-controller"
	garbageCollector = "system:serviceaccount:kube-system:generic-garbage-collector"
)

// Options is what the handlers need besides the manager.
type Options struct {
	// Reader reads from the API server, not from a cache; the manager's APIReader when nil.
	Reader client.Reader
	// Identity is this manager's own execution identity.
	Identity v1alpha1.ExecutionIdentity
	// Now stamps approvals; time.Now when nil.
	Now func() time.Time
}

// Register puts the three handlers on the manager's webhook server.
func Register(mgr manager.Manager, o Options) error {
	if o.Reader == nil {
		o.Reader = mgr.GetAPIReader()
	}
	server := mgr.GetWebhookServer()
	if server == nil {
		return fmt.Errorf("registering webhooks: the manager has no webhook server")
	}
	for path, handler := range Handlers(mgr.GetScheme(), mgr.GetLogger().WithName("webhook"), o) {
		server.Register(path, &admission.Webhook{Handler: handler})
	}
	return nil
}

// Handlers are the three handlers by path.
func Handlers(scheme *runtime.Scheme, log logr.Logger, o Options) map[string]admission.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	b := base{reader: o.Reader, decoder: admission.NewDecoder(scheme), log: log, identity: o.Identity, now: o.Now}
	return map[string]admission.Handler{
		MutateApprovalPath:   &approvalMutator{b},
		ValidateApprovalPath: &approvalValidator{b},
		ValidatePodPath:      &podValidator{b},
	}
}

type base struct {
	reader   client.Reader
	decoder  admission.Decoder
	log      logr.Logger
	identity v1alpha1.ExecutionIdentity
	now      func() time.Time
}

// get reads an object; found is false where it does not exist.
func (b base) get(ctx context.Context, namespace, name string, into client.Object) (found bool, err error) {
	err = b.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// unreadable answers where a decision lacks what it rests on: refused for now, and the client may try again.
func (b base) unreadable(what string, err error) admission.Response {
	b.log.Error(err, "reading for admission", "what", what)
	return admission.Errored(http.StatusServiceUnavailable, fmt.Errorf("reading %s: try again in a moment", what))
}

func malformed(kind string) admission.Response {
	return admission.Errored(http.StatusBadRequest, fmt.Errorf("decoding %s: the request holds none", kind))
}

func (b base) configMap(ctx context.Context, namespace string, from corev1.ConfigMapKeySelector) (*corev1.ConfigMap, error) {
	var cm corev1.ConfigMap
	found, err := b.get(ctx, namespace, from.Name, &cm)
	if err != nil || !found {
		return nil, err
	}
	return &cm, nil
}
