// Package plan breaks the rule plugin-publishing: a reading verb that opens a database.
package plan

import "github.com/ptah-run/ptah/pkg/engine"

// Options must be refused.
type Options = engine.Options
