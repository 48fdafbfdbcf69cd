package engine_test

import (
	"strconv"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// drawPartitions makes a partitioned table, and tables that are its partitions in one schema and stand alone in another.
func (d *drawer) drawPartitions() {
	public := func(name string) model.Name { return model.Name{Schema: "public", Name: name} }
	parent := model.Table{Name: public("z part"), Relation: model.Relation{PartitionBy: "LIST (k)"}, Comment: d.comment()}
	v := model.Column{Name: "v", Type: []string{"text", "bigint"}[d.pick(2)], NotNull: d.rarely(), Comment: d.comment()}
	v.Default = d.partDefault(v.Type)
	parent.Columns = []model.Column{{Name: "k", Type: "integer", NotNull: d.yes()}, v}
	if d.yes() {
		parent.Columns = append(parent.Columns, model.Column{Name: "w", Type: "integer", Default: d.partDefault("bigint")})
	}
	if d.yes() {
		parent.Constraints = append(parent.Constraints, model.Constraint{Name: "z check", Kind: model.Check, Columns: []string{"k"}, Expression: "(k > " + strconv.Itoa(d.pick(2)) + ")", Comment: d.comment()})
	}
	if d.yes() {
		parent.Indexes = append(parent.Indexes, model.Index{Name: "z index", Method: "btree", Keys: []model.IndexKey{{Column: "v"}}, Comment: d.comment()})
	}
	divided := d.yes()
	if divided {
		d.db.Tables = append(d.db.Tables, parent)
	}
	for i, bound := range []string{"FOR VALUES IN (1, 2)", "FOR VALUES IN (3)", "DEFAULT"} {
		if kind := d.pick(3); kind == 0 || kind == 1 && !divided {
			continue
		} else if kind == 1 {
			d.db.Tables = append(d.db.Tables, d.partition(&parent, i, bound))
		} else {
			t := d.partition(&parent, i, bound)
			t.Partition = nil
			for j := range t.Columns {
				t.Columns[j].Inherited = false
			}
			d.db.Tables = append(d.db.Tables, t)
		}
	}
}

func (d *drawer) partDefault(kind string) string {
	return [][]string{{"", "'x'::text", "'it''s'::text"}, {"", "5", "6"}}[map[string]int{"text": 0, "bigint": 1}[kind]][d.pick(3)]
}

func (d *drawer) partition(parent *model.Table, i int, bound string) model.Table {
	name := "z " + strconv.Itoa(i)
	t := model.Table{Name: model.Name{Schema: "public", Name: name}, Relation: model.Relation{Partition: &model.Partition{Parent: parent.Name, Bound: bound}}}
	for _, c := range parent.Columns {
		c.Inherited, c.Comment, c.NotNull = true, d.comment(), c.NotNull || d.rarely()
		if c.Name != "k" && d.rarely() {
			c.Default = d.partDefault(map[bool]string{true: "text", false: "bigint"}[c.Type == "text"])
		}
		t.Columns = append(t.Columns, c)
	}
	if d.rarely() {
		t.Constraints = append(t.Constraints, model.Constraint{Name: "own " + name, Kind: model.Check, Columns: []string{"k"}, Expression: "(k < 9)"})
	}
	if d.rarely() {
		t.Indexes = append(t.Indexes, model.Index{Name: "own i " + name, Method: "btree", Unique: true, Keys: []model.IndexKey{{Column: "k"}}})
	}
	if d.rarely() {
		t.Options = []string{"fillfactor=70"}
	}
	return t
}
