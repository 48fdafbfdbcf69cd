package explain

import (
	"regexp"
	"strings"
)

// Families that a word can be about.
const (
	Schema    = "schema"
	Migration = "migration"
)

// Run is what to run next. Resource is Schema or Migration where the command is for one of them, and empty where it fits whatever has the word.
type Run struct{ Resource, Command string }

// forMigrations and forSchemas are what a command becomes for the family that it is not made for.
var (
	forMigrations = map[string]string{
		approve: show, plan: show, check: "kubectl ptah preflight migration/NAME -n NAMESPACE", push: "kubectl ptah push migrations DIRECTORY oci://REFERENCE",
	}
	forSchemas = map[string]string{settle: look, show: look}
)

// Runs lists the commands of an entry: one, or one for each family where they differ; none where there is nothing to run.
func (e Entry) Runs() []Run {
	if e.Command == "" {
		return nil
	}
	schema, migration := e.command(Schema), e.command(Migration)
	switch schemas, migrations := e.families(); {
	case !migrations:
		return []Run{{Command: schema}}
	case !schemas:
		return []Run{{Command: migration}}
	case schema == migration:
		return []Run{{Command: schema}}
	}
	return []Run{{Schema, schema}, {Migration, migration}}
}

func (e Entry) command(family string) string {
	other := forSchemas
	if family == Migration {
		other = forMigrations
	}
	if command, ok := other[e.Command]; ok {
		return command
	}
	return e.Command
}

// named finds the conditions in the place of a reason.
var named = regexp.MustCompile(`([A-Za-z]+)=`)

// families says which of the two an entry can be about: those that it names, or else those that have its conditions.
func (e Entry) families() (schemas, migrations bool) {
	schemas, migrations = strings.Contains(e.Where, "PtahSchema"), strings.Contains(e.Where, "PtahMigration")
	if schemas || migrations && !strings.Contains(e.Where, "; PtahMigration") {
		return schemas, migrations
	}
	found := named.FindAllStringSubmatch(e.Where, -1)
	for _, match := range found {
		for _, c := range conditions {
			if c.Name == match[1] {
				all := !strings.Contains(c.Where, "Ptah")
				schemas = schemas || all || strings.Contains(c.Where, "PtahSchema")
				migrations = migrations || all || strings.Contains(c.Where, "PtahMigration")
			}
		}
	}
	return schemas || len(found) == 0, migrations || len(found) == 0
}

// Advice is what clears a state and what to run, for one resource.
type Advice struct{ Word, Clears, Command string }

// Advise looks for the first of some words that the catalogue knows as a reason or a failure, and fills in the name. There is always a command.
func Advise(family, namespace, name string, words ...string) Advice {
	fill := strings.NewReplacer("NAMESPACE", namespace, "NAME", name)
	for _, word := range words {
		for _, e := range Find(word) {
			if word == "" || (e.Kind != Reason && e.Kind != Failure) {
				continue
			}
			command := e.command(family)
			if command == look || command == "" { // who asks has just looked
				command = "kubectl ptah events " + family + "/NAME -n NAMESPACE"
			}
			return Advice{Word: e.Name, Clears: e.Clears, Command: fill.Replace(command)}
		}
	}
	return Advice{Command: fill.Replace("kubectl ptah events " + family + "/NAME -n NAMESPACE")}
}
