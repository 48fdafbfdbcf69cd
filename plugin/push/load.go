package push

import (
	"context"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// load runs the files in a fresh scratch database on a dev server and gives the canonical model of what they made, and a warning where the
// model holds what the engine does not manage. Errors carry file, line and column and never the URL.
func load(ctx context.Context, devURL string, files []artifact.File) (data []byte, warning string, err error) {
	sources := make([]engine.Source, 0, len(files))
	for _, file := range files {
		sources = append(sources, engine.Source{Name: file.Name, Data: file.Data})
	}
	database, err := engine.LoadSQL(ctx, devURL, sources)
	if err != nil {
		return nil, "", err
	}
	if unmanaged := engine.CheckSupported(database, nil); unmanaged != nil {
		warning = unmanaged.Error() + "; planning will refuse it, unless policy.exclude leaves it out"
	}
	data, err = model.Encode(database)
	return data, warning, err
}
