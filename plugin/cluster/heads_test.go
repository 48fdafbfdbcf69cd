package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A table saves the second, larger reading only where it says of every resource that its time has not come.
func TestATableIsBelievedOnlyWhereItSaysEnough(t *testing.T) {
	now := time.Date(2026, 11, 29, 5, 4, 0, 0, time.UTC)
	table := func(rows string) []byte {
		return []byte(`{"kind":"Table","metadata":{"continue":"more","resourceVersion":"7"},"columnDefinitions":[{"name":"Name"},{"name":"Phase"},{"name":"Next"}],"rows":[` + rows + `]}`)
	}
	const later = `{"cells":["a","InSync","2026-11-29T05:11:00Z"]}`
	for name, c := range map[string]struct {
		body []byte
		is   bool // a table that can be used
		due  bool
	}{
		"all in the future":   {table(later + "," + later), true, false},
		"one is due":          {table(later + `,{"cells":["b","Planning","2026-11-29T05:03:59Z"]}`), true, true},
		"one has no time":     {table(later + `,{"cells":["b","Pending",null]}`), true, true},
		"one is suspended":    {table(later + `,{"cells":["b","Suspended","2026-11-29T05:11:00Z"]}`), true, true},
		"a time of odd form":  {table(`{"cells":["b","InSync","in 7m"]}`), true, true},
		"a row that is short": {table(`{"cells":["b"]}`), true, true},
		"nothing":             {table(""), true, false},
		"no column Next":      {[]byte(`{"kind":"Table","metadata":{},"columnDefinitions":[{"name":"Name"},{"name":"Phase"}],"rows":[{"cells":["a","InSync"]}]}`), false, false},
		"a list":              {[]byte(`{"kind":"PtahSchemaList","metadata":{"continue":"more"},"items":[]}`), false, false},
		"no JSON":             {[]byte(`<html>`), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			page, ok := readTable(c.body)
			require.Equal(t, c.is, ok)
			if !ok {
				return
			}
			assert.Equal(t, c.due, page.due(now))
			assert.Equal(t, "more", page.token)
			assert.Equal(t, "7", page.version)
		})
	}
}
