package push

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/options"
)

type migrationsOptions struct {
	registryOptions
	format    string
	verifySum bool

	directory string
}

func (o *migrationsOptions) complete(args []string, flags *pflag.FlagSet) error {
	o.directory = args[0]
	switch artifact.Format(o.format) {
	case "", artifact.PtahFormat, artifact.AtlasFormat:
	default:
		return options.Usagef("--dir-format %q: want ptah or atlas", o.format)
	}
	return o.completeReference(args[1], flags)
}

func (o *migrationsOptions) run(ctx context.Context) error {
	info, err := os.Stat(o.directory)
	if err != nil {
		return fmt.Errorf("reading the migration directory: %w", err)
	}
	if !info.IsDir() {
		return options.Usagef("%s is not a directory", o.directory)
	}
	captured, err := artifact.Capture(os.DirFS(o.directory), artifact.CaptureOptions{Format: artifact.Format(o.format), RequireSum: o.verifySum})
	if err != nil {
		return fmt.Errorf("%s: %w", o.directory, err)
	}
	client, err := o.registry.Connect(o.global)
	if err != nil {
		return err
	}
	o.progress("publishing %s of format %s to %s", spelling.Count(len(captured.Files), "file"), captured.Format, o.tagged)
	pinned, err := client.PushMigrations(ctx, o.tagged, captured, o.pushOptions())
	if err != nil {
		return err
	}
	if err := o.print(pinned, v1alpha1.MigrationArtifactType, captured.Files); err != nil {
		return err
	}
	o.next("spec.artifact", "PtahMigration")
	return nil
}
