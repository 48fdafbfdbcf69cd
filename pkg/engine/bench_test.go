package engine_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// wideSchema has n tables of 12 columns with a primary key, a foreign key, two indexes, a check and an enum each.
func wideSchema(n int) []string {
	var out []string
	for i := range n {
		parent := max(i-1, 0)
		out = append(out, fmt.Sprintf(`CREATE TYPE e%[1]d AS ENUM ('a', 'b', 'c');
CREATE TABLE t%[1]d (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, parent bigint REFERENCES t%[2]d, k e%[1]d NOT NULL DEFAULT 'a', name text NOT NULL, code varchar(40),
 amount numeric(12,2) DEFAULT 0, created timestamptz NOT NULL DEFAULT now(), flags int[] DEFAULT '{}', note text, active boolean DEFAULT true, extra jsonb, score double precision, CHECK (amount >= 0));
CREATE INDEX ON t%[1]d (name, created DESC); CREATE INDEX ON t%[1]d (lower(code)) WHERE active`, i, parent))
	}
	return out
}

// BenchmarkEngine measures one wide database; PTAH_BENCH_TABLES sets its size.
func BenchmarkEngine(b *testing.B) {
	tables := 200
	if n, err := strconv.Atoi(os.Getenv("PTAH_BENCH_TABLES")); err == nil {
		tables = n
	}
	s := pgtest.Start(b)
	url := s.NewDatabase(b)
	sql := wideSchema(tables)
	for len(sql) > 0 {
		n := min(100, len(sql))
		s.Exec(b, url, strings.Join(sql[:n], ";\n"))
		sql = sql[n:]
	}
	db, err := engine.Inspect(testContext(b), url)
	require.NoError(b, err)
	data, err := model.Encode(db)
	require.NoError(b, err)
	b.Run("inspect", func(b *testing.B) {
		for b.Loop() {
			_, err := engine.Inspect(testContext(b), url)
			require.NoError(b, err)
		}
	})
	b.Run("plan without a change", func(b *testing.B) {
		for b.Loop() {
			result, err := engine.Plan(testContext(b), engine.Options{URL: url}, db)
			require.NoError(b, err)
			require.True(b, result.NoChange)
		}
	})
	b.Run("compare", func(b *testing.B) {
		for b.Loop() {
			require.True(b, diff.Compare(db, db).Empty())
		}
	})
	b.Run("fingerprint", func(b *testing.B) {
		for b.Loop() {
			model.Fingerprint(db)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			_, err := model.Decode(data)
			require.NoError(b, err)
		}
	})
}
