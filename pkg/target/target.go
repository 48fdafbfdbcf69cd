// Package target is what a database URL says: its grammar, the credential-free identity of the database that it leads to, and the
// removal of its secrets from text. The grammar is deliberately narrower than that of the drivers: whatever could lead somewhere
// else than it seems to (several hosts, repeated parameters, service files, session options that run SQL) is refused, and the
// runner hands drivers only the canonical spelling (Target.URL), so that no second parser has a say in where a connection goes.
package target

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Postgres is the engine of postgres:// and postgresql:// URLs, MySQL that of mysql:// and mariadb:// ones.
const (
	Postgres = "postgres"
	MySQL    = "mysql"
)

// MaxURL bounds a database URL, in bytes.
const MaxURL = 8 << 10

// Target is a parsed database URL. It prints as the engine's name only, so that it cannot carry a credential into a message.
type Target struct {
	engine   string
	host     string // lower-case name or canonical address, without brackets
	port     uint16
	database string
	user     string
	password string
	params   map[string]string // accepted parameters without the five above, canonical
}

// Error says which part of a URL is refused and why. It never holds text of the URL.
type Error struct {
	Part   string // "scheme", "host", "parameter sslmode", …
	Reason string
}

// Error reads "database URL: host: is missing".
func (e *Error) Error() string { return "database URL: " + e.Part + ": " + e.Reason }

func refuse(part, format string, args ...any) error {
	return &Error{Part: part, Reason: fmt.Sprintf(format, args...)}
}

// Parse reads a database URL. Every error is an *Error.
func Parse(text string) (Target, error) {
	t, err := ParseServer(text)
	if err == nil && t.database == "" {
		return Target{}, refuse("database", "is missing; its name stands behind the host, as in %s://HOST/NAME", t.engine)
	}
	return t, err
}

// ParseServer is Parse for a URL that leads to a server, on which what is read or written lies elsewhere: that of MySQL and MariaDB, where a session needs
// no database, may name none.
func ParseServer(text string) (Target, error) {
	raw, err := split(text)
	if err != nil {
		return Target{}, err
	}
	switch raw.scheme {
	case "postgres", "postgresql":
		return parsePostgres(raw)
	case "mysql", "mariadb":
		return parseMySQL(raw)
	default:
		return Target{}, refuse("scheme", "must be postgres, postgresql, mysql or mariadb")
	}
}

// Engine is the normalised engine name.
func (t Target) Engine() string { return t.engine }

// Database is the database name.
func (t Target) Database() string { return t.database }

// User is the user that the connection authenticates as.
func (t Target) User() string { return t.user }

// String names the engine and nothing else.
func (t Target) String() string { return t.engine + " database" }

// GoString is String, so that %#v is as silent as %v.
func (t Target) GoString() string { return t.String() }

// URL is the canonical spelling, password included: one host, an explicit port, sorted parameters, everything escaped.
func (t Target) URL() string {
	user := url.User(t.user)
	if t.password != "" {
		user = url.UserPassword(t.user, t.password)
	}
	query := url.Values{}
	for name, value := range t.params {
		query.Set(name, value)
	}
	u := url.URL{
		Scheme: t.engine, User: user, Host: t.authority(),
		Path: "/" + t.database, RawPath: "/" + url.PathEscape(t.database),
		// Query escaping writes a blank as "+", which not every reader of connection URLs decodes.
		RawQuery: strings.ReplaceAll(query.Encode(), "+", "%20"),
	}
	return u.String()
}

func (t Target) authority() string {
	host := t.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(t.port))
}

// Secrets lists what must never be shown: the password and the key password, where present.
func (t Target) Secrets() []string {
	return slices.DeleteFunc([]string{t.password, t.params["sslpassword"]}, func(s string) bool { return s == "" })
}

// identityScheme versions the tuple behind IdentityDigest.
const identityScheme = "ptah.target.v1"

// IdentityDigest names the database, "sha256:" + 64 hex digits. It binds the effective route, database, user, role, search path, session
// options and the non-secret transport and authentication policy; it leaves out passwords, timeouts and the application name. Equal
// digests lead to the same place in the same way; different aliases of one server have different digests.
func (t Target) IdentityDigest() string {
	h := sha256.New()
	for _, field := range []string{identityScheme, t.engine, t.host, strconv.Itoa(int(t.port)), t.database, t.user} {
		writeField(h, field)
	}
	for _, name := range boundParameters(t.engine) {
		writeField(h, name)
		writeField(h, t.effective(name))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// effective is the value of a parameter, its documented default where it is absent.
func (t Target) effective(name string) string {
	if v, ok := t.params[name]; ok {
		return v
	}
	return vocabulary(t.engine)[name].fallback
}

// writeField prefixes the length, so that no two tuples share bytes.
func writeField(h hash.Hash, s string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(s)))
	_, _ = h.Write(n[:]) // a hash never fails to write
	_, _ = h.Write([]byte(s))
}
