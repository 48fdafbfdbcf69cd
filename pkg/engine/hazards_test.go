package engine_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/plan"
)

// lockModes are the table locks of PostgreSQL from the weakest to the strongest, as a plan names them. Those of plain reading are no lock to speak of.
var lockModes = []string{"", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE"}

// modeNames are the same as pg_locks names them.
var modeNames = map[string]int{
	"AccessShareLock": 0, "RowShareLock": 0, "RowExclusiveLock": 1, "ShareUpdateExclusiveLock": 2, "ShareLock": 3, "ShareRowExclusiveLock": 4, "ExclusiveLock": 5, "AccessExclusiveLock": 6,
}

// What a hazard says of work that takes the longer the more rows there are.
var (
	rewritesText = []string{"rewrites the table"}
	readsText    = []string{"rewrites the table", "reads the whole table", "reads the whole materialized view", "reads every table", "reads all the tables", "builds an index", "builds indexes"}
)

// witness asks the server what one statement after the other did to what was there before the plan.
type witness struct {
	ctx   context.Context
	conn  *pgx.Conn
	start map[uint32]heldRelation
}

// heldRelation is a table, view, sequence, index or composite type of a user's.
type heldRelation struct {
	name, kind string
	file       uint32 // another one is another copy of all rows
	scans      int64
}

func newWitness(t *testing.T, url string) *witness {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	w := &witness{ctx: ctx}
	var err error
	w.conn, err = pgx.Connect(w.ctx, url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.conn.Close(context.Background()) })
	w.run(t, "SET search_path = ''; SET timezone = 'UTC'; SET check_function_bodies = off")
	w.start = w.relations(t)
	return w
}

func (w *witness) run(t *testing.T, sql string) {
	t.Helper()
	_, err := w.conn.PgConn().Exec(w.ctx, sql).ReadAll()
	require.NoError(t, err, "%s", sql)
}

func (w *witness) relations(t *testing.T) map[uint32]heldRelation {
	t.Helper()
	rows, err := w.conn.Query(w.ctx, `SELECT c.oid, n.nspname || '.' || c.relname, c.relkind::text, c.relfilenode, COALESCE(pg_catalog.pg_stat_get_xact_numscans(c.oid), 0)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`)
	require.NoError(t, err)
	out := map[uint32]heldRelation{}
	var oid uint32
	var r heldRelation
	_, err = pgx.ForEachRow(rows, []any{&oid, &r.name, &r.kind, &r.file, &r.scans}, func() error {
		out[oid] = r
		return nil
	})
	require.NoError(t, err)
	return out
}

// locks are the strongest ones that the transaction holds.
func (w *witness) locks(t *testing.T) map[uint32]int {
	t.Helper()
	rows, err := w.conn.Query(w.ctx, `SELECT relation, mode FROM pg_catalog.pg_locks WHERE pid = pg_catalog.pg_backend_pid() AND locktype = 'relation' AND granted`)
	require.NoError(t, err)
	out := map[uint32]int{}
	var oid uint32
	var mode string
	_, err = pgx.ForEachRow(rows, []any{&oid, &mode}, func() error {
		out[oid] = max(out[oid], modeNames[mode])
		return nil
	})
	require.NoError(t, err)
	return out
}

// lies runs a statement in a transaction of its own and returns what its lock and hazard leave out or make up. What was there before the plan, others
// use: nothing about it may be left out. What the plan itself has made counts only against what is made up.
func (w *witness) lies(t *testing.T, s plan.Statement) []string {
	t.Helper()
	w.run(t, "BEGIN")
	before := w.relations(t)
	w.run(t, s.SQL)
	after, locks := w.relations(t), w.locks(t)
	w.run(t, "COMMIT")
	var out []string
	lie := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }

	taken, most, on, old := 0, 0, "", false
	for oid, mode := range locks {
		r, known := before[oid]
		if !known {
			r = after[oid]
		}
		if r.kind == "" {
			continue // of the catalog, or an overflow
		}
		most = max(most, mode)
		_, known = w.start[oid]
		old = old || known && mode > 0
		if !known || r.kind == "c" {
			continue
		}
		if mode > taken {
			taken, on = mode, r.name
		}
		if mode >= modeNames["ShareLock"] && strings.Contains("rpvm", r.kind) && !names(s, r.name) {
			lie("locks %s in mode %s and does not name it", r.name, lockModes[mode])
		}
	}
	switch said := slices.Index(lockModes, s.Lock); {
	case said < taken:
		lie("says lock %q and takes %s on %s", s.Lock, lockModes[taken], on)
	case said > max(taken, most):
		lie("says lock %q and takes %q", s.Lock, lockModes[most])
	case said > 0 && !old:
		lie("says lock %q and takes none on what was there", s.Lock)
	}

	var rewritten, read, anyRewritten, anyRead bool
	for oid, b := range before {
		a, stays := after[oid]
		if !stays || b.kind != "r" && b.kind != "m" {
			continue
		}
		_, old := w.start[oid]
		anyRewritten, anyRead = anyRewritten || a.file != b.file, anyRead || a.scans != b.scans
		rewritten, read = rewritten || old && a.file != b.file, read || old && a.scans != b.scans
	}
	says := func(texts []string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(s.Hazard, text) })
	}
	switch {
	case rewritten && !says(rewritesText):
		lie("rewrites a table and does not say it")
	case !anyRewritten && says(rewritesText) && !strings.Contains(s.Hazard, "if "):
		lie("says that it rewrites a table and does not")
	}
	switch {
	case read && !says(readsText) && !strings.Contains(s.Hazard, "fails if the table holds rows"):
		lie("reads a whole table and does not say it")
	case !anyRead && !anyRewritten && says(readsText) && !strings.Contains(s.Hazard, "if the default"):
		lie("says that it reads a whole table and does not")
	}
	return out
}

// names reports whether a person who reads a statement sees a table's name.
func names(s plan.Statement, table string) bool {
	schema, name, _ := strings.Cut(table, ".")
	return s.Table == table || strings.Contains(s.SQL, table) || strings.Contains(s.SQL, strconv.Quote(schema)+"."+strconv.Quote(name)) || strings.Contains(s.SQL, `"`+schema+`"."`+strings.ReplaceAll(name, `"`, `""`)+`"`) ||
		strings.Contains(s.Hazard, table) || strings.HasSuffix(s.Hazard, " more as well")
}

// hazardProbes are differences whose cost depends on more than their kind.
var hazardProbes = map[string]probe{
	"cost volatile default":          {base, base + "ALTER TABLE t ADD k uuid DEFAULT gen_random_uuid()"},
	"cost stable default":            {base, base + "ALTER TABLE t ADD k timestamptz DEFAULT now(), ADD l text NOT NULL DEFAULT upper('x'), ADD m timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP"},
	"cost volatile function":         {base + "CREATE FUNCTION r() RETURNS int LANGUAGE plpgsql AS 'begin return 1; end'", base + "CREATE FUNCTION r() RETURNS int LANGUAGE plpgsql AS 'begin return 1; end'; ALTER TABLE t ADD k int DEFAULT r()"},
	"cost immutable function":        {base + fn, base + fn + "ALTER TABLE t ADD k int DEFAULT f(1)"},
	"cost function of the plan":      {base, base + "CREATE FUNCTION r() RETURNS int STABLE LANGUAGE plpgsql AS 'begin return 1; end'; CREATE FUNCTION w() RETURNS int LANGUAGE plpgsql AS 'begin return 1; end'; ALTER TABLE t ADD k int DEFAULT r(); CREATE TABLE z (a int); ALTER TABLE z ADD l int DEFAULT w()"},
	"cost constrained domain":        {base + "CREATE DOMAIN d AS int CHECK (VALUE > 0)", base + "CREATE DOMAIN d AS int CHECK (VALUE > 0); ALTER TABLE t ADD k d"},
	"cost plain domain":              {base + "CREATE DOMAIN d AS int", base + "CREATE DOMAIN d AS int; ALTER TABLE t ADD k d"},
	"cost domain with a default":     {base + "CREATE DOMAIN d AS int DEFAULT 5", base + "CREATE DOMAIN d AS int DEFAULT 5; ALTER TABLE t ADD k d"},
	"cost domain over a domain":      {base + "CREATE DOMAIN e AS int NOT NULL; CREATE DOMAIN d AS e", base + "CREATE DOMAIN e AS int NOT NULL; CREATE DOMAIN d AS e; ALTER TABLE t ADD k d DEFAULT 4"},
	"cost to a constrained domain":   {base + "CREATE DOMAIN d AS text CHECK (VALUE <> '')", "CREATE DOMAIN d AS text CHECK (VALUE <> ''); CREATE TABLE t (id int NOT NULL, n int, s d, v varchar(20)); "},
	"cost longer numbers":            {"CREATE TABLE t (a numeric(8,2), b numeric(8,2), c varbit(4), d time(3), e timestamp(3), f timestamptz, g interval(3), h cidr)", "CREATE TABLE t (a numeric(12,2), b numeric, c varbit(8), d time(6), e timestamp, f timestamptz(6), g interval(6), h inet)"},
	"cost text and varchar":          {"CREATE TABLE t (a text, b varchar(9), c varchar, d char(4), e text[])", "CREATE TABLE t (a varchar, b text, c text, d char(9), e varchar[])"},
	"cost varchar under a key":       {"CREATE TABLE t (a varchar(9) PRIMARY KEY, b varchar(9) UNIQUE); CREATE TABLE u (a varchar(9) REFERENCES t); CREATE INDEX i ON t (b) WHERE a <> ''; CREATE INDEX j ON t (lower(b))", "CREATE TABLE t (a varchar(20) PRIMARY KEY, b varchar(20) UNIQUE); CREATE TABLE u (a varchar(20) REFERENCES t); CREATE INDEX i ON t (b) WHERE a <> ''; CREATE INDEX j ON t (lower(b))"},
	"cost collation under an index":  {"CREATE TABLE t (a text); CREATE INDEX i ON t (a)", `CREATE TABLE t (a text COLLATE "POSIX"); CREATE INDEX i ON t (a)`},
	"cost time zone":                 {"CREATE TABLE t (a timestamp, b timestamptz); CREATE INDEX i ON t (a)", "CREATE TABLE t (a timestamptz, b timestamp); CREATE INDEX i ON t (a)"},
	"cost enum to text":              {"CREATE TYPE e AS ENUM ('a'); CREATE TABLE t (a e, b text)", "CREATE TYPE e AS ENUM ('a'); CREATE TABLE t (a text, b e)"},
	"cost not null under a check":    {"CREATE TABLE t (a int, CONSTRAINT k CHECK (a IS NOT NULL))", "CREATE TABLE t (a int NOT NULL, CONSTRAINT k CHECK (a IS NOT NULL))"},
	"cost key on a partitioned":      {nested, nested + "CREATE TABLE r (k text, id int); ALTER TABLE p ADD CONSTRAINT pk UNIQUE (k, id); ALTER TABLE r ADD FOREIGN KEY (k, id) REFERENCES p (k, id)"},
	"cost table under a foreign key": {"CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (p int REFERENCES p); CREATE TABLE d (p int REFERENCES p)", "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE d (p int)"},
	"cost new child":                 {"CREATE TABLE p (id int PRIMARY KEY, n int)", "CREATE TABLE p (id int PRIMARY KEY, n int); CREATE TABLE c (p int REFERENCES p, x int) INHERITS (p)"},
	"cost trigger on a parent":       {nested + trigger, nested + trigger + "CREATE TRIGGER g BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION tf()"},
	"cost sequence of two":           {"CREATE SEQUENCE q; CREATE TABLE t (a int DEFAULT nextval('q'), b int)", "CREATE SEQUENCE q INCREMENT 2; CREATE TABLE t (a int DEFAULT nextval('q'), b int DEFAULT nextval('q')); ALTER SEQUENCE q OWNED BY t.a"},
	"cost domain of two tables":      {"CREATE DOMAIN d AS int; CREATE TABLE t (a d); CREATE TABLE u (a d)", "CREATE DOMAIN d AS int NOT NULL CHECK (VALUE > 0); CREATE TABLE t (a d); CREATE TABLE u (a d)"},
	"cost new table": {
		trigger + "CREATE TABLE o (id int PRIMARY KEY)", trigger + `CREATE TABLE o (id int PRIMARY KEY); CREATE TABLE p (id int PRIMARY KEY, n text UNIQUE);
CREATE TABLE c (id serial PRIMARY KEY, p int REFERENCES p, o int REFERENCES o, c int REFERENCES c, x text CHECK (x > '')); CREATE INDEX ON c (x); COMMENT ON TABLE c IS 'x'; COMMENT ON INDEX c_x_idx IS 'x';
CREATE TRIGGER tr BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION tf(); CREATE STATISTICS st ON id, x FROM c; ALTER TABLE c ENABLE ROW LEVEL SECURITY; ALTER TABLE c FORCE ROW LEVEL SECURITY;
CREATE POLICY po ON c USING (true); CREATE RULE r AS ON DELETE TO c DO NOTHING; ALTER TABLE c ALTER x SET STORAGE EXTERNAL; ALTER TABLE c REPLICA IDENTITY FULL; CREATE SEQUENCE s OWNED BY c.x;
CREATE MATERIALIZED VIEW m AS SELECT id FROM o; CREATE INDEX mi ON m (id); CREATE VIEW v AS SELECT id FROM o; ALTER VIEW v ALTER id SET DEFAULT 4; GRANT SELECT ON c TO PUBLIC; GRANT SELECT (id) ON p TO PUBLIC`,
	},
	"cost index options": {"CREATE TABLE t (a int[], b int); CREATE INDEX i ON t USING gin (a); CREATE INDEX j ON t (b); CREATE INDEX k ON t USING brin (b)", "CREATE TABLE t (a int[], b int); CREATE INDEX i ON t USING gin (a) WITH (fastupdate = off); CREATE INDEX j ON t (b) WITH (fillfactor = 50); CREATE INDEX k ON t USING brin (b) WITH (autosummarize = on)"},
}

// TestHazardsTellTheTruth runs the plans of all probes, in both directions, statement by statement, and asks the server what each statement did: which
// tables it locked and how, which it wrote anew and which it read as a whole. Neither may be missing from what the plan says, nor be made up there.
func TestHazardsTellTheTruth(t *testing.T) {
	s := pgtest.Start(t)
	all := allProbes(s.Major())
	maps.Copy(all, hazardProbes)
	if only := os.Getenv("PTAH_TEST_PROBE"); only != "" {
		maps.DeleteFunc(all, func(name string, _ probe) bool { return !strings.Contains(name, only) })
		require.NotEmpty(t, all)
	}
	var together []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(alone, name) {
			together = append(together, name)
			continue
		}
		t.Run(name, func(t *testing.T) { assertHonest(t, s, []string{all[name].a}, []string{all[name].b}) })
	}
	a, b := sharedDatabase(together, all)
	t.Run("together", func(t *testing.T) { assertHonest(t, s, a, b) })
}

func assertHonest(t *testing.T, s *pgtest.Server, a, b []string) {
	t.Helper()
	for _, way := range [][][]string{{a, b}, {b, a}} {
		target := s.NewDatabase(t, way[0]...)
		declared, err := engine.Inspect(testContext(t), s.NewDatabase(t, way[1]...))
		require.NoError(t, err)
		doc := planned(t, engine.Options{URL: target}, declared)
		w := newWitness(t, target)
		for _, statement := range doc.Statements {
			for _, lie := range w.lies(t, statement) {
				assert.Fail(t, lie, "%s\n(%s; lock %q; hazard %q)", statement.SQL, statement.Kind, statement.Lock, statement.Hazard)
			}
		}
	}
}

// TestDomainThatRefusesNothing: whether the server has a cast is asked without a value that a domain could refuse.
func TestDomainThatRefusesNothing(t *testing.T) {
	s := pgtest.Start(t)
	const domain = "CREATE DOMAIN d AS int NOT NULL; "
	doc := converge(t, engine.Options{URL: s.NewDatabase(t, domain+"CREATE TABLE t (n int)")}, declare(t, s, domain+"CREATE TABLE t (n d)"))
	assert.Equal(t, []string{`ALTER TABLE "public"."t" ALTER COLUMN "n" TYPE public.d`}, statements(doc))
}

// TestMaterializedViewsReadWhatIsThere: over tables that the plan creates there is nothing to read.
func TestMaterializedViewsReadWhatIsThere(t *testing.T) {
	s := pgtest.Start(t)
	const view = "CREATE VIEW v AS SELECT n FROM t; CREATE MATERIALIZED VIEW m AS SELECT n FROM v"
	const routine = "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE MATERIALIZED VIEW m AS SELECT f() AS n"
	hazards := func(before, declared string) map[string]string {
		out := map[string]string{}
		for _, statement := range planned(t, engine.Options{URL: s.NewDatabase(t, before)}, declare(t, s, declared)).Statements {
			out[statement.Object] = statement.Hazard
		}
		return out
	}
	assert.Empty(t, hazards("", "CREATE TABLE t (n int); "+view)["public.m"])
	assert.Contains(t, hazards("CREATE TABLE t (n int)", "CREATE TABLE t (n int); "+view)["public.m"], "reads all the tables")
	assert.Contains(t, hazards("", routine)["public.m"], "reads all the tables", "nobody knows what a routine reads")
}
