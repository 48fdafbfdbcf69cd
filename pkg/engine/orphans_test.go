package engine_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/frame"
)

// orphansQuery finds checks and constraints behind NOT NULL that count as inherited and that no parent has. PostgreSQL leaves them in a child when its parent
// loses the column, and refuses to drop them from then on.
const orphansQuery = `SELECT c.conrelid::regclass || '.' || c.conname FROM pg_constraint c WHERE c.contype IN ('c', 'n') AND c.conrelid <> 0 AND c.coninhcount > 0
 AND NOT EXISTS (SELECT FROM pg_inherits i JOIN pg_constraint up ON up.conrelid = i.inhparent AND up.contype = c.contype AND NOT up.connoinherit
  WHERE i.inhrelid = c.conrelid AND (c.contype = 'n' OR up.conname = c.conname) AND (c.contype = 'c'
   OR (SELECT attname FROM pg_attribute WHERE attrelid = up.conrelid AND attnum = up.conkey[1]) = (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1])))
ORDER BY 1`

// orphans asks the catalog of a database for them, which a model does not tell apart.
func orphans(ctx context.Context, url string) ([]string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, orphansQuery)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// TestOrphans: what a parent's lost column has left behind is a part of the model, and not dropped.
func TestOrphans(t *testing.T) {
	s := pgtest.Start(t)
	const lost = "; ALTER TABLE zp DROP COLUMN a"
	const checked = "CREATE TABLE zp (a int CONSTRAINT k CHECK (a > 0), b int); CREATE TABLE c (a int, b int) INHERITS (zp)" + lost
	const kept = "CREATE TABLE zp (b int); CREATE TABLE c (a int CONSTRAINT k CHECK (a > 0), b int) INHERITS (zp)"
	const free = "CREATE TABLE zp (b int); CREATE TABLE c (a int, b int) INHERITS (zp)"
	const filled = "CREATE TABLE zp (a int NOT NULL, b int); CREATE TABLE c (a int, b int) INHERITS (zp)" + lost
	const alone = "UPDATE pg_constraint SET coninhcount = 0, conislocal = true WHERE conrelid = 'c'::regclass"
	const check = `the check "k" of table "public"."c" would be dropped: PostgreSQL keeps it as inherited`
	const notNull = `the NOT NULL constraint "zp_a_not_null" of table "public"."c" would be dropped or renamed: PostgreSQL keeps it as inherited`
	for name, c := range map[string]struct {
		since   int
		a, b    string
		refused string
		same    bool
	}{
		"declared":           {0, checked, kept, "", true},
		"not declared":       {0, checked, free, check, false},
		"declared otherwise": {0, checked, "CREATE TABLE zp (b int); CREATE TABLE c (a int CONSTRAINT k CHECK (a > 1), b int) INHERITS (zp)", check, false},
		"the child's too":    {0, "CREATE TABLE zp (a int CONSTRAINT k CHECK (a > 0), b int); CREATE TABLE c (a int CONSTRAINT k CHECK (a > 0), b int) INHERITS (zp)" + lost, free, check, false},
		"no parent":          {0, checked + "; ALTER TABLE c NO INHERIT zp; DROP TABLE zp", "CREATE TABLE c (a int, b int)", check, false},
		"renamed table":      {0, checked, "-- +ptah renamed_from=c\nCREATE TABLE d (a int, b int); CREATE TABLE zp (b int); ALTER TABLE d INHERIT zp", `the check "k" of table "public"."d" would be dropped`, false},
		"made its own":       {0, checked + "; " + alone, free, "", false},
		"column goes":        {0, checked, "CREATE TABLE zp (b int); CREATE TABLE c (b int) INHERITS (zp)", "", false},
		"table goes":         {0, checked, "CREATE TABLE zp (b int)", "", false},
		"grandchild":         {0, "CREATE TABLE zp (a int CONSTRAINT k CHECK (a > 0), b int); CREATE TABLE c (a int) INHERITS (zp); CREATE TABLE g () INHERITS (c)" + lost, "CREATE TABLE zp (b int); CREATE TABLE c (a int CONSTRAINT k CHECK (a > 0)) INHERITS (zp); CREATE TABLE g () INHERITS (c)", "", true},

		"not null, declared":           {18, filled, "CREATE TABLE zp (b int); CREATE TABLE c (a int CONSTRAINT zp_a_not_null NOT NULL, b int) INHERITS (zp)", "", true},
		"not null, not declared":       {18, filled, free, notNull, false},
		"not null, another name":       {18, filled, "CREATE TABLE zp (b int); CREATE TABLE c (a int NOT NULL, b int) INHERITS (zp)", notNull, false},
		"not null, made its own":       {18, filled + "; " + alone, free, "", false},
		"not null, renamed column":     {18, filled, "CREATE TABLE zp (b int); CREATE TABLE c (\n-- +ptah renamed_from=a\nx int, b int) INHERITS (zp)", notNull, false},
		"not null, column goes":        {18, filled, "CREATE TABLE zp (b int); CREATE TABLE c (b int) INHERITS (zp)", "", false},
		"not null, the child's, usual": {18, "CREATE TABLE zp (a int NOT NULL, b int); CREATE TABLE c (a int NOT NULL, b int) INHERITS (zp)" + lost, free, `the NOT NULL constraint "c_a_not_null" of table "public"."c" would be dropped or renamed`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if s.Major() < c.since {
				t.Skip("NOT NULL is no constraint before PostgreSQL 18")
			}
			target := s.NewDatabase(t, c.a)
			if c.refused != "" {
				_, err := engine.Plan(testContext(t), engine.Options{URL: target}, declare(t, s, c.b))
				assert.Contains(t, refusal(t, err, frame.CodeUnsupportedObject).Message, c.refused)
				return
			}
			desired := declare(t, s, c.b)
			result, err := engine.Plan(testContext(t), engine.Options{URL: target}, desired)
			require.NoError(t, err)
			require.Equal(t, c.same, result.NoChange, "%v", statements(result.Document))
			converge(t, engine.Options{URL: target}, desired)
		})
	}
}
