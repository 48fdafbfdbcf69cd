package mysql_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

func quoteIdent(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// add draws one more statement.
func (d *drawer) add(format string, args ...any) { d.sql = append(d.sql, fmt.Sprintf(format, args...)) }

func (d *drawer) of(choices ...string) string { return choices[d.pick(len(choices))] }

// statements draws what comes after the tables.
func (d *drawer) statements() {
	d.add("SET SESSION system_versioning_alter_history = KEEP")
	for i := range d.db.Tables {
		t := &d.db.Tables[i]
		d.Within("parts "+t.Name.Name, func() { d.parts(t) })
	}
	for _, name := range []string{"e1", "e 2", "e3"} {
		d.Within(name, func() {
			if d.yes() {
				d.extraTable(name)
			}
		})
	}
	d.Within("composite", d.compositeKey)
	for i := range 3 {
		d.Within("routine "+strconv.Itoa(i), func() { d.routine(i) })
	}
	for i := range 3 {
		d.Within("view "+strconv.Itoa(i), func() { d.view(i) })
	}
	for i := range d.db.Tables {
		t := &d.db.Tables[i]
		d.Within("triggers "+t.Name.Name, func() { d.triggers(t) })
	}
	d.Within("events", d.events)
}

// parts draws what tables of the model can have besides.
func (d *drawer) parts(t *model.Table) {
	table := quoteIdent(t.Name.Name)
	partitioned := t.MySQL.Partitioning != ""
	var texts []string
	for _, c := range t.Columns {
		if c.Collation != "" && (strings.HasPrefix(c.Type, "varchar") || c.Type == "text") {
			texts = append(texts, c.Name)
		}
	}
	if len(texts) > 0 && !partitioned && !t.MySQL.Versioned && d.rarely() { // with versions, the server loses the index when a column comes
		same := []string{quoteIdent(texts[0])}
		for _, name := range texts[1:] {
			if t.Column(name).Collation == t.Column(texts[0]).Collation && d.yes() {
				same = append(same, quoteIdent(name))
			}
		}
		d.add("ALTER TABLE %s ADD FULLTEXT INDEX `words` (%s)", table, strings.Join(same, ", "))
	}
	if d.rarely() {
		d.add("ALTER TABLE %s ADD COLUMN `js` JSON%s", table, d.of("", " DEFAULT '{}'", " DEFAULT (json_object('a', 1))"))
	}
	if d.rarely() {
		d.add("ALTER TABLE %s ADD COLUMN `ts` TIMESTAMP%s", table, d.of(" NULL", " NOT NULL DEFAULT CURRENT_TIMESTAMP", " NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", "(3) NULL DEFAULT NULL"))
	}
	if d.rarely() {
		d.add("ALTER TABLE %s ADD COLUMN `packed` %s", table, d.of("TEXT COMPRESSED", "BLOB COMPRESSED", "BLOB"))
	}
	if d.rarely() && !partitioned {
		d.add("ALTER TABLE %s ADD COLUMN `place` POINT NOT NULL%s", table, d.of(", ADD SPATIAL INDEX `sp` (`place`)", "", " COMMENT 'x'"))
	}
	if names := integers(t); len(names) > 0 {
		c := quoteIdent(names[0])
		if d.rarely() {
			d.add("ALTER TABLE %s ADD COLUMN `txt` VARCHAR(40) CHARACTER SET %s AS (concat(%s, 'x')) %s", table, d.of("utf8mb4", "latin1"), c, d.of("VIRTUAL", "STORED"))
		}
		if d.rarely() {
			d.add("ALTER TABLE %s ADD COLUMN `vi` BIGINT AS (%s + %d) VIRTUAL%s", table, c, d.pick(2), d.of("", ", ADD KEY `on vi` (`vi`)", " INVISIBLE"))
		}
		if d.rarely() {
			d.add("ALTER TABLE %s ADD CONSTRAINT `second` CHECK (%s <> %d or %s is null)", table, c, d.pick(2)+5, c)
		}
		if d.rarely() && !partitioned {
			d.add("ALTER TABLE %s ADD CONSTRAINT `u n` UNIQUE (%s)", table, c)
		}
	}
	if d.rarely() && len(d.db.Sequences) > 0 {
		d.add("ALTER TABLE %s ADD COLUMN `counts` BIGINT DEFAULT (NEXT VALUE FOR %s)", table, quoteIdent(d.db.Sequences[0].Name.Name))
	}
	if d.rarely() && len(t.MySQL.Periods) == 0 {
		d.add("ALTER TABLE %s ADD COLUMN `from d` DATE NOT NULL DEFAULT '2020-01-01', ADD COLUMN `to d` DATE NOT NULL DEFAULT '2021-01-01', ADD PERIOD FOR `valid` (`from d`, `to d`)", table)
	}
	if d.rarely() && len(t.Options) == 0 {
		d.add("ALTER TABLE %s %s", table, d.of("STATS_PERSISTENT=1", "STATS_SAMPLE_PAGES=30", "AVG_ROW_LENGTH=100 MAX_ROWS=1000", "PAGE_CHECKSUM=1"))
	}
}

// extraTable draws tables that are about one thing: partitions, versions, another engine.
func (d *drawer) extraTable(name string) {
	table := quoteIdent(name)
	columns := "`id` INT NOT NULL, `d` DATE NOT NULL, `s` VARCHAR(10), `n` " + d.of("INT", "BIGINT", "INT NOT NULL DEFAULT 1")
	switch d.pick(8) {
	case 0:
		d.add("CREATE TABLE %s (%s, PRIMARY KEY (`id`)) PARTITION BY RANGE (`id`) (PARTITION `p0` VALUES LESS THAN (10)%s%s)", table, columns,
			d.of("", ", PARTITION `p1` VALUES LESS THAN (20) COMMENT = 'x'", ", PARTITION `p1` VALUES LESS THAN (30)"), d.of("", ", PARTITION `rest` VALUES LESS THAN MAXVALUE"))
	case 1:
		d.add("CREATE TABLE %s (%s) PARTITION BY LIST (`id`) (PARTITION `a` VALUES IN (1, 2), PARTITION `b` VALUES IN (%s)%s)", table, columns, d.of("3", "3, 4"), d.of("", ", PARTITION `c` DEFAULT"))
	case 2:
		d.add("CREATE TABLE %s (%s) PARTITION BY RANGE COLUMNS (`d`, `id`) (PARTITION `p0` VALUES LESS THAN ('2020-01-01', 5), PARTITION `p1` VALUES LESS THAN (MAXVALUE, MAXVALUE))", table, columns)
	case 3:
		d.add("CREATE TABLE %s (%s) PARTITION BY RANGE (year(`d`)) SUBPARTITION BY HASH (`id`) SUBPARTITIONS %d (PARTITION `p0` VALUES LESS THAN (2020), PARTITION `p1` VALUES LESS THAN MAXVALUE)", table, columns, d.pick(2)+2)
	case 4:
		d.add("CREATE TABLE %s (%s, KEY (`n`)) PARTITION BY KEY (`id`) PARTITIONS %d", table, columns, d.pick(2)+2)
	case 5:
		d.add("CREATE TABLE %s (%s%s) WITH SYSTEM VERSIONING%s", table, columns, d.of("", ", `o` INT WITHOUT SYSTEM VERSIONING"), d.of("", " PARTITION BY SYSTEM_TIME (PARTITION `h` HISTORY, PARTITION `now` CURRENT)"))
	case 6:
		d.add("CREATE TABLE %s (%s, `rs` TIMESTAMP(6) GENERATED ALWAYS AS ROW START%s, `re` TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (`rs`, `re`)) WITH SYSTEM VERSIONING", table, columns, []string{"", " INVISIBLE"}[d.Keep("invisible", 2)])
	default:
		d.add("CREATE TABLE %s (%s%s) ENGINE=%s%s", table, columns, d.of("", ", PRIMARY KEY (`id`, `d`)", ", UNIQUE KEY `u` (`s`)"), d.of("MyISAM", "Aria", "MEMORY"), d.of("", " COMMENT='x'"))
	}
}

// compositeKey draws two tables that a foreign key of two columns joins.
func (d *drawer) compositeKey() {
	if !d.rarely() {
		return
	}
	kind := d.of("INT", "BIGINT")
	d.add("CREATE TABLE `k parent` (`a` %s NOT NULL, `b` %s NOT NULL, %s (`b`, `a`)%s)", kind, kind, d.of("PRIMARY KEY", "UNIQUE KEY `u`"), d.of("", ", KEY `more` (`a`)"))
	d.add("CREATE TABLE `k child` (`x` %s, `y` %s, KEY `for it` (`y`, `x`), CONSTRAINT `to parent` FOREIGN KEY (`y`, `x`) REFERENCES `k parent` (`b`, `a`)%s%s)", kind, kind, d.of("", " ON DELETE CASCADE", " ON DELETE SET NULL"), d.of("", " ON UPDATE CASCADE"))
}

func (d *drawer) routine(i int) {
	if !d.yes() {
		return
	}
	name := quoteIdent([]string{"r1", "r`2", "R3"}[i])
	mode := d.of("", "", "", "SET SESSION sql_mode = 'ANSI_QUOTES'", "SET SESSION sql_mode = ''")
	if mode != "" {
		d.sql = append(d.sql, mode)
	}
	head := d.of("", " SQL SECURITY INVOKER", " COMMENT 'it''s'", " NO SQL")
	if d.yes() {
		d.add("CREATE PROCEDURE %s(IN `a b` %s, OUT o VARCHAR(%d))%s BEGIN DECLARE x INT DEFAULT %d; -- one; two\n SET o = 'it''s'; END", name, d.of("INT", "DECIMAL(10,2)", "TEXT"), d.pick(2)+9, head, d.pick(2))
	} else {
		d.add("CREATE FUNCTION %s(x %s) RETURNS %s DETERMINISTIC%s RETURN %s", name, d.of("INT", "BIGINT"), d.of("INT", "VARCHAR(20) CHARSET latin1", "BIGINT"), head, d.of("1", "x + 1"))
	}
	if mode != "" {
		d.add("SET SESSION sql_mode = DEFAULT")
	}
}

// view draws a view over tables, views and routines that are there.
func (d *drawer) view(i int) {
	if !d.yes() || len(d.db.Tables) == 0 {
		return
	}
	t, o := &d.db.Tables[d.pick(len(d.db.Tables))], &d.db.Tables[d.pick(len(d.db.Tables))]
	table, other := quoteIdent(t.Name.Name), quoteIdent(o.Name.Name)
	column := quoteIdent(t.Columns[d.pick(len(t.Columns))].Name)
	name := quoteIdent([]string{"b view", "c`view", "Dd"}[i])
	var query string
	switch d.pick(6) {
	case 0:
		query = fmt.Sprintf("SELECT x.`id`, x.%s AS `other` FROM %s x", column, table)
		if d.rarely() {
			query += " WHERE x.`id` > 0 WITH " + d.of("LOCAL", "CASCADED") + " CHECK OPTION"
		}
	case 1:
		query = fmt.Sprintf("SELECT x.`id`, y.`id` AS `second` FROM %s x %s JOIN %s y ON x.`id` = y.`id`", table, d.of("", "LEFT"), other)
	case 2:
		query = fmt.Sprintf("SELECT count(*) AS `n`, max(x.%s) AS `m` FROM %s x GROUP BY x.`id` HAVING count(*) > %d", column, table, d.pick(2))
	case 3:
		query = fmt.Sprintf("SELECT 1 AS `id` UNION ALL SELECT `id` FROM %s", table)
	case 4:
		query = fmt.Sprintf("WITH w AS (SELECT `id` FROM %s) SELECT w.`id` FROM w", table)
	default:
		if i > 0 && slices.ContainsFunc(d.sql, func(s string) bool { return strings.Contains(s, "VIEW `b view` ") }) {
			query = "SELECT * FROM `b view`"
			break
		}
		query = fmt.Sprintf("SELECT `id` FROM %s WHERE EXISTS (SELECT 1 FROM %s)", table, other)
	}
	algorithm := d.of("", "ALGORITHM=TEMPTABLE ")
	if strings.HasSuffix(query, "CHECK OPTION") {
		algorithm = ""
	}
	d.add("CREATE %s%s VIEW %s AS %s", algorithm, d.of("SQL SECURITY DEFINER", "SQL SECURITY INVOKER"), name, query)
}

func (d *drawer) triggers(t *model.Table) {
	table := quoteIdent(t.Name.Name)
	for i, name := range []string{"x", "y", "z"} {
		if !d.rarely() {
			continue
		}
		when := d.of("BEFORE INSERT", "AFTER INSERT", "BEFORE UPDATE", "AFTER DELETE")
		body := d.of("SET @x = 1", "SET @x = 2", "BEGIN IF @y THEN SET @x = 'it''s'; END IF; END")
		if strings.HasPrefix(when, "BEFORE") && len(integers(t)) > 0 && d.yes() {
			body = "SET NEW." + quoteIdent(integers(t)[0]) + " = " + strconv.Itoa(i)
		}
		d.add("CREATE TRIGGER %s %s ON %s FOR EACH ROW %s", quoteIdent(name+" "+strconv.Itoa(slices.Index(tableNames, t.Name.Name))), when, table, body)
	}
}

func (d *drawer) events() {
	if d.rarely() {
		d.add("CREATE EVENT `ev 2` ON SCHEDULE %s ON COMPLETION %sPRESERVE %s%s DO BEGIN SET @x = %d; END", d.of("AT '2035-01-01 00:00:00'", "EVERY 1 HOUR STARTS '2030-01-01 00:00:00'", "EVERY '1:30' HOUR_MINUTE STARTS '2030-01-01 00:00:00' ENDS '2031-01-01 00:00:00'"),
			d.of("NOT ", ""), d.of("ENABLE", "DISABLE"), d.of("", " COMMENT 'it''s'"), d.pick(2))
	}
}
