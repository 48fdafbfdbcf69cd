// Package kindcluster is the driver for sigs.k8s.io/kind.
package kindcluster

import (
	"errors"

	"github.com/ptah-run/ptah/test/cluster"
)

// New returns the driver.
func New(string) (cluster.Driver, error) { return nil, errors.ErrUnsupported }
