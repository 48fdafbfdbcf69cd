package v1alpha1

// This file is the only place where Ptah spells a name that another program can see: labels, annotations, finalizers,
// Leases, Job prefixes, containers, volumes and environment variables. names_test.go freezes every value, because admission
// guards, dashboards and people's own scripts compare them.

// Field manager and identity of everything that the operator writes.
const (
	ManagedByLabel       = "app.kubernetes.io/managed-by"
	ManagedByValue       = "ptah-operator"
	ComponentLabel       = "app.kubernetes.io/component"
	ComponentController  = "controller"
	ComponentSchemaOp    = "schema-operation"
	ComponentMigrationOp = "migration-operation"
	FieldManager         = "ptah-operator"
)

// Labels.
const (
	OperationLabel = GroupName + "/operation" // lower-case operation type
	PlanLabel      = GroupName + "/plan"      // plan name, on chunk ConfigMaps
	SchemaLabel    = GroupName + "/schema"    // schema name, on Jobs and chunk ConfigMaps
	MigrationLabel = GroupName + "/migration" // migration name, on Jobs
)

// Annotations of an operation's Job and Pod template: its envelope. All of them are present, or the object is not ours.
const (
	ResourceUIDAnnotation            = GroupName + "/resource-uid"
	OperationIDAnnotation            = GroupName + "/operation-id"
	AttemptAnnotation                = GroupName + "/attempt"
	InputFingerprintAnnotation       = GroupName + "/input-fingerprint"
	ExecutionBindingAnnotation       = GroupName + "/execution-binding"
	ControllerImageAnnotation        = GroupName + "/controller-image"
	ControllerRevisionAnnotation     = GroupName + "/controller-revision"
	ControllerStateVersionAnnotation = GroupName + "/controller-state-version"

	// AdmissionSnapshotAnnotation carries the digest of the persisted admission snapshot.
	AdmissionSnapshotAnnotation = GroupName + "/admission-snapshot"
	// PlanFingerprintAnnotation and ContentDigestAnnotation are added on an Apply.
	PlanFingerprintAnnotation = GroupName + "/plan-fingerprint"
	ContentDigestAnnotation   = GroupName + "/content-digest"
	// SafeToEvictAnnotation keeps a cluster autoscaler away from a Pod that may be writing.
	SafeToEvictAnnotation = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	// LeaseEpochAnnotation names the acquisition that a database Lease currently belongs to.
	LeaseEpochAnnotation = GroupName + "/lease-epoch"
)

// Annotations that the chart stamps on the CRDs.
const (
	CRDSchemaVersionAnnotation    = GroupName + "/crd-schema-version"
	CRDSchemaDigestAnnotation     = GroupName + "/crd-schema-digest"
	CRDControllerStateAnnotation  = GroupName + "/controller-state-version"
	AdmissionConfigurationName    = "ptah-operator-admission"
	ReleaseActivationConfigMap    = "ptah-operator-release-activation"
	LeaderElectionLease           = "ptah-operator." + GroupName
	RealmLeasePrefix              = "ptah-realm-" // followed by the first 40 hex digits of the coordination digest
	SchemaFinalizer               = GroupName + "/schema-operation"
	MigrationFinalizer            = GroupName + "/migration-operation"
	SchemaPlanPrefix              = "ptah-plan-"  // followed by the first 24 hex digits of the fingerprint
	MigrationPlanPrefix           = "ptah-mplan-" // followed by the first 24 hex digits of the fingerprint
	ChunkKey                      = "chunk"       // key in a chunk's binaryData
	DefaultDesiredDataFileName    = "schema.json"
	SchemaArtifactType            = "application/vnd.stokaro.ptah.schema.v1"
	MigrationArtifactType         = "application/vnd.stokaro.ptah.migration.v1"
	MigrationArtifactTypeAlias    = "application/vnd.stokaro.ptah.migrations.v1" // read, never written
	SchemaModelLayerMediaType     = "application/vnd.stokaro.ptah.schema.model.v1+json"
	SchemaHCLLayerMediaType       = "application/vnd.stokaro.ptah.schema.hcl.v1"
	SourceLayerMediaType          = "application/vnd.stokaro.ptah.source.v1"
	MigrationFileLayerMediaType   = "application/vnd.stokaro.ptah.migration.file.v1"
	MigrationDirFormatAnnotation  = "io.stokaro.ptah.migration.format"
	ArtifactPtahVersionAnnotation = "io.stokaro.ptah.version"
	ArtifactBuildRunAnnotation    = "io.stokaro.ptah.build-run"
)

// Fields that the API server itself selects by (kubectl get --field-selector), so that a question about one database, or about the approvals of one
// schema, costs the same however many there are.
const (
	CoordinationKeyField = "spec.target.coordinationKey" // of schemas and migrations
	ApprovalSchemaField  = "spec.schemaRef.name"         // of schema approvals
)

// Annotations that the chart puts on both admission configurations: the identity of the release, and what it pins.
const (
	ReleaseNameAnnotation           = GroupName + "/release-name"
	ReleaseNamespaceAnnotation      = GroupName + "/release-namespace"
	CoordinationNamespaceAnnotation = GroupName + "/coordination-namespace"
	LeaderElectionAnnotation        = GroupName + "/leader-election" // "true" or "false"
	LeaderElectionIDAnnotation      = GroupName + "/leader-election-id"
	ReleaseSequenceAnnotation       = GroupName + "/release-sequence" // on Chart.yaml and the manager Deployment
)

// Label of the Secrets that the chart makes, and its values.
const (
	PurposeLabel              = GroupName + "/purpose"
	PurposeWebhookCertificate = "webhook-certificate"
)

// Entries of the admission configurations.
const (
	MutateApprovalEntry   = "mapproval." + GroupName
	ValidateApprovalEntry = "vapproval." + GroupName
	ValidatePodEntry      = "vpodintent." + GroupName
)

// Job-name prefixes reserved for operations; Pod admission matches them. A name is prefix + resource name (cut) + "-" + 16 hex.
const (
	ResolveJobPrefix          = "ptah-resolve-"
	VerifyJobPrefix           = "ptah-verify-"
	ObserveJobPrefix          = "ptah-observe-"
	PlanJobPrefix             = "ptah-plan-"
	ApplyJobPrefix            = "ptah-apply-"
	MigrationResolveJobPrefix = "ptah-mresolve-"
	MigrationVerifyJobPrefix  = "ptah-mverify-"
	MigrationHistoryJobPrefix = "ptah-mhistory-"
	MigrationApplyJobPrefix   = "ptah-mapply-"
)

// Containers of an operation Pod.
const (
	PrepareContainer   = "prepare"   // init: installs the runner, checks registry grants, snapshots the CA; no credential
	FetchContainer     = "fetch"     // init: the only one with registry credentials where a database credential follows
	OperationContainer = "operation" // main
)

// Volumes of an operation Pod and where they are mounted.
const (
	RunnerVolume         = "runner"
	RunnerMountPath      = "/ptah/runner"
	WorkVolume           = "work"
	WorkMountPath        = "/ptah/work"
	ScratchVolume        = "scratch"
	ScratchMountPath     = "/tmp"
	CASourceVolume       = "ca-source"
	CASourceMountPath    = "/ptah/ca-source"
	CAVolume             = "ca"
	CAMountPath          = "/ptah/ca"
	PolicyVolume         = "verification-policy"
	PolicyMountPath      = "/ptah/policy"
	DockerConfigVolume   = "registry-config"
	DockerConfigPath     = "/ptah/registry"
	PlanVolumePrefix     = "plan-" // followed by the chunk index, three digits
	PlanMountPath        = "/ptah/plan"
	RunnerBinary         = "/ptah/runner/ptah-runner" // where prepare installs the runner
	RunnerImageBinary    = "/ptah-runner"             // where the runner image carries it
	EngineImageBinary    = "/ptah-engine"             // where the executor image carries the engine
	CAFileName           = "ca.crt"
	PolicyFileName       = "policy.yaml"
	DockerConfigFileName = "config.json"
)

// Environment of an operation Pod. IntentEnv is the whole order (package intent), free of credentials; the others carry what
// only the kubelet may resolve.
const (
	IntentEnv              = "PTAH_INTENT"
	DatabaseURLEnv         = "PTAH_DATABASE_URL"     //nolint:gosec // name of a variable, not a credential
	DevDatabaseURLEnv      = "PTAH_DEV_DATABASE_URL" //nolint:gosec // name of a variable, not a credential
	RegistryUsernameEnv    = "PTAH_REGISTRY_USERNAME"
	RegistryPasswordEnv    = "PTAH_REGISTRY_PASSWORD" //nolint:gosec // name of a variable, not a credential
	RegistryTokenEnv       = "PTAH_REGISTRY_TOKEN"    //nolint:gosec // name of a variable, not a credential
	GrantRegistryEnv       = "PTAH_GRANT_REGISTRY"
	GrantAllowPlainHTTPEnv = "PTAH_GRANT_ALLOW_PLAIN_HTTP"
	GrantCASHA256Env       = "PTAH_GRANT_CA_SHA256"
)
