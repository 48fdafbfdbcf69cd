package digest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/digest"
)

func TestBytesIsTheWellKnownNotation(t *testing.T) {
	assert.Equal(t, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", digest.Bytes(nil))
}

func TestTupleTellsBoundariesApart(t *testing.T) {
	all := []string{
		digest.Tuple("t", "a", "bc"), digest.Tuple("t", "ab", "c"), digest.Tuple("t", "abc"), digest.Tuple("t", "abc", ""),
		digest.Tuple("ta", "bc"), digest.Tuple("t", digest.List([]string{"a", "bc"})), digest.Tuple("t"),
	}
	seen := map[string]bool{}
	for _, d := range all {
		assert.True(t, digest.Valid(d))
		assert.False(t, seen[d], "two different tuples share a digest")
		seen[d] = true
	}
}

func TestTupleIsInjectiveInPractice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOf(rapid.String()).Draw(t, "a")
		b := rapid.SliceOf(rapid.String()).Draw(t, "b")
		same := len(a) == len(b)
		for i := 0; same && i < len(a); i++ {
			same = a[i] == b[i]
		}
		assert.Equal(t, same, digest.Tuple("x", a...) == digest.Tuple("x", b...))
	})
}

func TestValid(t *testing.T) {
	good := digest.Bytes([]byte("x"))
	cases := map[string]struct {
		in   string
		want bool
	}{
		"a digest":         {good, true},
		"empty":            {"", false},
		"no prefix":        {good[7:], false},
		"short":            {good[:70], false},
		"long":             {good + "0", false},
		"upper case":       {"sha256:" + "A" + good[8:], false},
		"another function": {"sha512:" + good[7:], false},
		"not hex":          {"sha256:" + "g" + good[8:], false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, digest.Valid(c.in))
			if !c.want {
				assert.Empty(t, digest.Hex(c.in))
			}
		})
	}
}
