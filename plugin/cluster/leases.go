package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Coordination is where an operator keeps its Leases, as its own admission configuration says.
type Coordination struct {
	Namespace string
	// LeaderElection is off on an operator of one replica; LeaderID names the leader Lease.
	LeaderElection bool
	LeaderID       string
}

// DefaultLeaderID names the leader Lease where nothing else does.
const DefaultLeaderID = v1alpha1.LeaderElectionLease

// Coordination asks the operator's admission configuration where its Leases are.
func (c *Client) Coordination(ctx context.Context) (Coordination, error) {
	const doing = "reading where the operator keeps its Leases"
	object := &admissionregistration.MutatingWebhookConfiguration{}
	path := "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/" + v1alpha1.AdmissionConfigurationName
	if err := c.foreign(ctx, path, object, doing, "mutatingwebhookconfigurations"); err != nil {
		return Coordination{}, err
	}
	found := Coordination{
		Namespace:      object.Annotations[v1alpha1.CoordinationNamespaceAnnotation],
		LeaderElection: object.Annotations[v1alpha1.LeaderElectionAnnotation] != "false",
		LeaderID:       object.Annotations[v1alpha1.LeaderElectionIDAnnotation],
	}
	if found.LeaderID == "" {
		found.LeaderID = v1alpha1.LeaderElectionLease
	}
	if found.Namespace == "" {
		return Coordination{}, &Error{doing: doing, why: "its admission configuration does not name a coordination namespace: give --coordination-namespace"}
	}
	return found, nil
}

// Lease reads one Lease.
func (c *Client) Lease(ctx context.Context, namespace, name string) (*coordination.Lease, error) {
	object := &coordination.Lease{}
	path := fmt.Sprintf("/apis/coordination.k8s.io/v1/namespaces/%s/leases/%s", namespace, name)
	return object, c.foreign(ctx, path, object, "reading Lease "+namespace+"/"+name, "leases"+where(namespace))
}

// foreign reads one object of a group that is not Ptah's. what names it for a person who may not read it.
func (c *Client) foreign(ctx context.Context, path string, into any, doing, what string) error {
	raw, err := c.ptah.Get().AbsPath(path).DoRaw(ctx)
	if err != nil {
		return c.explainForeign(err, doing, "get", what)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return &Error{doing: doing, why: "the answer is not the JSON that was expected"}
	}
	return nil
}

func (c *Client) explainForeign(err error, doing, verb, what string) error {
	why := ""
	switch {
	case apierrors.IsForbidden(err) && !IsAdmissionRefusal(err):
		why = fmt.Sprintf("forbidden: this user may not %s %s", verb, what)
	case apierrors.IsNotFound(err):
		why = "not found"
	default:
		why = reason(err, c.host, verb, what, "")
	}
	return &Error{doing: doing, why: why, err: err}
}
