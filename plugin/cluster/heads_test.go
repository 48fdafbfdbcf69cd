package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPagesAreReadOneAhead(t *testing.T) {
	lost := errors.New("the connection broke off")
	pages := func(token func(i int) string) (read func(*bytes.Buffer, string) error, asked *[]string) {
		asked = &[]string{}
		return func(into *bytes.Buffer, wanted string) error {
			*asked = append(*asked, wanted)
			into.Reset()
			i := len(wanted)
			fmt.Fprintf(into, `{"items":[{"metadata":{"name":"%d"}}],"kind":"List","metadata":{"continue":%q}}`, i, token(i))
			return nil
		}, asked
	}
	three := func(i int) string { return "xxx"[:min(i+1, 3)%3] }

	t.Run("every page once", func(t *testing.T) {
		read, asked := pages(three)
		var seen []string
		require.NoError(t, eachPage(read, func(page *bytes.Buffer) (string, error) {
			seen = append(seen, page.String())
			return continueToken(page.Bytes()), nil
		}))
		assert.Len(t, seen, 3)
		assert.Equal(t, []string{"", "x", "xx"}, *asked)
	})
	t.Run("the walk knows better than the guess", func(t *testing.T) {
		read, asked := pages(three)
		steps := []string{"xx", ""}
		require.NoError(t, eachPage(read, func(*bytes.Buffer) (string, error) {
			next := steps[0]
			steps = steps[1:]
			return next, nil
		}))
		assert.Equal(t, []string{"", "x", "xx"}, *asked)
	})
	t.Run("a page that cannot be read is an error, not the end", func(t *testing.T) {
		read, _ := pages(three)
		walked := 0
		err := eachPage(func(into *bytes.Buffer, token string) error {
			if token == "xx" {
				return lost
			}
			return read(into, token)
		}, func(page *bytes.Buffer) (string, error) {
			walked++
			return continueToken(page.Bytes()), nil
		})
		require.ErrorIs(t, err, lost)
		assert.Equal(t, 2, walked)
	})
}

func TestContinueTokenOfOddPages(t *testing.T) {
	for name, page := range map[string]string{
		"nothing": "", "no metadata": `{"items":[]}`, "cut off": `{"items":[],"metadata":{"continue":"a`, "the last page": `{"items":[],"metadata":{"resourceVersion":"7"}}`,
	} {
		t.Run(name, func(t *testing.T) { assert.Empty(t, continueToken([]byte(page))) })
	}
}
