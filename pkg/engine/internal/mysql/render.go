package mysql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// columnSQL is a column as CREATE TABLE, ADD COLUMN and MODIFY COLUMN want it.
func columnSQL(c *model.Column) string {
	m := c.MySQLPart()
	var b strings.Builder
	b.WriteString(ident(c.Name) + " " + c.Type)
	if c.Collation != "" {
		b.WriteString(" CHARACTER SET " + diff.CharsetOf(c.Collation) + " COLLATE " + c.Collation)
	}
	switch {
	case m.RowPeriod != "":
		b.WriteString(" GENERATED ALWAYS AS " + m.RowPeriod)
	case c.Generated != nil:
		b.WriteString(" GENERATED ALWAYS AS (" + c.Generated.Expression + ")")
		if c.Generated.Virtual {
			b.WriteString(" VIRTUAL")
		} else {
			b.WriteString(" STORED")
		}
		if c.NotNull {
			b.WriteString(" NOT NULL")
		}
	case c.NotNull:
		b.WriteString(" NOT NULL")
	default:
		b.WriteString(" NULL")
	}
	add := func(present bool, text string) {
		if present {
			b.WriteString(" " + text)
		}
	}
	add(m.Invisible, "INVISIBLE")
	add(c.Default != "", "DEFAULT "+c.Default)
	add(m.OnUpdate != "", "ON UPDATE "+m.OnUpdate)
	add(m.AutoIncrement, "AUTO_INCREMENT")
	for _, attribute := range m.Attributes {
		add(true, attribute)
	}
	add(c.Comment != "", "COMMENT "+literal(c.Comment))
	add(m.Unversioned, "WITHOUT SYSTEM VERSIONING")
	add(m.Check != "", "CHECK ("+m.Check+")")
	return b.String()
}

// indexSQL is an index as CREATE TABLE and ADD want it.
func (s *server) indexSQL(x *model.Index) string {
	m := x.MySQLPart()
	var b strings.Builder
	switch {
	case x.Name == model.PrimaryIndex:
		b.WriteString("PRIMARY KEY")
	case x.Unique:
		b.WriteString("UNIQUE KEY " + ident(x.Name))
	case isStructure(x.Method):
		b.WriteString(strings.ToUpper(x.Method) + " KEY " + ident(x.Name))
	default:
		b.WriteString("KEY " + ident(x.Name))
	}
	keys := make([]string, len(x.Keys))
	for i := range x.Keys {
		keys[i] = indexKeySQL(&x.Keys[i])
	}
	b.WriteString(" (" + strings.Join(keys, ", ") + ")")
	if x.Method != methodDefault && !isStructure(x.Method) {
		b.WriteString(" USING " + strings.ToUpper(x.Method))
	}
	if m.KeyBlockSize > 0 {
		b.WriteString(" KEY_BLOCK_SIZE=" + strconv.Itoa(m.KeyBlockSize))
	}
	if m.Parser != "" {
		b.WriteString(" WITH PARSER " + ident(m.Parser))
	}
	if x.Comment != "" {
		b.WriteString(" COMMENT " + literal(x.Comment))
	}
	if m.Hidden {
		b.WriteString(" " + s.hidden)
	}
	for _, o := range x.Options {
		b.WriteString(" " + o)
	}
	return b.String()
}

// isStructure reports a method that is a kind of index of its own.
func isStructure(method string) bool {
	return method == "fulltext" || method == "spatial" || method == "vector"
}

func indexKeySQL(k *model.IndexKey) string {
	sql := k.Expression
	if k.Column != "" {
		sql = ident(k.Column)
	}
	if k.Prefix > 0 {
		sql += fmt.Sprintf("(%d)", k.Prefix)
	}
	if k.Order != "" {
		sql += " " + k.Order
	}
	return sql
}

func constraintSQL(c *model.Constraint) string {
	if c.Kind == model.Check {
		sql := "CONSTRAINT " + ident(c.Name) + " CHECK (" + c.Expression + ")"
		if c.NotEnforced {
			sql += " NOT ENFORCED"
		}
		return sql
	}
	r := c.Reference
	sql := "CONSTRAINT " + ident(c.Name) + " FOREIGN KEY (" + idents(c.Columns) + ") REFERENCES " + qualified(r.Table) + " (" + idents(r.Columns) + ")"
	if r.OnDelete != "" {
		sql += " ON DELETE " + r.OnDelete
	}
	if r.OnUpdate != "" {
		sql += " ON UPDATE " + r.OnUpdate
	}
	return sql
}

// qualified names a table; only one of another database has that in front.
func qualified(n model.Name) string {
	if n.Schema == "" {
		return ident(n.Name)
	}
	return ident(n.Schema) + "." + ident(n.Name)
}

// createTableSQL writes a table with everything but its foreign keys.
func (s *server) createTableSQL(t *model.Table) string {
	lines := make([]string, 0, len(t.Columns)+len(t.Indexes)+len(t.Constraints))
	for i := range t.Columns {
		lines = append(lines, columnSQL(&t.Columns[i]))
	}
	lines = append(lines, t.MySQL.Periods...)
	for i := range t.Indexes {
		lines = append(lines, s.indexSQL(&t.Indexes[i]))
	}
	for i := range t.Constraints {
		if c := &t.Constraints[i]; c.Kind == model.Check {
			lines = append(lines, constraintSQL(c))
		}
	}
	sql := "CREATE TABLE " + ident(t.Name.Name) + " (\n  " + strings.Join(lines, ",\n  ") + "\n)"
	if t.MySQL.Engine != "" {
		sql += " ENGINE=" + t.MySQL.Engine
	}
	if t.MySQL.Collation != "" {
		sql += " " + charsetSQL(t.MySQL.Collation)
	}
	for _, o := range t.Options {
		sql += " " + o
	}
	if t.Comment != "" {
		sql += " COMMENT=" + literal(t.Comment)
	}
	if t.MySQL.Versioned {
		sql += " WITH SYSTEM VERSIONING"
	}
	if t.MySQL.Partitioning != "" {
		sql += "\n" + t.MySQL.Partitioning
	}
	return sql
}

func charsetSQL(collation string) string {
	return "DEFAULT CHARACTER SET=" + diff.CharsetOf(collation) + " COLLATE=" + collation
}

// sequenceSQL are the options of a sequence, all of them.
func sequenceSQL(s *model.Sequence) string {
	sql := fmt.Sprintf("START WITH %d MINVALUE %d MAXVALUE %d INCREMENT BY %d CACHE %d", s.Start, s.Min, s.Max, s.Increment, s.Cache)
	if s.Cache == 0 {
		sql = strings.TrimSuffix(sql, "CACHE 0") + "NOCACHE"
	}
	if s.Cycle {
		return sql + " CYCLE"
	}
	return sql + " NOCYCLE"
}
