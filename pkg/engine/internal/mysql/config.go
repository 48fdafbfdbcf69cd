package mysql

import (
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"os"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/target"
)

const (
	defaultConnectTimeout = 15 * time.Second
	// closeGrace bounds what is done after the caller's context has ended: killing a statement, dropping a scratch database.
	closeGrace = 10 * time.Second
)

// config turns a database URL into what the driver wants. The grammar of the URL is that of pkg/target, and none of its text is ever shown.
func config(databaseURL string, parse func(string) (target.Target, error)) (*driver.Config, error) {
	if databaseURL == "" {
		return nil, fault.New(frame.CodeCredentialMissing, "the database URL is empty")
	}
	t, err := parse(databaseURL)
	if err != nil {
		return nil, fault.Wrap(err, frame.CodeDatabaseURLInvalid, "%s", err)
	}
	u, err := url.Parse(t.URL()) // the canonical spelling
	if err != nil || t.Engine() != target.MySQL {
		return nil, fault.New(frame.CodeDatabaseURLInvalid, "the database URL must start with mysql:// or mariadb://")
	}
	c := driver.NewConfig()
	c.Net, c.Addr, c.DBName, c.User = "tcp", u.Host, t.Database(), t.User()
	c.Passwd, _ = u.User.Password()
	c.Logger = &driver.NopLogger{}
	c.CheckConnLiveness = false // a connection is used once, by one owner
	query := u.Query()
	c.AllowNativePasswords = query.Get("allowNativePasswords") != "false"
	c.AllowCleartextPasswords = query.Get("allowCleartextPasswords") == "true"
	return c, transport(c, query, u.Hostname())
}

// transport sets TLS as the parameters say. Without any, TLS is used where the server offers it.
func transport(c *driver.Config, query url.Values, host string) error {
	mode := query.Get("tls")
	c.AllowFallbackToPlaintext = mode == "preferred" || mode == ""
	if mode == "false" {
		c.TLSConfig = "false"
		return nil
	}
	settings := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: mode != "true"} //nolint:gosec // the URL says so
	if name := query.Get("tlsServerName"); name != "" {
		settings.ServerName = name
	}
	if path := query.Get("tlsCA"); path != "" {
		data, err := os.ReadFile(path)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(data) {
			return fault.Wrap(err, frame.CodeDatabaseTLS, "the file that the URL's tlsCA names cannot be read as certificates")
		}
		settings.RootCAs = pool
	}
	if cert, key := query.Get("tlsCert"), query.Get("tlsKey"); cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return fault.Wrap(err, frame.CodeDatabaseTLS, "the files that the URL's tlsCert and tlsKey name are no key pair")
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	c.TLS = settings
	return nil
}
