package target_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ptah-run/ptah/pkg/target"
)

func TestRedactEverySpelling(t *testing.T) {
	passwords := map[string]string{
		"word":       "s3ntinel",
		"separators": "p@ss/w?rd#1:x",
		"quotes":     `it's "quoted" \ back`,
		"markup":     "a<b>&c",
		"percent":    "100%41%zz",
		"blanks":     "a b+c",
		"controls":   "a\tb\nc",
		"unicode":    "pässwörd",
	}
	for name, pw := range passwords {
		asJSON, _ := json.Marshal(pw)
		nested, _ := json.Marshal(string(asJSON))
		dsn := "postgres://app:" + url.QueryEscape(pw) + "@db.example/shop"
		forms := map[string]string{
			"plain":          pw,
			"path escaped":   url.PathEscape(pw),
			"query escaped":  url.QueryEscape(pw),
			"lower case":     strings.ToLower(url.QueryEscape(strings.ToLower(pw))),
			"escaped twice":  url.PathEscape(url.PathEscape(pw)),
			"userinfo":       url.UserPassword("app", pw).String(),
			"json":           string(asJSON),
			"json in json":   string(nested),
			"go":             strconv.Quote(pw),
			"go ascii bytes": fmt.Sprintf("%q", []string{pw}),
			"sql":            "'" + strings.ReplaceAll(pw, "'", "''") + "'",
			"conninfo":       "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(pw) + "'",
			"html":           html.EscapeString(pw),
			"base64":         base64.StdEncoding.EncodeToString([]byte(pw)),
			"basic":          base64.StdEncoding.EncodeToString([]byte("app:" + pw)),
			"whole URL":      dsn,
			"every byte":     everyByte(pw),
		}
		for form, text := range forms {
			t.Run(name+"/"+form, func(t *testing.T) {
				if form == "lower case" && strings.ToLower(pw) != pw {
					t.Skip("another password")
				}
				got := target.Redact("before "+text+" after", dsn)
				assert.Contains(t, got, target.Redacted)
				assert.NotContains(t, got, text)
				assert.True(t, strings.HasPrefix(got, "before "), got)
				assert.True(t, strings.HasSuffix(got, " after"), got)
				if form != "basic" { // without the URL nobody knows the user
					assert.NotContains(t, target.Redact("x"+text+"y", pw), text, "the bare password as the secret")
				}
			})
		}
	}
}

func everyByte(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02x", s[i])
	}
	return b.String()
}

func TestRedactBrokenURLs(t *testing.T) {
	for _, dsn := range []string{
		"postgres://app:s3ntinel-pw@a,b/x", "postgres://app:s3ntinel-pw@@h/db", "postgres://app:s3ntinel-pw#x@h/db", "postgres://app:s3ntinel-pw@h/db?a@b",
		"postgres:///db?host=h&user=u&password=s3ntinel-pw", "postgres://u@h/db?sslpassword=s3ntinel-pw&x", "foo://app:s3ntinel%2Dpw@h\n",
	} {
		got := target.Redact("dial s3ntinel-pw: refused", dsn)
		if strings.Contains(dsn, "#x@") { // the password goes on to the last @
			got = target.Redact("dial s3ntinel-pw#x: refused", dsn)
		}
		if strings.Contains(dsn, "@@") {
			assert.NotContains(t, got, "s3ntinel-pw", dsn)
		}
		assert.Equal(t, "dial "+target.Redacted+": refused", got, dsn)
	}
}

func TestRedactLeavesOtherTextAlone(t *testing.T) {
	dsn := "postgres://app:abc@db.example/shop"
	assert.Equal(t, "table app.abcdef on db.example", target.Redact("table app.abcdef on db.example", dsn), "short secrets go only as a word")
	assert.Equal(t, "password [redacted]!", target.Redact("password abc!", dsn))
	assert.Equal(t, "user app", target.Redact("user app", "postgres://app@db.example/shop"), "a user name is no secret")
	assert.Equal(t, "text", target.Redact("text", ""))
	assert.False(t, target.Leaks("text", dsn))
	assert.True(t, target.Leaks("abc", dsn))
}

func FuzzRedact(f *testing.F) {
	f.Add("before s3ntinel after", "s3ntinel")
	f.Add(`\\\\\\\\`, `\\\\`)
	f.Add("%2525252525", "%25%")
	f.Fuzz(func(t *testing.T, text, secret string) {
		got := target.Redact(text, secret)
		if len(secret) >= 4 && !strings.Contains(target.Redacted, secret) && strings.Contains(text, secret) && got == text {
			t.Fatal("the secret is still there")
		}
	})
}
