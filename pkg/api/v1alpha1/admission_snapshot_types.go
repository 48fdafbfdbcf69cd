package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// AdmissionSnapshotVersion is the only format of an admission snapshot.
const AdmissionSnapshotVersion = "v1"

// AdmissionSnapshot is what the API server is going to do to an operation's Pod, recorded before the Job exists, so that the Pod that
// appears can be compared exactly.
type AdmissionSnapshot struct {
	// Format of the snapshot.
	// +required
	// +kubebuilder:validation:Enum=v1
	Version string `json:"version"`

	// Digest of the whole snapshot.
	// +required
	Digest string `json:"digest"`

	// Digest of the canonical Pod template with API defaults, before admission. It leaves out the snapshot annotation itself and the four
	// Job identity labels that the API server generates.
	// +required
	TemplateDigest string `json:"templateDigest"`

	// Whether the DefaultTolerationSeconds admission plugin is on.
	// +required
	DefaultTolerationsEnabled bool `json:"defaultTolerationsEnabled"`

	// Seconds that the plugin adds for not-ready nodes.
	// +required
	DefaultNotReadyTolerationSeconds int64 `json:"defaultNotReadyTolerationSeconds"`

	// Seconds that the plugin adds for unreachable nodes.
	// +required
	DefaultUnreachableTolerationSeconds int64 `json:"defaultUnreachableTolerationSeconds"`

	// Whether the ExtendedResourceToleration admission plugin is on.
	// +required
	ExtendedResourceTolerationEnabled bool `json:"extendedResourceTolerationEnabled"`

	// Whether the AlwaysPullImages admission plugin is on.
	// +required
	AlwaysPullImagesEnabled bool `json:"alwaysPullImagesEnabled"`

	// LimitRange defaults of the namespace that apply to containers.
	// +optional
	// +listType=atomic
	LimitRanges []LimitRangeSnapshot `json:"limitRanges,omitempty"`

	// ServiceAccount of the Pod.
	// +required
	ServiceAccount ServiceAccountSnapshot `json:"serviceAccount"`

	// Priority of the Pod.
	// +required
	PriorityClass PriorityClassSnapshot `json:"priorityClass"`

	// RuntimeClass of the Pod, only when one is named.
	// +optional
	RuntimeClass *RuntimeClassSnapshot `json:"runtimeClass,omitempty"`
}

// ObjectSnapshot is the exact version of an object that a snapshot was taken from.
type ObjectSnapshot struct {
	// Name of the object.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID of the object.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid"`

	// Opaque resource version of the object.
	// +required
	// +kubebuilder:validation:MaxLength=256
	ResourceVersion string `json:"resourceVersion"`
}

// LimitRangeSnapshot is the container defaults of one LimitRange.
type LimitRangeSnapshot struct {
	// The LimitRange.
	// +required
	Object ObjectSnapshot `json:"object"`

	// Limits that it adds.
	// +optional
	DefaultLimits corev1.ResourceList `json:"defaultLimits,omitempty"`

	// Requests that it adds.
	// +optional
	DefaultRequests corev1.ResourceList `json:"defaultRequests,omitempty"`
}

// ServiceAccountSnapshot is the ServiceAccount that a Pod runs as.
type ServiceAccountSnapshot struct {
	// The ServiceAccount.
	// +required
	Object ObjectSnapshot `json:"object"`

	// Pull Secrets that it adds.
	// +optional
	// +listType=atomic
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}

// PriorityClassSnapshot is the priority that a Pod gets.
type PriorityClassSnapshot struct {
	// Name of the class; empty for the default of the cluster.
	// +optional
	Name string `json:"name,omitempty"`

	// Resolved priority.
	// +required
	Value int32 `json:"value"`

	// Resolved preemption policy.
	// +optional
	// +kubebuilder:validation:Enum=Never;PreemptLowerPriority
	PreemptionPolicy corev1.PreemptionPolicy `json:"preemptionPolicy,omitempty"`

	// The PriorityClass, when one was named.
	// +optional
	Object *ObjectSnapshot `json:"object,omitempty"`
}

// RuntimeClassSnapshot is what a RuntimeClass adds to a Pod.
type RuntimeClassSnapshot struct {
	// Runtime handler.
	// +required
	Handler string `json:"handler"`

	// The RuntimeClass.
	// +required
	Object ObjectSnapshot `json:"object"`

	// Node labels that it requires.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations that it adds.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Overhead that it adds.
	// +optional
	Overhead corev1.ResourceList `json:"overhead,omitempty"`

	// Tells an overhead stanza that is present and empty from an absent one.
	// +optional
	OverheadDefined bool `json:"overheadDefined,omitempty"`
}
