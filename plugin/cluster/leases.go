package cluster

import (
	"context"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	coordination "k8s.io/api/coordination/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Coordination is where an operator keeps its Leases, as its own admission configuration says.
type Coordination struct {
	Namespace string
	// LeaderElection is off on an operator of one replica; LeaderID names the leader Lease.
	LeaderElection bool
	LeaderID       string
	// Release and ReleaseNamespace are where the managers' Deployment is; empty on an operator that does not say.
	Release, ReleaseNamespace string
}

// DefaultLeaderID names the leader Lease where nothing else does.
const DefaultLeaderID = v1alpha1.LeaderElectionLease

// Coordination asks the operator's admission configuration where its Leases are.
func (c *Client) Coordination(ctx context.Context) (Coordination, error) {
	const doing = "reading where the operator keeps its Leases"
	object, err := GetObject[admissionregistration.MutatingWebhookConfiguration](ctx, c, KindMutatingWebhooks, "", v1alpha1.AdmissionConfigurationName)
	if err != nil {
		return Coordination{}, err
	}
	found := Coordination{
		Namespace:      object.Annotations[v1alpha1.CoordinationNamespaceAnnotation],
		LeaderElection: object.Annotations[v1alpha1.LeaderElectionAnnotation] != "false",
		LeaderID:       object.Annotations[v1alpha1.LeaderElectionIDAnnotation],
		Release:        object.Annotations[v1alpha1.ReleaseNameAnnotation], ReleaseNamespace: object.Annotations[v1alpha1.ReleaseNamespaceAnnotation],
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
	return GetObject[coordination.Lease](ctx, c, KindLeases, namespace, name)
}
