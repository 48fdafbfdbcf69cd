package model_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// small is a model with something of everything.
func small() *model.Database {
	d := model.New(model.Postgres)
	t := model.Name{Schema: "public", Name: "t"}
	options := model.SequenceOptions{Start: 1, Increment: 1, Min: 1, Max: 9, Cache: 1}
	d.Schemas = []model.Schema{{Name: "public", Comment: "a <b> & c"}}
	d.Enums = []model.Enum{{Name: model.Name{Schema: "public", Name: "e"}, Values: []string{"b", "a"}}}
	d.Sequences = []model.Sequence{{Name: model.Name{Schema: "public", Name: "q"}, Type: "integer", SequenceOptions: options, Owner: &model.ColumnRef{Table: t, Column: "a"}}}
	d.Tables = []model.Table{{
		Name: t, Comment: "c", Options: []string{"fillfactor=70"},
		Columns: []model.Column{
			{Name: "b", Type: "integer", NotNull: true, Identity: &model.Identity{Always: true, SequenceOptions: options}},
			{Name: "a", Type: "text", Default: "'x'::text", Collation: `"C"`, Storage: "main", Compression: "lz4", Comment: "col"},
			{Name: "g", Type: "integer", Generated: &model.Generated{Expression: "(b * 2)"}},
		},
		Constraints: []model.Constraint{
			{Name: "c1", Kind: model.PrimaryKey, Columns: []string{"b"}, Include: []string{"a"}, Options: []string{"fillfactor=50"}},
			{Name: "c2", Kind: model.ForeignKey, Columns: []string{"b"}, Deferrable: true, Deferred: true, NotValid: true, Reference: &model.Reference{
				Table: t, Columns: []string{"b"}, MatchFull: true, OnUpdate: "CASCADE", OnDelete: "SET NULL", DeleteColumns: []string{"b"},
			}},
			{Name: "c3", Kind: model.Check, Columns: []string{"a"}, Expression: "(a <> ''::text)", NoInherit: true},
			{Name: "c4", Kind: model.Unique, Columns: []string{"a"}, NullsNotDistinct: true, Comment: "u"},
		},
		Indexes: []model.Index{{
			Name: "i", Method: "btree", Unique: true, NullsNotDistinct: true, Include: []string{"g"}, Options: []string{"fillfactor=50"}, Predicate: "(a IS NOT NULL)", Comment: "i",
			Keys: []model.IndexKey{{Column: "a", Collation: `"C"`, Opclass: "text_pattern_ops", Order: "DESC"}, {Expression: "lower(a)"}},
		}},
	}}
	d.Unmodelled = []model.Object{{Kind: "view", Schema: "public", Name: "v"}}
	return d
}

func TestEncodeIsCanonical(t *testing.T) {
	data, err := model.Encode(small())
	require.NoError(t, err)
	assert.True(t, bytes.HasSuffix(data, []byte("}\n")))
	assert.Contains(t, string(data), "a <b> & c")
	read, err := model.Decode(data)
	require.NoError(t, err)
	again, err := model.Encode(read)
	require.NoError(t, err)
	assert.Equal(t, string(data), string(again))
	assert.Equal(t, model.Fingerprint(small()), model.Fingerprint(read))
}

func TestDecodeRefuses(t *testing.T) {
	data, err := model.Encode(small())
	require.NoError(t, err)
	for name, edit := range map[string][2]string{
		"unknown key":       {`"dialect"`, `"extra":1,"dialect"`},
		"repeated key":      {`"dialect":"postgres"`, `"dialect":"postgres","dialect":"postgres"`},
		"white space":       {`"dialect":"postgres"`, `"dialect": "postgres"`},
		"key order":         {`"format_version":1,"dialect":"postgres"`, `"dialect":"postgres","format_version":1`},
		"no newline":        {"}\n", "}"},
		"data behind":       {"}\n", "}\n{}\n"},
		"version":           {`"format_version":1`, `"format_version":2`},
		"dialect":           {`"postgres"`, `"oracle"`},
		"order":             {`{"name":"c1"`, `{"name":"c9"`},
		"unknown column":    {`"include":["a"]`, `"include":["z"]`},
		"unknown kind":      {`"kind":"check"`, `"kind":"chekc"`},
		"empty name":        {`"name":"e"`, `"name":""`},
		"repeated value":    {`["b","a"]`, `["b","b"]`},
		"unpaired key":      {`"columns":["b"],"match_full"`, `"columns":["b","a"],"match_full"`},
		"two primary keys":  {`"kind":"unique"`, `"kind":"primary_key"`},
		"key of nothing":    {`"expression":"lower(a)"`, `"order":"DESC"`},
		"default and other": {`"generated":{`, `"default":"1","generated":{`},
		"other type":        {`"not_null":true`, `"not_null":"yes"`},
		"invalid UTF-8":     {`"comment":"c"`, "\"comment\":\"\xff\""},
		"absent as null":    {`"comment":"col"`, `"comment":"col","generated":null`},
	} {
		t.Run(name, func(t *testing.T) {
			edited := strings.Replace(string(data), edit[0], edit[1], 1)
			require.NotEqual(t, string(data), edited)
			_, err := model.Decode([]byte(edited))
			assert.Error(t, err)
		})
	}
}

// TestEveryFieldIsAFact edits one field at a time; each must move the fingerprint.
func TestEveryFieldIsAFact(t *testing.T) {
	base := model.Fingerprint(small())
	seen := map[string]string{base: "nothing"}
	for name, edit := range map[string]func(*model.Database, *model.Table){
		"schema name":        func(d *model.Database, _ *model.Table) { d.Schemas[0].Name = "x" },
		"schema comment":     func(d *model.Database, _ *model.Table) { d.Schemas[0].Comment = "x" },
		"enum order":         func(d *model.Database, _ *model.Table) { d.Enums[0].Values = []string{"a", "b"} },
		"enum comment":       func(d *model.Database, _ *model.Table) { d.Enums[0].Comment = "x" },
		"sequence type":      func(d *model.Database, _ *model.Table) { d.Sequences[0].Type = "bigint" },
		"sequence start":     func(d *model.Database, _ *model.Table) { d.Sequences[0].Start = 2 },
		"sequence increment": func(d *model.Database, _ *model.Table) { d.Sequences[0].Increment = 2 },
		"sequence min":       func(d *model.Database, _ *model.Table) { d.Sequences[0].Min = 0 },
		"sequence max":       func(d *model.Database, _ *model.Table) { d.Sequences[0].Max = 8 },
		"sequence cache":     func(d *model.Database, _ *model.Table) { d.Sequences[0].Cache = 2 },
		"sequence cycle":     func(d *model.Database, _ *model.Table) { d.Sequences[0].Cycle = true },
		"sequence owner":     func(d *model.Database, _ *model.Table) { d.Sequences[0].Owner.Column = "b" },
		"sequence comment":   func(d *model.Database, _ *model.Table) { d.Sequences[0].Comment = "x" },
		"unmodelled":         func(d *model.Database, _ *model.Table) { d.Unmodelled[0].Name = "x" },
		"table comment":      func(_ *model.Database, t *model.Table) { t.Comment = "x" },
		"table options":      func(_ *model.Database, t *model.Table) { t.Options = nil },
		"type":               func(_ *model.Database, t *model.Table) { t.Columns[1].Type = "varchar" },
		"collation":          func(_ *model.Database, t *model.Table) { t.Columns[1].Collation = "" },
		"not null":           func(_ *model.Database, t *model.Table) { t.Columns[1].NotNull = true },
		"default":            func(_ *model.Database, t *model.Table) { t.Columns[1].Default = "" },
		"storage":            func(_ *model.Database, t *model.Table) { t.Columns[1].Storage = "" },
		"compression":        func(_ *model.Database, t *model.Table) { t.Columns[1].Compression = "" },
		"column comment":     func(_ *model.Database, t *model.Table) { t.Columns[1].Comment = "" },
		"identity kind":      func(_ *model.Database, t *model.Table) { t.Columns[0].Identity.Always = false },
		"identity options":   func(_ *model.Database, t *model.Table) { t.Columns[0].Identity.Cache = 7 },
		"generated":          func(_ *model.Database, t *model.Table) { t.Columns[2].Generated.Expression = "1" },
		"virtual":            func(_ *model.Database, t *model.Table) { t.Columns[2].Generated.Virtual = true },
		"key include":        func(_ *model.Database, t *model.Table) { t.Constraints[0].Include = nil },
		"key options":        func(_ *model.Database, t *model.Table) { t.Constraints[0].Options = nil },
		"deferrable":         func(_ *model.Database, t *model.Table) { t.Constraints[1].Deferrable = false },
		"deferred":           func(_ *model.Database, t *model.Table) { t.Constraints[1].Deferred = false },
		"not valid":          func(_ *model.Database, t *model.Table) { t.Constraints[1].NotValid = false },
		"match":              func(_ *model.Database, t *model.Table) { t.Constraints[1].Reference.MatchFull = false },
		"on update":          func(_ *model.Database, t *model.Table) { t.Constraints[1].Reference.OnUpdate = "" },
		"on delete":          func(_ *model.Database, t *model.Table) { t.Constraints[1].Reference.OnDelete = "" },
		"delete columns":     func(_ *model.Database, t *model.Table) { t.Constraints[1].Reference.DeleteColumns = nil },
		"referenced table":   func(_ *model.Database, t *model.Table) { t.Constraints[1].Reference.Table.Name = "u" },
		"check":              func(_ *model.Database, t *model.Table) { t.Constraints[2].Expression = "true" },
		"no inherit":         func(_ *model.Database, t *model.Table) { t.Constraints[2].NoInherit = false },
		"nulls not distinct": func(_ *model.Database, t *model.Table) { t.Constraints[3].NullsNotDistinct = false },
		"constraint comment": func(_ *model.Database, t *model.Table) { t.Constraints[3].Comment = "" },
		"constraint kind":    func(_ *model.Database, t *model.Table) { t.Constraints[3].Kind = model.PrimaryKey },
		"method":             func(_ *model.Database, t *model.Table) { t.Indexes[0].Method = "hash" },
		"unique":             func(_ *model.Database, t *model.Table) { t.Indexes[0].Unique = false },
		"index nulls":        func(_ *model.Database, t *model.Table) { t.Indexes[0].NullsNotDistinct = false },
		"index include":      func(_ *model.Database, t *model.Table) { t.Indexes[0].Include = nil },
		"index options":      func(_ *model.Database, t *model.Table) { t.Indexes[0].Options = nil },
		"predicate":          func(_ *model.Database, t *model.Table) { t.Indexes[0].Predicate = "" },
		"index comment":      func(_ *model.Database, t *model.Table) { t.Indexes[0].Comment = "" },
		"key order":          func(_ *model.Database, t *model.Table) { t.Indexes[0].Keys[0].Order = "" },
		"key opclass":        func(_ *model.Database, t *model.Table) { t.Indexes[0].Keys[0].Opclass = "" },
		"key collation":      func(_ *model.Database, t *model.Table) { t.Indexes[0].Keys[0].Collation = "" },
		"key expression":     func(_ *model.Database, t *model.Table) { t.Indexes[0].Keys[1].Expression = "upper(a)" },
	} {
		d := small()
		edit(d, &d.Tables[0])
		f := model.Fingerprint(d)
		assert.Empty(t, seen[f], "%s has the fingerprint of %s", name, seen[f])
		seen[f] = name
	}
	reordered := small()
	c := reordered.Tables[0].Columns
	c[0], c[1] = c[1], c[0]
	assert.Equal(t, base, model.Fingerprint(reordered), "no ALTER can change the order of columns")
}

func FuzzDecode(f *testing.F) {
	data, err := model.Encode(small())
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := model.Decode(data)
		if err != nil {
			return
		}
		again, err := model.Encode(d)
		require.NoError(t, err)
		assert.Equal(t, data, again)
	})
}
