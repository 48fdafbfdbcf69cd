package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTouchesProtected(t *testing.T) {
	protected := []string{"payroll", "hr.People", "audit.log"}
	cases := map[string]struct {
		sql, table string
		want       []string
	}{
		"another table":                   {"ALTER TABLE orders ADD a int", "", nil},
		"a column of the same name":       {"ALTER TABLE orders ADD payroll int", "", nil},
		"a literal of the same name":      {"COMMENT ON TABLE orders IS 'payroll'", "", nil},
		"a foreign key to it":             {"ALTER TABLE orders ADD FOREIGN KEY (p) REFERENCES payroll (id)", "", nil},
		"reading it":                      {"CREATE VIEW v AS SELECT * FROM payroll", "", nil},
		"the planner says so":             {"DROP INDEX payroll_i", "public.payroll", []string{"payroll"}},
		"the planner says so, elsewhere":  {"DROP INDEX i", "crm.people", nil},
		"alter":                           {"ALTER TABLE payroll ADD a int", "", []string{"payroll"}},
		"alter in any schema":             {`ALTER TABLE ONLY "x"."PAYROLL" ADD a int`, "", []string{"payroll"}},
		"alter with the schema":           {"ALTER TABLE HR.people ADD a int", "", []string{"hr.People"}},
		"alter without the schema":        {"ALTER TABLE people ADD a int", "", []string{"hr.People"}},
		"alter in another schema":         {"ALTER TABLE crm.people ADD a int", "", nil},
		"with a catalog":                  {"ALTER TABLE db.hr.people ADD a int", "", []string{"hr.People"}},
		"create":                          {"CREATE TABLE IF NOT EXISTS payroll (id int)", "", []string{"payroll"}},
		"create a partition":              {"CREATE TABLE p1 PARTITION OF payroll FOR VALUES IN (1)", "", []string{"payroll"}},
		"create a child":                  {"CREATE TABLE c () INHERITS (x, hr.people)", "", []string{"hr.People"}},
		"create an index":                 {"CREATE INDEX i ON ONLY payroll (id)", "", []string{"payroll"}},
		"create a trigger":                {"CREATE TRIGGER g BEFORE UPDATE OF a ON payroll EXECUTE FUNCTION f()", "", []string{"payroll"}},
		"create a policy":                 {"CREATE POLICY p ON hr.people USING (true)", "", []string{"hr.People"}},
		"create a rule":                   {"CREATE RULE r AS ON INSERT TO payroll DO NOTHING", "", []string{"payroll"}},
		"drop several":                    {"DROP TABLE IF EXISTS a, payroll, hr.people", "", []string{"hr.People", "payroll"}},
		"drop a trigger":                  {"DROP TRIGGER g ON payroll", "", []string{"payroll"}},
		"drop its schema":                 {"DROP SCHEMA IF EXISTS other, hr", "", []string{"hr.People"}},
		"drop with cascade":               {"DROP TABLE orders CASCADE", "", []string{"audit.log", "hr.People", "payroll"}},
		"drop a column with cascade":      {"ALTER TABLE orders DROP COLUMN a CASCADE", "", []string{"audit.log", "hr.People", "payroll"}},
		"a cascading foreign key":         {"ALTER TABLE orders ADD FOREIGN KEY (p) REFERENCES t ON DELETE CASCADE", "", nil},
		"truncate":                        {"TRUNCATE TABLE ONLY a *, payroll RESTART IDENTITY", "", []string{"payroll"}},
		"insert":                          {"INSERT INTO payroll VALUES (1)", "", []string{"payroll"}},
		"update":                          {"UPDATE ONLY payroll SET a = 1 WHERE true", "", []string{"payroll"}},
		"delete":                          {"DELETE FROM audit.log WHERE true", "", []string{"audit.log"}},
		"merge":                           {"MERGE INTO payroll USING u ON true WHEN MATCHED THEN DELETE", "", []string{"payroll"}},
		"comment":                         {"COMMENT ON TABLE payroll IS 'x'", "", []string{"payroll"}},
		"comment on a column":             {"COMMENT ON COLUMN hr.people.name IS 'x'", "", []string{"hr.People"}},
		"comment on a constraint":         {"COMMENT ON CONSTRAINT c ON payroll IS 'x'", "", []string{"payroll"}},
		"grant":                           {"GRANT SELECT (a) ON TABLE a, payroll TO r", "", []string{"payroll"}},
		"grant on a schema's tables":      {"GRANT ALL ON ALL TABLES IN SCHEMA audit TO r", "", []string{"audit.log"}},
		"grant on a function":             {"GRANT EXECUTE ON FUNCTION payroll() TO r", "", nil},
		"rename":                          {"ALTER TABLE payroll RENAME TO old", "", []string{"payroll"}},
		"rename into its place":           {"ALTER TABLE hr.staff RENAME TO people", "", []string{"hr.People"}},
		"rename into a place elsewhere":   {"ALTER TABLE crm.staff RENAME TO people", "", nil},
		"move into its place":             {"ALTER TABLE crm.people SET SCHEMA hr", "", []string{"hr.People"}},
		"attach it":                       {"ALTER TABLE parent ATTACH PARTITION hr.people DEFAULT", "", []string{"hr.People"}},
		"a routine that may do anything":  {"DO $$ BEGIN END $$", "", []string{"audit.log", "hr.People", "payroll"}},
		"what cannot be read":             {"CREATE TABLE x (", "", []string{"audit.log", "hr.People", "payroll"}},
		"every table of a tablespace":     {"ALTER TABLE ALL IN TABLESPACE a SET TABLESPACE b", "", []string{"audit.log", "hr.People", "payroll"}},
		"a sequence":                      {"SELECT setval('payroll_id_seq', 1)", "", nil},
		"a function that may do anything": {"SELECT wipe('payroll')", "", []string{"audit.log", "hr.People", "payroll"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := Document{Dialect: DialectPostgres, Statements: []Statement{{SQL: "CREATE TABLE fine (id int)"}, {SQL: c.sql, Table: c.table}}}
			assert.Equal(t, c.want, TouchesProtected(d, protected))
		})
	}
	assert.Empty(t, TouchesProtected(Document{Dialect: DialectPostgres, Statements: []Statement{{SQL: "DROP TABLE t CASCADE"}}}, nil))
}
