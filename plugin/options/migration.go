package options

import "github.com/ptah-run/ptah/pkg/render"

// MigrationName takes a migration as people write it: NAME, or KIND/NAME with the kind as kubectl spells it. Anything else is a usage error.
func MigrationName(arg string) (string, error) {
	kind, name, err := Resource(arg)
	if err != nil {
		return "", err
	}
	if kind == render.KindSchema {
		return "", Usagef("%q is not a migration: want NAME or migration/NAME", arg)
	}
	return name, nil
}
