package diff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Severities, as in a plan document. A difference is destructive when applying it may lose data or protection, a warning when it may
// fail on existing rows or change behaviour, and safe otherwise.
const (
	Safe        = "safe"
	Warning     = "warning"
	Destructive = "destructive"
)

// Rank orders severities.
func Rank(severity string) int { return slices.Index([]string{Safe, Warning, Destructive}, severity) }

// Worst is the highest of severities, safe when there is none.
func Worst(severities ...string) string {
	worst := Safe
	for _, s := range severities {
		if Rank(s) > Rank(worst) {
			worst = s
		}
	}
	return worst
}

func bySide[T any](o, n *T, added, removed, changed string) string {
	switch {
	case o == nil:
		return added
	case n == nil:
		return removed
	}
	return changed
}

// Severity of a schema's change.
func (c SchemaChange) Severity() string { return bySide(c.Old, c.New, Safe, Destructive, Safe) }

// Severity of an enum's change: a value that goes, or an order that changes, is destructive.
func (c EnumChange) Severity() string {
	changed := Safe
	if c.Old != nil && c.New != nil && !Subsequence(c.Old.Values, c.New.Values) {
		changed = Destructive
	}
	return bySide(c.Old, c.New, Safe, Destructive, changed)
}

// Subsequence reports whether all of part stands in whole, in order.
func Subsequence(part, whole []string) bool {
	i := 0
	for _, v := range whole {
		if i < len(part) && part[i] == v {
			i++
		}
	}
	return i == len(part)
}

// Severity of a sequence's change.
func (c SequenceChange) Severity() string {
	changed := Safe
	if c.Old != nil && c.New != nil && (c.Old.Type != c.New.Type || c.Old.SequenceOptions != c.New.SequenceOptions) {
		changed = Warning
	}
	return bySide(c.Old, c.New, Safe, Destructive, changed)
}

// Severity of an unmodelled object that only one side has.
func (c ObjectChange) Severity() string { return bySide(c.Old, c.New, Warning, Destructive, Warning) }

// Severity of a column's change. An added column that is NOT NULL and has no value for existing rows is a warning.
func (c ColumnChange) Severity() string {
	if c.Old == nil {
		if c.needsValue() {
			return Warning
		}
		return Safe
	}
	if c.New == nil {
		return Destructive
	}
	var all []string
	add := func(differs bool, severity string) {
		if differs {
			all = append(all, severity)
		}
	}
	o, n := c.Old, c.New
	switch {
	case o.Generated != nil && n.Generated != nil:
		// Derived values are computed again; what stood there before is gone all the same.
		add(*o.Generated != *n.Generated || o.Type != n.Type, Destructive)
	case o.Generated == nil && n.Generated != nil:
		add(true, Destructive)
	default:
		add(o.Generated != nil, Destructive)
		add(o.Type != n.Type, c.typeSeverity())
	}
	add(o.Collation != n.Collation, Warning)
	add(o.NotNull && !n.NotNull, Destructive)
	add(!o.NotNull && n.NotNull, Warning)
	add(o.Default != n.Default, Warning)
	add(o.Identity != nil && n.Identity == nil, Destructive)
	add(n.Identity != nil && (o.Identity == nil || *o.Identity != *n.Identity), Warning)
	add(c.MySQL, c.severityMySQL())
	add((o.NotNullRule == nil) != (n.NotNullRule == nil) || o.NotNullRule != nil && *o.NotNullRule != *n.NotNullRule, Warning)
	return Worst(all...)
}

// Severity of a constraint's change: one that goes, even to be replaced, is destructive, except where it only gets validated, renamed
// with the same meaning, or another comment.
func (c ConstraintChange) Severity() string {
	changed := Destructive
	if c.OnlyComment() {
		changed = Safe
	} else if c.Old != nil && c.New != nil && c.keepsProtection() {
		changed = Warning
	}
	return bySide(c.Old, c.New, Warning, Destructive, changed)
}

// keepsProtection reports a change after which every row that could not be written before still cannot.
func (c ConstraintChange) keepsProtection() bool {
	o, n := *c.Old, *c.New
	if o.NotValid && !n.NotValid {
		o.NotValid = false
	}
	if o.NotEnforced && !n.NotEnforced {
		o.NotEnforced = false
	}
	o.Name, o.Comment, o.Options = n.Name, n.Comment, n.Options
	o.Deferrable, o.Deferred = n.Deferrable, n.Deferred
	return equal(&o, &n)
}

// Severity of an index's change: a unique index protects rows.
func (c IndexChange) Severity() string {
	switch {
	case c.Old == nil && c.New.Unique:
		return Warning
	case c.Old == nil, c.OnlyComment():
		return Safe
	case c.Old.Unique:
		return Destructive
	}
	return Warning
}

// integerRank orders the integer types by width.
var integerRank = map[string]int{"smallint": 1, "integer": 2, "bigint": 3}

// TypeChangeSeverity rates a change of a column's type, printed by the server: a warning where every value of the old type is one of the
// new type and means the same, destructive otherwise.
func TypeChangeSeverity(from, to string) string {
	if Widens(from, to) {
		return Warning
	}
	return Destructive
}

// Widens reports that every value of one type can be written in the other without loss, by a cast that needs no USING.
func Widens(from, to string) bool {
	f, fm := splitModifier(from)
	t, tm := splitModifier(to)
	switch {
	case from == to:
		return true
	case integerRank[f] > 0:
		return widensInteger(f, t, tm)
	case f == "numeric" && t == "numeric":
		return len(tm) == 0 || len(fm) > 0 && scale(tm) >= scale(fm) && tm[0]-scale(tm) >= fm[0]-scale(fm)
	case f == t && (f == "character varying" || f == "bit varying" || strings.HasPrefix(f, "time")):
		return len(tm) == 0 || len(fm) > 0 && tm[0] >= fm[0]
	case f == "text" && t == "character varying":
		return len(tm) == 0
	}
	return t == map[string]string{"real": "double precision", "character varying": "text", "cidr": "inet"}[f]
}

func widensInteger(from, to string, modifier []int) bool {
	if integerRank[to] > 0 {
		return integerRank[from] <= integerRank[to]
	}
	digits := map[string]int{"smallint": 5, "integer": 10, "bigint": 19}[from]
	return to == "numeric" && (len(modifier) == 0 || modifier[0]-scale(modifier) >= digits)
}

func scale(modifier []int) int {
	if len(modifier) < 2 {
		return 0
	}
	return modifier[1]
}

// splitModifier cuts "numeric(10,2)" into its name and numbers.
func splitModifier(printed string) (string, []int) {
	open, closing := strings.IndexByte(printed, '('), strings.IndexByte(printed, ')')
	if open < 0 || closing < open {
		return printed, nil
	}
	var numbers []int
	for part := range strings.SplitSeq(printed[open+1:closing], ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return printed, nil
		}
		numbers = append(numbers, n)
	}
	return printed[:open] + printed[closing+1:], numbers
}

// categoryOfKind maps unmodelled kinds to the stem of the closest category of the closed vocabulary; the rest counts as constraints.
var categoryOfKind = map[string]string{
	"view": "tables", "materialized view": "tables", "foreign table": "tables", "partitioned table": "tables", "partition": "tables",
	"inheritance child": "tables", "typed table": "tables", "unlogged table": "tables", "unlogged sequence": "tables",
	"function": "functions", "procedure": "functions", "aggregate": "functions", "window function": "functions", "trigger": "functions",
	"event": "functions", "package": "functions", "package body": "functions", "constraint trigger": "functions", "event trigger": "functions", "rule": "functions",
	"range type": "enums", "base type": "enums",
	"row security": "rls_enabled_tables", "forced row security": "rls_enabled_tables", "policy": "rls_policies",
	"statistics": "indexes", "index": "indexes", "invalid index": "indexes", "clustered index": "indexes", "index option": "indexes",
}

// stemOf is the category of an unmodelled kind without "_added" or "_removed".
func stemOf(o *model.Object) string {
	if stem, ok := categoryOfKind[o.Kind]; ok {
		return stem
	}
	return "constraints"
}
