package mysql_test

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/mytest"
)

// probe is two schemas that differ in one thing.
type probe struct{ a, b string }

const (
	base   = "CREATE TABLE t (id INT NOT NULL, n INT, s VARCHAR(20));\n"
	parent = "CREATE TABLE p (id INT PRIMARY KEY);\nCREATE TABLE c (p INT, KEY k (p));\n"
	fk     = "ALTER TABLE c ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES p (id)"
	trg    = "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.n = 1;\n"
)

// probes are differences that must be seen and converged, in both directions.
var probes = map[string]probe{
	"table":                       {"", base},
	"circle on a table before it": {"", "CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id INT PRIMARY KEY, c INT, a INT REFERENCES a (id)); CREATE TABLE c (id INT PRIMARY KEY, b INT REFERENCES b (id), a INT REFERENCES a (id)); ALTER TABLE b ADD FOREIGN KEY (c) REFERENCES c (id)"},
	"table comment":               {base, base + "ALTER TABLE t COMMENT='it''s \\\\ \"two\"\\nlines'"},
	"table engine":                {base, base + "ALTER TABLE t ENGINE=MyISAM"},
	"table default charset":       {base, base + "ALTER TABLE t DEFAULT CHARACTER SET latin1"},
	"table charset conversion":    {base, base + "ALTER TABLE t CONVERT TO CHARACTER SET latin1"},
	"table default collation":     {base, base + "ALTER TABLE t DEFAULT COLLATE utf8mb4_bin"},
	"row format":                  {base, base + "ALTER TABLE t ROW_FORMAT=COMPACT"},
	"row format compressed":       {base, base + "ALTER TABLE t ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8"},
	"persistent statistics":       {base, base + "ALTER TABLE t STATS_PERSISTENT=1 STATS_SAMPLE_PAGES=30"},
	"page compression":            {base, base + "ALTER TABLE t PAGE_COMPRESSED=1"},
	"page checksum stays":         {"CREATE TABLE t (id INT) PAGE_CHECKSUM=1", "CREATE TABLE t (id BIGINT) PAGE_CHECKSUM=1"},
	"page checksum":               {"CREATE TABLE t (id INT)", "CREATE TABLE t (id INT) PAGE_CHECKSUM=1"},
	"table leaves Aria":           {"CREATE TABLE t (id INT) ENGINE=Aria", "CREATE TABLE t (id INT) ENGINE=MEMORY"},
	"versioned but for a column":  {base, base + "ALTER TABLE t ADD o INT, ADD SYSTEM VERSIONING; SET system_versioning_alter_history = KEEP; ALTER TABLE t MODIFY o INT WITHOUT SYSTEM VERSIONING"},
	"engine, versions and less":   {"CREATE TABLE t (id INT) ENGINE=MyISAM", "CREATE TABLE t (id INT, o INT WITHOUT SYSTEM VERSIONING) ENGINE=InnoDB WITH SYSTEM VERSIONING"},
	"page checksum, and a key":    {"CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE t (id INT, KEY k (id)) PAGE_CHECKSUM=1", "CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE t (id INT, KEY k (id), CONSTRAINT f FOREIGN KEY (id) REFERENCES p (id)) PAGE_CHECKSUM=1"},
	"page checksum, partitions":   {"CREATE TABLE t (id INT) PAGE_CHECKSUM=1", "CREATE TABLE t (id INT) PAGE_CHECKSUM=1 PARTITION BY HASH (id) PARTITIONS 2"},
	"column":                      {base, base + "ALTER TABLE t ADD k BIGINT"},
	"column not null":             {base, base + "ALTER TABLE t MODIFY n INT NOT NULL"},
	"column type widened":         {base, base + "ALTER TABLE t MODIFY n BIGINT"},
	"column type narrowed":        {base, base + "ALTER TABLE t MODIFY s VARCHAR(5)"},
	"column unsigned":             {base, base + "ALTER TABLE t MODIFY n INT UNSIGNED"},
	"column decimal":              {base + "ALTER TABLE t ADD d DECIMAL(8,2)", base + "ALTER TABLE t ADD d DECIMAL(10,3)"},
	"column fractional seconds":   {base + "ALTER TABLE t ADD d DATETIME", base + "ALTER TABLE t ADD d DATETIME(6)"},
	"column default":              {base, base + "ALTER TABLE t ALTER n SET DEFAULT 5"},
	"column default text":         {base, base + "ALTER TABLE t ALTER s SET DEFAULT 'it''s \\\\ x'"},
	"column without default":      {base + "ALTER TABLE t MODIFY n INT NOT NULL DEFAULT 1", base + "ALTER TABLE t MODIFY n INT NOT NULL"},
	"column default expression":   {base, base + "ALTER TABLE t MODIFY s VARCHAR(20) DEFAULT (concat('a', 1 + 1))"},
	"literal or expression":       {base + "ALTER TABLE t ALTER s SET DEFAULT 'uuid()'", base + "ALTER TABLE t MODIFY s VARCHAR(20) DEFAULT (uuid())"},
	"column on update":            {base + "ALTER TABLE t ADD u TIMESTAMP NULL", base + "ALTER TABLE t ADD u TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP"},
	"timestamp null":              {base + "ALTER TABLE t ADD u TIMESTAMP NULL", base + "ALTER TABLE t ADD u TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP"},
	"column comment":              {base, base + "ALTER TABLE t MODIFY n INT COMMENT 'x'"},
	"column charset":              {base, base + "ALTER TABLE t MODIFY s VARCHAR(20) CHARACTER SET latin1"},
	"column collation":            {base, base + "ALTER TABLE t MODIFY s VARCHAR(20) COLLATE utf8mb4_bin"},
	"column invisible":            {base, base + "ALTER TABLE t MODIFY n INT INVISIBLE"},
	"column compressed":           {base + "ALTER TABLE t ADD b BLOB", base + "ALTER TABLE t ADD b BLOB COMPRESSED"},
	"json column":                 {base + "ALTER TABLE t ADD j LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", base + "ALTER TABLE t ADD j JSON"},
	"auto increment":              {"CREATE TABLE t (id INT PRIMARY KEY)", "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT)"},
	"enum value added":            {base + "ALTER TABLE t ADD e ENUM('a','b')", base + "ALTER TABLE t ADD e ENUM('a','b','it''s')"},
	"enum value in front":         {base + "ALTER TABLE t ADD e ENUM('a','b')", base + "ALTER TABLE t ADD e ENUM('z','a','b')"},
	"set value":                   {base + "ALTER TABLE t ADD e SET('a','b')", base + "ALTER TABLE t ADD e SET('a','c')"},
	"generated column":            {base, base + "ALTER TABLE t ADD g INT AS (n * 2) STORED"},
	"generated expression":        {base + "ALTER TABLE t ADD g INT AS (n * 2) STORED", base + "ALTER TABLE t ADD g INT AS (n * 3) STORED"},
	"virtual expression":          {base + "ALTER TABLE t ADD g INT AS (n * 2)", base + "ALTER TABLE t ADD g INT AS (n * 3)"},
	"virtual to stored":           {base + "ALTER TABLE t ADD g INT AS (n * 2)", base + "ALTER TABLE t ADD g INT AS (n * 2) STORED"},
	"virtual to plain":            {base + "ALTER TABLE t ADD g INT AS (n * 2)", base + "ALTER TABLE t ADD g INT"},
	"stored to plain":             {base + "ALTER TABLE t ADD g INT AS (n * 2) STORED", base + "ALTER TABLE t ADD g INT"},
	"virtual to stored, indexed":  {base + "ALTER TABLE t ADD g INT AS (n * 2), ADD KEY k (g, n), ADD CONSTRAINT ch CHECK (g > 1)", base + "ALTER TABLE t ADD g INT AS (n * 2) STORED, ADD KEY k (g, n), ADD CONSTRAINT ch CHECK (g > 1)"},
	"generated from rebuilt":      {base + "ALTER TABLE t ADD g INT AS (n * 2), ADD h INT AS (g + 1)", base + "ALTER TABLE t ADD g INT AS (n * 2) STORED, ADD h INT AS (g + 1)"},
	"primary key":                 {base, base + "ALTER TABLE t ADD PRIMARY KEY (id)"},
	"primary key columns":         {base + "ALTER TABLE t ADD PRIMARY KEY (id)", base + "ALTER TABLE t ADD PRIMARY KEY (id, n)"},
	"unique":                      {base, base + "ALTER TABLE t ADD UNIQUE u (n)"},
	"unique becomes plain":        {base + "ALTER TABLE t ADD UNIQUE u (n)", base + "ALTER TABLE t ADD KEY u (n)"},
	"index":                       {base, base + "CREATE INDEX i ON t (n)"},
	"index name":                  {base + "CREATE INDEX i ON t (n)", base + "CREATE INDEX j ON t (n)"},
	"index columns":               {base + "CREATE INDEX i ON t (n)", base + "CREATE INDEX i ON t (n, s)"},
	"index column order":          {base + "CREATE INDEX i ON t (s, n)", base + "CREATE INDEX i ON t (n, s)"},
	"index prefix":                {base + "CREATE INDEX i ON t (s)", base + "CREATE INDEX i ON t (s(5))"},
	"index direction":             {base + "CREATE INDEX i ON t (n)", base + "CREATE INDEX i ON t (n DESC)"},
	"index comment":               {base + "CREATE INDEX i ON t (n)", base + "CREATE INDEX i ON t (n) COMMENT 'x'"},
	"index method":                {base + "CREATE INDEX i ON t (n)", base + "CREATE INDEX i USING BTREE ON t (n)"},
	"index ignored":               {base + "CREATE INDEX i ON t (n)", base + "CREATE INDEX i ON t (n) IGNORED"},
	"index block size":            {base + "CREATE INDEX i ON t (n)", base + "CREATE INDEX i ON t (n) KEY_BLOCK_SIZE=4"},
	"fulltext index":              {base, base + "CREATE FULLTEXT INDEX i ON t (s)"},
	"spatial index":               {base + "ALTER TABLE t ADD g POINT NOT NULL", base + "ALTER TABLE t ADD g POINT NOT NULL, ADD SPATIAL INDEX i (g)"},
	"long unique":                 {base + "ALTER TABLE t ADD b TEXT", base + "ALTER TABLE t ADD b TEXT, ADD UNIQUE u (b)"},
	"check":                       {base, base + "ALTER TABLE t ADD CONSTRAINT ch CHECK (n > 0)"},
	"check changed":               {base + "ALTER TABLE t ADD CONSTRAINT ch CHECK (n > 0)", base + "ALTER TABLE t ADD CONSTRAINT ch CHECK (n > 1)"},
	"column check":                {base, base + "ALTER TABLE t MODIFY n INT CHECK (n <> 7)"},
	"column check changed":        {base + "ALTER TABLE t MODIFY n INT CHECK (n <> 7)", base + "ALTER TABLE t MODIFY n INT CHECK (n <> 8)"},
	"foreign key":                 {parent, parent + fk},
	"foreign key cascade":         {parent + fk, parent + fk + " ON DELETE CASCADE"},
	"foreign key set null":        {parent + fk, parent + fk + " ON DELETE SET NULL ON UPDATE NO ACTION"},
	"foreign key column type":     {parent + fk, "CREATE TABLE p (id BIGINT PRIMARY KEY); CREATE TABLE c (p BIGINT, KEY k (p)); " + fk},
	"foreign key to itself":       {"CREATE TABLE t (id INT PRIMARY KEY, p INT)", "CREATE TABLE t (id INT PRIMARY KEY, p INT, CONSTRAINT f FOREIGN KEY (p) REFERENCES t (id))"},
	"foreign key shadowed":        {parent + fk, parent + fk + "; ALTER TABLE c ADD UNIQUE u (p)"},
	"foreign keys in a circle":    {"", circle},
	"foreign key index grows":     {parent + fk, parent + "ALTER TABLE c DROP KEY k, ADD n INT, ADD KEY k (p, n); " + fk},
	"child and parent go":         {"", parent + fk},
	"implicit index, and another": {"CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE c (p INT, n INT, CONSTRAINT f FOREIGN KEY (p) REFERENCES p (id))", "CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE c (p INT, n INT, KEY f (p), CONSTRAINT f FOREIGN KEY (p) REFERENCES p (id), KEY z (p, n))"},
	"partitioning":                {base, base + "ALTER TABLE t PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)"},
	"partition added":             {base + "ALTER TABLE t PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10))", base + "ALTER TABLE t PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))"},
	"partition function":          {base + "ALTER TABLE t PARTITION BY HASH (id) PARTITIONS 2", base + "ALTER TABLE t ADD PRIMARY KEY (id, n) PARTITION BY KEY (n) PARTITIONS 3"},
	"system versioning":           {base, base + "ALTER TABLE t ADD SYSTEM VERSIONING"},
	"versioned columns":           {base, base + "ALTER TABLE t ADD rs TIMESTAMP(6) GENERATED ALWAYS AS ROW START INVISIBLE, ADD re TIMESTAMP(6) GENERATED ALWAYS AS ROW END, ADD PERIOD FOR SYSTEM_TIME (rs, re), ADD SYSTEM VERSIONING"},
	"versioned table altered":     {base + "ALTER TABLE t ADD SYSTEM VERSIONING", "CREATE TABLE t (id INT NOT NULL, n BIGINT, k INT) WITH SYSTEM VERSIONING"},
	"column without versioning":   {base + "ALTER TABLE t ADD SYSTEM VERSIONING", "CREATE TABLE t (id INT NOT NULL, n INT WITHOUT SYSTEM VERSIONING, s VARCHAR(20)) WITH SYSTEM VERSIONING"},
	"versioned partitions":        {base + "ALTER TABLE t ADD SYSTEM VERSIONING", "CREATE TABLE t (id INT NOT NULL, n INT, s VARCHAR(20)) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME LIMIT 1000 (PARTITION p0 HISTORY, PARTITION pc CURRENT)"},
	"application period":          {"CREATE TABLE t (a DATE NOT NULL, b DATE NOT NULL)", "CREATE TABLE t (a DATE NOT NULL, b DATE NOT NULL, PERIOD FOR pe (a, b))"},
	"without overlaps":            {"CREATE TABLE t (id INT, a DATE, b DATE, PERIOD FOR pe (a, b))", "CREATE TABLE t (id INT, a DATE, b DATE, PERIOD FOR pe (a, b), UNIQUE u (id, pe WITHOUT OVERLAPS))"},
	"sequence":                    {"", "CREATE SEQUENCE q"},
	"sequence options":            {"CREATE SEQUENCE q", "CREATE SEQUENCE q INCREMENT BY 5 MAXVALUE 1000 NOCACHE CYCLE"},
	"default from a sequence":     {"CREATE SEQUENCE q;" + base, "CREATE SEQUENCE q;\n" + base + "ALTER TABLE t MODIFY n INT DEFAULT (NEXT VALUE FOR q)"},
	"sequence and its column":     {base, "CREATE SEQUENCE q;\n" + base + "ALTER TABLE t MODIFY n INT DEFAULT (NEXT VALUE FOR q)"},
	"view":                        {base, base + "CREATE VIEW v AS SELECT id FROM t"},
	"view body":                   {base + "CREATE VIEW v AS SELECT id FROM t", base + "CREATE VIEW v AS SELECT id, n + 1 AS m FROM t WHERE s <> 'x'"},
	"view security":               {base + "CREATE VIEW v AS SELECT id FROM t", base + "CREATE SQL SECURITY INVOKER VIEW v AS SELECT id FROM t"},
	"view algorithm":              {base + "CREATE VIEW v AS SELECT id FROM t", base + "CREATE ALGORITHM=MERGE VIEW v AS SELECT id FROM t"},
	"view check option":           {base + "CREATE VIEW v AS SELECT id FROM t", base + "CREATE VIEW v AS SELECT id FROM t WITH CASCADED CHECK OPTION"},
	"view on a view":              {base, base + "CREATE VIEW z AS SELECT id FROM t; CREATE VIEW a AS SELECT id FROM z"},
	"view becomes a table":        {base + "CREATE VIEW v AS SELECT id FROM t", base + "CREATE TABLE v (id INT)"},
	"view and function":           {base, base + "CREATE FUNCTION fu(a INT) RETURNS INT DETERMINISTIC RETURN a + 1; CREATE VIEW v AS SELECT fu(id) AS x FROM t"},
	"trigger":                     {base, base + trg},
	"trigger body":                {base + trg, base + "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.n = 2"},
	"trigger time":                {base + trg, base + "CREATE TRIGGER g BEFORE UPDATE ON t FOR EACH ROW SET NEW.n = 1"},
	"trigger order":               {base + trg + "CREATE TRIGGER h BEFORE INSERT ON t FOR EACH ROW SET NEW.n = 3", base + trg + "CREATE TRIGGER h BEFORE INSERT ON t FOR EACH ROW PRECEDES g SET NEW.n = 3"},
	"trigger goes with its table": {"", base + trg},
	"function":                    {"", "CREATE FUNCTION fu(a INT) RETURNS INT DETERMINISTIC RETURN a + 1"},
	"function body":               {"CREATE FUNCTION fu(a INT) RETURNS INT DETERMINISTIC RETURN a + 1", "CREATE FUNCTION fu(a INT) RETURNS INT DETERMINISTIC RETURN a + 2"},
	"function characteristics":    {"CREATE FUNCTION fu(a INT) RETURNS INT DETERMINISTIC RETURN a + 1", "CREATE FUNCTION fu(a INT) RETURNS INT SQL SECURITY INVOKER NO SQL COMMENT 'x' RETURN a + 1"},
	"aggregate function":          {"", "DELIMITER //\nCREATE AGGREGATE FUNCTION ag(x INT) RETURNS INT BEGIN DECLARE s INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN s; LOOP FETCH GROUP NEXT ROW; SET s = s + x; END LOOP; END//"},
	"procedure":                   {"", "DELIMITER //\nCREATE PROCEDURE pr(IN a INT, OUT b VARCHAR(10))\nBEGIN\n  -- a comment; with a semicolon\n  SET b = 'it''s';\nEND//"},
	"procedure parameters":        {"CREATE PROCEDURE pr(a INT) SELECT 1", "CREATE PROCEDURE pr(a INT, INOUT b BIGINT) SELECT 1"},
	"labelled procedure":          {"", "DELIMITER //\nCREATE PROCEDURE pr() outer_block: BEGIN IF 1 THEN LEAVE outer_block; END IF; END outer_block//"},
	"routine with its own mode":   {"CREATE PROCEDURE pr() SELECT 1", "SET sql_mode='ANSI_QUOTES';\nCREATE PROCEDURE pr() SELECT 1"},
	"event":                       {base, base + "CREATE EVENT ev ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' DO DELETE FROM t WHERE n = 1"},
	"event schedule":              {"CREATE EVENT ev ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' DO SELECT 1", "CREATE EVENT ev ON SCHEDULE EVERY 2 DAY STARTS '2030-01-01 00:00:00' DO SELECT 1"},
	"event disabled":              {"CREATE EVENT ev ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' DO SELECT 1", "CREATE EVENT ev ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' DISABLE DO SELECT 1"},
	"type without a conversion":   {base + "ALTER TABLE t ADD u UUID", base + "ALTER TABLE t ADD u BIGINT"},
	"many differences at once":    {base + "ALTER TABLE t ADD KEY i (n), ADD CONSTRAINT ch CHECK (n > 0)", "CREATE TABLE t (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, s VARCHAR(40) COLLATE utf8mb4_bin, k INT, KEY i (k, s), CONSTRAINT ch CHECK (k > 0)) COMMENT='x'"},
}

const circle = "CREATE TABLE a (id INT PRIMARY KEY, b INT); CREATE TABLE b (id INT PRIMARY KEY, a INT);" +
	"ALTER TABLE a ADD CONSTRAINT ab FOREIGN KEY (b) REFERENCES b (id); ALTER TABLE b ADD CONSTRAINT ba FOREIGN KEY (a) REFERENCES a (id)"

// TestProbesConvergeInBothDirections runs every probe by itself. PTAH_TEST_PROBE names one to look at.
func TestProbesConvergeInBothDirections(t *testing.T) {
	s := mytest.Start(t)
	names := slices.Sorted(maps.Keys(probes))
	if only := os.Getenv("PTAH_TEST_PROBE"); only != "" {
		require.Contains(t, probes, only)
		names = []string{only}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			a, b := create(t, s, probes[name].a), create(t, s, probes[name].b)
			ctx := testContext(t)
			modelA, err := engine.Inspect(ctx, a)
			require.NoError(t, err)
			modelB, err := engine.Inspect(ctx, b)
			require.NoError(t, err)
			require.Empty(t, slices.Concat(modelA.Unmodelled, modelB.Unmodelled))
			observed, err := engine.Observe(ctx, engine.Options{URL: a}, modelB)
			require.NoError(t, err)
			assert.Positive(t, observed.Total, "the difference is not observed")
			assert.NotEmpty(t, converge(t, engine.Options{URL: a}, modelB).Statements)
			assert.NotEmpty(t, converge(t, engine.Options{URL: b}, modelA).Statements)
		})
	}
}

// TestForeignKeyStaysBesideAnotherIndex: an index that the server may have made for a foreign key by itself goes silently where another one could serve
// the key. It is written down in the same statement, and the key is never away.
func TestForeignKeyStaysBesideAnotherIndex(t *testing.T) {
	s := mytest.Start(t)
	made := parent + fk
	doc := converge(t, engine.Options{URL: create(t, s, made)}, declare(t, s, made+"; ALTER TABLE c ADD UNIQUE u (p)"))
	assert.Equal(t, []string{"ALTER TABLE `c` DROP INDEX `k`,\n  ADD KEY `k` (`p`),\n  ADD UNIQUE KEY `u` (`p`)"}, statements(doc))
	assert.False(t, doc.Destructive)
}
