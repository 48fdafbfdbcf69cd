package target

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

const (
	defaultPostgresPort = "5432"
	maxIdentifier       = 63 // bytes; the server cuts longer names silently
)

// parameter is the rule of one accepted URL parameter.
type parameter struct {
	bound    bool   // part of the target identity
	session  bool   // a server setting, so it may also come through "options"
	fallback string // what its absence means
	check    func(string) error
}

// parameters is the whole accepted vocabulary. Everything else is refused, because drivers pass unknown names on to the server.
var parameters = map[string]parameter{
	"host":     {},
	"port":     {},
	"dbname":   {},
	"user":     {},
	"password": {},
	"options":  {},

	"sslmode":              {bound: true, fallback: "prefer", check: oneOf("disable", "allow", "prefer", "require", "verify-ca", "verify-full")},
	"sslrootcert":          {bound: true, check: path},
	"sslcert":              {bound: true, check: path},
	"sslkey":               {bound: true, check: path},
	"sslpassword":          {},
	"sslcertmode":          {bound: true, fallback: "allow", check: oneOf("disable", "allow", "require")},
	"sslsni":               {bound: true, fallback: "1", check: oneOf("0", "1")},
	"sslnegotiation":       {bound: true, fallback: "postgres", check: oneOf("postgres", "direct")},
	"channel_binding":      {bound: true, fallback: "prefer", check: oneOf("disable", "prefer", "require")},
	"require_auth":         {bound: true, check: charset("abcdefghijklmnopqrstuvwxyz0123456789-!,")},
	"min_protocol_version": {bound: true, check: oneOf("3.0", "3.2", "latest")},
	"max_protocol_version": {bound: true, check: oneOf("3.0", "3.2", "latest")},
	"target_session_attrs": {bound: true, fallback: "any", check: oneOf("any", "read-write", "primary")},

	"role":                        {bound: true, session: true},
	"search_path":                 {bound: true, session: true},
	"default_tablespace":          {bound: true, session: true},
	"default_table_access_method": {bound: true, session: true},
	"timezone":                    {bound: true, session: true},
	"datestyle":                   {bound: true, session: true},
	"intervalstyle":               {bound: true, session: true},

	"application_name":                    {session: true},
	"client_encoding":                     {session: true, check: oneOf("UTF8", "utf8", "UTF-8", "utf-8")},
	"connect_timeout":                     {check: charset("0123456789")},
	"statement_timeout":                   {session: true, check: charset("0123456789abcdefghijklmnopqrstuvwxyz")},
	"lock_timeout":                        {session: true, check: charset("0123456789abcdefghijklmnopqrstuvwxyz")},
	"idle_in_transaction_session_timeout": {session: true, check: charset("0123456789abcdefghijklmnopqrstuvwxyz")},
}

// vocabulary is what URLs of an engine may hold.
func vocabulary(engine string) map[string]parameter {
	if engine == MySQL {
		return parametersMySQL
	}
	return parameters
}

// boundParameters lists the names in the identity, sorted.
func boundParameters(engine string) []string {
	all := vocabulary(engine)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool { return !all[name].bound })
}

func parsePostgres(p parts) (Target, error) {
	for _, name := range []string{"service", "servicefile", "passfile"} {
		if _, ok := p.query[name]; ok {
			return Target{}, refuse("parameter "+name, "is refused: a file inside the container would decide where the connection goes or how it authenticates")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.query)) {
		if _, ok := parameters[name]; !ok {
			return Target{}, refuse("parameters", "hold a name that is not supported; supported are %s", strings.Join(slices.Sorted(maps.Keys(parameters)), ", "))
		}
	}
	t := Target{engine: Postgres}
	for _, step := range []func(parts) error{t.readCredentials, t.readRoute, t.readDatabase, t.readParameters} {
		if err := step(p); err != nil {
			return Target{}, err
		}
	}
	return t, nil
}

// once takes a scope value from the place where it usually stands or from its parameter, never from both.
func once(p parts, part, parameter, value string) (string, error) {
	override, ok := p.query[parameter]
	if !ok {
		return value, nil
	}
	if value != "" {
		return "", refuse(part, "is given twice, in the URL and as a parameter")
	}
	return override, nil
}

func (t *Target) readCredentials(p parts) error {
	rawUser, rawPassword, _ := strings.Cut(p.userinfo, ":")
	var err error
	if t.user, err = unescape("user", rawUser); err != nil {
		return err
	}
	if t.password, err = unescape("password", rawPassword); err != nil {
		return err
	}
	if t.user, err = once(p, "user", "user", t.user); err != nil {
		return err
	}
	if t.password, err = once(p, "password", "password", t.password); err != nil {
		return err
	}
	return checkIdentifier("user", t.user)
}

func (t *Target) readRoute(p parts) error {
	host, port, err := splitHostPort(p.host)
	if err != nil {
		return err
	}
	if host, err = once(p, "host", "host", host); err != nil {
		return err
	}
	if port, err = once(p, "port", "port", port); err != nil {
		return err
	}
	if port == "" {
		port = defaultPostgresPort
	}
	if t.host, err = parseHost(host); err != nil {
		return err
	}
	t.port, err = parsePort(port)
	return err
}

func (t *Target) readDatabase(p parts) error {
	if strings.Contains(p.path, "/") {
		return refuse("database", "holds an unescaped slash; write it %%2F")
	}
	name, err := unescape("database", p.path)
	if err != nil {
		return err
	}
	if name, err = once(p, "database", "dbname", name); err != nil {
		return err
	}
	// Drivers strip leading slashes after decoding; such a name would reach another database.
	if strings.HasPrefix(name, "/") {
		return refuse("database", "begins with a slash")
	}
	// libpq reads a name with = or a URL scheme as a whole connection string.
	if strings.Contains(name, "=") || strings.Contains(name, "://") {
		return refuse("database", "holds = or ://, which drivers may read as a connection string")
	}
	t.database = name
	return checkIdentifier("database", name)
}

// readParameters checks and keeps what is not route, scope or credential; "options" is dissolved into the settings it makes.
func (t *Target) readParameters(p parts) error {
	t.params = map[string]string{}
	for name, value := range p.query {
		switch name {
		case "host", "port", "dbname", "user", "password", "options":
		default:
			t.params[name] = value
		}
	}
	settings, err := parseOptions(p.query["options"])
	if err != nil {
		return err
	}
	for name, value := range settings {
		if _, twice := t.params[name]; twice {
			return refuse("parameter "+name, "is given twice, directly and in options")
		}
		t.params[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(t.params)) {
		if check := parameters[name].check; check != nil {
			if err := check(t.params[name]); err != nil {
				return refuse("parameter "+name, "%s", err)
			}
		}
	}
	if _, ok := t.params["client_encoding"]; ok {
		t.params["client_encoding"] = "UTF8"
	}
	if (t.params["sslcert"] == "") != (t.params["sslkey"] == "") {
		return refuse("parameter sslcert", "and sslkey come only together")
	}
	return nil
}

func unescape(part, raw string) (string, error) {
	s, err := url.PathUnescape(raw)
	if err != nil {
		return "", refuse(part, "is badly escaped; a %% is written %%25")
	}
	if strings.ContainsRune(s, 0) {
		return "", refuse(part, "holds a NUL character")
	}
	return s, nil
}

func checkIdentifier(part, name string) error {
	switch {
	case name == "":
		return refuse(part, "is missing")
	case len(name) > maxIdentifier:
		return refuse(part, "is longer than %d bytes", maxIdentifier)
	case !printable(name):
		return refuse(part, "holds a control character or is not UTF-8")
	}
	return nil
}
