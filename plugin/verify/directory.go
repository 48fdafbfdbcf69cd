package verify

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ptah-run/ptah/pkg/bundle"
)

// directory is a bundle on disk. It never leaves its root, whatever links are in it.
type directory struct {
	root    *os.Root
	entries []entry
	open    *os.File
}

type entry struct {
	path string
	mode fs.FileMode
}

func openDirectory(path string) (*directory, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	d := &directory{root: root}
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		d.entries = append(d.entries, entry{path, e.Type()})
		return nil
	})
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// Next moves to the next file.
func (d *directory) Next() (string, int64, error) {
	d.closeFile()
	if len(d.entries) == 0 {
		return "", 0, io.EOF
	}
	next := d.entries[0]
	d.entries = d.entries[1:]
	if !next.mode.IsRegular() {
		return "", 0, &bundle.IrregularError{Path: next.path, What: "a link, a device or something else"}
	}
	file, err := d.root.Open(next.path)
	if err != nil {
		return "", 0, fmt.Errorf("opening %s: %w", next.path, err)
	}
	d.open = file
	info, err := file.Stat()
	if err != nil {
		return "", 0, fmt.Errorf("looking at %s: %w", next.path, err)
	}
	return next.path, info.Size(), nil
}

// Read reads from the current file.
func (d *directory) Read(p []byte) (int, error) { return d.open.Read(p) }

func (d *directory) closeFile() {
	if d.open != nil {
		_ = d.open.Close()
		d.open = nil
	}
}

func (d *directory) close() {
	d.closeFile()
	_ = d.root.Close()
}
