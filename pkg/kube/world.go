// Package kube is where the manager touches Kubernetes: it gathers snapshots, performs the effects that a decision names, and keeps the
// little that one process may remember between two passes. It decides nothing.
package kube

import (
	"time"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/binding"
	"github.com/ptah-run/ptah/pkg/podspec"
)

// Settings are what the manager was started with.
type Settings struct {
	// CoordinationNamespace holds one Lease per database realm.
	CoordinationNamespace string
	Identity              binding.Identity
	Admission             podspec.AdmissionSettings
}

// World reads and writes the cluster for the reconcilers. Cached answers from watches and may be old; Direct is the API server itself.
// ConfigMaps, Secrets and plans are never cached: the first would fill the memory, the second are none of the manager's business.
type World struct {
	Settings Settings
	Cached   client.Reader
	Direct   client.Reader
	Writer   client.Client
	Logs     LogReader
	Events   *Events
	Memory   *Memory
	// Clock and Nonce are the only sources of time and identifiers.
	Clock func() time.Time
	Nonce func() string
}

// Clients are what a World is made of.
type Clients struct {
	Cached client.Reader
	Direct client.Reader
	Writer client.Client
	Core   kubernetes.Interface
}

// NewWorld wires a World. wake is called, from any goroutine, when a resource's result was read.
func NewWorld(s Settings, c Clients, wake func(Key)) *World {
	memory := NewMemory()
	return &World{
		Settings: s, Cached: c.Cached, Direct: c.Direct, Writer: c.Writer,
		Logs: NewLogReader(c.Core, memory, wake), Events: NewEvents(c.Writer), Memory: memory,
		Clock: time.Now, Nonce: randomNonce,
	}
}
