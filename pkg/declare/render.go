package declare

import (
	"maps"
	"slices"
	"sort"
	"strings"
)

// Statement is one SQL statement, without a semicolon, and where what it says is declared.
type Statement struct {
	SQL string
	Key Key // of the object that it creates or changes
	At  Position

	marks []mark
}

// mark says where the text from an offset on is declared.
type mark struct {
	offset int
	at     Position
}

// Where is the place in the sources that a byte offset of the statement comes from.
func (s *Statement) Where(offset int) Position {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].offset > offset })
	if i == 0 {
		return s.At
	}
	return s.marks[i-1].at
}

// Quote writes names as quoted identifiers, joined by dots.
func Quote(parts ...string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		quoted[i] = `"` + strings.ReplaceAll(p, `"`, `""`) + `"`
	}
	return strings.Join(quoted, ".")
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = Quote(n)
	}
	return strings.Join(quoted, ", ")
}

// literal quotes text, whatever standard_conforming_strings is set to.
func literal(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// unmanaged says of a kind why it cannot be rendered.
var unmanaged = map[Kind]string{
	RoleKind: "roles belong to the whole server and are not managed; create them there and leave them out",
}

// Render writes the statements that create everything, each after what it needs. The same tree gives the same statements.
func (t *Tree) Render() ([]Statement, error) {
	var b bag
	r := &renderer{mariadb: t.dialect == MariaDB}
	for _, o := range t.objects {
		if why, refused := unmanaged[o.Key.Kind]; refused {
			b.add(o.At, "%s: %s", o.Key.Kind, why)
			continue
		}
		if isMySQL(t.dialect) {
			r.objectMySQL(o)
			continue
		}
		r.object(o)
	}
	for _, c := range r.faults {
		b.add(c.At, "%s", c.Text)
	}
	if err := b.err(); err != nil {
		return nil, err
	}
	return ordered(r.out), nil
}

// renderer gathers statements with what orders them.
type renderer struct {
	out     []ranked
	faults  []*Error
	mariadb bool
}

// ranked is a statement with its rank among those that do not need each other, and the names that it needs and gives.
type ranked struct {
	Statement
	rank  int
	gives []string
	needs map[string]bool
}

// Ranks: what comes first when nothing else decides.
const (
	rankSchema = iota
	rankExtension
	rankType
	rankSequence
	rankFunction
	rankTable
	rankOwner
	rankIndex
	rankForeignKey
	rankView
	rankTrigger
	rankSecurity
	rankComment
	rankGrant
	rankDefaults // behind everything: they are for what comes later
)

// writer builds one statement and remembers where its parts are declared.
type writer struct {
	text  strings.Builder
	key   Key
	at    Position
	marks []mark
	needs map[string]bool
	mysql bool
}

func start(o *Object) *writer {
	return &writer{key: o.Key, at: o.At, needs: map[string]bool{}}
}

// from marks that what follows is declared there.
func (w *writer) from(at Position) *writer {
	if n := len(w.marks); n > 0 && w.marks[n-1].offset == w.text.Len() {
		w.marks[n-1].at = at
		return w
	}
	w.marks = append(w.marks, mark{w.text.Len(), at})
	return w
}

func (w *writer) add(texts ...string) *writer {
	for _, t := range texts {
		w.text.WriteString(t)
	}
	return w
}

// sql adds free SQL, which says what the statement needs.
func (w *writer) sql(v Value) *writer {
	if v.text == "" {
		return w
	}
	maps.Copy(w.needs, Mentions(v.text, w.mysql))
	return w.from(v.at).add(closed(v.text, w.mysql)).from(w.at)
}

func (w *writer) need(names ...string) *writer {
	for _, n := range names {
		w.needs[n] = true
	}
	return w
}

// exactly is what one object gives, and no other of its name; no word of SQL is like it.
func exactly(k Key) string { return "\x01" + Quote(k.Schema, k.Name) }

func (r *renderer) emit(rank int, w *writer, gives ...string) {
	if len(gives) > 0 {
		gives = append(gives, exactly(w.key))
	}
	r.out = append(r.out, ranked{
		Statement: Statement{SQL: w.text.String(), Key: w.key, At: w.at, marks: w.marks}, rank: rank, gives: gives, needs: w.needs,
	})
}

// comment adds COMMENT ON where there is one. Comments come last.
func (r *renderer) comment(o *Object, target string) {
	v, ok := o.attrs["comment"]
	if !ok {
		return
	}
	w := start(o)
	w.at = v.at
	r.emit(rankComment, w.add("COMMENT ON ", target, " IS ", literal(v.text)))
}

// ordered sorts by rank and key, and moves what others need in front of them. Where free SQL closes a circle, which may be nothing but a
// column with the name of a table, the rank decides.
func ordered(all []ranked) []Statement {
	slices.SortStableFunc(all, func(a, b ranked) int {
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return a.Key.Compare(b.Key)
	})
	givers := map[string][]int{}
	for i := range all {
		for _, name := range all[i].gives {
			givers[name] = append(givers[name], i)
		}
	}
	state := make([]int, len(all)) // 1 on the way, 2 written
	out := make([]Statement, 0, len(all))
	var visit func(i int)
	visit = func(i int) {
		if state[i] != 0 {
			return
		}
		state[i] = 1
		for _, name := range slices.Sorted(maps.Keys(all[i].needs)) {
			for _, j := range givers[name] {
				visit(j)
			}
		}
		state[i] = 2
		out = append(out, all[i].Statement)
	}
	for i := range all {
		visit(i)
	}
	return out
}
