package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

const renamedSQL = `
CREATE TABLE teams (id bigint PRIMARY KEY);
-- +ptah renamed_from=users
CREATE TABLE people (
  id bigint CONSTRAINT users_pkey PRIMARY KEY,
  -- +ptah renamed_from=mail
  email text NOT NULL CONSTRAINT mail_given CHECK (length(email) > 0),
  -- what it is called now
  -- +ptah renamed_from="Old Team"
  team bigint CONSTRAINT users_team REFERENCES teams,
  -- +ptah renamed_from=first
  "First" text, shout text GENERATED ALWAYS AS (upper("First")) STORED
);
CREATE INDEX users_mail ON people (lower(email), team) WHERE email <> 'mail';
CREATE TABLE notes (author bigint CONSTRAINT notes_author REFERENCES people (id));
`

// TestDeclaredRenames keeps rows where a rename is declared, does it once, and refuses what only a person can decide.
func TestDeclaredRenames(t *testing.T) {
	s := pgtest.Start(t)
	desired, err := engine.LoadSQL(testContext(t), s.URL("postgres"), []engine.Source{{Name: "a.sql", Data: []byte(renamedSQL)}})
	require.NoError(t, err)
	data, err := model.Encode(desired)
	require.NoError(t, err)
	carried, err := model.Decode(data)
	require.NoError(t, err)
	assert.Equal(t, "users", carried.Table(model.Name{Schema: "public", Name: "people"}).RenamedFrom)
	before := []string{
		"CREATE TABLE teams (id bigint PRIMARY KEY)",
		`CREATE TABLE users (id bigint PRIMARY KEY, mail text NOT NULL CONSTRAINT mail_given CHECK (length(mail) > 0), "Old Team" bigint CONSTRAINT users_team REFERENCES teams, first text, shout text GENERATED ALWAYS AS (upper(first)) STORED)`,
		`CREATE INDEX users_mail ON users (lower(mail), "Old Team") WHERE mail <> 'mail'`,
		"CREATE TABLE notes (author bigint CONSTRAINT notes_author REFERENCES users (id))",
		"INSERT INTO users VALUES (1, 'a', NULL, 'b')",
	}
	url := s.NewDatabase(t, before...)
	opts := engine.Options{URL: url}
	doc := converge(t, opts, carried)
	var kinds, sql []string
	for _, st := range doc.Statements {
		if sql = append(sql, st.SQL); st.Kind != "rename_constraint" { // of NOT NULL, since PostgreSQL 18
			kinds = append(kinds, st.Kind)
		}
		assert.Equal(t, "warning", st.Severity)
	}
	assert.Equal(t, []string{"rename_table", "rename_column", "rename_column", "rename_column"}, kinds, "%v", sql)
	assert.False(t, doc.Destructive)

	again, err := engine.Plan(testContext(t), opts, carried)
	require.NoError(t, err)
	assert.True(t, again.NoChange, "what is done is not done again")

	for name, more := range map[string]string{
		"table":  "CREATE TABLE people (id bigint)",
		"column": "ALTER TABLE users ADD email text",
	} {
		t.Run("both exist: "+name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, append(before[:4:4], more)...)}, carried)
			assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, "and both exist")
		})
	}
	for name, c := range map[string]struct{ sql, want string }{
		"nothing below": {"SELECT 1;\n-- +ptah renamed_from=x\n", "a.sql:2:1: renamed_from stands above CREATE TABLE"},
		"no table":      {"-- +ptah renamed_from=x\nCREATE VIEW v AS SELECT 1", "a.sql:1:1: renamed_from stands above CREATE TABLE"},
		"no name":       {"-- +ptah renamed_from=\nCREATE TABLE t (i int)", "a.sql:1:1: renamed_from stands above CREATE TABLE"},
		"a constraint":  {"CREATE TABLE t (i int,\n-- +ptah renamed_from=x\nUNIQUE (i))", "a.sql:2:1: renamed_from is for a column that does not exist"},
		"dropped":       {"-- +ptah renamed_from=x\nCREATE TABLE t (i int); DROP TABLE t", "a.sql:1:1: renamed_from is for a table that does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.LoadSQL(testContext(t), s.URL("postgres"), []engine.Source{{Name: "a.sql", Data: []byte(c.sql)}})
			assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, c.want)
		})
	}
	for name, sql := range map[string]string{
		"one table twice":  "-- +ptah renamed_from=users\nCREATE TABLE people (id bigint);\n-- +ptah renamed_from=users\nCREATE TABLE folk (id bigint)",
		"one column twice": "CREATE TABLE users (\n-- +ptah renamed_from=mail\nemail text,\n-- +ptah renamed_from=mail\npost text)",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t, before...)}, declare(t, s, sql))
			assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, "are both declared as renamed from")
		})
	}
	t.Run("declared too", func(t *testing.T) {
		_, err := engine.Plan(testContext(t), engine.Options{URL: s.NewDatabase(t)}, func() *model.Database {
			d := model.New(model.Postgres)
			d.Schemas = []model.Schema{{Name: "public"}}
			d.Tables = []model.Table{{Name: model.Name{Schema: "public", Name: "a"}, RenamedFrom: "b"}, {Name: model.Name{Schema: "public", Name: "b"}}}
			return d
		}())
		assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, "which is declared too")
	})
}

// TestRenamesAndNotNull: since PostgreSQL 18 the constraint behind a NOT NULL has a name, which no rename of its table or column changes.
func TestRenamesAndNotNull(t *testing.T) {
	s := pgtest.Start(t)
	const old = "CREATE TABLE old (id int CONSTRAINT old_pkey PRIMARY KEY, was text NOT NULL)"
	for name, c := range map[string]struct {
		sql     string
		renamed int // constraints, where they have names
	}{
		"as a rename leaves it": {old + "; ALTER TABLE old RENAME TO new; ALTER TABLE new RENAME was TO now", 0},
		"as it is made anew":    {"CREATE TABLE new (id int CONSTRAINT old_pkey PRIMARY KEY, now text NOT NULL)", 2},
	} {
		t.Run(name, func(t *testing.T) {
			desired := declare(t, s, c.sql)
			table := desired.Table(model.Name{Schema: "public", Name: "new"})
			table.RenamedFrom, table.Column("now").RenamedFrom = "old", "was"
			doc := converge(t, engine.Options{URL: s.NewDatabase(t, old)}, desired)
			want := 2
			if s.Major() >= 18 {
				want += c.renamed
			}
			assert.Len(t, doc.Statements, want)
		})
	}
}

// TestRenamesReachPartitions renames a column of a parent while the child moves: the server renames it in the child too, whose values stay.
func TestRenamesReachPartitions(t *testing.T) {
	s := pgtest.Start(t)
	const renamed = "\n-- +ptah renamed_from=v\n w text, k int, CONSTRAINT c CHECK (w <> '')"
	for name, c := range map[string]struct{ from, child, to string }{
		"another bound": {
			"CREATE TABLE p (v text, k int, CONSTRAINT c CHECK (v <> '')) PARTITION BY LIST (k); CREATE TABLE kid PARTITION OF p FOR VALUES IN (1)", "kid",
			"CREATE TABLE p (" + renamed + ") PARTITION BY LIST (k); CREATE TABLE kid PARTITION OF p FOR VALUES IN (1, 2);",
		},
		"a table of its own": {
			"CREATE TABLE p (v text, k int, CONSTRAINT c CHECK (v <> '')) PARTITION BY LIST (k); CREATE TABLE kid PARTITION OF p FOR VALUES IN (1); CREATE INDEX i ON kid (v)", "kid",
			"CREATE TABLE p (" + renamed + ") PARTITION BY LIST (k); CREATE TABLE kid (w text, k int, CONSTRAINT c CHECK (w <> '')); CREATE INDEX i ON kid (w);",
		},
		"NOT NULL of a partition that stays": {
			"CREATE TABLE p (v text NOT NULL, k int NOT NULL) PARTITION BY LIST (k); CREATE TABLE kid PARTITION OF p FOR VALUES IN (1)", "kid",
			"CREATE TABLE p (\n-- +ptah renamed_from=v\n w text NOT NULL,\n-- +ptah renamed_from=k\n l int NOT NULL) PARTITION BY LIST (l); CREATE TABLE kid PARTITION OF p FOR VALUES IN (1)",
		},
		"NOT NULL of a child that leaves": {
			"CREATE TABLE p (v text NOT NULL, k int NOT NULL); CREATE TABLE kid () INHERITS (p); CREATE TABLE own (v text NOT NULL, k int NOT NULL) INHERITS (p)", "kid",
			"CREATE TABLE p (\n-- +ptah renamed_from=v\n w text NOT NULL, k int NOT NULL); CREATE TABLE kid (w text NOT NULL, k int NOT NULL); CREATE TABLE own (w text NOT NULL, k int NOT NULL);",
		},
		"the parents take other names too": {
			"CREATE TABLE p (v text NOT NULL, k int, CONSTRAINT c CHECK (v <> '')) PARTITION BY LIST (k); CREATE TABLE kid PARTITION OF p FOR VALUES IN (1); CREATE TABLE b (v int NOT NULL); CREATE TABLE heir () INHERITS (b)", "kid",
			"-- +ptah renamed_from=p\nCREATE TABLE q (\n-- +ptah renamed_from=v\n w text NOT NULL, k int, CONSTRAINT c CHECK (w <> '')) PARTITION BY LIST (k); CREATE TABLE kid PARTITION OF q FOR VALUES IN (1);\n-- +ptah renamed_from=b\n" +
				"CREATE TABLE b2 (v int NOT NULL);\n-- +ptah renamed_from=heir\nCREATE TABLE heir2 () INHERITS (b2);",
		},
		"a grandchild": {
			"CREATE TABLE p (v text, k int, CONSTRAINT c CHECK (v <> '')); CREATE TABLE m () INHERITS (p); CREATE TABLE kid () INHERITS (m)", "kid",
			"CREATE TABLE p (" + renamed + "); CREATE TABLE m () INHERITS (p); CREATE TABLE kid (w text, k int, CONSTRAINT c CHECK (w <> ''));",
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := s.NewDatabase(t, c.from, "INSERT INTO "+c.child+" VALUES ('kept', 1)")
			desired, err := engine.LoadSQL(testContext(t), s.URL("postgres"), []engine.Source{{Name: "a.sql", Data: []byte(c.to)}})
			require.NoError(t, err)
			doc := converge(t, engine.Options{URL: url}, desired)
			for _, st := range doc.Statements {
				assert.NotContains(t, []string{"drop_column", "add_column"}, st.Kind, st.SQL)
			}
			s.Exec(t, url, "DO $$ BEGIN ASSERT (SELECT w FROM "+c.child+") = 'kept'; END $$")
		})
	}
}
