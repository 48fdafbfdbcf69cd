package mysql_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

const (
	beforeRenames = "CREATE TABLE team (id INT PRIMARY KEY);\n" +
		"CREATE TABLE users (id INT PRIMARY KEY, mail VARCHAR(90) NOT NULL DEFAULT 'mail', `Old Team` INT, first VARCHAR(9), shout VARCHAR(9) AS (upper(`first`)) STORED, loud VARCHAR(9) DEFAULT (lower(`first`)),\n" +
		" UNIQUE KEY by_mail (mail), KEY by_team (`Old Team`, mail(5)), CONSTRAINT mail_given CHECK (mail <> 'mail' AND `Old Team` > 0), CONSTRAINT users_ibfk_1 FOREIGN KEY (`Old Team`) REFERENCES team (id));\n" +
		"CREATE TABLE notes (author INT, KEY author (author), CONSTRAINT notes_author FOREIGN KEY (author) REFERENCES users (id) ON DELETE CASCADE);\n" +
		"CREATE TRIGGER stays BEFORE UPDATE ON users FOR EACH ROW SET NEW.id = OLD.id;\n" +
		"CREATE TRIGGER follows BEFORE INSERT ON users FOR EACH ROW SET NEW.mail = lower(NEW.mail);\n" +
		"CREATE VIEW mails AS SELECT id, mail FROM users;\n"
	afterRenames = "CREATE TABLE team (id INT PRIMARY KEY);\n" +
		"-- +ptah renamed_from=users\nCREATE TABLE people (\n  id INT PRIMARY KEY,\n  -- +ptah renamed_from=mail\n  email VARCHAR(90) NOT NULL DEFAULT 'mail',\n" +
		"  -- +ptah renamed_from=`Old Team`\n\n  # the team\n  `team` INT,\n  -- +ptah renamed_from=first\n  name VARCHAR(9), shout VARCHAR(9) AS (upper(`name`)) STORED, loud VARCHAR(9) DEFAULT (lower(`name`)),\n" +
		"  -- +ptah renamed_from=by_mail\n  UNIQUE KEY by_email (email),\n  KEY by_team (`team`, email(5)), CONSTRAINT mail_given CHECK (email <> 'mail' AND `team` > 0), FOREIGN KEY (`team`) REFERENCES team (id));\n" +
		"CREATE TABLE notes (author INT, KEY author (author), CONSTRAINT notes_author FOREIGN KEY (author) REFERENCES people (id) ON DELETE CASCADE);\n" +
		"CREATE TRIGGER stays BEFORE UPDATE ON people FOR EACH ROW SET NEW.id = OLD.id;\n" +
		"CREATE TRIGGER follows BEFORE INSERT ON people FOR EACH ROW SET NEW.email = lower(NEW.email);\n" +
		"CREATE VIEW mails AS SELECT id, email AS mail FROM people;\n"
)

func TestDeclaredRenames(t *testing.T) {
	s := mytest.Start(t)
	renamed := declare(t, s, afterRenames)
	data, err := model.Encode(renamed)
	require.NoError(t, err)
	carried, err := model.Decode(data)
	require.NoError(t, err)
	assert.Equal(t, "users", carried.Table(model.Name{Name: "people"}).RenamedFrom)

	opts := engine.Options{URL: create(t, s, beforeRenames)}
	s.Exec(t, opts.URL, "INSERT INTO team VALUES (7)", "INSERT INTO users (id, mail, `Old Team`, first) VALUES (1, 'A@b', 7, 'Ann')", "INSERT INTO notes VALUES (1)")
	doc := converge(t, opts, carried)
	assert.False(t, doc.Destructive && !hasKind(doc.Statements, "drop_trigger"), "%v", statements(doc))
	sql := statements(doc)
	assert.Contains(t, sql, "RENAME TABLE `users` TO `people`")
	assert.Contains(t, sql, "ALTER TABLE `people` RENAME COLUMN `mail` TO `email`,\n  RENAME COLUMN `Old Team` TO `team`,\n  RENAME COLUMN `first` TO `name`,\n  RENAME INDEX `by_mail` TO `by_email`")
	for _, st := range doc.Statements {
		assert.NotContains(t, []string{"drop_table", "create_table", "drop_column", "add_column", "drop_index", "drop_foreign_key", "drop_check", "modify_column"}, st.Kind, "%v", sql)
		assert.NotContains(t, st.SQL, "`stays`", "a trigger that follows its table stays")
	}
	assert.Equal(t, "a@b 7 Ann ANN", mytest.Value[string](t, opts.URL, "SELECT CONCAT_WS(' ', email, team, name, shout) FROM people JOIN notes ON author = id"))
	assert.Equal(t, 1, mytest.Value[int](t, opts.URL, "SELECT COUNT(*) FROM mails WHERE mail = 'a@b'"))
	s.Exec(t, opts.URL, "INSERT INTO people (id, email, team) VALUES (2, 'C@d', 7)")
	assert.Equal(t, "c@d", mytest.Value[string](t, opts.URL, "SELECT email FROM people WHERE id = 2"))

	again, err := engine.Plan(testContext(t), opts, carried)
	require.NoError(t, err)
	assert.True(t, again.NoChange, "what is done is not done again")

	back := declare(t, s, "-- +ptah renamed_from=people\n"+"CREATE TABLE users (id INT PRIMARY KEY)")
	_, err = engine.Plan(testContext(t), engine.Options{URL: opts.URL, ProtectedTables: []string{"people"}}, back)
	assert.Contains(t, refusal(t, err, frame.CodeProtectedTable).Message, "people")
}

func hasKind(all []plan.Statement, kind string) bool {
	return slices.ContainsFunc(all, func(s plan.Statement) bool { return s.Kind == kind })
}

func TestRenamesThatOnlyAPersonCanDecide(t *testing.T) {
	s := mytest.Start(t)
	const (
		users = "CREATE TABLE users (id INT, mail INT, KEY k (mail));\n"
		table = "-- +ptah renamed_from=users\nCREATE TABLE people (id INT, mail INT, KEY k (mail));\n"
	)
	column := func(rest string) string {
		return "CREATE TABLE users (id INT,\n-- +ptah renamed_from=mail\nemail INT" + rest
	}
	for name, c := range map[string]struct {
		live, declared, want string
		exclude              []string
	}{
		"both tables":      {live: users + "CREATE TABLE people (id INT)", declared: table, want: `table "people" is declared as renamed from "users", and both exist`},
		"both columns":     {live: users + "ALTER TABLE users ADD email INT", declared: column(", KEY k (email))"), want: `column "email" of table "users" is declared as renamed from "mail", and both exist`},
		"both indexes":     {live: users + "ALTER TABLE users ADD KEY l (id)", declared: "CREATE TABLE users (id INT, mail INT,\n-- +ptah renamed_from=k\nKEY l (mail))", want: `index "l" of table "users" is declared as renamed from "k", and both exist`},
		"table declared":   {live: users, declared: table + users, want: `table "people" is declared as renamed from "users", which is declared too`},
		"column declared":  {live: users, declared: column(", MAIL INT)"), want: `column "email" of table "users" is declared as renamed from "mail", which is declared too`},
		"index declared":   {live: users, declared: "CREATE TABLE users (id INT, mail INT, KEY k (mail),\n-- +ptah renamed_from=k\nKEY l (mail, id))", want: `index "l" of table "users" is declared as renamed from "k", which is declared too`},
		"one column twice": {live: users, declared: column(",\n-- +ptah renamed_from=mail\npost INT)"), want: `column "post" of table "users" and "email" are both declared as renamed from "mail"`},
		"one table twice":  {live: users, declared: table + "-- +ptah renamed_from=users\nCREATE TABLE folk (id INT)", want: `are both declared as renamed from "users"`},
		"name of sequence": {live: users + "CREATE SEQUENCE people", declared: table, want: `table "people" is declared as renamed from "users", and something else`},
		"name excluded":    {live: users + "CREATE TABLE people (id INT)", declared: table, exclude: []string{"people"}, want: ""},
		"excluded view":    {live: users + "CREATE VIEW v AS SELECT id FROM users", declared: table, exclude: []string{"v"}, want: `the excluded view "v" names it`},
		"excluded trigger": {live: users + "CREATE TABLE o (i INT); CREATE TRIGGER g AFTER INSERT ON o FOR EACH ROW UPDATE users SET MAIL = 1", declared: "CREATE TABLE o (i INT);\n" + column(", KEY k (email))"), exclude: []string{"g"}, want: `the excluded trigger "g" names it`},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := engine.Plan(testContext(t), engine.Options{URL: create(t, s, c.live), Exclude: c.exclude}, declare(t, s, c.declared))
			if c.want == "" {
				require.NoError(t, err)
				assert.NotContains(t, strings.Join(statements(result.Document), ";"), "RENAME", "what is excluded was not declared")
				return
			}
			assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, c.want)
		})
	}
}

// TestCaseOfNames declares columns and indexes in another case, without a word: to the server they are the same, and the rows keep their values.
func TestCaseOfNames(t *testing.T) {
	s := mytest.Start(t)
	const live = "CREATE TABLE p (Id INT PRIMARY KEY);\n" +
		"CREATE TABLE t (ID INT PRIMARY KEY, Name VARCHAR(20) NOT NULL, \u00c4nderung INT, up VARCHAR(20) AS (upper(Name)) STORED, P INT, KEY By_Name (Name), KEY By_P (P),\n" +
		" CONSTRAINT c CHECK (Name <> ''), CONSTRAINT f FOREIGN KEY (P) REFERENCES p (Id));\nCREATE VIEW v AS SELECT Name FROM t;\n" +
		"CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.Name = trim(NEW.Name);\n"
	for name, declared := range map[string]string{
		"case alone": strings.ToLower(strings.NewReplacer("CREATE", "create").Replace(live)),
		"and more":   strings.NewReplacer("VARCHAR(20) NOT NULL", "VARCHAR(40) NOT NULL", "Name", "NAME", "By_P (P)", "BY_P (p DESC)", "P INT", "p BIGINT", "Id INT", "iD BIGINT", "ID INT", "id INT").Replace(live),
		"old declared rename": "CREATE TABLE p (id INT PRIMARY KEY);\nCREATE TABLE t (id INT PRIMARY KEY,\n-- +ptah renamed_from=title\nname VARCHAR(20) NOT NULL, \u00c4nderung INT," +
			" up VARCHAR(20) AS (upper(name)) STORED, p INT,\n-- +ptah renamed_from=by_title\nKEY by_name (name), KEY By_P (p), CONSTRAINT c CHECK (name <> ''), CONSTRAINT f FOREIGN KEY (p) REFERENCES p (id))",
	} {
		t.Run(name, func(t *testing.T) {
			target := create(t, s, live)
			s.Exec(t, target, "INSERT INTO p VALUES (5)", "INSERT INTO t (ID, Name, \u00c4nderung, P) VALUES (1, ' Ann', 7, 5)")
			doc := converge(t, engine.Options{URL: target}, declare(t, s, declared))
			assert.True(t, hasKind(doc.Statements, "alter_table") || hasKind(doc.Statements, "rename_column"), "%v", statements(doc))
			for _, st := range doc.Statements {
				assert.NotContains(t, st.SQL, "DROP COLUMN")
				assert.NotContains(t, st.SQL, "ADD COLUMN")
			}
			assert.Equal(t, "1 Ann 7 ANN 5", mytest.Value[string](t, target, "SELECT CONCAT_WS(' ', id, name, \u00e4nderung, up, p) FROM t"))
		})
	}
}

func TestRenameDirectivesInTheWrongPlace(t *testing.T) {
	s := mytest.Start(t)
	for name, c := range map[string]struct{ sql, want string }{
		"nothing below":        {"SELECT 1;\n-- +ptah renamed_from=x\n", "a.sql:2:1: renamed_from stands above CREATE TABLE"},
		"no table":             {"-- +ptah renamed_from=x\nCREATE VIEW v AS SELECT 1", "a.sql:1:1: renamed_from stands above CREATE TABLE"},
		"a column of an ALTER": {"CREATE TABLE t (i INT); ALTER TABLE t\n-- +ptah renamed_from=x\nADD j INT", "a.sql:2:1: renamed_from stands above CREATE TABLE"},
		"no name":              {"-- +ptah renamed_from=\nCREATE TABLE t (i INT)", "a.sql:1:1: renamed_from stands above CREATE TABLE"},
		"a constraint":         {"CREATE TABLE t (i INT,\n-- +ptah renamed_from=x\nPRIMARY KEY (i))", "a.sql:2:1: renamed_from is for a column or an index that does not exist"},
		"nameless":             {"CREATE TABLE t (i INT,\n-- +ptah renamed_from=x\nUNIQUE (i))", "a.sql:2:1: renamed_from is for a column or an index that does not exist"},
		"dropped":              {"-- +ptah renamed_from=x\nCREATE TABLE t (i INT); DROP TABLE t", "a.sql:1:1: renamed_from is for a table that does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.LoadSQL(testContext(t), s.URL("mysql"), []engine.Source{{Name: "a.sql", Data: []byte(c.sql)}})
			assert.Contains(t, refusal(t, err, frame.CodeDesiredSchemaInvalid).Message, c.want)
		})
	}
}

// TestRenameAndMore renames and changes the same things, and swaps what stands in the way.
func TestRenameAndMore(t *testing.T) {
	s := mytest.Start(t)
	for name, c := range map[string]struct{ live, declared string }{
		"column also retyped":      {"CREATE TABLE t (a INT, b INT)", "CREATE TABLE t (\n-- +ptah renamed_from=a\nc BIGINT NOT NULL, b INT)"},
		"case alone":               {"CREATE TABLE t (a INT, KEY k (a))", "CREATE TABLE t (\n-- +ptah renamed_from=a\nA INT,\n-- +ptah renamed_from=k\nKEY K (A))"},
		"old name in another case": {"CREATE TABLE t (a INT)", "CREATE TABLE t (\n-- +ptah renamed_from=A\nb INT)"},
		"view has the new name":    {"CREATE TABLE t (a INT); CREATE VIEW u AS SELECT a FROM t", "-- +ptah renamed_from=t\nCREATE TABLE u (a INT)"},
		"view gets the old name":   {"CREATE TABLE t (a INT)", "-- +ptah renamed_from=t\nCREATE TABLE u (a INT);\nCREATE VIEW t AS SELECT a FROM u"},
		"parent of a foreign key":  {parent + fk, "-- +ptah renamed_from=p\nCREATE TABLE q (\n-- +ptah renamed_from=id\nkey_ INT PRIMARY KEY);\nCREATE TABLE c (p INT, KEY k (p), CONSTRAINT f FOREIGN KEY (p) REFERENCES q (key_))"},
		"child of a foreign key":   {parent + fk, "CREATE TABLE p (id INT PRIMARY KEY);\nCREATE TABLE c (\n-- +ptah renamed_from=p\nparent INT, KEY k (parent), CONSTRAINT f FOREIGN KEY (parent) REFERENCES p (id))"},
		"index of a foreign key":   {parent + fk, "CREATE TABLE p (id INT PRIMARY KEY);\nCREATE TABLE c (p INT,\n-- +ptah renamed_from=k\nKEY j (p), CONSTRAINT f FOREIGN KEY (p) REFERENCES p (id))"},
		"versioned table":          {"CREATE TABLE t (a INT) WITH SYSTEM VERSIONING", "-- +ptah renamed_from=t\nCREATE TABLE u (\n-- +ptah renamed_from=a\nb INT) WITH SYSTEM VERSIONING"},
		"partitioned table":        {"CREATE TABLE t (a INT, b INT) PARTITION BY HASH (a) PARTITIONS 2", "-- +ptah renamed_from=t\nCREATE TABLE u (a INT,\n-- +ptah renamed_from=b\nc INT) PARTITION BY HASH (a) PARTITIONS 2"},
		"column of the partitions": {"CREATE TABLE t (a INT, b INT) PARTITION BY RANGE COLUMNS (b) (PARTITION p0 VALUES LESS THAN (1))", "CREATE TABLE t (a INT,\n-- +ptah renamed_from=b\nc INT) PARTITION BY RANGE COLUMNS (c) (PARTITION p0 VALUES LESS THAN (1))"},
		"application period":       {"CREATE TABLE t (a DATE NOT NULL, b DATE NOT NULL, PERIOD FOR pe (a, b))", "CREATE TABLE t (a DATE NOT NULL,\n-- +ptah renamed_from=b\nc DATE NOT NULL, PERIOD FOR pe (a, c))"},
		"system period":            {"CREATE TABLE t (x INT, rs TIMESTAMP(6) GENERATED ALWAYS AS ROW START, re TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (rs, re)) WITH SYSTEM VERSIONING", "CREATE TABLE t (x INT,\n-- +ptah renamed_from=rs\nc TIMESTAMP(6) GENERATED ALWAYS AS ROW START, re TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (c, re)) WITH SYSTEM VERSIONING"},
		"check at the column":      {"CREATE TABLE t (a INT CHECK (a > 0), b INT DEFAULT (a + 1))", "CREATE TABLE t (\n-- +ptah renamed_from=a\nc INT CHECK (c > 0), b INT DEFAULT (c + 1))"},
		"virtual and its index":    {"CREATE TABLE t (a INT, v INT AS (a + 1) VIRTUAL, KEY k (v))", "CREATE TABLE t (\n-- +ptah renamed_from=a\nc INT,\n-- +ptah renamed_from=v\nw INT AS (c + 1) VIRTUAL, KEY k (w))"},
		"text index":               {"CREATE TABLE t (a TEXT, FULLTEXT KEY k (a))", "CREATE TABLE t (\n-- +ptah renamed_from=a\nb TEXT,\n-- +ptah renamed_from=k\nFULLTEXT INDEX `k 2` (b))"},
		"page checksum":            {"CREATE TABLE t (a INT) PAGE_CHECKSUM=1", "CREATE TABLE t (\n-- +ptah renamed_from=a\nb INT) PAGE_CHECKSUM=1"},
		"quotes in names":          {"CREATE TABLE `o``ld` (`a``b` INT)", "-- +ptah renamed_from=`o``ld`\nCREATE TABLE `n.ew` (\n-- +ptah renamed_from=a`b\n`c \"d` INT)"},
		"several triggers":         {base + trg + "CREATE TRIGGER h BEFORE INSERT ON t FOR EACH ROW SET NEW.n = 3", "-- +ptah renamed_from=t\nCREATE TABLE u (id INT NOT NULL, n INT, s VARCHAR(20));\nCREATE TRIGGER g BEFORE INSERT ON u FOR EACH ROW SET NEW.n = 1;\nCREATE TRIGGER h BEFORE INSERT ON u FOR EACH ROW SET NEW.n = 4"},
		"generated foreign key":    {"CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE t (a INT, KEY a (a), FOREIGN KEY (a) REFERENCES p (id))", "CREATE TABLE p (id INT PRIMARY KEY);\n-- +ptah renamed_from=t\nCREATE TABLE u (a INT, KEY a (a), FOREIGN KEY (a) REFERENCES p (id))"},
		"table to itself":          {"CREATE TABLE t (id INT PRIMARY KEY, up INT, KEY up (up), CONSTRAINT f FOREIGN KEY (up) REFERENCES t (id))", "-- +ptah renamed_from=t\nCREATE TABLE u (\n-- +ptah renamed_from=id\nno INT PRIMARY KEY, up INT, KEY up (up), CONSTRAINT f FOREIGN KEY (up) REFERENCES u (no))"},
	} {
		t.Run(name, func(t *testing.T) {
			target := create(t, s, c.live)
			doc := converge(t, engine.Options{URL: target}, declare(t, s, c.declared))
			require.NotEmpty(t, doc.Statements)
			for _, st := range doc.Statements {
				assert.NotContains(t, []string{"drop_table", "create_table", "drop_column", "add_column", "drop_index", "drop_foreign_key", "drop_check"}, st.Kind, "%v", statements(doc))
			}
		})
	}
}
