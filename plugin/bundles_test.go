package plugin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWriteBundles writes the bundles that scenarios of verify read: one that is whole, and the same with one thing changed in each.
func TestWriteBundles(t *testing.T) {
	if !*update {
		t.Skip("only with -update")
	}
	against := &stubServer{}
	s := scenario{Command: "export ptah-plan-23ae1118b74ae4bbe303ceff ptah-mplan-cd43f951c7fbf737989c3b5e -o {dir}/whole", Cluster: "retention", dir: t.TempDir()}
	against.load(t, readCluster(t, s.Cluster), s)
	require.Zero(t, s.run(t, against).code)
	authorized := "/plans/app/ptah-plan-23ae1118b74ae4bbe303ceff/"
	for name, change := range map[string]func(root string){
		"whole":         func(string) {},
		"altered":       func(root string) { edit(t, root+authorized+"document.json", `\"total\"`, `\"other\"`) },
		"forged-sql":    func(root string) { edit(t, root+authorized+"plan.sql", "DROP COLUMN", "ADD COLUMN") },
		"forged-person": func(root string) { edit(t, root+authorized+"approvals.json", `"bob"`, `"eve"`) },
		"incomplete":    func(root string) { require.NoError(t, os.Remove(root+authorized+"approvals.json")) },
		"linked": func(root string) {
			require.NoError(t, os.Remove(root+authorized+"plan.sql"))
			require.NoError(t, os.Symlink("plan.json", root+authorized+"plan.sql"))
		},
	} {
		root := filepath.Join("testdata", "bundles", name)
		require.NoError(t, os.RemoveAll(root))
		require.NoError(t, os.CopyFS(root, os.DirFS(filepath.Join(s.dir, "whole"))))
		change(root)
	}
}

func edit(t *testing.T, path, old, replacement string) {
	t.Helper()
	text := read(t, path)
	require.Contains(t, text, old, path)
	write(t, path, strings.Replace(text, old, replacement, 1))
}
