// Package status breaks the rule plugin: the plugin drives a controller.
package status

import "github.com/ptah-run/ptah/pkg/controller"

// Options must be refused.
type Options = controller.Options
