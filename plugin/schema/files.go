package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile writes beside a file and renames, so that it is never half written. A symbolic link stays one, a new file may be read by all, and what is
// no file (a pipe, the null device) is written to where it is.
func replaceFile(path string, data []byte) error {
	failed := func(err error) error { return fmt.Errorf("writing %s: %w", path, err) }
	mode := fs.FileMode(0o644)
	target, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		target = path
	case err != nil:
		return failed(err)
	default:
		info, err := os.Stat(target)
		if err != nil {
			return failed(err)
		}
		if mode = info.Mode(); !mode.IsRegular() {
			if err := os.WriteFile(target, data, mode.Perm()); err != nil {
				return failed(err)
			}
			return nil
		}
	}
	temporary, err := os.CreateTemp(filepath.Dir(target), ".ptah-")
	if err != nil {
		return failed(err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(mode.Perm()), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), target)
	}
	if err != nil {
		return failed(err)
	}
	return nil
}
