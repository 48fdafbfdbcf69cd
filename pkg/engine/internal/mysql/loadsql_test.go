package mysql_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

func TestLoadSQLErrorsNameThePlace(t *testing.T) {
	s := mytest.Start(t)
	for name, c := range map[string]struct{ sql, want string }{
		"syntax":               {"CREATE TABLE a (id INT);\n\n  CREATE TABEL b (id INT);", "two.sql:3:3: You have an error in your SQL syntax"},
		"already there":        {"/* here */ CREATE TABLE first (id INT);", "two.sql:1:12: Table 'first' already exists (error 1050)"},
		"client command":       {"CREATE TABLE a (id INT);\n\\u other", "two.sql:2:1: commands of the command-line client cannot be used"},
		"open quote":           {"CREATE TABLE a (id INT);\nSELECT 'abc", "two.sql:2:8: the quote is not closed"},
		"open comment":         {"/* a", "two.sql:1:1: the comment is not closed"},
		"use":                  {"CREATE TABLE a (id INT);\nUSE other;", "two.sql:2:1: USE leads to another database"},
		"database":             {"-- c\nDROP /* d */ DATABASE IF EXISTS x", "two.sql:2:1: DROP of a database"},
		"schema":               {"CREATE SCHEMA x;", "two.sql:1:1: CREATE of a database"},
		"versioned comment":    {"/*!50000 DROP DATABASE x */;", "two.sql:1:1: DROP of a database"},
		"replaced user":        {"CREATE OR REPLACE USER x IDENTIFIED BY 'hidden-1';", "two.sql:1:1: CREATE of a database"},
		"grant":                {"GRANT ALL ON *.* TO x", "two.sql:1:1: GRANT changes the server"},
		"load":                 {"LOAD DATA INFILE '/etc/passwd' INTO TABLE first", "two.sql:1:1: reading and writing files"},
		"outfile":              {"SELECT 1 INTO OUTFILE '/tmp/x'", "two.sql:1:1: reading and writing files"},
		"global":               {"SET @a = 1, GLOBAL sql_mode = ''", "two.sql:1:1: SET GLOBAL changes the server"},
		"global by name":       {"SET @@GLOBAL.sql_mode = ''", "two.sql:1:1: SET GLOBAL changes the server"},
		"password":             {"SET PASSWORD = 'hidden-1'", "two.sql:1:1: SET PASSWORD changes the server"},
		"another charset":      {"SET NAMES latin1", "two.sql:1:1: files are read as UTF-8"},
		"another database":     {"CREATE TABLE IF NOT EXISTS mysql.x (a INT)", "two.sql:1:1: the name has a database in front"},
		"another, in a list":   {"DROP TABLE IF EXISTS first, mysql.x", "two.sql:1:1: the name has a database in front"},
		"delimiter":            {"DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END//\nDELIMITER ;\nCREATE TABLE first (id INT);", "two.sql:4:1: Table 'first' already exists"},
		"delimiter of nothing": {"DELIMITER \n", "two.sql:1:1: DELIMITER needs a delimiter"},
		"not UTF-8":            {"SELECT '\xff'", "two.sql: not a text file in UTF-8"},
		"password in message":  {"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'see " + mytest.Password + "'", "two.sql:1:1: see *** (error 1644)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.LoadSQL(testContext(t), s.URL("mysql"), []engine.Source{{Name: "one.sql", Data: []byte("CREATE TABLE first (id INT)")}, {Name: "two.sql", Data: []byte(c.sql)}})
			e := refusal(t, err, frame.CodeDesiredSchemaInvalid)
			assert.Contains(t, e.Message, c.want)
			assert.NotContains(t, e.Message, "hidden-1")
		})
	}
	assert.Zero(t, mytest.Value[int](t, s.URL("mysql"), `SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'ptah\_dev\_%'`), "a scratch database was left behind")
}

// TestLoadSQLReadsDumps loads what the dump program writes: versioned comments, saved variables, a changed delimiter, a definer that is the loader.
func TestLoadSQLReadsDumps(t *testing.T) {
	s := mytest.Start(t)
	db := declare(t, s, "\uFEFF/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;\n/*!50503 SET NAMES utf8mb4 */;\n# a comment; with a semicolon\n"+
		"DROP TABLE IF EXISTS `t`;\n/*!40101 SET character_set_client = utf8 */;\nCREATE TABLE `t` (`a` int COMMENT 'it''s; -- not \\'a\\' comment');\n"+
		"/*!50003 SET sql_mode = 'STRICT_TRANS_TABLES' */ ;\nDELIMITER ;;\n/*!50003 CREATE*/ /*!50017 DEFINER=`"+mytest.User+"`@`%`*/ /*!50003 TRIGGER `g` BEFORE INSERT ON `t` FOR EACH ROW BEGIN SET NEW.a = 1; END */;;\n"+
		"DELIMITER ;\n/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;\n-- done")
	require.Len(t, db.Definitions, 1)
	trigger := db.Definitions[0]
	assert.Equal(t, "CREATE TRIGGER `g` BEFORE INSERT ON `t` FOR EACH ROW BEGIN SET NEW.a = 1; END", trigger.Create)
	require.NotEmpty(t, trigger.Properties)
	assert.Equal(t, "it's; -- not 'a' comment", db.Tables[0].Columns[0].Comment)
	assert.Equal(t, model.ServerMariaDB, db.Server)
	data, err := model.Encode(db)
	require.NoError(t, err)
	again, err := model.Decode(data)
	require.NoError(t, err)
	assert.Equal(t, model.Fingerprint(db), model.Fingerprint(again))
	converge(t, engine.Options{URL: s.NewDatabase(t)}, db)
}

func TestScratchHasTheCollationOfTheDevDatabase(t *testing.T) {
	s := mytest.Start(t)
	dev := s.NewDatabase(t, "SET @nothing = 1")
	s.Exec(t, dev, "ALTER DATABASE CHARACTER SET latin1 COLLATE latin1_danish_ci")
	db, err := engine.LoadSQL(testContext(t), dev, []engine.Source{{Name: "a.sql", Data: []byte("CREATE TABLE t (s VARCHAR(5))")}})
	require.NoError(t, err)
	assert.Equal(t, "latin1_danish_ci", db.Tables[0].MySQL.Collation)
	assert.Equal(t, "latin1_danish_ci", db.Tables[0].Columns[0].Collation)
}
