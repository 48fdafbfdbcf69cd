package declare

import (
	"slices"
	"strings"
)

// systemSchemas belong to the server.
var systemSchemas = []string{"information_schema", "mysql", "performance_schema", "sys"}

// inDatabase takes the schema off an object. MySQL and MariaDB have one database for everything, and its name is the target's.
func (n *normaliser) inDatabase(o *Object, schema string, at Position) {
	o.Key.Schema = ""
	switch {
	case schema == "":
	case n.database == "":
		n.database, n.databaseAt = schema, at
	case n.database != schema:
		n.bag.add(at, "schema %q here and %q at %s: on MySQL and MariaDB a declaration is for one database", schema, n.database, n.databaseAt)
	}
}

// schemaMySQL is the one database, as the files call it.
func (n *normaliser) schemaMySQL(o *Object) {
	if slices.Contains(systemSchemas, strings.ToLower(o.Key.Name)) {
		n.bag.add(o.At, "%s: the system's schemas cannot be declared", o.Key)
		return
	}
	n.inDatabase(o, o.Key.Name, o.At)
}

// columnMySQL normalises one column and returns the parts of the table that it declares. A check without a name stays at its column, as in SQL.
func (n *normaliser) columnMySQL(c *Object) []*Object {
	n.nullable(c)
	n.valuesMySQL(c)
	n.require(c, required[ColumnKind]...)
	if v, ok := c.attrs["unsigned"]; ok {
		delete(c.attrs, "unsigned")
		typ := c.attrs["type"]
		if slices.Contains(strings.Fields(strings.ToLower(typ.text)), "unsigned") {
			n.bag.add(v.at, "%s: unsigned stands twice", c.Key)
		}
		typ.text = strings.TrimSpace(closed(typ.text, true)) + " unsigned"
		c.set("type", typ)
	}
	n.conflict(c, "default", "default_expr", "generated", "auto_increment", "row_period")
	n.generated(c)
	n.without(c, "foreign", "foreign_key_name", "on_delete", "on_update")
	n.without(c, "check", "check_name")
	return n.columnParts(c)
}

// valuesMySQL puts the values that a column lists into its type.
func (n *normaliser) valuesMySQL(c *Object) {
	values, ok := c.attrs["enum"]
	delete(c.attrs, "enum")
	typ, typed := c.attrs["type"]
	word := strings.ToLower(strings.TrimSpace(typ.text))
	switch {
	case !ok:
		return
	case !typed:
		word = "enum"
	case word != "enum" && word != "set":
		n.bag.add(typ.at, "%s: enum and another type than ENUM or SET exclude each other", c.Key)
		return
	}
	var quoted []string
	for _, v := range values.texts() {
		quoted = append(quoted, literalMySQL(v))
	}
	c.set("type", Value{at: values.at, form: formSQL, text: word + "(" + strings.Join(quoted, ", ") + ")"})
}
