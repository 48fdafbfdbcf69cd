package push

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/push/devserver"
)

const defaultDevURLEnv = "PTAH_DEV_URL"

type schemaOptions struct {
	registryOptions
	devURL, devURLEnv string

	files []string
}

func (o *schemaOptions) complete(args []string, flags *pflag.FlagSet) error {
	o.files = args[:len(args)-1]
	if o.devURL != "" && o.devURLEnv != "" {
		return options.Usagef("--dev-url and --dev-url-env exclude each other")
	}
	if err := checkArgumentURL(o.devURL); err != nil {
		return err
	}
	if o.devURLEnv != "" && !envName.MatchString(o.devURLEnv) {
		// The value is not repeated: a person who mistook the flag for --dev-url has just typed a credential.
		return options.Usagef("--dev-url-env wants the name of an environment variable, such as %s", defaultDevURLEnv)
	}
	return o.completeReference(args[len(args)-1], flags)
}

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

func (o *schemaOptions) run(ctx context.Context) error {
	files, err := readSources(o.files)
	if err != nil {
		return err
	}
	client, err := o.connect()
	if err != nil {
		return err
	}
	model, err := o.model(ctx, files)
	if err != nil {
		return err
	}
	o.progress("publishing the schema to %s", o.tagged)
	pinned, err := client.PushSchema(ctx, o.tagged, model, files, o.pushOptions())
	if err != nil {
		return err
	}
	if err := o.print(pinned, v1alpha1.SchemaArtifactType, files); err != nil {
		return err
	}
	o.next("spec.desired", "PtahSchema")
	return nil
}

// model loads the files into a scratch database and reads the schema back.
func (o *schemaOptions) model(ctx context.Context, files []artifact.File) ([]byte, error) {
	devURL, stop, err := o.devDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	o.progress("loading %s", spelling.Count(len(files), "file"))
	data, warning, err := load(ctx, devURL, files)
	if warning != "" {
		o.global.Note(render.Caution, "%s", warning)
	}
	return data, err
}

// devDatabase is the server that a person named, or else one of our own for as long as this command runs.
func (o *schemaOptions) devDatabase(ctx context.Context) (string, func(), error) {
	if o.devURL != "" {
		return o.devURL, func() {}, nil
	}
	name := o.devURLEnv
	if name == "" {
		name = defaultDevURLEnv
	}
	if value := o.global.Getenv(name); value != "" {
		return value, func() {}, nil
	}
	if o.devURLEnv != "" {
		return "", nil, options.Usagef("--dev-url-env %s: the environment variable is empty or not set", o.devURLEnv)
	}
	programs, found := devserver.Find(o.global.Getenv)
	if !found {
		return "", nil, fmt.Errorf("looking for a dev database: %s is not set, and PostgreSQL's programs initdb and postgres are not installed here; set it to the URL of any PostgreSQL that may be written to, or install PostgreSQL", defaultDevURLEnv)
	}
	o.progress("starting a disposable PostgreSQL from %s", programs.Directory)
	server, err := devserver.Start(ctx, programs)
	if err != nil {
		return "", nil, err
	}
	return server.URL, server.Stop, nil
}
