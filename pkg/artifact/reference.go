package artifact

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/frame"
)

// Scheme starts every reference.
const Scheme = "oci://"

// Bounds of a reference.
const (
	MaxReference  = 1024 // bytes
	maxRepository = 255  // bytes, as the distribution specification has it
	defaultTag    = "latest"
	hubHost       = "docker.io"
	hubAuthority  = "registry-1.docker.io"
)

var (
	hostPattern      = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\.?$`)
	repoPartPattern  = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$`)
	tagPattern       = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digestPattern    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	generatedVersion = regexp.MustCompile(`^v[0-9]{14}-[a-z2-7]{4,32}$`)
)

// Reference is a parsed oci:// reference. Host keeps the author's spelling; Tag is empty where none was written.
type Reference struct {
	Host       string // host or host:port
	Repository string
	Tag        string
	Digest     string // "sha256:" + 64 lower-case hex digits, or empty
}

// ParseReference reads oci://host[:port]/repository[:tag][@sha256:<64 hex>]. A refusal has CodeConfigurationInvalid and names what is
// wrong; it repeats the reference only after user information has been ruled out.
func ParseReference(text string) (Reference, error) {
	rest, err := withoutScheme(text)
	if err != nil {
		return Reference{}, err
	}
	host, path, found := strings.Cut(rest, "/")
	if strings.Contains(host, "@") {
		return Reference{}, badReference("", "it carries user information; credentials belong into the registry Secret or the Docker configuration")
	}
	if !found || path == "" {
		return Reference{}, badReference(text, "the repository is missing (expected oci://host/repository)")
	}
	if err := checkHost(text, host); err != nil {
		return Reference{}, err
	}
	ref := Reference{Host: host}
	name, digest, pinned := strings.Cut(path, "@")
	if pinned && !digestPattern.MatchString(digest) {
		return Reference{}, badReference(text, "the digest is not sha256: followed by 64 lower-case hexadecimal digits")
	}
	ref.Digest = digest
	repository, tag, tagged := strings.Cut(name, ":")
	if tagged && !tagPattern.MatchString(tag) {
		return Reference{}, badReference(text, "the tag is not 1 to 128 letters, digits, dots, dashes or underscores")
	}
	if err := checkRepository(text, repository); err != nil {
		return Reference{}, err
	}
	ref.Tag, ref.Repository = tag, repository
	return ref, nil
}

func withoutScheme(text string) (string, error) {
	switch {
	case text == "":
		return "", badReference("", "it is empty")
	case len(text) > MaxReference:
		return "", badReference("", "it is longer than 1024 bytes")
	case strings.TrimSpace(text) != text:
		return "", badReference("", "it is surrounded by blanks")
	}
	rest, ok := strings.CutPrefix(text, Scheme)
	if !ok {
		if strings.HasPrefix(text, "oci-layout://") {
			return "", badReference("", "oci-layout:// names a directory, not a registry; oci:// is needed here")
		}
		return "", badReference("", "it does not start with oci://")
	}
	for _, c := range rest {
		switch {
		case c == '?':
			return "", badReference("", "it carries a query")
		case c == '#':
			return "", badReference("", "it carries a fragment")
		case c == '%', c == '\\':
			return "", badReference("", "it carries an escaped separator")
		case c <= ' ' || c > '~':
			return "", badReference("", "it carries a blank, a control character or a character outside ASCII")
		}
	}
	return rest, nil
}

func checkHost(text, host string) error {
	if strings.HasPrefix(host, "[") {
		return checkIPv6Host(text, host)
	}
	name, port, hasPort := strings.Cut(host, ":")
	if name == "" {
		return badReference(text, "the host is missing")
	}
	if len(name) > 253 || !hostPattern.MatchString(name) {
		return badReference(text, "the host is malformed")
	}
	if hasPort {
		return checkPort(text, port)
	}
	return nil
}

func checkIPv6Host(text, host string) error {
	address, rest, closed := strings.Cut(host[1:], "]")
	if !closed {
		return badReference(text, "the IPv6 address is not closed by ]")
	}
	if addr, err := netip.ParseAddr(address); err != nil || !addr.Is6() || addr.Zone() != "" {
		return badReference(text, "the host in brackets is not an IPv6 address")
	}
	if rest == "" {
		return nil
	}
	port, ok := strings.CutPrefix(rest, ":")
	if !ok {
		return badReference(text, "the host is malformed")
	}
	return checkPort(text, port)
}

func checkPort(text, port string) error {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || port[0] == '0' {
		return badReference(text, "the port is not a number from 1 to 65535")
	}
	return nil
}

func checkRepository(text, repository string) error {
	if repository == "" {
		return badReference(text, "the repository is missing")
	}
	if len(repository) > maxRepository {
		return badReference(text, "the repository is longer than 255 bytes")
	}
	for part := range strings.SplitSeq(repository, "/") {
		switch {
		case part == "":
			return badReference(text, "the repository has an empty part")
		case part != strings.ToLower(part):
			return badReference(text, "the repository has upper-case letters")
		case !repoPartPattern.MatchString(part):
			return badReference(text, "the repository has a part that is not lower-case letters and digits joined by dot, dash or underscore")
		}
	}
	return nil
}

// badReference words a refusal; text is left out where it could hold a credential, that is where an @ is followed by anything but a
// digest.
func badReference(text, why string) error {
	if _, digest, found := strings.Cut(text, "@"); text == "" || found && !digestPattern.MatchString(digest) {
		return refuse(frame.CodeConfigurationInvalid, "reading the OCI reference: %s", why)
	}
	return refuse(frame.CodeConfigurationInvalid, "reading the OCI reference %s: %s", quoted(text), why)
}

// String writes the reference as it was read.
func (r Reference) String() string {
	s := Scheme + r.Host + "/" + r.Repository
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}

// Pinned is the reference with the tag replaced by a digest.
func (r Reference) Pinned(digest string) string {
	return Reference{Host: r.Host, Repository: r.Repository, Digest: digest}.String()
}

// Authority is the host[:port] that requests go to: lower case, docker.io replaced by its registry host, port and trailing dot as
// written. Registry grants are compared with it.
func (r Reference) Authority() string {
	host := strings.ToLower(r.Host)
	if host == hubHost {
		return hubAuthority
	}
	return host
}

// Selector is what the registry is asked for: the digest where there is one, else the tag, else "latest".
func (r Reference) Selector() string {
	switch {
	case r.Digest != "":
		return r.Digest
	case r.Tag != "":
		return r.Tag
	default:
		return defaultTag
	}
}

// WriteOnce says that the tag has the form of a generated version (v, 14 digits, dash, base32), which must never move.
func (r Reference) WriteOnce() bool { return generatedVersion.MatchString(r.Tag) }

func (r Reference) sameRepository(o Reference) bool {
	return r.Authority() == o.Authority() && r.Repository == o.Repository
}
