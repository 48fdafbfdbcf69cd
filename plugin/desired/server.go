package desired

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/push/devserver"
)

const defaultDevURLEnv = "PTAH_DEV_URL"

// Server is the dev server that a command loads schemas through.
type Server struct {
	url, urlEnv string
}

// AddFlags adds what says which server that is.
func (s *Server) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.urlEnv, "dev-url-env", "", "Environment variable that holds the URL of a dev server (default "+defaultDevURLEnv+")")
	flags.StringVar(&s.url, "dev-url", "", "URL of a dev server, without a password")
}

// Validate checks the flags.
func (s *Server) Validate() error {
	if s.url != "" && s.urlEnv != "" {
		return options.Usagef("--dev-url and --dev-url-env exclude each other")
	}
	if err := checkArgumentURL(s.url); err != nil {
		return err
	}
	if s.urlEnv != "" && !envName.MatchString(s.urlEnv) {
		// The value is not repeated: a person who mistook the flag for --dev-url has just typed a credential.
		return options.Usagef("--dev-url-env wants the name of an environment variable, such as %s", defaultDevURLEnv)
	}
	return nil
}

// IsEnvName reports that a text can be the name of an environment variable.
func IsEnvName(text string) bool { return envName.MatchString(text) }

var (
	envName         = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	passwordKeyword = regexp.MustCompile(`(?i)(^|[\s?&])(ssl)?password\s*=`)
)

// checkArgumentURL refuses a password on the command line, where every user of the machine and every shell history sees it. The URL is
// never repeated.
func checkArgumentURL(value string) error {
	if value == "" {
		return nil
	}
	const advice = "put the URL in an environment variable and name it with --dev-url-env, or set " + defaultDevURLEnv
	parsed, err := url.Parse(value)
	if err != nil {
		return options.Usagef("--dev-url is not a URL; %s", advice)
	}
	_, password := parsed.User.Password()
	if password || passwordKeyword.MatchString(value) || strings.Count(value, "@") > 1 {
		return options.Usagef("--dev-url holds a password, and other users of this machine can see arguments; %s", advice)
	}
	return nil
}

// named is the URL that a person gave; empty where there is none.
func (s *Server) named(global *options.Global) string {
	switch {
	case s.url != "":
		return s.url
	case s.urlEnv != "":
		return global.Getenv(s.urlEnv)
	}
	return global.Getenv(defaultDevURLEnv)
}

// Dialect is the one that declarations are written for: that of the server. One of our own is a PostgreSQL.
func (s *Server) Dialect(ctx context.Context, global *options.Global) (string, error) {
	url := s.named(global)
	if url == "" {
		return declare.Postgres, nil
	}
	return engine.DialectOf(ctx, url)
}

// Open is the server that a person named, or else one of our own until stop is called.
func (s *Server) Open(ctx context.Context, global *options.Global) (string, func(), error) {
	if url := s.named(global); url != "" {
		return url, func() {}, nil
	}
	if s.urlEnv != "" {
		return "", nil, options.Usagef("--dev-url-env %s: the environment variable is empty or not set", s.urlEnv)
	}
	programs, found := devserver.Find(global.Getenv)
	if !found {
		return "", nil, fmt.Errorf("looking for a dev database: %s is not set, and PostgreSQL's programs initdb and postgres are not installed here; set it to the URL of any PostgreSQL that may be written to, or install PostgreSQL", defaultDevURLEnv)
	}
	global.Note(render.Dim, "starting a disposable PostgreSQL from %s", programs.Directory)
	server, err := devserver.Start(ctx, programs)
	if err != nil {
		return "", nil, err
	}
	return server.URL, server.Stop, nil
}
