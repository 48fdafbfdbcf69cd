package preflight

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// Purpose is what the cluster is checked for.
type Purpose string

// Purposes.
const (
	Install   Purpose = "install"
	Upgrade   Purpose = "upgrade"
	Uninstall Purpose = "uninstall"
)

// Purposes lists them all.
func Purposes() []Purpose { return []Purpose{Install, Upgrade, Uninstall} }

// Release is everything that the checks of a release read. The caller gathers it; a part that it could not read is Unknown and says why.
type Release struct {
	Purpose   Purpose
	Candidate Candidate

	ServerVersion Known[string] // as the server spells it, such as v1.37.2
	// Singletons are the annotations of the two admission configurations.
	Mutating, Validating Known[map[string]string]
	// Managers are the Deployments of the release namespace that run a manager.
	Managers   Known[[]Manager]
	Activation Known[map[string]string] // data of the activation ConfigMap
	CRDs       map[string]Known[CRD]    // by name

	RoleBindings        Known[[]rbacv1.RoleBinding] // of all namespaces
	ClusterRoleBindings Known[[]rbacv1.ClusterRoleBinding]

	Quotas      Known[[]corev1.ResourceQuota] // of the release namespace, as the next two
	LimitRanges Known[[]corev1.LimitRange]
	Pods        Known[[]corev1.Pod]

	PriorityClass Known[schedulingv1.PriorityClass] // the one that the values name
	Account       Known[corev1.ServiceAccount]      // the candidate's epoch account

	Stored   map[string]Known[[]StoredState] // by plural resource name
	Work     map[string]Known[[]Work]        // of the two desired kinds
	Missing  Known[[]Permission]             // of Needs, what the caller may not do
	Versions int64                           // newest stored-state version that the candidate reads
}

// Manager is a Deployment that runs a manager.
type Manager struct {
	Name     string
	Sequence string // release-sequence annotation
	Account  string // ServiceAccount of its Pods
	// Appliers are the field managers that server-side applied it, Updaters those that wrote it otherwise.
	Appliers, Updaters []string
}

// CRD is one live CRD.
type CRD struct {
	Annotations map[string]string
	// LiveDigest is the digest of the spec that is there, which is the stamped one unless somebody edited it.
	LiveDigest string
	Stored     []string // status.storedVersions
	Deleting   bool
}

// StoredState is a stored object whose state version is outside of what every release reads: newer than 0 or malformed.
type StoredState struct {
	Namespace, Name string
	Version         int64
}

// Work is what is under way, or left over, on one resource.
type Work struct {
	Kind, Namespace, Name string // kind: schema or migration
	Operation             string // running, "" for none
	Mutating, Dispatched  bool
	ProofOwed             bool
	UnresolvedRun         string // outcome of a run that nobody accounted for
}

// Permission is one thing that the caller has to be allowed to do.
type Permission struct {
	Verb, Group, Resource string
	Namespace             string // "" is the whole cluster
}

var (
	checkInstallation = Check[Release]{ID: "installation", Title: "installation", Judge: judgeInstallation, Gate: true}
	checkSingletons   = Check[Release]{ID: "singleton-identity", Title: "singleton identity", Judge: judgeSingletons}
	checkSequence     = Check[Release]{ID: "release-sequence", Title: "release sequence", Judge: judgeSequence}
	checkValues       = Check[Release]{ID: "values", Title: "values", Judge: judgeValues}
	checkImages       = Check[Release]{ID: "image-digests", Title: "image digests", Judge: judgeImages}
	checkServer       = Check[Release]{ID: "kubernetes-version", Title: "Kubernetes version", Judge: judgeServer}
	checkHelm         = Check[Release]{ID: "helm-ownership", Title: "Helm ownership", Judge: judgeHelm}
	checkCRDs         = Check[Release]{ID: "crd-identity", Title: "CRD identity", Judge: judgeCRDs}
	checkState        = Check[Release]{ID: "stored-state", Title: "stored controller state", Judge: judgeState}
	checkWork         = Check[Release]{ID: "operations", Title: "operations", Judge: judgeWork}
	checkBindings     = Check[Release]{ID: "role-bindings", Title: "RoleBindings", Judge: judgeBindings}
	checkAccount      = Check[Release]{ID: "service-account", Title: "ServiceAccount", Judge: judgeAccount}
	checkPriority     = Check[Release]{ID: "priority-class", Title: "PriorityClass", Judge: judgePriority}
	checkLimits       = Check[Release]{ID: "limit-ranges", Title: "LimitRanges", Judge: judgeLimits}
	checkQuota        = Check[Release]{ID: "quota", Title: "quota", Judge: judgeQuota}
	checkPermissions  = Check[Release]{ID: "permissions", Title: "your permissions", Judge: judgePermissions}
)

// ReleaseChecks are the checks for a purpose, in the order in which they are made: first whether there is something to act on, then what the
// person chose, then what the cluster holds.
func ReleaseChecks(purpose Purpose) []Check[Release] {
	switch purpose {
	case Install:
		return []Check[Release]{
			checkInstallation, checkValues, checkImages, checkServer, checkCRDs, checkState, checkBindings, checkAccount, checkPriority, checkLimits,
			checkQuota, checkPermissions,
		}
	case Upgrade:
		return []Check[Release]{
			checkInstallation, checkSingletons, checkSequence, checkValues, checkImages, checkServer, checkHelm, checkCRDs, checkState, checkWork,
			checkBindings, checkAccount, checkPriority, checkLimits, checkQuota, checkPermissions,
		}
	case Uninstall:
		return []Check[Release]{checkInstallation, checkSingletons, checkSequence, checkHelm, checkWork, checkBindings, checkPermissions}
	default:
		return nil
	}
}

// Notes are what no check can see and a person has to know.
func Notes(r Release) []string {
	helm := "Helm 4 or newer is needed, and cannot be seen from the cluster: helm version"
	switch r.Purpose {
	case Install:
		return []string{helm}
	case Upgrade:
		notes := []string{helm}
		if sequence, known := r.active(); known && sequence < r.Candidate.Chart.Sequence {
			notes = append(notes, "this upgrade moves the release to a new sequence: helm upgrade needs --force-conflicts")
		}
		return append(notes, "grants from an external authorizer are no Kubernetes RBAC and were not looked for")
	default:
		return []string{
			helm, "back up the six CRDs and their objects first; Helm keeps both, and an uninstall undoes nothing in a database",
			"a ServiceAccount that you created, and grants from an external authorizer, are yours to retire; allow the uninstall five minutes: --timeout 5m",
		}
	}
}
