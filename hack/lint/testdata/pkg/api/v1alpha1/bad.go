// Package v1alpha1 breaks the rule api: an API type that knows a client library.
package v1alpha1

import "k8s.io/client-go/rest"

// Config must be refused.
type Config = rest.Config
