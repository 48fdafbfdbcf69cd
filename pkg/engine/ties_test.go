package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
	"github.com/ptah-run/ptah/pkg/frame"
)

// TestColumnsTiedToRoutines: before PostgreSQL 15 a column that was computed once goes, with its values, when what its expression used goes.
func TestColumnsTiedToRoutines(t *testing.T) {
	s := pgtest.Start(t)
	const (
		computed = fn + "CREATE TABLE t (n int, g int GENERATED ALWAYS AS (f(n)) STORED); "
		enum     = "CREATE TYPE e AS ENUM ('a', 'b'); "
		untied   = "; ALTER TABLE t ALTER g DROP EXPRESSION; "
		plain    = "CREATE TABLE t (n int, g int)"
	)
	for name, c := range map[string]struct {
		a, b, want string
		exclude    []string
	}{
		"the expression goes with the function":   {a: computed, b: plain, want: `column "g" of table "public"."t" is, or once was, computed with function "public"."f"`},
		"the expression went before the function": {a: computed + untied, b: plain, want: `column "g" of table "public"."t" is, or once was, computed with function "public"."f"`},
		"an excluded column":                      {a: computed + untied, b: "SELECT 1", want: `column "g" of table "public"."t" is, or once was, computed with function "public"."f"`, exclude: []string{"t"}},
		"a rebuilt enum": {
			a:    enum + "CREATE TABLE t (n int, g bool GENERATED ALWAYS AS (CASE WHEN n > 1 THEN 'a'::e ELSE 'b'::e END = 'a'::e) STORED)" + untied,
			b:    "CREATE TYPE e AS ENUM ('b', 'a'); CREATE TABLE t (n int, g bool)",
			want: `column "g" of table "public"."t" is, or once was, computed with enum "public"."e"`,
		},
		"the column goes as well": {a: computed + untied, b: "CREATE TABLE t (n int)"},
		"the function stays":      {a: computed, b: fn + plain},
	} {
		t.Run(name, func(t *testing.T) {
			opts, declared := engine.Options{URL: s.NewDatabase(t, c.a), Exclude: c.exclude}, declare(t, s, c.b)
			if s.Major() >= 15 || c.want == "" {
				converge(t, opts, declared)
				return
			}
			_, err := engine.Plan(testContext(t), opts, declared)
			var e *engine.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, frame.CodeUnsupportedObject, e.Code)
			assert.Contains(t, e.Message, c.want)
		})
	}
}
