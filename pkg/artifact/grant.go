package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/ptah-run/ptah/pkg/frame"
)

// Grants are what the owner of a registry Secret allows its credential to be used for: the Secret's fixed keys, empty where missing.
type Grants struct {
	Registry       string // host[:port]
	AllowPlainHTTP string
	CASHA256       string
}

// Use is what a resource wants to do with the credential. CA is the exact value of the selected ConfigMap key, nil where none is
// selected.
type Use struct {
	Reference     string
	Authenticated bool
	PlainHTTP     bool
	CA            []byte
}

// CheckGrant decides, before any request is made, whether a credential may be used this way. A refusal has CodeRegistryGrantRefused
// (or CodeConfigurationInvalid where the resource itself cannot be meant) and names the key at fault, never its value. An anonymous
// source needs no grant.
func CheckGrant(g Grants, u Use) error {
	ref, err := ParseReference(u.Reference)
	if err != nil {
		return err
	}
	if err := checkTransport(u); err != nil {
		return err
	}
	if !u.Authenticated {
		return nil
	}
	if err := checkRegistryGrant(g.Registry, ref.Authority()); err != nil {
		return err
	}
	if err := checkPlainHTTPGrant(g.AllowPlainHTTP, u); err != nil {
		return err
	}
	return checkCAGrant(g.CASHA256, u.CA)
}

func checkTransport(u Use) error {
	switch {
	case u.PlainHTTP && u.CA != nil:
		return refuse(frame.CodeConfigurationInvalid, "checking the transport: plainHTTP and caFrom exclude each other")
	case u.CA != nil && len(u.CA) == 0:
		return refuse(frame.CodeConfigurationInvalid, "checking the transport: the value that caFrom selects is empty")
	case len(u.CA) > MaxCA:
		return refuse(frame.CodeConfigurationInvalid, "checking the transport: the value that caFrom selects is over 1 MiB")
	default:
		return nil
	}
}

func checkRegistryGrant(grant, authority string) error {
	switch {
	case grant == "":
		return grantRefused(`key "registry" is missing; it must be %s to allow the credential to be sent there`, authority)
	case checkHost("", grant) != nil || strings.ContainsAny(grant, "/@ \t\r\n"):
		return grantRefused(`key "registry" is not host[:port], without scheme, path or blanks; it must be %s`, authority)
	case strings.ToLower(grant) != authority:
		return grantRefused(`key "registry" allows another registry than %s`, authority)
	default:
		return nil
	}
}

func checkPlainHTTPGrant(grant string, u Use) error {
	switch {
	case u.PlainHTTP && grant == "":
		return grantRefused(`key "allowPlainHTTP" is missing; a credential goes over plain HTTP only where it is exactly "true"`)
	case u.PlainHTTP && grant != "true":
		return grantRefused(`key "allowPlainHTTP" is not exactly "true"`)
	case grant == "true" && u.CA != nil:
		return grantRefused(`keys "allowPlainHTTP" and "caSHA256" exclude each other`)
	case grant != "" && grant != "true" && grant != "false":
		return grantRefused(`key "allowPlainHTTP" is neither "true" nor "false"`)
	default:
		return nil
	}
}

func checkCAGrant(grant string, ca []byte) error {
	switch {
	case grant != "" && !digestPattern.MatchString(grant):
		return grantRefused(`key "caSHA256" is not sha256: followed by 64 lower-case hexadecimal digits`)
	case ca == nil:
		return nil
	case grant == "":
		return grantRefused(`key "caSHA256" is missing; it must be the digest of the exact value that caFrom selects`)
	case grant != Digest(ca):
		return grantRefused(`key "caSHA256" is the digest of another CA than caFrom selects; rotate both together`)
	default:
		return nil
	}
}

func grantRefused(format string, args ...any) error {
	return refuse(frame.CodeRegistryGrantRefused, "checking the grants of the registry Secret: "+format, args...)
}

// Digest is "sha256:" and the lower-case hexadecimal SHA-256 of data.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
