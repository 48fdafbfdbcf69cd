package target

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parts is a URL cut at its separators; everything but query keys and values is still escaped.
type parts struct {
	scheme, userinfo, host, path string
	hasUserinfo                  bool
	query                        map[string]string // decoded
}

// split cuts a URL without interpreting it. It does not use url.Parse, whose errors quote the text and whose tolerance (an @ in a
// password, for one) leaves room for a second opinion about the host.
func split(text string) (parts, error) {
	if err := checkText(text); err != nil {
		return parts{}, err
	}
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return parts{}, refuse("scheme", "is missing; a URL begins like postgres://")
	}
	p := parts{scheme: strings.ToLower(scheme)}
	if strings.Contains(rest, "#") {
		return parts{}, refuse("fragment", "is not allowed; a # in a password is written %%23")
	}
	whole := rest
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	p.path = path
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		p.userinfo, p.hasUserinfo = authority[:i], true
		authority = authority[i+1:]
	}
	// An @ further on means that a separator cut the password in two; the pieces would end up in other parts.
	misplaced := !p.hasUserinfo && authority != "" && strings.Contains(whole, "@")
	if misplaced || strings.Contains(p.userinfo, "@") {
		return parts{}, refuse("user", "or password holds an unescaped separator; write @ as %%40, / as %%2F and ? as %%3F")
	}
	p.host = authority
	var err error
	p.query, err = splitQuery(query)
	return p, err
}

// checkText refuses what no part of a URL may hold.
func checkText(text string) error {
	switch {
	case text == "":
		return refuse("text", "is empty")
	case len(text) > MaxURL:
		return refuse("text", "is longer than %d bytes", MaxURL)
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f {
			return refuse("text", "holds a blank, line break, control or non-ASCII character; escape it as %%XX (a Secret made from a file often ends with a line break)")
		}
	}
	return nil
}

// splitQuery decodes the parameters. No name may come twice, be empty or have no value: all three are ways to mean two things.
func splitQuery(query string) (map[string]string, error) {
	values := map[string]string{}
	if query == "" {
		return values, nil
	}
	for pair := range strings.SplitSeq(query, "&") {
		rawName, rawValue, found := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil || name == "" {
			return nil, refuse("parameters", "hold an empty or badly escaped name")
		}
		part := "parameter " + known(name)
		value, err := url.QueryUnescape(rawValue)
		switch {
		case err != nil:
			return nil, refuse(part, "is badly escaped")
		case !found || value == "":
			return nil, refuse(part, "has no value")
		case !printable(value):
			return nil, refuse(part, "holds a control character or is not UTF-8")
		}
		if _, repeated := values[name]; repeated {
			return nil, refuse(part, "is given more than once")
		}
		values[name] = value
	}
	return values, nil
}

// known gives a parameter's name back only if it is one of ours: an unknown name may be a piece of a password.
func known(name string) string {
	for _, engine := range []string{Postgres, MySQL} {
		if _, ok := vocabulary(engine)[name]; ok {
			return name
		}
	}
	return "(unknown)"
}

// parseHost normalises a host name or address. Case and the spelling of an address are folded; a closing dot and the address family are not.
func parseHost(host string) (string, error) {
	switch {
	case host == "":
		return "", refuse("host", "is missing")
	case strings.Contains(host, ","):
		return "", refuse("host", "names more than one endpoint")
	case strings.HasPrefix(host, "/"), strings.HasPrefix(host, "@"):
		return "", refuse("host", "is a socket path; only network hosts are supported")
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", refuse("host", "has an address zone")
		}
		return addr.String(), nil
	}
	return parseHostName(strings.ToLower(host))
}

func parseHostName(host string) (string, error) {
	name := strings.TrimSuffix(host, ".")
	if len(name) > 253 {
		return "", refuse("host", "is longer than 253 characters")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", refuse("host", "is not a host name or address")
		}
	}
	// A resolver may take "127.1" or "0x7f000001" for an address, another for a name.
	last := labels[len(labels)-1]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", refuse("host", "is neither an address in full notation nor a host name")
	}
	return host, nil
}

// splitHostPort separates the port of an authority. An address with colons must stand in brackets.
func splitHostPort(authority string) (host, port string, err error) {
	if strings.Contains(authority, ",") {
		return "", "", refuse("host", "names more than one endpoint")
	}
	if inner, ok := strings.CutPrefix(authority, "["); ok {
		host, rest, closed := strings.Cut(inner, "]")
		if !closed || !strings.Contains(host, ":") {
			return "", "", refuse("host", "has brackets that do not hold an IPv6 address")
		}
		port, colon := strings.CutPrefix(rest, ":")
		if rest != "" && (!colon || port == "") {
			return "", "", refuse("port", "must be a number from 1 to 65535")
		}
		return host, port, nil
	}
	host, port, colon := strings.Cut(authority, ":")
	if colon && port == "" {
		return "", "", refuse("port", "must be a number from 1 to 65535")
	}
	return host, port, nil
}

func parsePort(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, refuse("port", "must be a number from 1 to 65535")
	}
	return uint16(n), nil
}

// printable says that a decoded value is UTF-8 without control characters; NUL above all ends a field in every wire protocol.
func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}
