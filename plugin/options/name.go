package options

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
)

// SchemaName takes a schema as people write it: NAME, or KIND/NAME with the kind as kubectl spells it. Anything else is a usage error.
func SchemaName(arg string) (string, error) {
	kind, name, qualified := strings.Cut(arg, "/")
	if !qualified {
		return arg, nil
	}
	switch strings.TrimSuffix(strings.ToLower(kind), "."+v1alpha1.GroupName) {
	case "schema", "ptahschema", "ptahschemas", "ptahs":
	default:
		return "", Usagef("%q is not a schema: want NAME or schema/NAME", arg)
	}
	if name == "" || strings.Contains(name, "/") {
		return "", Usagef("%q: want NAME or schema/NAME", arg)
	}
	return name, nil
}

// Resource takes a schema or a migration as people write it: NAME, schema/NAME or migration/NAME, with the kind as kubectl spells it. The
// kind is render's word, or empty for a bare name.
func Resource(arg string) (kind, name string, err error) {
	word, name, qualified := strings.Cut(arg, "/")
	if !qualified {
		word, name = "", arg
	}
	switch strings.TrimSuffix(strings.ToLower(word), "."+v1alpha1.GroupName) {
	case "":
		if qualified {
			return "", "", Usagef("%q: want NAME, schema/NAME or migration/NAME", arg)
		}
	case "schema", "ptahschema", "ptahschemas", "ptahs":
		kind = render.KindSchema
	case "migration", "ptahmigration", "ptahmigrations", "ptahm":
		kind = render.KindMigration
	default:
		return "", "", Usagef("%q: want NAME, schema/NAME or migration/NAME", arg)
	}
	if name == "" || strings.Contains(name, "/") {
		return "", "", Usagef("%q: the name is missing, or holds a slash", arg)
	}
	return kind, name, nil
}

// OneName demands exactly one argument that is not empty.
func OneName(_ *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return Usagef("want one name, got %s", spelling.Count(len(args), "argument"))
	}
	return nil
}
