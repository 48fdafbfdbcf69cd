package artifact

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/frame"
)

func dirOf(files map[string]string) fstest.MapFS {
	dir := fstest.MapFS{}
	for name, data := range files {
		dir[name] = &fstest.MapFile{Data: []byte(data)}
	}
	return dir
}

func native() map[string]string {
	return map[string]string{
		"0000000001_init.up.sql":   "CREATE TABLE t (id int);\n",
		"0000000001_init.down.sql": "DROP TABLE t;\n",
	}
}

func with(files map[string]string, name, data string) map[string]string {
	files[name] = data
	return files
}

func TestCapture(t *testing.T) {
	files := with(with(with(native(), "README.md", "no"), ".ptah-lint.yaml", "dialect: postgres\n"), "sub/0000000002_x.up.sql", "no")
	d, err := Capture(dirOf(files), CaptureOptions{})
	require.NoError(t, err)
	assert.Equal(t, PtahFormat, d.Format)
	assert.False(t, d.Hashed)
	var names []string
	for _, f := range d.Files {
		names = append(names, f.Name)
	}
	assert.Equal(t, []string{".ptah-lint.yaml", "0000000001_init.down.sql", "0000000001_init.up.sql"}, names)

	sum := string(Sum(d))
	d, err = Capture(dirOf(with(files, "ptah.sum", sum)), CaptureOptions{RequireSum: true, Format: PtahFormat})
	require.NoError(t, err)
	assert.True(t, d.Hashed)
}

func TestCaptureRefuses(t *testing.T) {
	atlas := map[string]string{"20240101000000_init.sql": "CREATE TABLE t (id int);\n"}
	sum := func(files map[string]string) string {
		d, err := Capture(dirOf(files), CaptureOptions{})
		require.NoError(t, err)
		return string(Sum(d))
	}
	cases := map[string]struct {
		dir     fs.FS
		options CaptureOptions
		code    frame.Code
		why     string
	}{
		"nothing":             {dirOf(nil), CaptureOptions{}, frame.CodeArtifactInvalid, "no .sql file"},
		"only other files":    {dirOf(map[string]string{"a.txt": "", "x.SQL": ""}), CaptureOptions{}, frame.CodeArtifactInvalid, "no .sql file"},
		"missing":             {os.DirFS(filepath.Join(t.TempDir(), "nope")), CaptureOptions{}, frame.CodeArtifactInvalid, "cannot be read"},
		"half":                {dirOf(map[string]string{"0000000001_a.up.sql": ""}), CaptureOptions{}, frame.CodeArtifactInvalid, "only its up half"},
		"same version":        {dirOf(map[string]string{"0000000001_a.up.sql": "", "0000000001_a.down.sql": "", "0000000001_b.up.sql": "", "0000000001_b.down.sql": ""}), CaptureOptions{}, frame.CodeArtifactInvalid, "same version"},
		"other format":        {dirOf(atlas), CaptureOptions{Format: PtahFormat}, frame.CodeConfigurationInvalid, "atlas format, not ptah"},
		"unknown format":      {dirOf(atlas), CaptureOptions{Format: "flyway"}, frame.CodeConfigurationInvalid, "neither"},
		"both sums":           {dirOf(with(with(native(), "ptah.sum", ""), "atlas.sum", "")), CaptureOptions{}, frame.CodeArtifactInvalid, "both"},
		"no sum":              {dirOf(native()), CaptureOptions{RequireSum: true}, frame.CodeArtifactInvalid, "no sum file"},
		"sum of edited file":  {dirOf(with(with(native(), "ptah.sum", sum(native())), "0000000001_init.up.sql", "edited")), CaptureOptions{}, frame.CodeArtifactInvalid, "not the file"},
		"sum of fewer files":  {dirOf(with(with(native(), "ptah.sum", sum(native())), "zz.sql", "")), CaptureOptions{}, frame.CodeArtifactInvalid, `"zz.sql" is not listed`},
		"sum of more files":   {dirOf(with(native(), "ptah.sum", sum(with(native(), "zz.sql", "")))), CaptureOptions{}, frame.CodeArtifactInvalid, `"zz.sql" is listed`},
		"sum is damaged":      {dirOf(with(native(), "ptah.sum", "h1:x\n")), CaptureOptions{}, frame.CodeArtifactInvalid, "line 1"},
		"large file":          {dirOf(map[string]string{"a.sql": string(make([]byte, MaxLayer+1))}), CaptureOptions{}, frame.CodeArtifactTooLarge, "8 MiB"},
		"directory as a file": {fstest.MapFS{"a.sql/b": {}}, CaptureOptions{}, frame.CodeArtifactInvalid, "not a file"},
		"changes while read":  {&restless{dirOf(native())}, CaptureOptions{}, frame.CodeArtifactInvalid, "changed while it was read"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Capture(tc.dir, tc.options)
			requireCode(t, err, tc.code, tc.why)
		})
	}
	many := map[string]string{}
	for i := range MaxFiles + 1 {
		many[fmt.Sprintf("%d.sql", i)] = ""
	}
	_, err := Capture(dirOf(many), CaptureOptions{})
	requireCode(t, err, frame.CodeArtifactTooLarge, "2000")
}

// restless is a directory that somebody is editing: every reading finds another content.
type restless struct{ fstest.MapFS }

func (r *restless) ReadDir(name string) ([]fs.DirEntry, error) {
	for _, f := range r.MapFS {
		f.Data = append(f.Data, '\n')
	}
	return r.MapFS.ReadDir(name)
}

func TestCaptureRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "a.sql")))
	_, err := Capture(os.DirFS(dir), CaptureOptions{})
	requireCode(t, err, frame.CodeArtifactInvalid, "link")
}

// TestAtlasSum holds the chained scheme to a file that Atlas itself wrote.
func TestAtlasSum(t *testing.T) {
	files := map[string]string{
		"20240101000000_init.sql": "CREATE TABLE t (id int);\n",
		"20240102000000_more.sql": "ALTER TABLE t ADD COLUMN a text;\n",
	}
	const written = `h1:tTQWTFT4DFMzpvUCxXKmIMKP2SVTDRA+oOK4++V6qTo=
20240101000000_init.sql h1:SHzK9HMd1VJXxyfkB4DdEsZDHvMZKf0Wuy5nmE70+m8=
20240102000000_more.sql h1:3BIMLV6RlgCgIWIIoo7mZNXchp/O2hjuLvCCC4/lSz8=
`
	d, err := Capture(dirOf(with(files, "atlas.sum", written)), CaptureOptions{RequireSum: true})
	require.NoError(t, err)
	assert.Equal(t, AtlasFormat, d.Format)
	assert.Equal(t, written, string(Sum(d)))
}

func TestPtahSum(t *testing.T) {
	d, err := Capture(dirOf(native()), CaptureOptions{})
	require.NoError(t, err)
	// Computed with openssl dgst, line by line.
	const want = `h1:DEYXysyDJHx/n/qvWN7sHmdNd2+0r5mln6MC7PCgYwE=
0000000001_init.down.sql h1:K3/+23S4HmbZv0qD5dfrXvFzgMZkQVRZoAnign1rnb0=
0000000001_init.up.sql h1:Esg/mDsMlLnHAQ3MkhSVidX7AaPTKvj21plUXZXbkEA=
`
	assert.Equal(t, want, string(Sum(d)))
}

func TestParseSumRefuses(t *testing.T) {
	line := "a.sql h1:" + "SHzK9HMd1VJXxyfkB4DdEsZDHvMZKf0Wuy5nmE70+m8=\n"
	total := "h1:tTQWTFT4DFMzpvUCxXKmIMKP2SVTDRA+oOK4++V6qTo=\n"
	for text, why := range map[string]string{
		"":                                  "not ended",
		total + line[:len(line)-1]:          "not ended",
		line:                                "line 1",
		total + "a.sql\n":                   "line 2",
		total + "a.sql h1:AAAA\n":           "line 2",
		total + " h1:" + line[9:]:           "line 2",
		total + line + line:                 "line 3",
		total + "b.sql" + line[5:] + line:   "line 3",
		total + "\n":                        "line 2",
		"h2:" + total[3:]:                   "line 1",
		total[:len(total)-1] + "\r\n":       "line 1",
		total + line[:len(line)-1] + "\r\n": "line 2",
	} {
		_, err := parseSum([]byte(text))
		assert.ErrorContains(t, err, why, "%q", text)
	}
}

func FuzzParseSum(f *testing.F) {
	f.Add([]byte("h1:tTQWTFT4DFMzpvUCxXKmIMKP2SVTDRA+oOK4++V6qTo=\na.sql h1:SHzK9HMd1VJXxyfkB4DdEsZDHvMZKf0Wuy5nmE70+m8=\n"))
	f.Add([]byte("h1:\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, err := parseSum(data)
		if err != nil {
			return
		}
		text := parsed.total + "\n"
		for _, e := range parsed.entries {
			text += e.line()
		}
		assert.Equal(t, string(data), text, "what is read is what is written")
		_ = parsed.agrees([]File{{Name: "a.sql"}})
	})
}
