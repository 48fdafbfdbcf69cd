package spelling_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/spelling"
)

func TestNear(t *testing.T) {
	words := []string{"namespace", "namespaces", "output", "watch", "HistoryDirty", "HistoryAhead"}
	for typed, want := range map[string][]string{
		"namspace":     {"namespace", "namespaces"},
		"ouptut":       {"output"},
		"out":          {"output"},
		"historydirty": {"HistoryDirty"},
		"verbose":      {},
		"w":            {},
		"":             {},
	} {
		assert.Equal(t, want, spelling.Near(typed, words), typed)
	}
}

func TestNearFindsEveryWordItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,12}`), 1, 20, rapid.ID[string]).Draw(t, "words")
		typed := rapid.SampledFrom(words).Draw(t, "typed")
		near := spelling.Near(typed, words)
		assert.Equal(t, typed, near[0])
		assert.LessOrEqual(t, len(near), 3)
		for _, word := range near {
			assert.True(t, slices.Contains(words, word))
		}
	})
}
