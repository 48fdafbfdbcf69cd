package artifact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/frame"
)

const someDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParseReference(t *testing.T) {
	cases := map[string]struct {
		want      Reference
		authority string
		selector  string
	}{
		"oci://registry.example/app": {Reference{Host: "registry.example", Repository: "app"}, "registry.example", "latest"},
		"oci://Registry.Example:5000/team/app:v1.2": {
			Reference{Host: "Registry.Example:5000", Repository: "team/app", Tag: "v1.2"}, "registry.example:5000", "v1.2",
		},
		"oci://docker.io/library/app:1": {Reference{Host: "docker.io", Repository: "library/app", Tag: "1"}, "registry-1.docker.io", "1"},
		"oci://host/app@" + someDigest:  {Reference{Host: "host", Repository: "app", Digest: someDigest}, "host", someDigest},
		"oci://host:443/app:tag@" + someDigest: {
			Reference{Host: "host:443", Repository: "app", Tag: "tag", Digest: someDigest}, "host:443", someDigest,
		},
		"oci://registry.example./app": {Reference{Host: "registry.example.", Repository: "app"}, "registry.example.", "latest"},
		"oci://[::1]:5000/a/b__c-d.e": {Reference{Host: "[::1]:5000", Repository: "a/b__c-d.e"}, "[::1]:5000", "latest"},
		"oci://10.0.0.1/a":            {Reference{Host: "10.0.0.1", Repository: "a"}, "10.0.0.1", "latest"},
	}
	for text, tc := range cases {
		t.Run(text, func(t *testing.T) {
			got, err := ParseReference(text)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, text, got.String())
			assert.Equal(t, tc.authority, got.Authority())
			assert.Equal(t, tc.selector, got.Selector())
		})
	}
}

func TestPinnedReplacesTheTag(t *testing.T) {
	ref, err := ParseReference("oci://host/app:stable")
	require.NoError(t, err)
	assert.Equal(t, "oci://host/app@"+someDigest, ref.Pinned(someDigest))
}

func TestParseReferenceRefusals(t *testing.T) {
	cases := map[string]struct{ text, why string }{
		"empty":                   {"", "empty"},
		"other scheme":            {"https://host/app", "oci://"},
		"no scheme":               {"host/app", "oci://"},
		"layout":                  {"oci-layout:///srv/x", "directory"},
		"user information":        {"oci://user:hunter2@host/app", "user information"},
		"password with a slash":   {"oci://user:hunter2/x@host/app", "port"},
		"query":                   {"oci://host/app?x=1", "query"},
		"fragment":                {"oci://host/app#x", "fragment"},
		"escaped separator":       {"oci://host/app%2fx", "escaped"},
		"backslash":               {`oci://host\app`, "escaped"},
		"blanks around":           {" oci://host/app", "blanks"},
		"newline at the end":      {"oci://host/app\n", "blanks"},
		"blank inside":            {"oci://host/a b", "blank"},
		"not ASCII":               {"oci://host/äpp", "ASCII"},
		"upper-case repository":   {"oci://host/Team/app", "upper-case"},
		"no repository":           {"oci://host", "repository is missing"},
		"only a slash":            {"oci://host/", "repository is missing"},
		"only a tag":              {"oci://host/:v1", "repository is missing"},
		"empty part":              {"oci://host/a//b", "empty part"},
		"dot part":                {"oci://host/a/../b", "part"},
		"no host":                 {"oci:///app", "host is missing"},
		"bad host":                {"oci://-host/app", "host is malformed"},
		"bad port":                {"oci://host:0/app", "port"},
		"port with a zero":        {"oci://host:0443/app", "port"},
		"port too large":          {"oci://host:65536/app", "port"},
		"empty port":              {"oci://host:/app", "port"},
		"empty tag":               {"oci://host/app:", "tag"},
		"bad tag":                 {"oci://host/app:a:b", "tag"},
		"long tag":                {"oci://host/app:" + strings.Repeat("x", 129), "tag"},
		"short digest":            {"oci://host/app@sha256:abc", "digest"},
		"upper-case digest":       {"oci://host/app@" + strings.ToUpper(someDigest), "digest"},
		"other digest algorithm":  {"oci://host/app@sha512:" + strings.Repeat("0", 128), "digest"},
		"two digests":             {"oci://host/app@" + someDigest + "@" + someDigest, "digest"},
		"unclosed IPv6":           {"oci://[::1/app", "not closed"},
		"IPv4 in brackets":        {"oci://[1.2.3.4]/app", "not an IPv6"},
		"IPv6 zone":               {"oci://[fe80::1-eth0]/app", "not an IPv6"},
		"text after IPv6":         {"oci://[::1]x/app", "malformed"},
		"too long":                {"oci://host/" + strings.Repeat("a", 1100), "1024"},
		"repository is too long":  {"oci://host/" + strings.Repeat("a", 256), "255"},
		"underscore at the start": {"oci://host/_a", "part"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ParseReference(tc.text)
			requireCode(t, err, frame.CodeConfigurationInvalid, tc.why)
		})
	}
}

func TestWriteOnceTags(t *testing.T) {
	for tag, want := range map[string]bool{
		"v20261130120000-abcd234567": true, "v20261130120000-ABCD": false, "v1.2.3": false, "latest": false, "v2026113012000-abcd": false,
	} {
		assert.Equal(t, want, Reference{Tag: tag}.WriteOnce(), tag)
	}
}

func FuzzParseReference(f *testing.F) {
	for _, seed := range []string{"oci://host:1/a/b:t@" + someDigest, "oci://[::1]/a", "oci://u:p@h/a", "oci://h/a%2f", "oci-layout://x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := ParseReference(text)
		if err != nil {
			assert.NotEmpty(t, err.Error())
			return
		}
		assert.Equal(t, text, ref.String(), "what is read is what is written")
		again, err := ParseReference(ref.Pinned(someDigest))
		require.NoError(t, err)
		assert.Equal(t, ref.Authority(), again.Authority())
		assert.NotContains(t, ref.Authority(), "@")
	})
}
