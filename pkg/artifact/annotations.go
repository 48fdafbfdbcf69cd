package artifact

import (
	"net/url"
	"strings"
	"unicode"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
)

// Epoch is the creation time that every artifact carries, because PackManifest-like clock readings would give the same content a new
// digest at every push.
const Epoch = "1970-01-01T00:00:00Z"

const maxAnnotation = 1024 // bytes of one value

// Annotations say where an artifact comes from. Empty ones are left out.
type Annotations struct {
	Source   string // repository URL, without user information
	Revision string // commit
	BuildRun string // run of the pipeline
	Version  string // of the publisher, Ptah itself
}

// AnnotationsFrom reads what a pipeline says about itself. PTAH_OCI_SOURCE, PTAH_OCI_REVISION and PTAH_OCI_BUILD_RUN win over the
// variables of GitHub Actions and GitLab CI.
func AnnotationsFrom(getenv func(string) string, version string) Annotations {
	first := func(names ...string) string {
		for _, name := range names {
			if v := getenv(name); v != "" {
				return v
			}
		}
		return ""
	}
	source := first("PTAH_OCI_SOURCE")
	if server, repo := getenv("GITHUB_SERVER_URL"), getenv("GITHUB_REPOSITORY"); source == "" && server != "" && repo != "" {
		source = strings.TrimSuffix(server, "/") + "/" + repo
	}
	if source == "" {
		source = first("CI_PROJECT_URL")
	}
	return Annotations{
		Source:   source,
		Revision: first("PTAH_OCI_REVISION", "GITHUB_SHA", "CI_COMMIT_SHA"),
		BuildRun: first("PTAH_OCI_BUILD_RUN", "GITHUB_RUN_ID", "CI_PIPELINE_ID"),
		Version:  version,
	}
}

// manifestAnnotations is the annotation map of a manifest.
func (a Annotations) manifestAnnotations() (map[string]string, error) {
	if u, err := url.Parse(a.Source); a.Source != "" && (err != nil || u.User != nil) {
		return nil, refuse(frame.CodeConfigurationInvalid, "reading the source annotation: it is not a URL, or carries user information, which would publish a credential")
	}
	annotations := map[string]string{ocispec.AnnotationCreated: Epoch}
	for name, value := range map[string]string{
		ocispec.AnnotationSource:               a.Source,
		ocispec.AnnotationRevision:             a.Revision,
		v1alpha1.ArtifactBuildRunAnnotation:    a.BuildRun,
		v1alpha1.ArtifactPtahVersionAnnotation: a.Version,
	} {
		if value == "" {
			continue
		}
		if len(value) > maxAnnotation || strings.ContainsFunc(value, unicode.IsControl) {
			return nil, refuse(frame.CodeConfigurationInvalid, "reading annotation %s: it is over 1024 bytes or holds a control character", name)
		}
		annotations[name] = value
	}
	return annotations, nil
}
