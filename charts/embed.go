// Package charts carries the chart inside the programs that check a cluster for it, so that its defaults and its CRD stamps stand in one place.
package charts

import "embed"

// Operator is the chart ptah-operator, without its templates.
//
//go:embed ptah-operator/Chart.yaml ptah-operator/values.yaml ptah-operator/values.schema.json ptah-operator/crds/*.yaml
var Operator embed.FS
