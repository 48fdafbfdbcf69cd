package declare

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// IsSource reports that a file of this name is one that Read reads.
func IsSource(name string) bool { return formatOf(name) != "" }

func formatOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml":
		return "yaml"
	case ".hcl":
		return "hcl"
	}
	return ""
}

// Read reads all files into one tree. What two files declare alike is one object; what they declare differently is an error that names
// both places. The error joins at most 20 *Error values, sorted by position.
func Read(files []File, o Options) (*Tree, error) {
	if o.Dialect != Postgres && !isMySQL(o.Dialect) {
		return nil, fmt.Errorf("reading declarations: dialect %q cannot be rendered by this build, only %s, %s and %s", o.Dialect, Postgres, MySQL, MariaDB)
	}
	var b bag
	objects, rows := readAll(files, o, &b)
	for _, x := range objects {
		rows.take(x, &b)
	}
	rows.unused()
	if err := b.err(); err != nil {
		return nil, err
	}
	t := build(objects, o.Dialect, &b)
	if err := b.err(); err != nil {
		return nil, err
	}
	return t, nil
}

func readAll(files []File, o Options, b *bag) ([]*Object, rowFiles) {
	budget, total := maxNodes, 0
	var objects []*Object
	h := &hclReader{bag: b, budget: &budget, dialect: o.Dialect, mysql: isMySQL(o.Dialect), given: o.Variables, src: map[string][]byte{}, vars: map[string]*hclVariable{}, locals: map[string]*hclLocal{}, text: maxText}
	bodies, rows := map[string]*hclsyntax.Body{}, rowFiles{}
	for _, f := range files {
		at := Position{f.Name, 1, 1}
		total += len(f.Data)
		switch {
		case len(f.Data) > MaxFile || total > MaxTotal:
			b.add(at, "the sources are too large: at most %d bytes in one and %d in all", MaxFile, MaxTotal)
			return nil, nil
		case formatOf(f.Name) == "yaml":
			r := &yamlReader{file: f.Name, bag: b, budget: &budget, dialect: o.Dialect, mysql: isMySQL(o.Dialect)}
			if root := r.read(f.Data); root != nil {
				rows[f.Name] = &rowFile{root: root, read: r}
			}
			objects = append(objects, r.objects...)
		case formatOf(f.Name) == "hcl":
			if body := parseHCL(f.Name, f.Data, b); body != nil {
				h.src[f.Name], bodies[f.Name] = f.Data, body
				h.collect(body)
			}
		default:
			b.add(at, "not a declaration: want .yaml, .yml or .hcl")
		}
	}
	for _, f := range files {
		if body := bodies[f.Name]; body != nil {
			h.read(body)
		}
	}
	for _, name := range h.unreadVariables() {
		b.add(Position{"--var " + name, 1, 1}, "no file declares a variable %q", name)
	}
	return append(objects, h.objects...), rows
}

// build makes a tree of raw objects.
func build(raw []*Object, dialect string, b *bag) *Tree {
	t := &Tree{dialect: dialect, index: map[Key]*Object{}}
	n := &normaliser{bag: b, dialect: dialect, mysql: isMySQL(dialect)}
	var loose []*Object
	for _, o := range raw {
		n.object(o)
	}
	for _, o := range n.done {
		if o.Key.Kind == IndexKind || o.Key.Kind == ConstraintKind {
			loose = append(loose, o)
			continue
		}
		t.merge(o, b)
	}
	t.database, t.databaseAt = n.database, n.databaseAt
	t.objects = make([]*Object, 0, len(t.index))
	for _, o := range t.index {
		t.objects = append(t.objects, o)
	}
	slices.SortFunc(t.objects, func(a, c *Object) int { return a.Key.Compare(c.Key) })
	r := newResolver(t, b)
	for _, o := range loose {
		r.attach(o)
	}
	r.run()
	return t
}
