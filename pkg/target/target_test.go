package target_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/target"
)

const plain = "postgres://app:s3ntinel@db.example:5432/shop"

func TestParseCanonicalURL(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain":                   {plain, plain},
		"long scheme":             {"postgresql://app:s3ntinel@db.example/shop", plain},
		"scheme case":             {"PostgreSQL://app:s3ntinel@db.example/shop", plain},
		"host case":               {"postgres://app:s3ntinel@DB.Example:5432/shop", plain},
		"port with zeros":         {"postgres://app:s3ntinel@db.example:05432/shop", plain},
		"route as parameters":     {"postgres:///?host=db.example&dbname=shop&user=app&password=s3ntinel", plain},
		"route partly parameters": {"postgres://app:s3ntinel@/shop?host=db.example&port=5432", plain},
		"no password":             {"postgres://app@db.example/shop", "postgres://app@db.example:5432/shop"},
		"closing dot kept":        {"postgres://app@db.example./shop", "postgres://app@db.example.:5432/shop"},
		"v6":                      {"postgres://app@[2001:DB8::0:1]/shop", "postgres://app@[2001:db8::1]:5432/shop"},
		"v6 with port":            {"postgres://app@[::1]:6432/shop", "postgres://app@[::1]:6432/shop"},
		"mapped address kept":     {"postgres://app@[::ffff:10.0.0.1]/shop", "postgres://app@[::ffff:10.0.0.1]:5432/shop"},
		"password with a colon":   {"postgres://app:a:b@db.example/shop", "postgres://app:a%3Ab@db.example:5432/shop"},
		"everything escaped":      {"postgres://a%40b:%2F%3F%23%25%20@db.example/s%2Fh%20op", "postgres://a%40b:%2F%3F%23%25%20@db.example:5432/s%2Fh%20op"},
		"parameters sorted":       {plain + "?sslmode=require&application_name=x", plain + "?application_name=x&sslmode=require"},
		"blank as %20":            {plain + "?search_path=a,+b", plain + "?search_path=a%2C%20b"},
		"options dissolved":       {plain + "?options=-c%20search_path=app%20--lock-timeout=5s%20-crole=owner", plain + "?lock_timeout=5s&role=owner&search_path=app"},
		"options escaped blank":   {plain + `?options=-c%20search_path=a,\%20b`, plain + "?search_path=a%2C%20b"},
		"encoding folded":         {plain + "?client_encoding=utf-8", plain + "?client_encoding=UTF8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := target.Parse(tt.in)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got.URL())
			again, err := target.Parse(got.URL())
			require.NoError(t, err)
			assert.Equal(t, got, again)
			assertDriverAgrees(t, got)
		})
	}
}

// assertDriverAgrees proves that the driver reads the canonical spelling as we do.
func assertDriverAgrees(t *testing.T, got target.Target) {
	t.Helper()
	cfg, err := pgconn.ParseConfig(got.URL())
	require.NoError(t, err)
	assert.Equal(t, got.Database(), cfg.Database)
	assert.Equal(t, got.User(), cfg.User)
	if s := got.Secrets(); len(s) > 0 {
		assert.Equal(t, s[0], cfg.Password)
	}
	assert.NotContains(t, cfg.RuntimeParams, "options")
	for _, f := range cfg.Fallbacks {
		assert.Equal(t, cfg.Host, f.Host, "one host only")
		assert.Equal(t, cfg.Port, f.Port, "one port only")
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct{ in, part string }{
		"empty":                     {"", "text"},
		"too long":                  {plain + "?search_path=" + strings.Repeat("s3ntinel", 1100), "text"},
		"newline at the end":        {plain + "\n", "text"},
		"blank":                     {"postgres://app:s3nti nel@db.example/shop", "text"},
		"NUL":                       {"postgres://app:s3ntinel@db.example/shop\x00", "text"},
		"non-ASCII":                 {"postgres://app:s3ntinelé@db.example/shop", "text"},
		"keyword form":              {"host=db.example;password=s3ntinel", "scheme"},
		"another engine":            {"oracle://app:s3ntinel@db.example/shop", "scheme"},
		"https":                     {"https://app:s3ntinel@db.example/shop", "scheme"},
		"opaque":                    {"postgres:app:s3ntinel@db.example", "scheme"},
		"fragment":                  {"postgres://app:s3nti#nel@db.example/shop", "fragment"},
		"raw @ in password":         {"postgres://app:s3nti@nel@db.example/shop", "user"},
		"raw ? in password":         {"postgres://app:s3ntinel?x@db.example/shop", "user"},
		"raw / in password":         {"postgres://app:s3ntinel/x@db.example/shop", "user"},
		"bad escape in password":    {"postgres://app:s3ntinel%zz@db.example/shop", "password"},
		"NUL in password":           {"postgres://app:s3ntinel%00@db.example/shop", "password"},
		"no user":                   {"postgres://db.example/shop", "user"},
		"user twice":                {plain + "?user=other", "user"},
		"password twice":            {plain + "?password=s3ntinel", "password"},
		"control in user":           {"postgres://a%0ab:s3ntinel@db.example/shop", "user"},
		"no host":                   {"postgres://app:s3ntinel@/shop", "host"},
		"host twice":                {plain + "?host=other.example", "host"},
		"two hosts":                 {"postgres://app:s3ntinel@a.example,b.example/shop", "host"},
		"two hosts with ports":      {"postgres://app:s3ntinel@a.example:1,b.example:2/shop", "host"},
		"two hosts as parameter":    {"postgres://app:s3ntinel@/shop?host=a.example,b.example", "host"},
		"socket":                    {"postgres://app:s3ntinel@/shop?host=/run/postgresql", "host"},
		"escaped socket":            {"postgres://app:s3ntinel@%2Frun/shop", "host"},
		"short address":             {"postgres://app:s3ntinel@127.1/shop", "host"},
		"hex address":               {"postgres://app:s3ntinel@0x7f000001/shop", "host"},
		"zone":                      {"postgres://app:s3ntinel@[fe80::1%25eth0]/shop", "host"},
		"v6 without brackets":       {"postgres://app:s3ntinel@::1/shop", "host"},
		"name in brackets":          {"postgres://app:s3ntinel@[db.example]/shop", "host"},
		"port 0":                    {"postgres://app:s3ntinel@db.example:0/shop", "port"},
		"port 65536":                {"postgres://app:s3ntinel@db.example:65536/shop", "port"},
		"port empty":                {"postgres://app:s3ntinel@db.example:/shop", "port"},
		"port signed":               {"postgres://app:s3ntinel@db.example:+5432/shop", "port"},
		"two ports":                 {"postgres://app:s3ntinel@/shop?host=a.example&port=1,2", "port"},
		"no database":               {"postgres://app:s3ntinel@db.example", "database"},
		"no database but slash":     {"postgres://app:s3ntinel@db.example/", "database"},
		"database with slash":       {"postgres://app:s3ntinel@db.example/a/b", "database"},
		"database leading slash":    {"postgres://app:s3ntinel@db.example/%2Fshop", "database"},
		"database twice":            {plain + "?dbname=shop", "database"},
		"database is a conninfo":    {"postgres://app:s3ntinel@db.example/host%3Dother", "database"},
		"database too long":         {"postgres://app:s3ntinel@db.example/" + strings.Repeat("d", 64), "database"},
		"repeated parameter":        {plain + "?sslmode=require&sslmode=require", "parameter sslmode"},
		"repeated, one escaped":     {plain + "?role=a&r%6fle=b", "parameter role"},
		"empty value":               {plain + "?role=", "parameter role"},
		"unknown parameter":         {plain + "?s3ntinel=1", "parameters"},
		"unknown in capitals":       {plain + "?Search_Path=a", "parameters"},
		"hostaddr":                  {plain + "?hostaddr=10.0.0.1", "parameters"},
		"service":                   {plain + "?service=other", "parameter service"},
		"service file":              {plain + "?servicefile=/tmp/x", "parameter servicefile"},
		"password file":             {plain + "?passfile=/tmp/x", "parameter passfile"},
		"sslmode value":             {plain + "?sslmode=s3ntinel", "parameter sslmode"},
		"lone certificate":          {plain + "?sslcert=/a", "parameter sslcert"},
		"relative path":             {plain + "?sslrootcert=ca.crt", "parameter sslrootcert"},
		"control in value":          {plain + "?search_path=a%00b", "parameter search_path"},
		"options library":           {plain + "?options=-c%20session_preload_libraries=x", "parameter options"},
		"options without -c":        {plain + "?options=endpoint%3Ds3ntinel", "parameter options"},
		"options flag":              {plain + "?options=-d%205", "parameter options"},
		"options twice":             {plain + "?options=-crole=a%20-crole=b", "parameter options"},
		"options and parameter":     {plain + "?options=-crole=a&role=a", "parameter role"},
		"options capital letters":   {plain + "?options=-cROLE=a&role=a", "parameter role"},
		"options dangling":          {plain + `?options=-crole=a\`, "parameter options"},
		"reading from a standby":    {plain + "?target_session_attrs=prefer-standby", "parameter target_session_attrs"},
		"bad escape in a parameter": {plain + "?role=%zz", "parameter role"},
		"semicolon":                 {plain + "?role=a;search_path=b", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := target.Parse(tt.in)
			if tt.part == "" { // a semicolon is an ordinary character of a value, as for the server
				require.NoError(t, err)
				assert.NotContains(t, got.URL(), ";")
				return
			}
			var refused *target.Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, tt.part, refused.Part)
			for _, piece := range []string{"s3nti", "ntinel", "example", "other.", "hostaddr"} {
				assert.NotContains(t, err.Error(), piece, "an error must not echo the URL")
			}
		})
	}
}

func TestIdentityDigest(t *testing.T) {
	digest := func(in string) string {
		got, err := target.Parse(in)
		require.NoError(t, err, in)
		return got.IdentityDigest()
	}
	base := digest(plain)
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, base)
	// Frozen: plans and approvals store it. Change identityScheme if the tuple must change.
	assert.Equal(t, "sha256:3fb23e1411aeb5ff326e47a76119a7913000dcf506e4cb49d54079b4b38c28fb", base)

	same := map[string]string{
		"password":          "postgres://app:other@db.example:5432/shop",
		"no password":       "postgres://app@db.example:5432/shop",
		"default port":      "postgres://app@db.example/shop",
		"spelling":          "postgresql://%61pp@DB.example/sh%6fp",
		"timeouts":          plain + "?connect_timeout=5&lock_timeout=3s&statement_timeout=1min",
		"application name":  plain + "?application_name=x",
		"default TLS mode":  plain + "?sslmode=prefer&channel_binding=prefer&sslsni=1",
		"default preferred": plain + "?target_session_attrs=any&client_encoding=utf8",
	}
	for name, in := range same {
		assert.Equal(t, base, digest(in), name)
	}
	seen := map[string]string{base: "base"}
	different := map[string]string{
		"host":         "postgres://app@db2.example/shop",
		"closing dot":  "postgres://app@db.example./shop",
		"port":         "postgres://app@db.example:5433/shop",
		"database":     "postgres://app@db.example/shop2",
		"case of base": "postgres://app@db.example/Shop",
		"user":         "postgres://app2@db.example/shop",
		"role":         plain + "?role=owner",
		"search path":  plain + "?search_path=owner",
		"TLS mode":     plain + "?sslmode=require",
		"CA path":      plain + "?sslrootcert=/ca.crt",
		"certificate":  plain + "?sslcert=/c&sslkey=/k",
		"binding":      plain + "?channel_binding=require",
		"auth":         plain + "?require_auth=scram-sha-256",
		"protocol":     plain + "?min_protocol_version=3.2",
		"time zone":    plain + "?timezone=UTC",
	}
	for name, in := range different {
		d := digest(in)
		assert.NotContains(t, seen, d, "%s collides with %s", name, seen[d])
		seen[d] = name
	}
	assert.Equal(t, digest(plain+"?role=owner"), digest(plain+"?options=-crole=owner"))
	assert.Equal(t, digest("postgres://app@[::1]/shop"), digest("postgres://app@[0:0::1]/shop"))
	assert.NotEqual(t, digest("postgres://app@[::ffff:10.0.0.1]/shop"), digest("postgres://app@10.0.0.1/shop"))
}

func TestTargetPrintsNoCredential(t *testing.T) {
	got, err := target.Parse(plain)
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		assert.NotContains(t, fmt.Sprintf(verb, got), "s3ntinel", verb)
		assert.NotContains(t, fmt.Sprintf(verb, &got), "s3ntinel", verb)
	}
	assert.Equal(t, []string{"s3ntinel"}, got.Secrets())
}

func FuzzParse(f *testing.F) {
	f.Add(plain)
	f.Add("postgres://a%40b:%2F@[::1]:1/s?options=-c%20role=a&sslmode=require")
	f.Add("postgresql:///?host=h&dbname=d&user=u&password=p")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := target.Parse(text)
		if err != nil {
			return
		}
		again, err := target.Parse(got.URL())
		if err != nil {
			t.Fatalf("canonical spelling refused: %v", err)
		}
		if again.URL() != got.URL() || again.IdentityDigest() != got.IdentityDigest() {
			t.Fatal("canonical spelling is not stable")
		}
		if strings.Contains(got.URL(), "sslcert") || strings.Contains(got.URL(), "sslrootcert") {
			return // the driver reads the files
		}
		cfg, err := pgconn.ParseConfig(got.URL())
		if err != nil {
			return // the driver may refuse more
		}
		if cfg.Database != got.Database() || cfg.User != got.User() {
			t.Fatal("the driver reads another database or user")
		}
	})
}
