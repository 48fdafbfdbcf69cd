package storedplan

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ptah-run/ptah/pkg/bundle"
	"github.com/ptah-run/ptah/plugin/options"
)

// Destination is where a bundle goes: a directory, or a tar file when its name ends in .tar. Nothing is there until Commit; a bundle that
// could not be finished leaves nothing behind.
type Destination struct {
	path, temporary string
	force           bool
	file            *os.File
	buffer          *bufio.Writer
	tar             *bundle.TarSink
}

// Open prepares a destination beside its final place, on the same file system.
func Open(path string, force bool) (*Destination, error) {
	d := &Destination{path: filepath.Clean(path), force: force}
	if err := d.free(); err != nil {
		return nil, err
	}
	parent := filepath.Dir(d.path)
	if !strings.HasSuffix(d.path, ".tar") {
		temporary, err := os.MkdirTemp(parent, ".ptah-export-*")
		if err != nil {
			return nil, d.unprepared(err)
		}
		d.temporary = temporary
		return d, nil
	}
	file, err := os.CreateTemp(parent, ".ptah-export-*")
	if err != nil {
		return nil, d.unprepared(err)
	}
	d.file, d.temporary, d.buffer = file, file.Name(), bufio.NewWriterSize(file, 1<<16)
	d.tar = bundle.NewTarSink(d.buffer)
	return d, nil
}

// unprepared leaves the temporary name out, which means nothing to anybody.
func (d *Destination) unprepared(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("writing to directory %s: %w; nothing was written", filepath.Dir(d.path), err)
}

// free refuses to overwrite what is there. With force an older bundle is replaced, and nothing else ever is.
func (d *Destination) free() error {
	info, err := os.Lstat(d.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking at %s: %w", d.path, err)
	case !d.force:
		return options.Refusedf("%s exists: choose another name, or --force to replace a bundle; nothing was written", d.path)
	case strings.HasSuffix(d.path, ".tar"):
		if !info.Mode().IsRegular() {
			return options.Refusedf("%s is no plain file; nothing was written", d.path)
		}
		return nil
	}
	if _, err := os.Lstat(filepath.Join(d.path, bundle.ManifestFile)); err != nil || !info.IsDir() {
		return options.Refusedf("%s exists and is no bundle; nothing was written", d.path)
	}
	return nil
}

// WriteFile takes a file of the bundle.
func (d *Destination) WriteFile(path string, data []byte) error {
	if d.tar != nil {
		return d.tar.WriteFile(path, data)
	}
	place := filepath.Join(d.temporary, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.WriteFile(place, data, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// Commit puts the finished bundle in its place.
func (d *Destination) Commit() error {
	if err := d.finish(); err != nil {
		return fmt.Errorf("writing %s: %w", d.path, err)
	}
	if err := d.free(); err != nil { // somebody may have been faster
		return err
	}
	if d.tar == nil && d.force {
		return d.replaceDirectory()
	}
	if err := os.Rename(d.temporary, d.path); err != nil {
		return fmt.Errorf("writing %s: %w", d.path, err)
	}
	d.temporary = ""
	return nil
}

func (d *Destination) finish() error {
	if d.tar == nil {
		return nil
	}
	if err := errors.Join(d.tar.Close(), d.buffer.Flush(), d.file.Sync()); err != nil {
		return err
	}
	file := d.file
	d.file = nil
	return file.Close()
}

// replaceDirectory moves the older bundle away first: a directory cannot be renamed over another.
func (d *Destination) replaceDirectory() error {
	old := d.temporary + ".old"
	err := os.Rename(d.path, old)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replacing %s: %w", d.path, err)
	}
	if err := os.Rename(d.temporary, d.path); err != nil {
		return errors.Join(fmt.Errorf("replacing %s: %w", d.path, err), os.Rename(old, d.path))
	}
	d.temporary = ""
	return os.RemoveAll(old)
}

// Discard removes what was not committed. After Commit it does nothing.
func (d *Destination) Discard() {
	if d.file != nil {
		_ = d.file.Close()
	}
	if d.temporary != "" {
		_ = os.RemoveAll(d.temporary)
	}
}
