package spelling_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ptah-run/ptah/pkg/spelling"
)

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 statement":  spelling.Count(1, "statement"),
		"0 statements": spelling.Count(0, "statement"),
		"2 indexes":    spelling.Count(int32(2), "index"),
		"1 index":      spelling.Count(int64(1), "index"),
		"3 policies":   spelling.Count(3, "policy"),
		"2 keys":       spelling.Count(2, "key"),
		"2 batches":    spelling.Count(2, "batch"),
	} {
		assert.Equal(t, want, got)
	}
}
