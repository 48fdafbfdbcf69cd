package supportbundle

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/target"
)

// Removed stands where a value was left out because of where it stood.
const Removed = "[removed]"

// maxLearned bounds the secrets that are looked for everywhere, and with them the work.
const maxLearned = 128

// Secret-looking things. What is matched too much costs a reader a word; what is matched too little costs a password.
var (
	address    = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"<>` + "`" + `]+`)
	assignment = regexp.MustCompile(`(?i)((?:[\w.-]*(?:passw(?:or)?d|pwd|passphrase|token|secret|api[_-]?key|credential|authorization|private[_-]?key|signature)[\w.-]*|\bpass|[?&]sig)\\*["']?\s*[:=]\s*)(\\*"(?:[^"\\]|\\[^"])*\\*"|'[^']*'|[^\s,;&"'{}\[\]]+)`)
	// prose is a password in a sentence: password "hunter2", the password is hunter2, token was: abc. A word behind it that only says something
	// about it stays, see saysOf.
	prose = regexp.MustCompile(`(?i)\b((?:passwords?|passwd|passphrases?|pwd|api[ _-]?keys?|access[ _-]?keys?|secret[ _-]?keys?|tokens?|credentials?)(?:\s+(?:for|of)\s+(?:user\s+)?\S+?\s+(?:is|was)\b)?(?:\s+(?:is|was|are|were|of|to|for|used|given|set|now|it|user|\S+'s)\b)*\s*[:=]?\s+)("[^"]*"|'[^']*'|` + "`[^`]*`" + `|[^\s,;]+)`)
	// login is what servers and clients write of a person and a password: user/password@host, user:password@host, without a scheme.
	login = regexp.MustCompile(`\b[\w.-]+[:/][^\s@/"'<>]+@(?:[A-Za-z][\w.-]*|\d+\.\d+\.\d+\.\d+)(?:[:/]|\b)`)
	// flagged is an assignment as command lines make it: --password hunter2.
	flagged = regexp.MustCompile(`(?i)(--[\w-]*(?:passw(?:or)?d|pwd|passphrase|token|secret|api-?key|credentials?)\s+)([^\s-]\S*)`)
	// header is a line whose whole value is a credential, whatever the scheme.
	header = regexp.MustCompile(`(?i)((?:authorization|cookie)\s*:\s*)([^\r\n"'\\]+)`)
	// driver is an address as database drivers take it, without a scheme: user:password@tcp(host)/database.
	driver     = regexp.MustCompile(`[\w.-]+:[^\s"]*@(tcp6?|unix|udp)\(`)
	bearer     = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}`)
	webToken   = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?`)
	privateKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`)
	wellKnown  = regexp.MustCompile(`\b(AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,})`)
	// credentialKey is a field or variable whose whole value is a credential.
	credentialKey = regexp.MustCompile(`(?i)(passw(or)?d|pass|pwd|passphrase|token|secret|api[_-]?key|credentials?|authorization|private_?key|database_?url|dsn)$`)
)

// inProse takes out the word that a sentence gives as a credential. A quoted one goes whatever it is; a bare one stays only where it is a plain
// word of letters, which a sentence is made of.
func inProse(found string) string {
	parts := prose.FindStringSubmatch(found)
	word := parts[2]
	if strings.Trim(word, "\"'`") == target.Redacted || strings.HasPrefix(word, "[redacted") || strings.HasPrefix(word, Removed) {
		return found
	}
	stated := strings.ContainsAny(parts[1], ":=") || is.MatchString(parts[1])
	if quote := word[0]; quote != '"' && quote != '\'' && quote != '`' && plainWord.MatchString(word) && (!stated || common[strings.ToLower(strings.TrimRight(word, ".:"))]) {
		return found
	}
	return parts[1] + target.Redacted
}

var (
	is        = regexp.MustCompile(`(?i)\b(?:is|was|are|were)\b`)
	plainWord = regexp.MustCompile(`^(?:[A-Za-z]+|[a-z]+(?:[-/][a-z]+)*)[.:)]*$|^[a-z0-9.-]+/[a-z0-9.-]+[.:]?$`)
)

// common are the words that follow "password is" in the messages of databases, registries and Kubernetes without being one.
var common = map[string]bool{}

func init() {
	for _, word := range strings.Fields(`a an absent allowed and any be been being cannot correct denied does empty expired expiring for forbidden found from given has in invalid
		is it malformed missing must needed neither never no none not of only optional or permitted read refused rejected required set stale still the there to too unknown
		unset unused used valid wrong`) {
		common[word] = true
	}
}

// inLogin keeps the host of a login that has no scheme. The @ of an image's digest ends no login, nor does a mail address begin one.
func inLogin(found string) string {
	at := strings.LastIndexByte(found, '@')
	if strings.HasPrefix(found[at+1:], "sha256") || strings.HasPrefix(found, target.Redacted) {
		return found
	}
	return target.Redacted + found[at:]
}

// redactor takes out of text what looks like a credential, and what was seen as one anywhere else.
type redactor struct{ learned []string }

// learn notes the credentials that a text shows, so that they are found again where they stand alone.
func (r *redactor) learn(text string) {
	for _, found := range address.FindAllString(text, -1) {
		if credentials(found) != "" {
			r.remember(found)
		}
	}
	for _, found := range assignment.FindAllStringSubmatch(text, -1) {
		if value := strings.Trim(found[2], `\"'`); telling(value) {
			r.remember(value)
		}
	}
	for _, found := range prose.FindAllStringSubmatch(text, -1) {
		if value := strings.Trim(found[2], "\"'`.,:"); inProse(found[0]) != found[0] && telling(value) {
			r.remember(value)
		}
	}
}

// remember takes a secret as such.
func (r *redactor) remember(secret string) {
	if len(r.learned) < maxLearned && !slices.Contains(r.learned, secret) {
		r.learned = append(r.learned, secret)
	}
}

// telling reports a value that is worth looking for elsewhere: words of a sentence are not.
func telling(value string) bool {
	return len(value) >= 6 && strings.Trim(strings.ToLower(value), "abcdefghijklmnopqrstuvwxyz-_./") != ""
}

// credentials is the part of an address before its host, "" where it has none. The @ of an image's digest ends no credentials.
func credentials(text string) string {
	_, rest, _ := strings.Cut(text, "://")
	for i := len(rest) - 1; i >= 0; i-- {
		if rest[i] == '@' && !strings.HasPrefix(rest[i+1:], "sha256:") {
			return rest[:i]
		}
	}
	return ""
}

// text redacts one text.
func (r *redactor) text(text string) string {
	if text == "" {
		return text
	}
	text = privateKey.ReplaceAllString(text, target.Redacted)
	text = address.ReplaceAllStringFunc(text, func(found string) string {
		secret := credentials(found)
		if secret == "" {
			return found
		}
		return strings.Replace(found, "://"+secret+"@", "://"+target.Redacted+"@", 1)
	})
	text = driver.ReplaceAllString(text, target.Redacted+"@${1}(")
	text = header.ReplaceAllString(text, "${1}"+target.Redacted)
	text = flagged.ReplaceAllString(text, "${1}"+target.Redacted)
	text = assignment.ReplaceAllString(text, "${1}"+target.Redacted)
	text = prose.ReplaceAllStringFunc(text, inProse)
	text = login.ReplaceAllStringFunc(text, inLogin)
	text = bearer.ReplaceAllString(text, "${1} "+target.Redacted)
	text = webToken.ReplaceAllString(text, target.Redacted)
	text = wellKnown.ReplaceAllString(text, target.Redacted)
	return target.Redact(text, r.learned...)
}

// keptAnnotations are those that Ptah, Helm and Kubernetes write. Any other may hold anything, and is left out.
var keptAnnotations = []string{"operator.ptah.run/", "meta.helm.sh/", "helm.sh/", "deployment.kubernetes.io/", "batch.kubernetes.io/", "kubectl.kubernetes.io/default-container", "cluster-autoscaler.kubernetes.io/"}

// clean goes over a decoded object. With look it only learns; without, it returns the object as it may leave the cluster.
func (r *redactor) clean(value any, path []string, look bool) any {
	switch v := value.(type) {
	case map[string]any:
		return r.object(v, path, look)
	case []any:
		return r.list(v, path, look)
	case string:
		if look {
			r.learn(v)
			return v
		}
		return r.text(v)
	default:
		return value
	}
}

// list takes out what follows a flag for a credential: the arguments of a command are a list.
func (r *redactor) list(v []any, path []string, look bool) []any {
	out := make([]any, len(v))
	flag := ""
	for i, item := range v {
		text, isText := item.(string)
		switch {
		case isText && strings.HasPrefix(flag, "-") && credentialKey.MatchString(flag):
			if out[i] = Removed; look && len(text) >= 4 {
				r.remember(text)
			}
		default:
			out[i] = r.clean(item, path, look)
		}
		flag = text
	}
	return out
}

// bare tells a value that is a credential under the name of one: no object, which only says where one is.
func bare(value any) bool {
	switch v := value.(type) {
	case string, float64, json.Number:
		return true
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(item any) bool { return !bare(item) })
	}
	return false
}

func (r *redactor) object(v map[string]any, path []string, look bool) any {
	out := make(map[string]any, len(v))
	for key, item := range v {
		under := append(path[:len(path):len(path)], key)
		text, isText := item.(string)
		name, _ := v["name"].(string)
		switch {
		case key == "managedFields":
			continue
		case last(path) == "annotations" && !slices.ContainsFunc(keptAnnotations, func(kept string) bool { return strings.HasPrefix(key, kept) }),
			isText && key == "value" && last(path) == "env" && v["name"] != "PTAH_INTENT",
			isText && key == "value" && credentialKey.MatchString(name), // a header of a probe
			bare(item) && credentialKey.MatchString(key):
			if look && isText {
				r.learn(text)
				if (credentialKey.MatchString(key) || credentialKey.MatchString(name)) && len(text) >= 4 {
					r.remember(text)
				}
			}
			out[key] = Removed
		case key == "caBundle" && isText:
			out[key] = Removed
		default:
			out[key] = r.clean(item, under, look)
		}
	}
	return out
}

func last(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}
