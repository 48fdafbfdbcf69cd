package approval

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/ptah-run/ptah/pkg/digest"
)

// PolicyOf identifies a verification policy: the UID of its ConfigMap and the digest of the exact bytes under the key. A ConfigMap that may
// change, or that lacks the key, is no policy.
func PolicyOf(cm *corev1.ConfigMap, key string) (PolicySource, []byte, error) {
	if cm.Immutable == nil || !*cm.Immutable {
		return PolicySource{}, nil, fmt.Errorf("verification policy ConfigMap %s is not immutable: set immutable: true", cm.Name)
	}
	data, ok := cm.BinaryData[key]
	if value, isText := cm.Data[key]; isText {
		data, ok = []byte(value), true
	}
	if !ok {
		return PolicySource{}, nil, fmt.Errorf("verification policy ConfigMap %s has no key %s", cm.Name, key)
	}
	return PolicySource{UID: string(cm.UID), Digest: digest.Bytes(data)}, data, nil
}
