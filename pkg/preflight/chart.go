package preflight

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Chart is what a release of the chart brings, apart from its templates.
type Chart struct {
	Name, Version, AppVersion string
	KubeVersion               string // range of server versions
	Sequence                  int64  // strictly greater in every published version
	Defaults                  map[string]any
	Schema                    map[string]any // of the values
	Stamps                    map[string]Stamp
}

// Stamp is the schema identity that a CRD carries in its annotations.
type Stamp struct {
	Version      int64
	Digest       string
	StateVersion int64
	Stored       []string // names of the versions
}

const chartFolder = "ptah-operator"

// ReadChart reads the chart out of its folder.
func ReadChart(folder fs.FS) (Chart, error) {
	var meta struct {
		Name, Version, AppVersion, KubeVersion string
		Annotations                            map[string]string
	}
	var chart Chart
	if err := readYAML(folder, "Chart.yaml", &meta); err != nil {
		return chart, err
	}
	sequence, err := strconv.ParseInt(meta.Annotations[v1alpha1.ReleaseSequenceAnnotation], 10, 32)
	if err != nil || sequence < 1 {
		return chart, fmt.Errorf("reading chart: Chart.yaml has no release sequence")
	}
	chart = Chart{
		Name: meta.Name, Version: meta.Version, AppVersion: meta.AppVersion, KubeVersion: meta.KubeVersion, Sequence: sequence,
		Stamps: map[string]Stamp{},
	}
	if err := readYAML(folder, "values.yaml", &chart.Defaults); err != nil {
		return chart, err
	}
	if err := readYAML(folder, "values.schema.json", &chart.Schema); err != nil {
		return chart, err
	}
	return chart, chart.readStamps(folder)
}

func (c *Chart) readStamps(folder fs.FS) error {
	files, err := fs.Glob(folder, path.Join(chartFolder, "crds", "*.yaml"))
	if err != nil {
		return fmt.Errorf("reading chart: %w", err)
	}
	for _, file := range files {
		crd := apiextensionsv1.CustomResourceDefinition{}
		if err := readYAML(folder, path.Join("crds", path.Base(file)), &crd); err != nil {
			return err
		}
		stamp, problem := stampOf(crd.Annotations)
		if problem != "" {
			return fmt.Errorf("reading chart: %s: %s", file, problem)
		}
		for _, v := range crd.Spec.Versions {
			stamp.Stored = append(stamp.Stored, v.Name)
		}
		c.Stamps[crd.Name] = stamp
	}
	return nil
}

// CRDs lists the names of the chart's CRDs in order.
func (c Chart) CRDs() []string { return slices.Sorted(maps.Keys(c.Stamps)) }

func readYAML(folder fs.FS, name string, into any) error {
	data, err := fs.ReadFile(folder, path.Join(chartFolder, name))
	if err != nil {
		return fmt.Errorf("reading chart: %w", err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		return fmt.Errorf("reading chart: %s: %w", name, err)
	}
	return nil
}

// stampOf reads a CRD's schema identity, or says what is wrong with it. Nothing is taken on trust: an identity is whole or it is none.
func stampOf(annotations map[string]string) (stamp Stamp, problem string) {
	var missing []string
	for _, key := range []string{v1alpha1.CRDSchemaVersionAnnotation, v1alpha1.CRDSchemaDigestAnnotation, v1alpha1.CRDControllerStateAnnotation} {
		if annotations[key] == "" {
			missing = append(missing, strings.TrimPrefix(key, v1alpha1.GroupName+"/"))
		}
	}
	if len(missing) > 0 {
		return stamp, "carries no " + strings.Join(missing, ", no ")
	}
	var ok bool
	if stamp.Version, ok = positive(annotations[v1alpha1.CRDSchemaVersionAnnotation]); !ok {
		return stamp, "has a malformed crd-schema-version: " + quoted(clip(annotations[v1alpha1.CRDSchemaVersionAnnotation]))
	}
	if stamp.StateVersion, ok = positive(annotations[v1alpha1.CRDControllerStateAnnotation]); !ok {
		return stamp, "has a malformed controller-state-version: " + quoted(clip(annotations[v1alpha1.CRDControllerStateAnnotation]))
	}
	stamp.Digest = annotations[v1alpha1.CRDSchemaDigestAnnotation]
	if len(stamp.Digest) != 64 || strings.Trim(stamp.Digest, "0123456789abcdef") != "" {
		return stamp, "has a malformed crd-schema-digest: " + quoted(clip(stamp.Digest))
	}
	return stamp, ""
}

// positive reads a positive decimal of at most 32 bits, as it is written: no sign, no leading zero.
func positive(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return n, err == nil && n > 0 && strconv.FormatInt(n, 10) == text
}

func clip(text string) string {
	if len(text) > 80 {
		return strings.ToValidUTF8(text[:80], "") + "..."
	}
	return text
}
