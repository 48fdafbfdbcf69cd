package options

import (
	"strings"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
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
