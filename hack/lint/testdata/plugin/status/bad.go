// Package status breaks the rule plugin: the plugin drives a controller.
package status

import "github.com/ptah-run/ptah/pkg/controller"

// Reconciler must be refused.
type Reconciler = controller.SchemaReconciler
