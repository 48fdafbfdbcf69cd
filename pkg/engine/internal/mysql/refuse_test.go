package mysql_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// TestUnmodelledIsRefusedByName has everything that the reader knows of and the model does not, on either side.
func TestUnmodelledIsRefusedByName(t *testing.T) {
	s := mytest.Start(t)
	for name, c := range map[string]struct{ sql, want string }{
		"union table":      {"CREATE TABLE m (a INT) ENGINE=MyISAM; CREATE TABLE u (a INT) ENGINE=MERGE UNION=(m) INSERT_METHOD=LAST", `table option "u (UNION=(` + "`m`" + `))" of table "u"`},
		"reference system": {"CREATE TABLE t (p POINT REF_SYSTEM_ID=4326)", `column options "p (REF_SYSTEM_ID)" of table "t"`},
		"package":          {"SET sql_mode = 'ORACLE';\nDELIMITER //\nCREATE PACKAGE pk AS FUNCTION f1 RETURN INT; END;\n//", `package "pk"`},
		"sequence engine":  {"CREATE SEQUENCE q ENGINE=MyISAM", `sequence option "q"`},
	} {
		t.Run(name, func(t *testing.T) {
			target := create(t, s, c.sql)
			_, err := engine.Plan(testContext(t), engine.Options{URL: target}, declare(t, s, ""))
			e := refusal(t, err, frame.CodeUnsupportedObject)
			assert.Contains(t, e.Message, c.want)
			assert.Contains(t, e.Message, "the database has objects")
			live, err := engine.Inspect(testContext(t), target)
			require.NoError(t, err)
			_ = refusal(t, engine.CheckSupported(live, nil), frame.CodeUnsupportedObject)
			// Left out, it is neither made nor dropped.
			result, err := engine.Plan(testContext(t), engine.Options{URL: target, Exclude: []string{"*"}}, declare(t, s, ""))
			require.NoError(t, err)
			assert.True(t, result.NoChange)
		})
	}
}

// TestVersionsAreRefusedByName: what the server has no statement for while it keeps the versions of rows.
func TestVersionsAreRefusedByName(t *testing.T) {
	s := mytest.Start(t)
	const period = "CREATE TABLE t (id INT, rs TIMESTAMP(6) GENERATED ALWAYS AS ROW START%s, re TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (rs, re)) WITH SYSTEM VERSIONING"
	const plain = "CREATE TABLE t (id INT) ENGINE=%s WITH SYSTEM VERSIONING"
	for name, c := range map[string]struct{ a, b, want string }{
		"a column of the period": {fmt.Sprintf(period, ""), fmt.Sprintf(period, " INVISIBLE"), `column "rs" of table "t" is a part of the system period`},
		"the engine":             {fmt.Sprintf(plain, "MyISAM"), fmt.Sprintf(plain, "InnoDB"), `declared with another engine`},
		"columns for the period": {fmt.Sprintf(plain, "InnoDB"), fmt.Sprintf(period, ""), `declared with columns for its period`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Plan(testContext(t), engine.Options{URL: create(t, s, c.a)}, declare(t, s, c.b))
			assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, c.want)
		})
	}
}

func TestExcludedTableIsHeldBack(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, parent+fk)
	_, err := engine.Plan(testContext(t), engine.Options{URL: target, Exclude: []string{"c"}}, declare(t, s, ""))
	e := refusal(t, err, frame.CodeUnsupportedObject)
	assert.Contains(t, e.Message, `foreign key "f" of the excluded table "c"`)
	doc := converge(t, engine.Options{URL: target, Exclude: []string{"p"}}, declare(t, s, parent+"DROP TABLE c"))
	assert.Equal(t, []string{"DROP TABLE `c`"}, statements(doc))
}

func TestProtectedTables(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	for _, protected := range []string{"T", "shop.t"} {
		_, err := engine.Plan(testContext(t), engine.Options{URL: target, ProtectedTables: []string{protected}}, declare(t, s, base+trg))
		_ = refusal(t, err, frame.CodeProtectedTable)
	}
}

func TestAnotherServersWordsAreRefused(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	desired := declare(t, s, base)
	desired.Server = model.ServerMySQL
	_, err := engine.Plan(testContext(t), engine.Options{URL: target}, desired)
	e := refusal(t, err, frame.CodeDesiredSchemaInvalid)
	assert.Contains(t, e.Message, "in the words of MySQL and the database is MariaDB")
	withRows := declare(t, s, base)
	withRows.Rows = []model.RowSet{{Table: model.Name{Name: "t"}}}
	_, err = engine.Plan(testContext(t), engine.Options{URL: target}, withRows)
	e = refusal(t, err, frame.CodeUnsupportedObject)
	assert.Contains(t, e.Message, `the rows of table "t"`)
	_, err = engine.Observe(testContext(t), engine.Options{URL: target}, model.New(model.Postgres))
	_ = refusal(t, err, frame.CodeDesiredSchemaInvalid)
}

// TestAccountThatSeesLess holds that what an account cannot see is never taken for absent.
func TestAccountThatSeesLess(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base+trg+"CREATE FUNCTION fu(a INT) RETURNS INT DETERMINISTIC RETURN a")
	database := target[strings.LastIndex(target, "/")+1 : strings.IndexByte(target, '?')]
	s.Exec(t, s.URL("mysql"), "CREATE OR REPLACE USER less IDENTIFIED BY 'less-pass-1'", "GRANT SELECT, SHOW VIEW ON "+database+".* TO less")
	defer s.Exec(t, s.URL("mysql"), "DROP USER less")
	less := s.URLAs(database, "less", "less-pass-1")
	_, err := engine.Inspect(testContext(t), less)
	e := refusal(t, err, frame.CodeDatabasePermission)
	assert.Contains(t, e.Message, "lacks TRIGGER, EVENT on the database")
	s.Exec(t, s.URL("mysql"), "GRANT TRIGGER, EVENT, EXECUTE ON "+database+".* TO less")
	_, err = engine.Inspect(testContext(t), less)
	e = refusal(t, err, frame.CodeDatabasePermission)
	assert.Contains(t, e.Message, `definition of function "fu"`)
	s.Exec(t, s.URL("mysql"), "GRANT SELECT ON mysql.proc TO less")
	db, err := engine.Inspect(testContext(t), less)
	require.NoError(t, err)
	assert.Len(t, db.Definitions, 2)
	assert.Contains(t, db.Definitions[0].Create, "DEFINER=`"+mytest.User+"`", "the definer is another account")
}

func TestConnectionErrors(t *testing.T) {
	s := mytest.Start(t)
	for name, c := range map[string]struct {
		url  string
		code frame.Code
		want string
	}{
		"wrong password": {s.URLAs("mysql", mytest.User, "wrong-secret"), frame.CodeDatabaseAuthentication, "refused the user or the password"},
		"no database":    {s.URL("no_such_database"), frame.CodeDatabaseUnreachable, "does not exist"},
		"nothing there":  {"mysql://a:wrong-secret@127.0.0.1:1/x", frame.CodeDatabaseUnreachable, "nothing listens"},
		"TLS":            {strings.Replace(s.URL("mysql"), "tls=false", "tls=true", 1), frame.CodeDatabaseTLS, ""},
		"bad URL":        {"mysql://a:wrong-secret@127.0.0.1/x?multiStatements=true", frame.CodeDatabaseURLInvalid, "parameters"},
		"no scheme":      {"oracle://a:wrong-secret@127.0.0.1/x", frame.CodeDatabaseURLInvalid, "mysql://"},
		"empty":          {"", frame.CodeCredentialMissing, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Inspect(testContext(t), c.url)
			e := refusal(t, err, c.code)
			assert.Contains(t, e.Message, c.want)
			assert.False(t, e.MutationStarted)
		})
	}
}

// TestPlanBesideAWriter reads, changes nothing, and waits for nobody's rows.
func TestPlanBesideAWriter(t *testing.T) {
	s := mytest.Start(t)
	target := create(t, s, base)
	desired := declare(t, s, base+"ALTER TABLE t ADD k INT")
	db := mytest.Open(t, target)
	defer func() { _ = db.Close() }()
	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec("INSERT INTO t (id) VALUES (1)")
	require.NoError(t, err)
	result, err := engine.Plan(testContext(t), engine.Options{URL: target, ConnectTimeout: time.Minute}, desired)
	require.NoError(t, err)
	again, err := engine.Plan(testContext(t), engine.Options{URL: target}, desired)
	require.NoError(t, err)
	assert.Equal(t, result, again)
	require.NoError(t, tx.Commit())
	assert.Equal(t, 1, mytest.Value[int](t, target, "SELECT COUNT(*) FROM t"))
}

func TestNextAutoIncrementValueIsNoDifference(t *testing.T) {
	s := mytest.Start(t)
	sql := "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT)"
	target := create(t, s, sql)
	s.Exec(t, target, "INSERT INTO t (n) VALUES (1), (2)")
	result, err := engine.Plan(testContext(t), engine.Options{URL: target}, declare(t, s, sql+" AUTO_INCREMENT=100"))
	require.NoError(t, err)
	assert.True(t, result.NoChange)
}

// TestSeverities pins what a person is asked about.
func TestSeverities(t *testing.T) {
	s := mytest.Start(t)
	for name, c := range map[string]struct{ a, b, want string }{
		"add a column":        {base, base + "ALTER TABLE t ADD k INT", "safe"},
		"add an index":        {base, base + "CREATE INDEX i ON t (n)", "safe"},
		"add an enum value":   {base + "ALTER TABLE t ADD e ENUM('a')", base + "ALTER TABLE t ADD e ENUM('a','b')", "warning"},
		"add a foreign key":   {parent, parent + fk, "warning"},
		"add versioning":      {base, base + "ALTER TABLE t ADD SYSTEM VERSIONING", "warning"},
		"lose versioning":     {base + "ALTER TABLE t ADD SYSTEM VERSIONING", base, "destructive"},
		"lose an enum value":  {base + "ALTER TABLE t ADD e ENUM('a','b')", base + "ALTER TABLE t ADD e ENUM('a')", "destructive"},
		"narrow a text":       {base, base + "ALTER TABLE t MODIFY s VARCHAR(5)", "destructive"},
		"to a smaller set":    {base, base + "ALTER TABLE t CONVERT TO CHARACTER SET latin1", "destructive"},
		"lose a unique index": {base + "ALTER TABLE t ADD UNIQUE u (n)", base, "destructive"},
		"lose an index":       {base + "ALTER TABLE t ADD KEY u (n)", base, "warning"},
		"lose a check":        {base + "ALTER TABLE t ADD CONSTRAINT ch CHECK (n > 0)", base, "destructive"},
		"replace a view":      {base + "CREATE VIEW v AS SELECT id FROM t", base + "CREATE VIEW v AS SELECT n FROM t", "warning"},
		"lose a trigger":      {base + trg, base, "destructive"},
	} {
		t.Run(name, func(t *testing.T) {
			doc := planned(t, engine.Options{URL: create(t, s, c.a)}, declare(t, s, c.b))
			worst := "safe"
			for _, st := range doc.Statements {
				if st.Severity == "destructive" || st.Severity == "warning" && worst == "safe" {
					worst = st.Severity
				}
				assert.NotEmpty(t, st.Reason)
				assert.NotEmpty(t, st.Object)
			}
			assert.Equal(t, c.want, worst, "%v", statements(doc))
		})
	}
}
