package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Engines that this version implements, as spec.target.engine spells them. Any other well-formed value is stored and reported as
// UnsupportedEngine; its database is never touched.
const (
	EnginePostgreSQL = "PostgreSQL"
	EngineMySQL      = "MySQL"
)

// Target is the database that a resource acts on.
type Target struct {
	// Database engine. PostgreSQL and MySQL are implemented; any other identifier is stored, reported as UnsupportedEngine and never
	// touched.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z][A-Za-z0-9._-]*$')",message="engine must be an identifier such as PostgreSQL or MySQL: a letter, then letters, digits, '.', '_' or '-'"
	Engine string `json:"engine"`

	// Stable, non-secret name of the physical database. Every resource that can change one database uses the same key, whatever URL,
	// alias, proxy or credential it connects with; keys are compared exactly and across namespaces, per engine.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^\\\\s\\\\p{C}]([^\\\\p{C}]*[^\\\\s\\\\p{C}])?$')",message="coordinationKey must not begin or end with a blank, nor hold control characters: keys are compared exactly, write it as every other resource of this database does"
	CoordinationKey string `json:"coordinationKey"`

	// Declares that this database is deliberately shared with other resources. Every resource with the same engine and coordinationKey
	// must set it, or all of them are refused with RealmConflict.
	// +optional
	// +kubebuilder:default=false
	SharedRealm bool `json:"sharedRealm,omitempty"`

	// Key of a Secret in the same namespace that holds the connection URL. Only operation Pods read it, never the manager.
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.name) && self.name != '' && self.key != '' && !(has(self.optional) && self.optional)",message="urlFrom must name a required Secret key: set name and key, and leave optional out"
	URLFrom corev1.SecretKeySelector `json:"urlFrom"`
}

// Dev is the scratch database that desired state is loaded into for comparisons. Its credential reaches only the container that plans.
type Dev struct {
	// Key of a Secret in the same namespace that holds the scratch database's connection URL.
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.name) && self.name != '' && self.key != '' && !(has(self.optional) && self.optional)",message="dev.urlFrom must name a required Secret key: set name and key, and leave optional out"
	URLFrom corev1.SecretKeySelector `json:"urlFrom"`
}

// Source is the OCI artifact that a resource wants and how its registry is reached.
type Source struct {
	// OCI reference with an explicit tag, digest or both: oci://host[:port]/repository:tag[@sha256:digest]. A digest selects the content and
	// the tag is then only a label. Only the resolved digest travels past resolution.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^oci://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?[.]?|\\\\[[0-9A-Fa-f:.]+\\\\])(:[0-9]{1,5})?(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)+(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$')",message="ociRef must look like oci://host[:port]/repository:tag or oci://host[:port]/repository@sha256:<64 lower-case hex digits>, with a lower-case repository and without user, query or fragment"
	// +kubebuilder:validation:XValidation:rule="self.matches(':[A-Za-z0-9_][A-Za-z0-9_.-]*$') || self.matches('@sha256:[0-9a-f]{64}$')",message="ociRef must end in an explicit tag or digest: add :tag or @sha256:<64 lower-case hex digits>"
	OCIRef string `json:"ociRef"`

	// Secret with the registry credentials. The Secret also carries the key registry, naming the one host[:port] it may be used for;
	// allowPlainHTTP or caSHA256 where transport asks for them. The container that runs SQL never gets it.
	// +optional
	RegistryAuthFrom *RegistryAuth `json:"registryAuthFrom,omitempty"`

	// How the registry is reached; HTTPS with public roots when left out.
	// +optional
	Transport *Transport `json:"transport,omitempty"`

	// Key of an immutable ConfigMap in the same namespace that holds the verification policy. The policy is bound by UID and by the digest
	// of its bytes.
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.name) && self.name != '' && self.key != '' && !(has(self.optional) && self.optional)",message="verificationPolicyFrom must name a required ConfigMap key: set name and key, and leave optional out"
	VerificationPolicyFrom corev1.ConfigMapKeySelector `json:"verificationPolicyFrom"`
}

// RegistryAuthMode says how a registry credential is delivered.
// +kubebuilder:validation:Enum=Environment;DockerConfigJSON
type RegistryAuthMode string

// Registry credential modes.
const (
	RegistryAuthEnvironment      RegistryAuthMode = "Environment"      // username and password, or token, from separate keys
	RegistryAuthDockerConfigJSON RegistryAuthMode = "DockerConfigJSON" // one Docker config document
)

// Keys of a registry Secret that grant what its credential may be used for. They are fixed, so that an author cannot redirect them.
const (
	RegistryGrantKey       = "registry"       // host[:port], always required
	AllowPlainHTTPGrantKey = "allowPlainHTTP" // exactly "true", required with transport.plainHTTP
	CASHA256GrantKey       = "caSHA256"       // sha256:<hex> of the CA bytes, required with transport.caFrom
)

// RegistryAuth selects a registry-credential Secret.
type RegistryAuth struct {
	// Name of the Secret, in the same namespace. The operation Pod reads it, never the manager.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// How the credential is delivered: Environment (username and password, or token, from separate keys) or DockerConfigJSON.
	// +optional
	// +kubebuilder:default=Environment
	Mode RegistryAuthMode `json:"mode,omitempty"`

	// Secret key of the user name; Environment mode.
	// +optional
	// +kubebuilder:default=username
	// +kubebuilder:validation:MaxLength=253
	UsernameKey string `json:"usernameKey,omitempty"`

	// Secret key of the password; Environment mode.
	// +optional
	// +kubebuilder:default=password
	// +kubebuilder:validation:MaxLength=253
	PasswordKey string `json:"passwordKey,omitempty"`

	// Secret key of an identity or bearer token; Environment mode.
	// +optional
	// +kubebuilder:default=token
	// +kubebuilder:validation:MaxLength=253
	TokenKey string `json:"tokenKey,omitempty"`

	// Secret key of a Docker config document; DockerConfigJSON mode.
	// +optional
	// +kubebuilder:default=".dockerconfigjson"
	// +kubebuilder:validation:MaxLength=253
	DockerConfigJSONKey string `json:"dockerConfigJSONKey,omitempty"`
}

// Transport is how a registry is reached.
// +kubebuilder:validation:XValidation:rule="!(has(self.plainHTTP) && self.plainHTTP && has(self.caFrom))",message="plainHTTP and caFrom exclude each other: remove caFrom, or set plainHTTP to false",fieldPath=".plainHTTP"
// +kubebuilder:validation:XValidation:rule="!has(self.clientCertificateFrom)",message="clientCertificateFrom is reserved and always refused: remove it",fieldPath=".clientCertificateFrom"
type Transport struct {
	// Speaks plain HTTP to the registry; for tests and air-gapped networks only. With credentials their Secret must hold allowPlainHTTP:
	// "true". Excludes caFrom.
	// +optional
	// +kubebuilder:default=false
	PlainHTTP bool `json:"plainHTTP,omitempty"`

	// Key of a ConfigMap in the same namespace that holds a PEM bundle of certificate authorities: data, not binaryData, at most 1 MiB.
	// With credentials their Secret must hold caSHA256, the digest of the exact bytes.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.name) && self.name != '' && self.key != '' && !(has(self.optional) && self.optional)",message="caFrom must name a required ConfigMap key: set name and key, and leave optional out"
	CAFrom *corev1.ConfigMapKeySelector `json:"caFrom,omitempty"`

	// Reserved for client certificates and always refused.
	// +optional
	ClientCertificateFrom *ClientCertificate `json:"clientCertificateFrom,omitempty"`
}

// ClientCertificate selects a client certificate. Reserved: the API refuses every use.
type ClientCertificate struct {
	// Name of the Secret, in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Secret key of the certificate.
	// +optional
	// +kubebuilder:default="tls.crt"
	// +kubebuilder:validation:MaxLength=253
	CertificateKey string `json:"certificateKey,omitempty"`

	// Secret key of the private key.
	// +optional
	// +kubebuilder:default="tls.key"
	// +kubebuilder:validation:MaxLength=253
	PrivateKeyKey string `json:"privateKeyKey,omitempty"`
}

// Execution shapes the Jobs that carry out operations. Everything has a default.
// +kubebuilder:validation:XValidation:rule="!has(self.connectTimeout) || !has(self.activeDeadlineSeconds) || duration(self.connectTimeout).getMilliseconds() <= self.activeDeadlineSeconds * 1000",message="connectTimeout must not exceed activeDeadlineSeconds: shorten the one or raise the other",fieldPath=".connectTimeout"
type Execution struct {
	// Seconds that an operation's Job may run, 30 to 86400. An Apply that hits the deadline has an unknown outcome.
	// +optional
	// +kubebuilder:default=900
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=86400
	ActiveDeadlineSeconds int64 `json:"activeDeadlineSeconds,omitempty"`

	// Bound on opening a database connection, as "10s" or "1m30s"; at most activeDeadlineSeconds.
	// +optional
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+([.][0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="connectTimeout must be longer than zero, for example 10s"
	ConnectTimeout metav1.Duration `json:"connectTimeout,omitzero"`

	// Wait before a failed operation is tried again, as "30s"; at least 1s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+([.][0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="failureRetryInterval must be at least 1s"
	FailureRetryInterval metav1.Duration `json:"failureRetryInterval,omitzero"`

	// ServiceAccount of operation Pods. It needs no Kubernetes permission and no token is mounted.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Secrets that operation Pods pull their images with.
	// +optional
	// +listType=atomic
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Node labels that operation Pods require.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations of operation Pods.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Affinity of operation Pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// PriorityClass of operation Pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// RuntimeClass of operation Pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// Resources of the container that runs SQL.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}

// ApplyPolicy says when a current plan may run.
// +kubebuilder:validation:Enum=Never;OnApproval;Always
type ApplyPolicy string

// Apply policies.
const (
	ApplyNever      ApplyPolicy = "Never"      // plans are recorded and never run
	ApplyOnApproval ApplyPolicy = "OnApproval" // a person approves every plan
	ApplyAlways     ApplyPolicy = "Always"     // safe plans run on their own
)

// TransactionMode says how statements are wrapped in transactions. The engine's own refusal wins.
// +kubebuilder:validation:Enum=all;file;none
type TransactionMode string

// Transaction modes.
const (
	TransactionAll  TransactionMode = "all"  // everything in one transaction; not for migrations
	TransactionFile TransactionMode = "file" // one transaction per file or plan
	TransactionNone TransactionMode = "none" // no transaction
)

// ObjectRef names an object of the same namespace. An object made again under the same name is another object.
type ObjectRef struct {
	// Name of the object, in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID of the object.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid"`
}

// Approver is an identity as the API server authenticated it.
type Approver struct {
	// Authenticated user name.
	// +required
	// +kubebuilder:validation:MinLength=1
	Username string `json:"username"`

	// Authenticated user's UID, where the authenticator gives one.
	// +optional
	UID string `json:"uid,omitempty"`

	// Groups that the user was in.
	// +optional
	// +listType=atomic
	Groups []string `json:"groups,omitempty"`
}
