// Package executor breaks the rule registries: a second way to a registry.
package executor

import "oras.land/oras-go/v2/registry/remote"

// Repository must be refused.
type Repository = remote.Repository
