package declare_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/declare"
)

func TestFormat(t *testing.T) {
	for name, c := range map[string]struct{ file, in, want string }{
		"HCL":              {"a.hcl", "# who\ntable \"t\" {\ncolumn \"id\" {\n  type=int // wide\n  comment   =   \"x\"\n}\n}\n\n\n", "# who\ntable \"t\" {\n  column \"id\" {\n    type    = int // wide\n    comment = \"x\"\n  }\n}\n"},
		"YAML":             {"a.yaml", "# who\ntables:\n    t:   # a table\n        columns:\n            id: {type: int,   primary: true}\n", "# who\ntables:\n  t: # a table\n    columns:\n      id: {type: int, primary: true}\n"},
		"blocks of text":   {"a.yaml", "functions:\n   f:\n      body: |\n         BEGIN\n           RETURN 1; -- x\n         END\n", "functions:\n  f:\n    body: |\n      BEGIN\n        RETURN 1; -- x\n      END\n"},
		"nothing":          {"a.yaml", "", ""},
		"comments alone":   {"a.yaml", "# later\n", "# later\n"},
		"HCL with nothing": {"a.hcl", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := declare.Format(c.file, []byte(c.in))
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
			again, err := declare.Format(c.file, got)
			require.NoError(t, err)
			assert.Equal(t, string(got), string(again), "once is enough")
		})
	}
	for _, name := range []string{"shop.yaml", "shop.hcl"} {
		f := example(t, name)
		got, err := declare.Format(f.Name, f.Data)
		require.NoError(t, err)
		assert.Equal(t, script(t, read(t, f)), script(t, read(t, declare.File{Name: f.Name, Data: got})))
	}
	for _, broken := range []declare.File{{Name: "a.hcl", Data: []byte("table {")}, {Name: "a.yaml", Data: []byte("a: [")}, {Name: "a.yaml", Data: []byte("a: 1\n---\nb: 1")}, {Name: "a.sql"}} {
		_, err := declare.Format(broken.Name, broken.Data)
		assert.Error(t, err)
	}
}
