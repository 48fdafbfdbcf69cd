package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClassify(t *testing.T) {
	cases := map[string]string{
		// creating changes nothing that exists
		`CREATE TABLE t (id int)`:                                     SeveritySafe,
		`create table if not exists t (id int)`:                       SeveritySafe,
		`CREATE UNIQUE INDEX CONCURRENTLY i ON t (id)`:                SeveritySafe,
		`CREATE TYPE mood AS ENUM ('sad', 'drop table')`:              SeveritySafe,
		`CREATE MATERIALIZED VIEW v AS SELECT 1`:                      SeveritySafe,
		`CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'`:  SeveritySafe,
		`CREATE ROLE reader`:                                          SeveritySafe,
		`CREATE OR REPLACE VIEW v AS SELECT 1`:                        SeverityWarning,
		`CREATE OR REPLACE TABLE t (id int)`:                          SeverityDestructive,
		`CREATE USER MAPPING FOR x SERVER s`:                          SeverityWarning,
		`CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE PROC f()`:  SeverityWarning,
		`COMMENT ON TABLE t IS 'DROP TABLE t'`:                        SeveritySafe,
		`SELECT setval('s', 1, false)`:                                SeveritySafe,
		`SELECT pg_catalog.setval('s', 1)`:                            SeveritySafe,
		`SELECT other.setval('s', 1)`:                                 SeverityDestructive,
		`SELECT setval('s', (SELECT max(id) FROM t))`:                 SeverityDestructive,
		`SELECT purge_everything()`:                                   SeverityDestructive,
		`SET LOCAL lock_timeout = '5s'`:                               SeveritySafe,
		`SET session_replication_role = replica`:                      SeverityDestructive,
		`SET work_mem = '1GB'`:                                        SeverityWarning,
		`INSERT INTO t VALUES (1)`:                                    SeveritySafe,
		`INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a=1`: SeverityWarning,
		`INSERT INTO t WITH d AS (DELETE FROM u RETURNING *) TABLE d`: SeverityDestructive,
		`UPDATE t SET a = 1 WHERE id = 2`:                             SeverityWarning,
		`UPDATE t SET a = 1`:                                          SeverityDestructive,
		`UPDATE t SET a = (SELECT 1 FROM u WHERE u.id = t.id)`:        SeverityDestructive,
		`UPDATE t SET a = 'x WHERE y'`:                                SeverityDestructive,
		`GRANT SELECT ON t TO reader`:                                 SeverityWarning,
		`REVOKE ALL ON t FROM reader`:                                 SeverityWarning,

		// what loses rows, values or objects
		`DROP TABLE t`:                               SeverityDestructive,
		`drop /* hidden */ table t`:                  SeverityDestructive,
		"-- CREATE TABLE t\nDROP TABLE t":            SeverityDestructive,
		`DROP SCHEMA s CASCADE`:                      SeverityDestructive,
		`DROP TYPE mood`:                             SeverityDestructive,
		`DROP VIEW v`:                                SeverityDestructive,
		`DROP FUNCTION f`:                            SeverityDestructive,
		`DROP POLICY p ON t`:                         SeverityDestructive,
		`DROP INDEX CONCURRENTLY i`:                  SeverityWarning,
		`TRUNCATE t`:                                 SeverityDestructive,
		`DELETE FROM t`:                              SeverityDestructive,
		`DELETE FROM t WHERE id = 1`:                 SeverityDestructive,
		`WITH d AS (DELETE FROM t) SELECT 1`:         SeverityDestructive,
		`MERGE INTO t USING u ON true WHEN MATCHED`:  SeverityDestructive,
		`DO $$ BEGIN END $$`:                         SeverityDestructive,
		`CALL f()`:                                   SeverityDestructive,
		`COPY t FROM PROGRAM 'rm'`:                   SeverityDestructive,
		`REASSIGN OWNED BY a TO b`:                   SeverityDestructive,
		`ALTER SYSTEM SET wal_level = minimal`:       SeverityDestructive,
		`FROBNICATE t`:                               SeverityDestructive,
		`"DROP" TABLE t`:                             SeverityDestructive,
		`ALTER TABLE t ADD COLUMN a int`:             SeveritySafe,
		`ALTER TABLE t ADD COLUMN drop_me int`:       SeveritySafe,
		`ALTER TABLE t ADD CHECK (a > 1), ADD b int`: SeveritySafe,
		`ALTER TABLE t ADD a int[] DEFAULT ARRAY[1, 2], VALIDATE CONSTRAINT c`: SeveritySafe,
		`ALTER TABLE IF EXISTS ONLY s.t DROP COLUMN a`:                         SeverityDestructive,
		`ALTER TABLE t DROP a`:                                    SeverityDestructive,
		`ALTER TABLE t ADD a int, DROP b`:                         SeverityDestructive,
		`ALTER TABLE t DROP CONSTRAINT c`:                         SeverityDestructive,
		`ALTER TABLE t ALTER a SET NOT NULL`:                      SeverityWarning,
		`ALTER TABLE t ALTER a DROP NOT NULL`:                     SeverityDestructive,
		`ALTER TABLE t ALTER a DROP DEFAULT`:                      SeverityWarning,
		`ALTER TABLE t ALTER a SET DEFAULT 1`:                     SeveritySafe,
		`ALTER TABLE t ALTER COLUMN a TYPE bigint`:                SeverityWarning,
		`ALTER TABLE t ALTER COLUMN a SET DATA TYPE text`:         SeverityWarning,
		`ALTER TABLE t ALTER COLUMN a TYPE character varying(40)`: SeverityWarning,
		`ALTER TABLE t ALTER COLUMN a TYPE numeric`:               SeverityWarning,
		`ALTER TABLE t ALTER COLUMN a TYPE numeric(10,2)`:         SeverityDestructive,
		`ALTER TABLE t ALTER COLUMN a TYPE integer`:               SeverityDestructive,
		`ALTER TABLE t ALTER COLUMN a TYPE text USING ''`:         SeverityDestructive,
		`ALTER TABLE t RENAME COLUMN a TO b`:                      SeverityWarning,
		`ALTER TABLE t DISABLE ROW LEVEL SECURITY`:                SeverityDestructive,
		`ALTER TABLE t ENABLE ROW LEVEL SECURITY`:                 SeveritySafe,
		`ALTER TABLE t NO FORCE ROW LEVEL SECURITY`:               SeverityDestructive,
		`ALTER TABLE t NO INHERIT p`:                              SeverityWarning,
		`ALTER TABLE t DISABLE TRIGGER ALL`:                       SeverityDestructive,
		`ALTER TABLE t DETACH PARTITION p`:                        SeverityDestructive,
		`ALTER TABLE t SET UNLOGGED`:                              SeverityDestructive,
		`ALTER TABLE t SET (fillfactor = 70)`:                     SeverityWarning,
		`ALTER TABLE t FROB`:                                      SeverityDestructive,
		`ALTER TABLE t ADD a int, `:                               SeverityDestructive,
		`ALTER TYPE mood ADD VALUE 'ok'`:                          SeveritySafe,
		`ALTER TYPE pair DROP ATTRIBUTE a`:                        SeverityDestructive,
		`ALTER TYPE pair ALTER ATTRIBUTE a TYPE text`:             SeverityDestructive,
		`ALTER TYPE mood RENAME TO m`:                             SeverityWarning,
		`ALTER DOMAIN d DROP CONSTRAINT c`:                        SeverityDestructive,
		`ALTER SEQUENCE s RESTART`:                                SeverityWarning,
		`ALTER EXTENSION e UPDATE`:                                SeverityWarning,
		`ALTER EXTENSION e DROP FUNCTION f`:                       SeverityDestructive,
	}
	for sql, want := range cases {
		t.Run(sql, func(t *testing.T) {
			got := Classify(DialectPostgres, sql)
			assert.Equal(t, want, got.Severity, got.Why)
			assert.Equal(t, want == SeveritySafe, got.Why == "", "what is not safe says why")
		})
	}
}

func TestClassifyMySQL(t *testing.T) {
	cases := map[string]string{
		"ALTER TABLE `t` ADD COLUMN `a` int":                    SeveritySafe,
		"ALTER TABLE `t` DROP COLUMN `a`":                       SeverityDestructive,
		"ALTER TABLE `t` DROP INDEX `i`":                        SeverityWarning,
		"ALTER TABLE `t` DROP FOREIGN KEY `f`":                  SeverityDestructive,
		"ALTER TABLE `t` MODIFY COLUMN `a` bigint NOT NULL":     SeverityWarning,
		"ALTER TABLE `t` MODIFY `a` smallint":                   SeverityDestructive,
		"ALTER TABLE `t` CHANGE `a` `b` varchar(200)":           SeverityWarning,
		"ALTER TABLE `t` CONVERT TO CHARACTER SET utf8mb4":      SeverityDestructive,
		"ALTER TABLE `t` DROP PARTITION p0":                     SeverityDestructive,
		"REPLACE INTO t VALUES (1)":                             SeverityDestructive,
		"SET foreign_key_checks = 0":                            SeverityDestructive,
		"/*!50000 DROP */ TABLE t":                              SeverityDestructive,
		"COMMENT 'x'; # DROP":                                   SeveritySafe,
		"CREATE TABLE t (a int COMMENT 'it\\'s') -- DROP TABLE": SeveritySafe,
		"RENAME TABLE a TO b":                                   SeverityWarning,
		"ALTER TABLE t ADD COLUMN a int, DROP INDEX i, MODIFY COLUMN b bigint NULL, COMMENT='x'": SeverityWarning,
		"ALTER TABLE t ADD COLUMN a int, DROP COLUMN b":                                          SeverityDestructive,
		"ALTER TABLE t MODIFY COLUMN e enum('a','b') NULL":                                       SeverityWarning,
		"ALTER TABLE t MODIFY COLUMN e int(11) NULL COMMENT 'x'":                                 SeverityDestructive,
		"ALTER TABLE t MODIFY COLUMN e varchar(9) GENERATED ALWAYS AS (1) STORED":                SeverityDestructive,
		"ALTER TABLE t MODIFY COLUMN IF EXISTS e text AS (1)":                                    SeverityDestructive,
		"ALTER TABLE t ALTER INDEX i NOT IGNORED":                                                SeverityWarning,
		"ALTER TABLE t ALTER INDEX i INVISIBLE":                                                  SeverityWarning,
		"ALTER TABLE t ALTER index TYPE int":                                                     SeverityDestructive,
		"ALTER TABLE t COMMENT='x'":                                                              SeveritySafe,
		"ALTER TABLE t ROW_FORMAT=COMPACT, ENGINE=InnoDB":                                        SeverityWarning,
		"ALTER TABLE t DEFAULT CHARACTER SET=latin1 COLLATE=latin1_bin":                          SeverityWarning,
		"ALTER TABLE t PARTITION BY HASH (a) PARTITIONS 2":                                       SeverityWarning,
		"ALTER TABLE t REMOVE PARTITIONING":                                                      SeverityWarning,
		"ALTER TABLE t TRUNCATE PARTITION p":                                                     SeverityDestructive,
		"ALTER TABLE t EXCHANGE PARTITION p WITH TABLE u":                                        SeverityDestructive,
		"ALTER TABLE t DISCARD TABLESPACE":                                                       SeverityDestructive,
		"ALTER TABLE t ADD SYSTEM VERSIONING":                                                    SeveritySafe,
		"ALTER TABLE t DROP SYSTEM VERSIONING":                                                   SeverityDestructive,
		"CREATE OR REPLACE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW v AS select 1":              SeverityWarning,
		"CREATE OR REPLACE DEFINER=`a`@`%` PROCEDURE p() select 1":                               SeverityWarning,
		"CREATE OR REPLACE DEFINER=CURRENT_USER() EVENT e ON SCHEDULE EVERY 1 DAY DO select 1":   SeverityWarning,
		"CREATE OR REPLACE DEFINER=CURRENT_USER TABLE t (a int)":                                 SeverityDestructive,
		"CREATE OR REPLACE AGGREGATE FUNCTION f(x int) RETURNS int RETURN x":                     SeverityWarning,
		"CREATE OR REPLACE TABLE t (a int)":                                                      SeverityDestructive,
		"CREATE DEFINER=`a`@`%` TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1":         SeveritySafe,
		"CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM t":                                SeverityWarning,
		"SET SESSION sql_mode = 'ANSI'":                                                          SeverityWarning,
		"SET GLOBAL sql_mode = 'ANSI'":                                                           SeverityDestructive,
		"DROP SEQUENCE s":                                                                        SeverityDestructive,
	}
	for sql, want := range cases {
		t.Run(sql, func(t *testing.T) {
			assert.Equal(t, want, Classify(DialectMySQL, sql).Severity)
		})
	}
}

func TestTokenize(t *testing.T) {
	cases := map[string]struct {
		dialect, sql string
		want         []string // kind:value
	}{
		"quotes":              {DialectPostgres, `a "B""c" 'd''e'`, []string{"word:a", `quoted:B"c`, "text:d'e"}},
		"backslash is plain":  {DialectPostgres, `'a\' b`, []string{`text:a\`, "word:b"}},
		"escape notation":     {DialectPostgres, `E'a\'b' e'\\'`, []string{"text:a'b", `text:\`}},
		"not a prefix":        {DialectPostgres, `type'x\'`, []string{"word:type", `text:x\`}},
		"dollar quotes":       {DialectPostgres, `$$a$b$$ $t$ $$ $t$`, []string{"body:a$b", "body: $$ "}},
		"dollar in a word":    {DialectPostgres, `a$$b`, []string{"word:a$$b"}},
		"comments":            {DialectPostgres, "a--b\nc/*d/*e*/f*/g", []string{"word:a", "word:c", "word:g"}},
		"carriage return":     {DialectPostgres, "a--b\rc", []string{"word:a", "word:c"}},
		"star slash star":     {DialectPostgres, "a/**/b/***/c", []string{"word:a", "word:b", "word:c"}},
		"numbers":             {DialectPostgres, "1.5 1e5", []string{"number:1.5", "number:1", "word:e5"}},
		"operators":           {DialectPostgres, "a<=b::int", []string{"word:a", "punct:<", "punct:=", "word:b", "punct::", "punct::", "word:int"}},
		"letters of the rest": {DialectPostgres, "été ſelect", []string{"word:été", "word:ſelect"}},
		"mysql escapes":       {DialectMySQL, `'a\'b' "c" ` + "`d``e`", []string{"text:a'b", "quoted:c", "quoted:d`e"}},
		"mysql comments":      {DialectMySQL, "a--b\nc -- d\re\nf # g\nh", []string{"word:a", "punct:-", "punct:-", "word:b", "word:c", "word:f", "word:h"}},
		"mysql flat comments": {DialectMySQL, "a /* /* */ b /*/ c */ d", []string{"word:a", "word:b", "word:d"}},
	}
	kinds := map[tokenKind]string{word: "word", quoted: "quoted", text: "text", body: "body", number: "number", punct: "punct"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			toks, problem := tokenize(c.dialect, c.sql)
			require.Empty(t, problem)
			var got []string
			for _, tok := range toks {
				got = append(got, kinds[tok.kind]+":"+tok.value)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestTokenizeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ dialect, sql string }{
		"a comment that the server may run":   {DialectMySQL, "/*!99999 ' */ DROP TABLE t /* ' */"},
		"a backslash between double quotes":   {DialectMySQL, `"a\" ; DROP TABLE t; -- "`},
		"brackets":                            {DialectPostgres, "a[1"},
		"a closing parenthesis":               {DialectPostgres, "a)"},
		"a dollar sign":                       {DialectPostgres, "a = $"},
		"a comment that closes inside itself": {DialectPostgres, "/*/ a"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problem := tokenize(c.dialect, c.sql)
			assert.NotEmpty(t, problem)
			assert.Equal(t, SeverityDestructive, Classify(c.dialect, c.sql).Severity)
		})
	}
}

func TestKeywordsAreNeverFoundInsideQuotes(t *testing.T) {
	toks, problem := tokenize(DialectPostgres, `'DROP' "DROP" $$DROP$$ /*DROP*/ --DROP`)
	require.Empty(t, problem)
	assert.False(t, has(toks, "DROP"))
}

func FuzzTokenize(f *testing.F) {
	for _, s := range []string{`a "b" 'c' $$d$$ /* e */ -- f`, `E'\'' U&'x'`, "`a`#b", "/*!1 */", "(([]))", "$t$ $t$;"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, sql string, mysql bool) {
		dialect := DialectPostgres
		if mysql {
			dialect = DialectMySQL
		}
		toks, problem := tokenize(dialect, sql)
		if problem != "" {
			require.Equal(t, SeverityDestructive, Classify(dialect, sql).Severity)
			return
		}
		for _, tok := range toks {
			require.GreaterOrEqual(t, tok.depth, 0)
		}
		// The same text behind a harmless statement may never make the whole look harmless when a DROP follows it.
		_ = sqlProblem(dialect, sql)
		_ = reachOf(dialect, Statement{SQL: sql})
		// Terminating is stable: one semicolon, seen by the reader that the server is.
		if delimiterFor(dialect, sql) != "" {
			return
		}
		again, problem := tokenize(dialect, terminated(dialect, sql))
		require.Empty(t, problem)
		if len(toks) > 0 {
			require.Len(t, again, len(toks)+1)
			require.True(t, again[len(toks)].punct(";"))
		}
	})
}
