package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ptah-run/ptah/pkg/bundle"
	"github.com/ptah-run/ptah/pkg/digest"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/options"
)

type verifyOptions struct {
	global *options.Global
	output *options.Output
	digest string
	path   string
}

func (o *verifyOptions) complete(path string) error {
	o.path = path
	if o.digest != "" && !digest.Valid(o.digest) {
		return options.Usagef("--digest %q: want sha256: and 64 hex digits, as \"kubectl ptah export\" prints it", o.digest)
	}
	_, err := o.output.Format()
	return err
}

// run asks no cluster.
func (o *verifyOptions) run() error {
	report, err := o.check()
	if errors.Is(err, fs.ErrNotExist) {
		return options.Nothingf("verifying %s: there is no such file or directory", o.path)
	}
	if err != nil {
		return fmt.Errorf("verifying %s: %w", o.path, err)
	}
	if o.digest != "" && report.Digest != o.digest {
		report.Problems = append(report.Problems, bundle.Problem{Text: fmt.Sprintf("the bundle has digest %s, expected %s", report.Digest, o.digest)})
	}
	if err := o.output.Print(render.NewBundleCheck(o.path, report)); err != nil {
		return err
	}
	if len(report.Problems) > 0 {
		return &options.ExitError{Code: options.Findings}
	}
	return nil
}

func (o *verifyOptions) check() (*bundle.Report, error) {
	info, err := os.Stat(o.path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		file, err := os.Open(o.path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		return bundle.Check(bundle.NewTarSource(file))
	}
	source, err := openDirectory(o.path)
	if err != nil {
		return nil, err
	}
	defer source.close()
	return bundle.Check(source)
}
