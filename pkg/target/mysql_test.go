package target_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/target"
)

func TestParseMySQL(t *testing.T) {
	got, err := target.Parse("mariadb://app:p%40ss@DB.example/Shop?tls=true&tlsCA=/ca.pem&parseTime=true&charset=utf8mb4")
	require.NoError(t, err)
	assert.Equal(t, target.MySQL, got.Engine())
	assert.Equal(t, "Shop", got.Database(), "the case of a database is kept")
	assert.Equal(t, "mysql://app:p%40ss@db.example:3306/Shop?tls=true&tlsCA=%2Fca.pem", got.URL())
	assert.Equal(t, []string{"p@ss"}, got.Secrets())
	again, err := target.Parse(got.URL())
	require.NoError(t, err)
	assert.Equal(t, got.IdentityDigest(), again.IdentityDigest())
}

func TestMySQLIdentity(t *testing.T) {
	digest := func(url string) string {
		got, err := target.Parse(url)
		require.NoError(t, err)
		return got.IdentityDigest()
	}
	base := digest("mysql://app:a@db/shop")
	for _, same := range []string{"mysql://app:b@db:3306/shop", "mariadb://app@db/shop?tls=preferred", "mysql://app@db/shop?timeout=5s&parseTime=true"} {
		assert.Equal(t, base, digest(same), same)
	}
	for _, other := range []string{
		"mysql://app@db:3307/shop", "mysql://app@db/Shop", "mysql://other@db/shop", "mysql://app@db/shop?tls=true", "mysql://app@db/shop?allowCleartextPasswords=true",
		"mysql://app@db/shop?allowNativePasswords=false", "mysql://app@db/shop?tlsServerName=x", "postgres://app@db:3306/shop",
	} {
		assert.NotEqual(t, base, digest(other), other)
	}
}

func TestMySQLRefuses(t *testing.T) {
	for _, url := range []string{
		"mysql://app:secret-9@db/shop?multiStatements=true", "mysql://app:secret-9@db/shop?sql_mode=ANSI", "mysql://app:secret-9@db/shop?allowAllFiles=true",
		"mysql://app:secret-9@db/shop?tls=maybe", "mysql://app:secret-9@db/shop?tlsCert=/c", "mysql://app:secret-9@db/shop?tls=false&tlsCA=/c",
		"mysql://app:secret-9@[::1]/shop", "mysql://app:secret-9@db", "mysql://db/shop", "mysql://app:secret-9@a,b/shop", "mysql://app:secret-9@db/a/b",
		"mysql://app:secret-9@tcp(db:3306)/shop", "mysql://app:secret-9@db/shop?charset=latin1",
	} {
		_, err := target.Parse(url)
		var refusal *target.Error
		require.ErrorAs(t, err, &refusal, url)
		assert.NotContains(t, err.Error(), "secret-9")
	}
}

// TestServerWithoutADatabase reads the URL of a dev server, on which nobody needs the database that it names.
func TestServerWithoutADatabase(t *testing.T) {
	for _, text := range []string{"mysql://app:secret-9@db", "mariadb://app:secret-9@db:3307/", "mysql://app@db?tls=false"} {
		server, err := target.ParseServer(text)
		require.NoError(t, err)
		assert.Empty(t, server.Database())
		again, err := target.ParseServer(server.URL())
		require.NoError(t, err)
		assert.Equal(t, server, again)
		_, err = target.Parse(text)
		require.EqualError(t, err, "database URL: database: is missing; its name stands behind the host, as in mysql://HOST/NAME")
	}
	whole, err := target.ParseServer("mysql://app@db/shop")
	require.NoError(t, err)
	assert.Equal(t, "shop", whole.Database())
	for _, text := range []string{"postgres://app@db", "mysql://db", "mysql://app@db/a/b", "oracle://app@db"} {
		_, err := target.ParseServer(text)
		require.Error(t, err, text)
	}
}
