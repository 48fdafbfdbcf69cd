package mysql

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/plan"
)

// mysqlTable is what MySQL 8.4 prints, which is not at hand where these tests run.
const mysqlTable = "CREATE TABLE `t` (\n" +
	"  `id` int unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s, (a) `comment`',\n" +
	"  `s` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'a,b',\n" +
	"  `d` varchar(36) COLLATE utf8mb4_bin DEFAULT (uuid()),\n" +
	"  `g` int GENERATED ALWAYS AS ((`id` * 2)) VIRTUAL,\n" +
	"  `inv` int DEFAULT NULL /*!80023 INVISIBLE */,\n" +
	"  `ts` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,\n" +
	"  `p` point NOT NULL /*!80003 SRID 4326 */,\n" +
	"  `j` json DEFAULT NULL,\n" +
	"  PRIMARY KEY (`id`),\n" +
	"  UNIQUE KEY `u` (`s`(5),`d` DESC) USING BTREE COMMENT 'u',\n" +
	"  KEY `fx` ((lower(`s`)),`id`),\n" +
	"  KEY `hidden` (`inv`) /*!80000 INVISIBLE */,\n" +
	"  SPATIAL KEY `sp` (`p`),\n" +
	"  FULLTEXT KEY `ft` (`d`) /*!50100 WITH PARSER `ngram` */ ,\n" +
	"  CONSTRAINT `f` FOREIGN KEY (`inv`) REFERENCES `other` (`id`) ON DELETE SET NULL ON UPDATE RESTRICT,\n" +
	"  CONSTRAINT `c` CHECK ((`id` > 0)) /*!80016 NOT ENFORCED */\n" +
	") ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci ROW_FORMAT=DYNAMIC COMMENT='c'\n" +
	"/*!50100 PARTITION BY RANGE (`id`)\n(PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB) */"

func TestParseMySQLTable(t *testing.T) {
	p := parseTable("t", mysqlTable)
	require.Empty(t, p.problems)
	assert.Equal(t, []model.Column{
		{Name: "id", Type: "int unsigned", NotNull: true, Comment: "it's, (a) `comment`", MySQL: &model.ColumnMySQL{AutoIncrement: true}},
		{Name: "s", Type: "varchar(20)", Default: "'a,b'", MySQL: &model.ColumnMySQL{}},
		{Name: "d", Type: "varchar(36)", Default: "(uuid())", MySQL: &model.ColumnMySQL{}},
		{Name: "g", Type: "int", Generated: &model.Generated{Expression: "(`id` * 2)", Virtual: true}, MySQL: &model.ColumnMySQL{}},
		{Name: "inv", Type: "int", Default: "NULL", MySQL: &model.ColumnMySQL{Invisible: true}},
		{Name: "ts", Type: "timestamp", Default: "CURRENT_TIMESTAMP", MySQL: &model.ColumnMySQL{OnUpdate: "CURRENT_TIMESTAMP"}},
		{Name: "p", Type: "point", NotNull: true, MySQL: &model.ColumnMySQL{Attributes: []string{"SRID 4326"}}},
		{Name: "j", Type: "json", Default: "NULL", MySQL: &model.ColumnMySQL{}},
	}, p.table.Columns)
	assert.Equal(t, []model.Index{
		{Name: "PRIMARY", Method: "default", Unique: true, Keys: []model.IndexKey{{Column: "id"}}},
		{Name: "u", Method: "btree", Unique: true, Comment: "u", Keys: []model.IndexKey{{Column: "s", Prefix: 5}, {Column: "d", Order: "DESC"}}},
		{Name: "fx", Method: "default", Keys: []model.IndexKey{{Expression: "(lower(`s`))"}, {Column: "id"}}},
		{Name: "hidden", Method: "default", Keys: []model.IndexKey{{Column: "inv"}}, MySQL: &model.IndexMySQL{Hidden: true}},
		{Name: "sp", Method: "spatial", Keys: []model.IndexKey{{Column: "p"}}},
		{Name: "ft", Method: "fulltext", Keys: []model.IndexKey{{Column: "d"}}, MySQL: &model.IndexMySQL{Parser: "ngram"}},
	}, p.table.Indexes)
	assert.Equal(t, []model.Constraint{
		{Name: "f", Kind: model.ForeignKey, Columns: []string{"inv"}, Reference: &model.Reference{Table: model.Name{Name: "other"}, Columns: []string{"id"}, OnDelete: "SET NULL", OnUpdate: "RESTRICT"}},
		{Name: "c", Kind: model.Check, Expression: "(`id` > 0)", NotEnforced: true},
	}, p.table.Constraints)
	assert.Equal(t, []string{"ROW_FORMAT=DYNAMIC"}, p.table.Options)
	assert.Equal(t, "c", p.table.Comment)
	assert.Equal(t, &model.TableMySQL{Engine: "InnoDB", Collation: "utf8mb4_0900_ai_ci", Partitioning: "PARTITION BY RANGE (`id`)\n(PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB)"}, p.table.MySQL)
}

// TestUnknownWordsAreProblems adds one unknown word at each place of a table; none may pass.
func TestUnknownWordsAreProblems(t *testing.T) {
	for what, edit := range map[string][2]string{
		"column":     {"AUTO_INCREMENT COMMENT", "AUTO_INCREMENT FROBNICATED COMMENT"},
		"attribute":  {"json DEFAULT NULL", "json DEFAULT NULL /*!90000 SECRET_ENGINE_ATTRIBUTE '{}' */ COMMENT 'x' FOO"},
		"primary":    {"PRIMARY KEY (`id`)", "PRIMARY KEY (`id`) CLUSTERED"},
		"index":      {"USING BTREE COMMENT", "USING BTREE FROB COMMENT"},
		"kind":       {"SPATIAL KEY", "HASHED KEY"},
		"reference":  {"ON UPDATE RESTRICT", "ON UPDATE RESTRICT MATCH FULL"},
		"check":      {"NOT ENFORCED", "SOMETIMES ENFORCED"},
		"constraint": {"CONSTRAINT `c` CHECK ((`id` > 0))", "CONSTRAINT `c` EXCLUDE ((`id` > 0))"},
		"option":     {"ROW_FORMAT=DYNAMIC", "ROW_FORMAT=DYNAMIC SECONDARY_ENGINE=RAPID"},
		"flag":       {"ROW_FORMAT=DYNAMIC", "ROW_FORMAT=DYNAMIC FROB"},
	} {
		t.Run(what, func(t *testing.T) {
			edited := strings.Replace(mysqlTable, edit[0], edit[1], 1)
			require.NotEqual(t, mysqlTable, edited)
			p := parseTable("t", edited)
			assert.NotEmpty(t, p.problems)
		})
	}
}

// mysqlDatabase is the table above, as a whole model.
func mysqlDatabase(t *testing.T, edit func(*model.Table)) *model.Database {
	t.Helper()
	p := parseTable("t", mysqlTable)
	table := p.table
	for i := range table.Columns {
		c := &table.Columns[i]
		c.Collation = map[string]string{"s": "latin1_bin", "d": "utf8mb4_bin"}[c.Name]
	}
	table.Constraints[1].Columns = []string{"id"}
	table.MySQL.Partitioning, table.Constraints = "", append([]model.Constraint{}, table.Constraints...)
	if edit != nil {
		edit(&table)
	}
	db := model.New(model.MySQL)
	db.Server = model.ServerMySQL
	other := parseTable("other", "CREATE TABLE `other` (\n  `id` int NOT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB").table
	db.Tables = []model.Table{other, table}
	db.Normalise()
	require.NoError(t, db.Validate())
	return db
}

func mysqlPlan(t *testing.T, from, to *model.Database) []plan.Statement {
	t.Helper()
	p, err := newPlanner(from, to, model.New(model.MySQL), serverOf("8.4.3"))
	require.NoError(t, err)
	steps, err := p.plan()
	require.NoError(t, err)
	var out []plan.Statement
	doc := plan.Document{Dialect: model.MySQL, FromFingerprint: model.Fingerprint(from), ToFingerprint: model.Fingerprint(to)}
	for _, s := range steps {
		doc.Statements = append(doc.Statements, s.Statement)
		out = append(out, s.Statement)
	}
	if len(steps) > 0 {
		_, err = plan.Encode(plan.Seal(doc))
		require.NoError(t, err)
	}
	return out
}

// TestPlanInTheWordsOfMySQL pins what differs from MariaDB, whose words the tests on a real server prove.
func TestPlanInTheWordsOfMySQL(t *testing.T) {
	for name, c := range map[string]struct {
		from, to func(*model.Table)
		want     []string
	}{
		"nothing": {nil, nil, nil},
		"check goes": {
			nil, func(t *model.Table) { t.Constraints = t.Constraints[:1] },
			[]string{"ALTER TABLE `t` DROP CHECK `c`"},
		},
		"check is enforced": {
			nil, func(t *model.Table) { t.Constraints[1].NotEnforced = false },
			[]string{"ALTER TABLE `t` DROP CHECK `c`,\n  ADD CONSTRAINT `c` CHECK ((`id` > 0))"},
		},
		"index is seen": {
			nil, func(t *model.Table) { t.Indexes[3].MySQL = nil },
			[]string{"ALTER TABLE `t` ALTER INDEX `hidden` VISIBLE"},
		},
		"index is hidden": {
			nil, func(t *model.Table) { t.Indexes[2].MySQL = &model.IndexMySQL{Hidden: true} },
			[]string{"ALTER TABLE `t` ALTER INDEX `fx` INVISIBLE"},
		},
		"expression key": {
			nil, func(t *model.Table) { t.Indexes[2].Keys[0].Expression = "(upper(`s`))" },
			[]string{"ALTER TABLE `t` DROP INDEX `fx`,\n  ADD KEY `fx` ((upper(`s`)), `id`)"},
		},
		"column": {
			nil, func(t *model.Table) { t.Columns[6].MySQL.Attributes = nil },
			[]string{"ALTER TABLE `t` MODIFY COLUMN `p` point NOT NULL"},
		},
		"names that the server made": {
			func(t *model.Table) { t.Constraints[1].Name = "t_chk_1" }, func(t *model.Table) {
				t.Name.Name, t.RenamedFrom, t.Constraints[1].Name = "u", "t", "u_chk_1"
			},
			[]string{"RENAME TABLE `t` TO `u`"},
		},
		"invisible column": {
			nil, func(t *model.Table) { t.Columns[7].MySQL.Invisible = true },
			[]string{"ALTER TABLE `t` MODIFY COLUMN `j` json NULL INVISIBLE DEFAULT NULL"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range mysqlPlan(t, mysqlDatabase(t, c.from), mysqlDatabase(t, c.to)) {
				got = append(got, s.SQL)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestRoutinesOfMySQLAreDroppedAndMadeAgain(t *testing.T) {
	routine := func(body string) *model.Database {
		db := mysqlDatabase(t, nil)
		db.Definitions = []model.Definition{{Object: model.Object{Kind: kindProcedure, Name: "p"}, Create: "CREATE PROCEDURE `p`()\n" + body}}
		return db
	}
	var got []string
	for _, s := range mysqlPlan(t, routine("SELECT 1"), routine("SELECT 2")) {
		got = append(got, s.SQL)
	}
	assert.Equal(t, []string{"DROP PROCEDURE `p`", "CREATE PROCEDURE `p`()\nSELECT 2"}, got)
}

// TestRenderedTableReadsTheSame renders the table and reads it again, without what only SHOW CREATE writes.
func TestRenderedTableReadsTheSame(t *testing.T) {
	db := mysqlDatabase(t, nil)
	want := db.Table(model.Name{Name: "t"})
	got := parseTable("t", serverOf("8.4.3").createTableSQL(want))
	for i := range got.table.Columns {
		got.table.Columns[i].Collation = want.Columns[i].Collation
	}
	assert.Equal(t, want.Columns, got.table.Columns)
	assert.ElementsMatch(t, want.Indexes, got.table.Indexes)
}

func TestServers(t *testing.T) {
	for version, want := range map[string]string{
		"8.4.3": model.ServerMySQL, "9.7.0-log": model.ServerMySQL, "10.11.19-MariaDB-0+deb12u1": model.ServerMariaDB, "5.5.5-10.11.2-MariaDB": model.ServerMariaDB,
		"11.8.1-MariaDB": model.ServerMariaDB, "8.0.40": "", "10.6.1-MariaDB": "", "": "", "frob": "",
	} {
		s := serverOf(version)
		if want == "" {
			assert.Nil(t, s, version)
			continue
		}
		require.NotNil(t, s, version)
		assert.Equal(t, want, s.name, version)
	}
}

func TestWithoutDatabase(t *testing.T) {
	for _, c := range []struct {
		text, want string
		ok         bool
	}{
		{"select `shop`.`f`(1) AS `x` from `t`", "select `f`(1) AS `x` from `t`", true},
		{"select `t`.`id` from `t`", "select `t`.`id` from `t`", true},
		{"select `shop`.`t`.`id` from `shop`.`t`", "select `t`.`id` from `t`", true},
		{"select '`shop`.x', `x``shop`.`y`", "select '`shop`.x', `x``shop`.`y`", true},
		{"select `other`.`t`.`id` from `other`.`t`", "select `other`.`t`.`id` from `other`.`t`", true},
		{"select `shop`.`f`(1) from `t` `shop`", "", false},
		{"nextval(`shop`.`q`)", "nextval(`q`)", true},
	} {
		got, ok := withoutDatabase(c.text, "shop")
		assert.Equal(t, c.ok, ok, c.text)
		if ok {
			assert.Equal(t, c.want, got)
		}
	}
}

func TestWithoutDefiner(t *testing.T) {
	assert.Equal(t, "CREATE PROCEDURE `p`() SELECT 1", withoutDefiner("CREATE DEFINER=`a``b`@`%` PROCEDURE `p`() SELECT 1", "a`b@%"))
	assert.Equal(t, "CREATE DEFINER=`x`@`%` PROCEDURE `p`() SELECT 1", withoutDefiner("CREATE DEFINER=`x`@`%` PROCEDURE `p`() SELECT 1", "a@%"))
	assert.Equal(t, "CREATE PROCEDURE `p`() SELECT 'DEFINER=`a`@`%` '", withoutDefiner("CREATE PROCEDURE `p`() SELECT 'DEFINER=`a`@`%` '", "a@%"))
}

func TestReadGrant(t *testing.T) {
	for line, want := range map[string]bool{
		"GRANT ALL PRIVILEGES ON *.* TO `a`@`%` WITH GRANT OPTION":      true,
		"GRANT SELECT, TRIGGER ON `shop`.* TO `a`@`%`":                  true,
		"GRANT SELECT, TRIGGER ON `sh%`.* TO `a`@`%`":                   true,
		"GRANT SELECT, TRIGGER ON `s\\_op`.* TO `a`@`%`":                false,
		"GRANT SELECT, TRIGGER ON `s_op`.* TO `a`@`%`":                  true,
		"GRANT SELECT, TRIGGER ON `shop`.`t` TO `a`@`%`":                false,
		"GRANT SELECT, TRIGGER ON `shop2`.* TO `a`@`%`":                 false,
		"GRANT `role` TO `a`@`%`":                                       false,
		"GRANT USAGE ON *.* TO `a`@`%` IDENTIFIED BY PASSWORD 'hidden'": false,
	} {
		held := map[string]bool{}
		readGrant(line, "shop", held)
		assert.Equal(t, want, held["TRIGGER"] || held["ALL PRIVILEGES"], line)
	}
}

func TestLockNameFits(t *testing.T) {
	assert.Equal(t, "ptah_schema_apply.shop", LockName("shop"))
	long := LockName(strings.Repeat("ж", 64))
	assert.LessOrEqual(t, len([]rune(long)), 64)
	assert.NotEqual(t, long, LockName(strings.Repeat("ж", 63)+"z"))
}

func TestLiteralReadsTheSame(t *testing.T) {
	for _, s := range []string{"", "a", "it's", `\`, "\n\r\t\x1a\x00", `a\'b`, "''", "🙂"} {
		assert.Equal(t, s, unliteral(literal(s)))
	}
}

// FuzzParseTable holds that no text of a server can bring the reader down.
func FuzzParseTable(f *testing.F) {
	f.Add(mysqlTable)
	f.Add("CREATE TABLE `(` (\n  `a` int DEFAULT '(' CHECK (`a` <> ')')\n) WITH SYSTEM VERSIONING")
	f.Fuzz(func(t *testing.T, text string) {
		p := parseTable("t", text)
		for i := range p.table.Columns {
			columnSQL(&p.table.Columns[i])
		}
		for i := range p.table.Indexes {
			serverOf("8.4.0").indexSQL(&p.table.Indexes[i])
		}
		parseSequence("s", text)
		withoutDatabase(text, "t")
		readGrant(text, "t", map[string]bool{})
		groupOf(&model.Definition{Create: text})
		diff.WidensMySQL(text, text+"x")
	})
}

// FuzzSplit holds that the statements of a file stand in it, in order, and that telling what they are never fails.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"SELECT 1; SELECT 2", "SELECT 'a;b'; -- c;\nSELECT \"x;y\" # d;\n", "DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END//\nDELIMITER ;\nSELECT 2",
		"/*!50000 SELECT ';' */; /* ; */ SELECT `;`", "DELIMITER $$\nSELECT a$$", "\\u x", "SELECT '\\'; ';", "/*", "DELIMITER",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		out, problem := splitSQL(src)
		if problem != nil {
			assert.LessOrEqual(t, problem.offset, len(src))
			position(src, problem.offset)
			return
		}
		last := 0
		for _, s := range out {
			require.GreaterOrEqual(t, s.start, last)
			require.Equal(t, s.text, src[s.start:s.start+len(s.text)])
			last = s.start + len(s.text)
			refusedStatement(s.text)
		}
	})
}

// TestMySQLDoesNotFollowAColumn holds that a column is not renamed under an expression, which only MariaDB rewrites.
func TestMySQLDoesNotFollowAColumn(t *testing.T) {
	renamed := mysqlDatabase(t, func(t *model.Table) {
		t.Column("id").RenamedFrom, t.Column("id").Name = "id", "no"
		for i := range t.Constraints {
			replaceAll("id", "no", t.Constraints[i].Columns)
		}
		for i := range t.Indexes {
			for j := range t.Indexes[i].Keys {
				if t.Indexes[i].Keys[j].Column == "id" {
					t.Indexes[i].Keys[j].Column = "no"
				}
			}
		}
	})
	_, err := newPlanner(mysqlDatabase(t, nil), renamed, model.New(model.MySQL), serverOf("8.4.3"))
	require.ErrorContains(t, err, "stands on it, which MySQL does not follow")
}
