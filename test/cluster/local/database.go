package local

import (
	"context"
	"errors"

	"github.com/ptah-run/ptah/test/cluster"
)

// StartDatabase implements cluster.Driver.
func (d *Driver) StartDatabase(context.Context, cluster.DatabaseOptions) (cluster.Database, error) {
	return cluster.Database{}, errors.ErrUnsupported
}

// StopDatabase implements cluster.Driver.
func (d *Driver) StopDatabase(context.Context, string) error { return errors.ErrUnsupported }
