package release

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// CRDSpecDigest is the SHA-256 digest, in lower-case hex, of the normalised spec of a CRD: with the defaults of the API server filled in
// and encoded as JSON with a fixed key order. A manifest and the object that the API server made of it have the same digest.
func CRDSpecDigest(crd *apiextensionsv1.CustomResourceDefinition) (string, error) {
	normal := crd.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&normal.Spec)
	// Decoding and encoding once more gives JSON literals inside the schema (defaults, enums) the same spelling wherever they came from.
	var generic any
	first, err := json.Marshal(normal.Spec)
	if err != nil {
		return "", fmt.Errorf("encoding spec of CRD %s: %w", crd.Name, err)
	}
	if err := json.Unmarshal(first, &generic); err != nil {
		return "", fmt.Errorf("decoding spec of CRD %s: %w", crd.Name, err)
	}
	encoded, err := json.Marshal(generic)
	if err != nil {
		return "", fmt.Errorf("encoding spec of CRD %s: %w", crd.Name, err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:]), nil
}
