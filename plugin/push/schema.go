package push

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/desired"
	"github.com/ptah-run/ptah/plugin/options"
)

type schemaOptions struct {
	registryOptions
	server    desired.Server
	files     []string
	variables []string
	empty     bool // may be published
}

func (o *schemaOptions) complete(args []string, flags *pflag.FlagSet) error {
	o.files = append(o.files, args[:len(args)-1]...)
	if len(o.files) == 0 {
		if reference := args[len(args)-1]; !strings.HasPrefix(reference, "oci://") {
			return options.Usagef("want at least one file and an oci:// reference, got 1 argument")
		}
		return options.Usagef("want at least one file, as an argument or with -f")
	}
	if err := o.server.Validate(); err != nil {
		return err
	}
	return o.completeReference(args[len(args)-1], flags)
}

func (o *schemaOptions) run(ctx context.Context) error {
	files, err := desired.Read(o.files, o.variables)
	if err != nil {
		return err
	}
	dialect, err := o.server.Dialect(ctx, o.global)
	if err != nil {
		return err
	}
	schema, err := desired.Parse(files, o.variables, dialect)
	if err != nil {
		return err
	}
	client, err := o.registry.Connect(o.global)
	if err != nil {
		return err
	}
	data, err := o.model(ctx, schema)
	if err != nil {
		return err
	}
	o.progress("publishing the schema to %s", o.tagged)
	pinned, err := client.PushSchema(ctx, o.tagged, data, files, o.pushOptions())
	if err != nil {
		return err
	}
	if err := o.print(pinned, v1alpha1.SchemaArtifactType, files); err != nil {
		return err
	}
	o.next("spec.desired", "PtahSchema")
	return nil
}

// model loads the schema into a scratch database and reads it back. What the model holds and the engine does not manage is a warning.
func (o *schemaOptions) model(ctx context.Context, schema *desired.Schema) ([]byte, error) {
	devURL, stop, err := o.server.Open(ctx, o.global)
	if err != nil {
		return nil, err
	}
	defer stop()
	o.progress("loading %s", spelling.Count(len(schema.Files), "file"))
	caution := func(format string, arguments ...any) { o.global.Note(render.Caution, format, arguments...) }
	database, err := schema.Load(ctx, devURL, caution)
	if err != nil {
		return nil, err
	}
	if desired.IsEmpty(database) && !o.empty {
		return nil, errors.New("nothing was published: the files declare nothing, and a database that follows them would lose every object; --allow-empty publishes that")
	}
	if warning := desired.Unmanaged(database); warning != "" {
		o.global.Note(render.Caution, "%s", warning)
	}
	return model.Encode(database)
}
