package postgres

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSettle(t *testing.T) {
	for text, want := range map[string]string{
		"":        "",
		"(n > 0)": "(n > 0)",
		"((v)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))": "((v)::text = ANY (ARRAY[('a'::character varying)::text, ('b'::character varying)::text]))",
		"(num = ANY ((ARRAY[1, 2])::numeric[]))":                                              "(num = ANY (ARRAY[(1)::numeric, (2)::numeric]))",
		"(ARRAY['a, ]'')'::character varying, f(x, y)])::text[] || x":                         "ARRAY[('a, ]'')'::character varying)::text, (f(x, y))::text] || x",
		`(ARRAY[x])::"odd ""type"[]`:                                                          `ARRAY[(x)::"odd ""type"]`,
		"(ARRAY[f((ARRAY[1, 2])::bigint[])])::d[]":                                            "ARRAY[(f(ARRAY[(1)::bigint, (2)::bigint]))::d]",
		// Not the construct, or not ours to touch.
		"'(ARRAY[1])::text[]'::text":            "'(ARRAY[1])::text[]'::text",
		`"(ARRAY[1])::text[]"`:                  `"(ARRAY[1])::text[]"`,
		"f(ARRAY[1, 2])":                        "f(ARRAY[1, 2])",
		"(ARRAY[1, 2])::numeric(5,2)[]":         "(ARRAY[1, 2])::numeric(5,2)[]",
		"(ARRAY[ARRAY[1], ARRAY[2]])::text[]":   "(ARRAY[ARRAY[1], ARRAY[2]])::text[]",
		"(ARRAY[1, 2])::text":                   "(ARRAY[1, 2])::text",
		"(ARRAY[1, 2":                           "(ARRAY[1, 2",
		"(ARRAY[1])::text = (a)[1] OR b = '[]'": "(ARRAY[1])::text = (a)[1] OR b = '[]'",
	} {
		assert.Equal(t, want, settle(text))
		assert.Equal(t, want, settle(want), "once is enough")
	}
}
