package executor

import (
	"fmt"
	"path/filepath"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Layout says where everything lies in the Pod. Tests give it another root.
type Layout struct {
	Root         string // prepended to every path below; empty in a Pod
	EngineBinary string // the child's program; not below Root
}

// DefaultLayout is the layout of a Pod.
func DefaultLayout() Layout { return Layout{EngineBinary: v1alpha1.EngineImageBinary} }

func (l Layout) at(path ...string) string { return filepath.Join(append([]string{l.Root}, path...)...) }

// RunnerBinary is where prepare installs the runner.
func (l Layout) RunnerBinary() string { return l.at(v1alpha1.RunnerBinary) }

// Artifact is the directory that fetch makes: the mount point itself cannot be renamed over.
func (l Layout) Artifact() string { return l.at(v1alpha1.WorkMountPath, "artifact") }

// Schema is the canonical model inside the fetched artifact.
func (l Layout) Schema() string {
	return filepath.Join(l.Artifact(), v1alpha1.DefaultDesiredDataFileName)
}

// CASource is the projected ConfigMap value, which may change while the Pod runs.
func (l Layout) CASource() string { return l.at(v1alpha1.CASourceMountPath, v1alpha1.CAFileName) }

// CA is the snapshot of CASource that fetch uses.
func (l Layout) CA() string { return l.at(v1alpha1.CAMountPath, v1alpha1.CAFileName) }

// Policy is the verification policy.
func (l Layout) Policy() string { return l.at(v1alpha1.PolicyMountPath, v1alpha1.PolicyFileName) }

// DockerConfig is the registry credential of mode DockerConfigJSON.
func (l Layout) DockerConfig() string {
	return l.at(v1alpha1.DockerConfigPath, v1alpha1.DockerConfigFileName)
}

// Chunk is where the chunk with this index lies.
func (l Layout) Chunk(index int, key string) string {
	return l.at(v1alpha1.PlanMountPath, fmt.Sprintf("%03d", index), key)
}

// Scratch is a directory for private files of the main container.
func (l Layout) Scratch() string { return l.at(v1alpha1.ScratchMountPath) }
