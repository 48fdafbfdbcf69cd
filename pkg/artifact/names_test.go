package artifact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/frame"
)

func TestNamesThatAreRefused(t *testing.T) {
	cases := map[string]struct {
		names []string
		why   string
	}{
		"empty":                     {[]string{""}, "empty"},
		"absolute":                  {[]string{"/etc/passwd"}, "absolute"},
		"parent":                    {[]string{"../x.sql"}, "leads out"},
		"parent inside":             {[]string{"a/../../x.sql"}, "leads out"},
		"harmless parent":           {[]string{"a/../x.sql"}, "leads out"},
		"dot":                       {[]string{"./x.sql"}, "dot part"},
		"double slash":              {[]string{"a//x.sql"}, "empty"},
		"trailing slash":            {[]string{"a/"}, "empty"},
		"backslash":                 {[]string{`a\x.sql`}, "backslash"},
		"drive":                     {[]string{"c:x.sql"}, "colon"},
		"NUL":                       {[]string{"a\x00.sql"}, "control"},
		"newline":                   {[]string{"a\n.sql"}, "control"},
		"bad UTF-8":                 {[]string{"a\xff.sql"}, "UTF-8"},
		"long":                      {[]string{strings.Repeat("a/", 300) + "x"}, "512"},
		"long part":                 {[]string{strings.Repeat("a", 201)}, "200"},
		"trailing dot":              {[]string{"a."}, "ends with"},
		"twice":                     {[]string{"a.sql", "a.sql"}, "twice"},
		"case twin":                 {[]string{"a.sql", "A.sql"}, "letter case"},
		"case twin beyond ASCII":    {[]string{"ß.sql", "ẞ.sql"}, "letter case"},
		"case twin of a directory":  {[]string{"dir/a.sql", "Dir/b.sql"}, "letter case"},
		"file where a directory is": {[]string{"a/b.sql", "a"}, "directory"},
		"directory where a file is": {[]string{"a", "a/b.sql"}, "is a file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set := newNameSet()
			var err error
			for _, n := range tc.names {
				if err = set.add(n); err != nil {
					break
				}
			}
			requireCode(t, err, frame.CodeArtifactInvalid, tc.why)
		})
	}
	set := newNameSet()
	for _, n := range []string{"a.sql", "dir/a.sql", "dir/b.sql", "dir/sub/.hidden", "…/ü.sql", "...sql"} {
		require.NoError(t, set.add(n), n)
	}
}

// entry is one entry of a test archive.
type entry struct {
	header tar.Header
	data   string
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := e.header
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		h.Size, h.Mode = int64(len(e.data)), 0o644
		require.NoError(t, w.WriteHeader(&h))
		_, err := w.Write([]byte(e.data))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestUnpackRefuses(t *testing.T) {
	cases := map[string]struct {
		data []byte
		code frame.Code
		why  string
	}{
		"symbolic link": {archive(t, entry{header: tar.Header{Name: "x.sql", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}), frame.CodeArtifactInvalid, "link"},
		"hard link":     {archive(t, entry{header: tar.Header{Name: "x.sql", Typeflag: tar.TypeLink, Linkname: "y.sql"}}), frame.CodeArtifactInvalid, "link"},
		"device":        {archive(t, entry{header: tar.Header{Name: "x.sql", Typeflag: tar.TypeChar}}), frame.CodeArtifactInvalid, "neither"},
		"fifo":          {archive(t, entry{header: tar.Header{Name: "x.sql", Typeflag: tar.TypeFifo}}), frame.CodeArtifactInvalid, "neither"},
		"parent":        {archive(t, entry{header: tar.Header{Name: "../x.sql"}, data: "x"}), frame.CodeArtifactInvalid, "leads out"},
		"parent folder": {archive(t, entry{header: tar.Header{Name: "../", Typeflag: tar.TypeDir}}), frame.CodeArtifactInvalid, "leads out"},
		"absolute":      {archive(t, entry{header: tar.Header{Name: "/x.sql"}, data: "x"}), frame.CodeArtifactInvalid, "absolute"},
		"truncated":     {archive(t, entry{header: tar.Header{Name: "x.sql"}, data: strings.Repeat("x", 2000)})[:1500], frame.CodeArtifactInvalid, "damaged"},
		"large file":    {archive(t, entry{header: tar.Header{Name: "x.sql"}, data: strings.Repeat("x", MaxLayer+1)}), frame.CodeArtifactTooLarge, "8 MiB"},
		"garbage":       {bytes.Repeat([]byte("x"), 2048), frame.CodeArtifactInvalid, "damaged"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set := newNameSet()
			err := unpackTar(tc.data, archiveTar, MaxTotal, func(name string, _ []byte) error { return set.add(name) })
			requireCode(t, err, tc.code, tc.why)
		})
	}
}

func TestUnpackBoundsWhatABombExpandsTo(t *testing.T) {
	const budget = 6 << 20
	zeros := strings.Repeat("\x00", 1<<20)
	var entries []entry
	for i := range 12 {
		entries = append(entries, entry{header: tar.Header{Name: string(rune('a'+i)) + ".sql"}, data: zeros})
	}
	bomb := gzipped(t, archive(t, entries...))
	require.Less(t, len(bomb), 100<<10, "it is a bomb")
	kept := 0
	err := unpackTar(bomb, archiveTarGzip, budget, func(string, []byte) error { kept++; return nil })
	requireCode(t, err, frame.CodeArtifactTooLarge, "64 MiB")
	assert.Less(t, kept, 6)
}

func TestUnpackKeepsFiles(t *testing.T) {
	data := archive(t,
		entry{header: tar.Header{Name: "./", Typeflag: tar.TypeDir}},
		entry{header: tar.Header{Name: "./dir/", Typeflag: tar.TypeDir}},
		entry{header: tar.Header{Name: "./dir/a.sql"}, data: "A"},
		entry{header: tar.Header{Name: "b.sql"}, data: "B"})
	for kind, packed := range map[archiveKind][]byte{archiveTar: data, archiveTarGzip: gzipped(t, data)} {
		got := map[string]string{}
		require.NoError(t, unpackTar(packed, kind, MaxTotal, func(name string, data []byte) error {
			got[name] = string(data)
			return nil
		}))
		assert.Equal(t, map[string]string{"dir/a.sql": "A", "b.sql": "B"}, got)
	}
}

func TestArchiveOf(t *testing.T) {
	cases := map[[2]string]archiveKind{
		{"application/vnd.oci.image.layer.v1.tar+gzip", ""}:         archiveTarGzip,
		{"application/vnd.oci.image.layer.v1.tar", "x"}:             archiveTar,
		{"application/x-tar", ""}:                                   archiveTar,
		{"text/plain", "a.TAR"}:                                     archiveTar,
		{"text/plain", "a.tgz"}:                                     archiveTarGzip,
		{"application/vnd.oci.image.layer.v1.tar+zstd", ""}:         archiveUnknown,
		{"text/plain", "a.tar.zst"}:                                 archiveUnknown,
		{"application/zip", "a"}:                                    archiveUnknown,
		{"application/vnd.stokaro.ptah.migration.file.v1", "a.sql"}: archiveNone,
		{"application/sql", "target.sql"}:                           archiveNone,
	}
	for in, want := range cases {
		assert.Equal(t, want, archiveOf(in[0], in[1]), in)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, entry{header: tar.Header{Name: "a.sql"}, data: "A"}), false)
	f.Add(gzipped(f, archive(f, entry{header: tar.Header{Name: "../a.sql"}, data: "A"})), true)
	f.Add([]byte("x"), true)
	f.Fuzz(func(t *testing.T, data []byte, zipped bool) {
		kind := archiveTar
		if zipped {
			kind = archiveTarGzip
		}
		set, total := newNameSet(), 0
		err := unpackTar(data, kind, 1<<20, func(name string, data []byte) error {
			total += len(data)
			if err := set.add(name); err != nil {
				return err
			}
			assert.Equal(t, name, path.Clean(name))
			assert.False(t, strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".."))
			return nil
		})
		assert.LessOrEqual(t, total, 1<<20)
		if err != nil {
			assert.NotEqual(t, frame.CodeInternal, CodeOf(err))
		}
	})
}
