// Package kube breaks the rule manager: a manager that runs SQL itself.
package kube

import "github.com/ptah-run/ptah/pkg/engine"

// Options must be refused.
type Options = engine.Options
