package diff

import (
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Severity of what differs in a table itself.
func (t *TableChange) Severity() string {
	if t.Old == nil || t.New == nil {
		return bySide(t.Old, t.New, Safe, Destructive, Safe)
	}
	o, n := t.Old.MySQLPart(), t.New.MySQLPart()
	worst := relationSeverity(&t.Old.Relation, &t.New.Relation)
	if worst == Destructive {
		return worst
	}
	if o.Engine != n.Engine || o.Partitioning != n.Partitioning || !o.Versioned && n.Versioned || !slices.Equal(o.Periods, n.Periods) {
		worst = Warning
	}
	lost := func(clause string) bool { return !slices.Contains(n.Periods, clause) }
	if o.Versioned && !n.Versioned || slices.ContainsFunc(o.Periods, lost) {
		worst = Destructive
	}
	return worst
}

// severityMySQL rates what only MySQL and MariaDB know of a column.
func (c ColumnChange) severityMySQL() string {
	o, n := c.Old.MySQLPart(), c.New.MySQLPart()
	worst := Safe
	if !equal(o, n) {
		worst = Warning
	}
	if o.RowPeriod != n.RowPeriod || o.Check != n.Check && o.Check != "" || !o.Unversioned && n.Unversioned {
		worst = Destructive
	}
	if charset := CharsetOf(c.New.Collation); c.Old.Collation != "" && charset != CharsetOf(c.Old.Collation) && charset != "utf8mb4" {
		worst = Destructive // a character that the new set lacks has no place
	}
	return worst
}

// CharsetOf is the character set that a collation belongs to.
func CharsetOf(collation string) string {
	charset, _, _ := strings.Cut(collation, "_")
	return charset
}

// typeMySQL is a printed type taken apart.
type typeMySQL struct {
	name     string
	numbers  []int
	values   []string // of an enum or a set
	unsigned bool
}

func parseMySQL(printed string) typeMySQL {
	var t typeMySQL
	if open := strings.IndexByte(printed, '('); open > 0 && (printed[:open] == "enum" || printed[:open] == "set") {
		t.name, t.values = printed[:open], EnumValues(printed)
		return t
	}
	name, numbers := splitModifier(printed)
	words := strings.Fields(name)
	if len(words) == 0 {
		return t
	}
	t.name, t.numbers, t.unsigned = words[0], numbers, slices.Contains(words, "unsigned")
	return t
}

// EnumValues are the values of a printed enum or set.
func EnumValues(printed string) []string {
	var values []string
	for i := strings.IndexByte(printed, '(') + 1; i > 0 && i < len(printed); i++ {
		if printed[i] != '\'' {
			continue
		}
		var b strings.Builder
		for i++; i < len(printed); i++ {
			if printed[i] == '\'' {
				if i+1 >= len(printed) || printed[i+1] != '\'' {
					break
				}
				i++
			}
			b.WriteByte(printed[i])
		}
		values = append(values, b.String())
	}
	return values
}

// Kinds of types that widen into each other, by what the largest of each holds.
var (
	integersMySQL = []string{"tinyint", "smallint", "mediumint", "int", "bigint"}
	textsMySQL    = []string{"tinytext", "text", "mediumtext", "longtext"}
	blobsMySQL    = []string{"tinyblob", "blob", "mediumblob", "longblob"}
)

// WidensMySQL reports that every value of one type of MySQL or MariaDB can be written in the other without loss.
func WidensMySQL(from, to string) bool {
	f, t := parseMySQL(from), parseMySQL(to)
	size := func(v typeMySQL, missing int) int {
		if len(v.numbers) == 0 {
			return missing
		}
		return v.numbers[0]
	}
	fi, ti := slices.Index(integersMySQL, f.name), slices.Index(integersMySQL, t.name)
	switch {
	case from == to:
		return true
	case fi >= 0 && ti >= 0:
		return f.unsigned == t.unsigned && fi <= ti || f.unsigned && !t.unsigned && fi < ti
	case f.name == "float" && t.name == "double":
		return f.unsigned == t.unsigned && len(t.numbers) == 0
	case f.name == "date" && t.name == "datetime":
		return true
	}
	return widensItself(f, t, size) || widensText(f, t, "char", "varchar", textsMySQL, 4, size) || widensText(f, t, "binary", "varbinary", blobsMySQL, 1, size)
}

// widensItself compares two types of one name.
func widensItself(f, t typeMySQL, size func(typeMySQL, int) int) bool {
	same := f.name == t.name
	switch {
	case same && (f.name == "enum" || f.name == "set"):
		return !slices.ContainsFunc(f.values, func(v string) bool { return !slices.Contains(t.values, v) })
	case same && (f.name == "decimal"):
		return len(f.numbers) > 0 && len(t.numbers) > 0 && (f.unsigned == t.unsigned || f.unsigned) &&
			scale(t.numbers) >= scale(f.numbers) && t.numbers[0]-scale(t.numbers) >= f.numbers[0]-scale(f.numbers)
	case same && (f.name == "datetime" || f.name == "timestamp" || f.name == "time"):
		return size(t, 0) >= size(f, 0)
	case same && f.name == "bit":
		return size(t, 1) >= size(f, 1)
	}
	return false
}

func widensText(f, t typeMySQL, fixed, varying string, large []string, width int, size func(typeMySQL, int) int) bool {
	fl, tl := slices.Index(large, f.name), slices.Index(large, t.name)
	small := f.name == fixed || f.name == varying
	switch {
	case f.name == fixed && t.name == fixed && width > 1, small && t.name == varying:
		return size(t, 1) >= size(f, 1)
	case fl >= 0 && tl >= 0:
		return fl <= tl
	case small && tl >= 0:
		return tl > 1 || size(f, 1)*width <= map[int]int{0: 255, 1: 65535}[tl]
	}
	return false
}

func (c ColumnChange) typeSeverity() string {
	if !c.MySQL {
		return TypeChangeSeverity(c.Old.Type, c.New.Type)
	}
	if WidensMySQL(c.Old.Type, c.New.Type) {
		return Warning
	}
	return Destructive
}

// needsValue reports a column that existing rows have no value for.
func (c ColumnChange) needsValue() bool {
	n := c.New
	return n.NotNull && n.Default == "" && n.Identity == nil && n.Generated == nil && !n.MySQLPart().AutoIncrement && n.MySQLPart().RowPeriod == ""
}

// SameConstraint compares all but lists that are absent on one side and empty on the other.
func SameConstraint(a, b *model.Constraint) bool { return equal(a, b) }
