package plugin_test

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

func init() { clusters["refreshing"] = refreshingCluster }

// refreshingCluster is a schema that was in sync at the last reading and is being read again.
func refreshingCluster() []runtime.Object {
	catalog := newSchema("shop", "catalog", 10)
	catalog.Status.Phase = v1alpha1.SchemaPhasePlanning
	catalog.Status.NextReconciliationTime = agoPtr(-15 * time.Minute)
	return []runtime.Object{catalog}
}
