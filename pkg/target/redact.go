package target

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// shortSecret is the length in bytes below which a secret is removed only as a whole word: replacing every "a" would tell more
// than it hides.
const shortSecret = 4

// Redact removes secrets from text. A secret is a bare value or a whole database URL; of a URL, whatever its state, the URL itself, its
// password and its key password go, alone or together, plain, percent-escaped (even twice), quoted for SQL, JSON, Go or HTML, or in
// base64. It is linear in the text for ordinary secrets and meant for messages, not for megabytes.
func Redact(text string, secrets ...string) string {
	for _, needle := range needles(secrets) {
		text = replace(text, needle)
	}
	return text
}

// Leaks says whether Redact would change the text.
func Leaks(text string, secrets ...string) bool { return Redact(text, secrets...) != text }

// needles lists every value to remove, longest first so that no rest of a longer one survives.
func needles(secrets []string) []string {
	var list []string
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		list = append(list, secret)
		for _, value := range append(urlSecrets(secret), secret) {
			list = append(list, value,
				base64.StdEncoding.EncodeToString([]byte(value)), base64.RawStdEncoding.EncodeToString([]byte(value)),
				base64.URLEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)))
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(list)
}

// urlSecrets digs the credentials out of a URL, also out of one that Parse refuses: raw and decoded, and user:password, which
// is what basic authentication encodes.
func urlSecrets(text string) []string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || strings.ContainsAny(scheme, " \t\n") {
		return nil
	}
	var list []string
	if t, err := Parse(text); err == nil {
		list = append(list, t.Secrets()...)
		list = append(list, t.URL())
	}
	// Either the first or the last @ ends the credentials; a password with a raw @, / or # must go as well.
	for _, i := range []int{strings.IndexByte(rest, '@'), strings.LastIndexByte(rest, '@')} {
		if i < 0 {
			continue
		}
		if _, password, ok := strings.Cut(rest[:i], ":"); ok {
			list = append(list, rest[:i], password)
		}
	}
	_, query, _ := strings.Cut(rest, "?")
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == '#' || r == ';' }) {
		if name, value, _ := strings.Cut(pair, "="); strings.Contains(strings.ToLower(name), "pass") {
			list = append(list, value)
		}
	}
	for _, raw := range slices.Clone(list) {
		if decoded, err := url.PathUnescape(raw); err == nil {
			list = append(list, decoded)
		}
		if decoded, err := url.QueryUnescape(raw); err == nil {
			list = append(list, decoded)
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// replace removes every spelling of one needle.
func replace(text, needle string) string {
	var out strings.Builder
	last := 0
	for i := 0; i < len(text); {
		if c := text[i]; c != needle[0] && c != '%' && c != '\\' && c != '&' && c != '+' {
			i++
			continue
		}
		n := match(text[i:], needle)
		if n == 0 || (len(needle) < shortSecret && !wholeWord(text, i, i+n)) {
			i++
			continue
		}
		out.WriteString(text[last:i])
		out.WriteString(Redacted)
		i += n
		last = i
	}
	if last == 0 {
		return text
	}
	out.WriteString(text[last:])
	return out.String()
}

func wholeWord(text string, from, to int) bool {
	alnum := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
	}
	return (from == 0 || !alnum(text[from-1])) && (to == len(text) || !alnum(text[to]))
}

// match is the length of the longest spelling of needle that text begins with, 0 for none. It keeps the set of reachable offsets, so
// that ambiguous escapes (a password that itself holds %41) cost no backtracking.
func match(text, needle string) int {
	var space [4]int
	reached := space[:1]
	for i := 0; i < len(needle) && len(reached) > 0; i++ {
		var next []int
		for _, at := range reached {
			for _, n := range spellings(text[at:], needle[i]) {
				if !slices.Contains(next, at+n) {
					next = append(next, at+n)
				}
			}
		}
		reached = next
	}
	if len(reached) == 0 {
		return 0
	}
	return slices.Max(reached)
}

// spellings lists the lengths of the prefixes of text that stand for the byte b.
func spellings(text string, b byte) []int {
	if text == "" {
		return nil
	}
	var list []int
	if text[0] == b {
		list = append(list, 1)
		if (b == '\'' || b == '"' || b == '`') && len(text) > 1 && text[1] == b {
			list = append(list, 2)
		}
	}
	switch text[0] {
	case '+':
		if b == ' ' {
			list = append(list, 1)
		}
	case '%':
		list = append(list, percent(text, b)...)
	case '&':
		list = append(list, entity(text, b)...)
	case '\\':
		list = append(list, backslash(text, b)...)
	}
	return list
}

func percent(text string, b byte) []int {
	var list []int
	n := 1
	for ; strings.HasPrefix(text[n:], "25"); n += 2 { // escaped again, however often
		if b == '%' {
			list = append(list, n+2)
		}
	}
	if hexByte(text[n:], b) {
		list = append(list, n+2)
	}
	return list
}

func hexByte(text string, b byte) bool {
	if len(text) < 2 {
		return false
	}
	v, err := strconv.ParseUint(text[:2], 16, 8)
	return err == nil && byte(v) == b
}

var htmlEntities = map[byte][]string{
	'&': {"&amp;"}, '<': {"&lt;"}, '>': {"&gt;"}, '"': {"&quot;", "&#34;"}, '\'': {"&#39;", "&apos;"},
}

func entity(text string, b byte) []int {
	for _, e := range htmlEntities[b] {
		if strings.HasPrefix(text, e) {
			return []int{len(e)}
		}
	}
	return nil
}

// controlEscapes are the one-letter escapes of control characters.
var controlEscapes = map[byte]byte{'\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f', '\a': 'a', '\v': 'v'}

func backslash(text string, b byte) []int {
	n := 1
	for n < len(text) && text[n] == '\\' { // quoted again, however often
		n++
	}
	var list []int
	if b == '\\' { // any even or odd run may stand for one backslash
		for k := 2; k <= n; k++ {
			list = append(list, k)
		}
	}
	if n == len(text) {
		return list
	}
	rest := text[n:]
	switch {
	case rest[0] == b || (controlEscapes[b] != 0 && rest[0] == controlEscapes[b]):
		list = append(list, n+1)
	case rest[0] == 'x' && hexByte(rest[1:], b):
		list = append(list, n+3)
	case rest[0] == 'u' && strings.HasPrefix(rest[1:], "00") && hexByte(rest[3:], b):
		list = append(list, n+5)
	}
	if len(rest) >= 3 {
		if v, err := strconv.ParseUint(rest[:3], 8, 8); err == nil && byte(v) == b {
			list = append(list, n+3)
		}
	}
	return list
}
