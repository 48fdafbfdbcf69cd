package supportbundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/ptah-run/ptah/pkg/release"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/supportbundle"
	"github.com/ptah-run/ptah/plugin/options"
)

type bundleOptions struct {
	global *options.Global
	format *options.Output
	file   string
	all    bool
	lines  int64

	namespace, kind, name string
}

func (o *bundleOptions) complete(args []string) error {
	if _, err := o.format.Format(); err != nil {
		return err
	}
	var err error
	if len(args) > 0 {
		if o.kind, o.name, err = options.Resource(args[0]); err != nil {
			return err
		}
	}
	switch {
	case o.file == "":
		return options.Usagef("name the file to write: -o FILE.tar.gz")
	case !strings.HasSuffix(o.file, ".tar.gz") && !strings.HasSuffix(o.file, ".tgz"):
		return options.Usagef("-o %q: want a name that ends in .tar.gz or .tgz", o.file)
	case o.name != "" && o.all:
		return options.Usagef("a name lives in one namespace: leave out -A or the name")
	case o.lines < 0:
		return options.Usagef("--log-lines %d: want at least 0", o.lines)
	}
	if !o.all {
		o.namespace, err = o.global.Namespace()
	}
	return err
}

func (o *bundleOptions) run(ctx context.Context) error {
	// Asked before anything is gathered, and again by the open that never overwrites.
	if _, err := os.Lstat(o.file); err == nil {
		return options.Refusedf("%s exists, and is not overwritten: name another file", o.file)
	}
	client, err := o.global.Cluster()
	if err != nil {
		return err
	}
	g := &gatherer{client: client, options: o}
	if err := g.gather(ctx); err != nil {
		return err
	}
	manifest, data, err := supportbundle.Seal(supportbundle.Manifest{
		APIVersion: render.APIVersion, Kind: "SupportBundle", CreatedAt: o.global.Clock().UTC(), Scope: o.scope(), Unread: g.gaps,
		Plugin: fmt.Sprintf("%s, revision %s, %s/%s", release.Version, release.Describe(), runtime.GOOS, runtime.GOARCH),
	}, g.parts)
	if err != nil {
		return err
	}
	if err := writeNew(o.file, data); err != nil {
		return err
	}
	return o.report(manifest, len(data))
}

func (o *bundleOptions) scope() string {
	switch {
	case o.all:
		return "all namespaces"
	case o.kind != "":
		return o.kind + " " + o.namespace + "/" + o.name
	case o.name != "":
		return "resource " + o.namespace + "/" + o.name
	default:
		return "namespace " + o.namespace
	}
}

// writeNew makes a file that nobody else may read, and never one that exists.
func writeNew(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return options.Refusedf("%s exists, and is not overwritten: name another file", path)
	}
	if err != nil {
		return fmt.Errorf("writing the bundle: %w", err)
	}
	_, err = file.Write(data)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path) // a part of a bundle is none
		return fmt.Errorf("writing the bundle: %w", err)
	}
	return nil
}

func (o *bundleOptions) report(manifest supportbundle.Manifest, size int) error {
	view := &render.SupportBundle{
		Meta: render.Meta{APIVersion: render.APIVersion, Kind: "SupportBundle"}, File: o.file, Scope: manifest.Scope, Size: size,
		Files: []string{"manifest.json", "README.txt"}, Unread: []render.Unread{},
	}
	for _, file := range manifest.Files {
		view.Files = append(view.Files, file.Path)
	}
	for _, gap := range manifest.Unread {
		view.Unread = append(view.Unread, render.Unread(gap))
	}
	if err := o.format.Print(view); err != nil {
		return err
	}
	o.global.Note(render.Plain, "no Secret was read, and what looks like a credential was taken out; look through the bundle before you send it")
	if len(view.Unread) > 0 {
		return &options.ExitError{Code: options.Failed}
	}
	return nil
}
