package target

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	defaultMySQLPort = "3306"
	// maxNameMySQL is the length of the longest name of a database, in characters; that of a user is shorter on one server and longer on another.
	maxNameMySQL = 64
)

// parametersMySQL is the whole accepted vocabulary. What could run SQL in the session, send several statements at once or read a local file is
// not in it.
var parametersMySQL = map[string]parameter{
	"tls":                     {bound: true, fallback: "preferred", check: oneOf("true", "false", "skip-verify", "preferred")},
	"tlsCA":                   {bound: true, check: absolute},
	"tlsCert":                 {bound: true, check: absolute},
	"tlsKey":                  {bound: true, check: absolute},
	"tlsServerName":           {bound: true, check: func(v string) error { _, err := parseHostName(strings.ToLower(v)); return err }},
	"allowCleartextPasswords": {bound: true, fallback: "false", check: oneOf("true", "false")},
	"allowNativePasswords":    {bound: true, fallback: "true", check: oneOf("true", "false")},

	// What every session of ours has anyway; URLs of applications hold it.
	"charset":   {check: oneOf("utf8mb4")},
	"parseTime": {check: oneOf("true", "false")},
	"timeout":   {check: charset("0123456789.hmsuµ")},
}

func absolute(v string) error {
	if !strings.HasPrefix(v, "/") {
		return errors.New("must be an absolute path")
	}
	return nil
}

func parseMySQL(p parts) (Target, error) {
	for _, name := range slices.Sorted(maps.Keys(p.query)) {
		if _, ok := parametersMySQL[name]; !ok {
			return Target{}, refuse("parameters", "hold a name that is not supported; supported are %s", strings.Join(slices.Sorted(maps.Keys(parametersMySQL)), ", "))
		}
		if check := parametersMySQL[name].check; check != nil {
			if err := check(p.query[name]); err != nil {
				return Target{}, refuse("parameter "+name, "%s", reasonOf(err))
			}
		}
	}
	t := Target{engine: MySQL, params: maps.Clone(p.query)}
	for _, name := range []string{"charset", "parseTime", "timeout"} {
		delete(t.params, name)
	}
	for _, step := range []func(parts) error{t.readMySQLUser, t.readMySQLRoute, t.readMySQLDatabase, t.checkMySQLTLS} {
		if err := step(p); err != nil {
			return Target{}, err
		}
	}
	return t, nil
}

func reasonOf(err error) string {
	var ours *Error
	if errors.As(err, &ours) {
		return ours.Reason
	}
	return err.Error()
}

func (t *Target) readMySQLUser(p parts) error {
	rawUser, rawPassword, _ := strings.Cut(p.userinfo, ":")
	var err error
	if t.user, err = unescape("user", rawUser); err != nil {
		return err
	}
	if t.password, err = unescape("password", rawPassword); err != nil {
		return err
	}
	return checkNameMySQL("user", t.user)
}

func (t *Target) readMySQLRoute(p parts) error {
	host, port, err := splitHostPort(p.host)
	if err != nil {
		return err
	}
	if port == "" {
		// A bare IPv6 address with an optional port has two readings.
		if strings.HasPrefix(p.host, "[") {
			return refuse("port", "is missing; behind an IPv6 address it must be written")
		}
		port = defaultMySQLPort
	}
	if t.host, err = parseHost(host); err != nil {
		return err
	}
	t.port, err = parsePort(port)
	return err
}

func (t *Target) readMySQLDatabase(p parts) error {
	if strings.Contains(p.path, "/") {
		return refuse("database", "holds an unescaped slash; write it %%2F")
	}
	name, err := unescape("database", p.path)
	if err != nil {
		return err
	}
	t.database = name
	if name == "" { // which not everybody needs
		return nil
	}
	return checkNameMySQL("database", name)
}

func (t *Target) checkMySQLTLS(parts) error {
	if (t.params["tlsCert"] == "") != (t.params["tlsKey"] == "") {
		return refuse("parameter tlsCert", "and tlsKey come only together")
	}
	if t.params["tls"] == "false" && (t.params["tlsCA"] != "" || t.params["tlsCert"] != "") {
		return refuse("parameter tls", "is false, and a certificate is named")
	}
	return nil
}

func checkNameMySQL(part, name string) error {
	switch {
	case name == "":
		return refuse(part, "is missing")
	case utf8.RuneCountInString(name) > maxNameMySQL:
		return refuse(part, "is longer than %d characters", maxNameMySQL)
	case !printable(name):
		return refuse(part, "holds a control character or is not UTF-8")
	}
	return nil
}
