package preflight

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Candidate is the release that is about to be installed, or that an installed one is about to become.
type Candidate struct {
	Chart              Chart
	Release, Namespace string
	Values             Values
	// Problems are values that the chart refuses, by key.
	Problems []string
	// Bare says that no values file was given: the chart's defaults alone install nothing.
	Bare bool
}

// Values are the chart's values as far as a check reads them.
type Values struct {
	ReplicaCount                   int32
	NameOverride, FullnameOverride string
	LeaderElection                 bool
	Image                          struct{ Repository, Tag, Digest string }
	Execution                      struct{ ExecutorImage, RunnerImage, PtahVersion string }
	Coordination                   struct{ Namespace string }
	ServiceAccount                 struct {
		Create bool
		Name   string
	}
	PriorityClassName string
	PodLabels         map[string]string
	Resources         corev1.ResourceRequirements
	Webhook           struct{ ExistingSecret string }
	// CertificateRotation is nil where the chart has no rotator.
	CertificateRotation *struct {
		Enabled   bool
		Resources corev1.ResourceRequirements
	}
}

// NewCandidate puts values files over the chart's defaults, the last one on top, as Helm does: maps are merged, everything else is replaced, and
// null takes a key away. An error is a file that cannot be read as values at all; values that the chart refuses are Problems.
func NewCandidate(chart Chart, release, namespace string, files ...NamedFile) (Candidate, error) {
	merged, err := deepCopy(chart.Defaults)
	if err != nil {
		return Candidate{}, err
	}
	for _, file := range files {
		var over map[string]any
		if err := yaml.UnmarshalStrict(file.Data, &over); err != nil {
			return Candidate{}, fmt.Errorf("reading values file %s: %s", file.Name, yamlProblem(err))
		}
		merge(merged, over)
	}
	c := Candidate{Chart: chart, Release: release, Namespace: namespace, Problems: refused(merged, chart.Schema), Bare: len(files) == 0}
	encoded, err := json.Marshal(merged)
	if err != nil {
		return Candidate{}, fmt.Errorf("reading values: %w", err)
	}
	if err := json.Unmarshal(encoded, &c.Values); err != nil {
		var wrong *json.UnmarshalTypeError
		if len(c.Problems) == 0 && asType(err, &wrong) {
			c.Problems = append(c.Problems, fmt.Sprintf("%s: is a %s", wrong.Field, wrong.Value))
		}
		if len(c.Problems) == 0 {
			return Candidate{}, fmt.Errorf("reading values: %w", err)
		}
	}
	c.Problems = append(c.Problems, c.conflicts()...)
	return c, nil
}

// NamedFile is a values file.
type NamedFile struct {
	Name string
	Data []byte
}

func deepCopy(tree map[string]any) (map[string]any, error) {
	encoded, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("reading the chart's defaults: %w", err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(encoded, &out); err != nil {
		return nil, fmt.Errorf("reading the chart's defaults: %w", err)
	}
	return out, nil
}

func merge(base, over map[string]any) {
	for key, value := range over {
		below, isMap := base[key].(map[string]any)
		overlay, overIsMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(base, key)
		case isMap && overIsMap:
			merge(below, overlay)
		default:
			base[key] = value
		}
	}
}

// conflicts are the refusals that the chart makes of values that each are well-formed.
func (c Candidate) conflicts() []string {
	v := c.Values
	var out []string
	if v.ReplicaCount < 1 {
		out = append(out, "replicaCount: must be at least 1")
	}
	if v.ReplicaCount > 1 && !v.LeaderElection {
		out = append(out, fmt.Sprintf("replicaCount: %d managers need leaderElection: true", v.ReplicaCount))
	}
	if !v.ServiceAccount.Create && v.ServiceAccount.Name == "" {
		out = append(out, "serviceAccount.name: is required with create: false")
	}
	if len(v.ServiceAccount.Name) > maxBase {
		out = append(out, fmt.Sprintf("serviceAccount.name: has %d characters; it is a base of at most %d, and -v<release sequence> is added to it", len(v.ServiceAccount.Name), maxBase))
	}
	if p := v.Execution.PtahVersion; p == "" || len(p) > 128 || strings.TrimSpace(p) != p {
		out = append(out, "execution.ptahVersion: must have 1 to 128 bytes without blanks at either end")
	}
	if r := v.CertificateRotation; r != nil && !r.Enabled && v.Webhook.ExistingSecret == "" {
		out = append(out, "certificateRotation.enabled: false needs webhook.existingSecret")
	}
	return out
}

// maxBase leaves room for "-v" and any positive 32-bit release sequence within a name of 253 characters.
const maxBase = 241

// name is the chart's base of labels.
func (c Candidate) name() string { return label(orElse(c.Values.NameOverride, c.Chart.Name)) }

// fullname is the base of every object's name, as the chart computes it.
func (c Candidate) fullname() string {
	name := c.name()
	switch {
	case c.Values.FullnameOverride != "":
		return label(c.Values.FullnameOverride)
	case strings.HasPrefix(name, c.Release+"-"):
		return name
	case strings.Contains(c.Release, name):
		return label(c.Release)
	default:
		return label(c.Release + "-" + name)
	}
}

func label(text string) string {
	if len(text) > 50 {
		text = text[:50]
	}
	return strings.TrimSuffix(text, "-")
}

// AccountBase is the name of the manager's ServiceAccount without its epoch.
func (c Candidate) AccountBase() string {
	return orElse(c.Values.ServiceAccount.Name, c.fullname()+"-manager")
}

// Account is the candidate's epoch account: no release sequence uses the account of another.
func (c Candidate) Account() string { return fmt.Sprintf("%s-v%d", c.AccountBase(), c.Chart.Sequence) }

// CoordinationNamespace is where the candidate keeps its Leases.
func (c Candidate) CoordinationNamespace() string {
	return orElse(c.Values.Coordination.Namespace, c.Namespace)
}

// identity is what the candidate writes on both admission configurations.
func (c Candidate) identity() map[string]string {
	election := "false"
	if c.Values.LeaderElection {
		election = "true"
	}
	return map[string]string{
		v1alpha1.ReleaseNameAnnotation: c.Release, v1alpha1.ReleaseNamespaceAnnotation: c.Namespace,
		v1alpha1.CoordinationNamespaceAnnotation: c.CoordinationNamespace(), v1alpha1.LeaderElectionAnnotation: election,
		v1alpha1.LeaderElectionIDAnnotation: v1alpha1.LeaderElectionLease,
	}
}

// Workload is a number of equal Pods.
type Workload struct {
	Name     string // in words
	Replicas int32
	Pod      corev1.PodSpec
}

// Workloads are the candidate's Pods, as far as quotas and limits see them.
func (c Candidate) Workloads() []Workload {
	v := c.Values
	pod := func(name string, resources corev1.ResourceRequirements) corev1.PodSpec {
		return corev1.PodSpec{
			Containers: []corev1.Container{{Name: name, Resources: resources}}, PriorityClassName: v.PriorityClassName,
		}
	}
	out := []Workload{{Name: "manager", Replicas: v.ReplicaCount, Pod: pod("manager", v.Resources)}}
	if r := v.CertificateRotation; r != nil && r.Enabled && v.Webhook.ExistingSecret == "" {
		out = append(out, Workload{Name: "rotator", Replicas: 1, Pod: pod("rotator", r.Resources)})
	}
	return out
}

func orElse(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
