package schema

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/desired"
	"github.com/ptah-run/ptah/plugin/options"
)

const (
	databasePrefix = "env:"
	artifactPrefix = "oci://"
)

// loader reads schemas. It opens at most one dev server.
type loader struct {
	global    *options.Global
	server    desired.Server
	registry  desired.Registry
	variables []string
	// privileges says that those of a database count too, which nobody declares there.
	privileges bool

	devURL string
	stop   func()
}

// source is one schema: the URL of a database, or a model.
type source struct {
	label    string
	url      string // only of a database
	database *model.Database
}

// checkSources refuses what no source can be, before anything is opened.
func checkSources(names []string) error {
	for _, name := range names {
		variable, isDatabase := strings.CutPrefix(name, databasePrefix)
		switch {
		case name == "":
			return options.Usagef("a source is empty")
		case strings.Contains(name, "://") && !strings.HasPrefix(name, artifactPrefix):
			// Not repeated: it may hold a password.
			return options.Usagef("a database is named by the environment variable that holds its URL, as env:NAME; other users of this machine can see arguments")
		case isDatabase && !desired.IsEnvName(variable):
			return options.Usagef("env: wants the name of an environment variable")
		case (isDatabase || strings.HasPrefix(name, artifactPrefix)) && len(names) > 1:
			return options.Usagef("%s is a whole schema; only files can be put together", name)
		}
	}
	return nil
}

// close stops the dev server, if one of our own was started.
func (l *loader) close() {
	if l.stop != nil {
		l.stop()
	}
}

// dev is the dev server, opened on first use.
func (l *loader) dev(ctx context.Context) (string, error) {
	if l.devURL != "" {
		return l.devURL, nil
	}
	var err error
	l.devURL, l.stop, err = l.server.Open(ctx, l.global)
	return l.devURL, err
}

func (l *loader) load(ctx context.Context, names []string, flags *pflag.FlagSet) (source, error) {
	first := names[0]
	if variable, ok := strings.CutPrefix(first, databasePrefix); ok {
		return l.live(ctx, variable)
	}
	if strings.HasPrefix(first, artifactPrefix) {
		return l.published(ctx, first, flags)
	}
	files, err := desired.Read(names, l.variables)
	if err != nil {
		return source{}, err
	}
	dialect, err := l.server.Dialect(ctx, l.global)
	if err != nil {
		return source{}, err
	}
	schema, err := desired.Parse(files, l.variables, dialect)
	if err != nil {
		return source{}, err
	}
	label := strings.Join(names, " ")
	database, err := l.scratch(ctx, schema)
	if err == nil && desired.IsEmpty(database) {
		l.global.Note(render.Caution, "%s declares nothing", label)
	}
	return source{label: label, database: database}, err
}

func (l *loader) live(ctx context.Context, variable string) (source, error) {
	url := l.global.Getenv(variable)
	if url == "" {
		return source{}, options.Usagef("env:%s: the environment variable is empty or not set", variable)
	}
	inspect := engine.Inspect
	if l.privileges {
		inspect = engine.InspectPrivileges
	}
	database, err := inspect(ctx, url)
	return source{label: databasePrefix + variable, url: url, database: database}, err
}

func (l *loader) scratch(ctx context.Context, schema *desired.Schema) (*model.Database, error) {
	url, err := l.dev(ctx)
	if err != nil {
		return nil, err
	}
	return schema.Load(ctx, url, func(format string, arguments ...any) { l.global.Note(render.Caution, format, arguments...) })
}

// published reads an artifact. The public toolkit's form takes a server to be read, which is why Jobs refuse it.
func (l *loader) published(ctx context.Context, text string, flags *pflag.FlagSet) (source, error) {
	reference, err := artifact.ParseReference(text)
	if err != nil {
		return source{}, &options.ExitError{Code: options.Usage, Err: err}
	}
	l.registry.Complete(reference, flags)
	client, err := l.registry.Connect(l.global)
	if err != nil {
		return source{}, err
	}
	declared, err := client.ReadSchema(ctx, text)
	if err != nil {
		return source{}, err
	}
	s := source{label: declared.Pinned}
	if declared.Model != nil {
		s.database, err = model.Decode(declared.Model)
		return s, err
	}
	l.global.Note(render.Caution, "this artifact holds schema.hcl alone, the form of the public toolkit; the operator refuses it until \"kubectl ptah push schema\" publishes it again")
	dialect, err := l.server.Dialect(ctx, l.global)
	if err != nil {
		return source{}, err
	}
	schema, err := desired.FromHCL(declared.HCL, dialect)
	if err != nil {
		return source{}, err
	}
	s.database, err = l.scratch(ctx, schema)
	return s, err
}
