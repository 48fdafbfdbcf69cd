// Command images builds Ptah's static binaries and assembles them into reproducible OCI images, without Docker and without a base
// image. The same source gives the same digests.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	flag "github.com/spf13/pflag"
)

const usage = `images builds manager, executor and kubectl-ptah as static binaries and assembles an OCI image of each.

usage: go run ./hack/images [flags] [FILE]

It needs the Go toolchain and nothing else. One line per image goes to stdout, name=repository@sha256:<digest>; with
--output json a document with the same facts goes to FILE, or to stdout where FILE is left out. Progress goes to stderr.
At least one of --registry, --oci-layout and --binaries-only says what to do with the result.

`

// settings are the parsed command line.
type settings struct {
	registry, plainHTTP, layout string
	output, file                string
	version, revision, tag      string
	platforms, only             []string
	binDir, prebuilt, source    string
	binariesOnly                bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.As(err, new(usageError)):
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// usageError is a wrong command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text + " (see --help)" }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if s.revision == "" {
		s.revision = sourceRevision(ctx, s.source)
	}
	w := worker{settings: s, progress: stderr}
	results, err := w.produce(ctx)
	if err != nil {
		return err
	}
	return report(s, results, stdout)
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	var platforms, only string
	fs := flag.NewFlagSet("images", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.SortFlags = false
	fs.Usage = func() { _, _ = io.WriteString(stderr, usage+fs.FlagUsages()) }
	fs.StringVar(&s.registry, "registry", "", "push to `HOST[:PORT]/PREFIX`; the images are PREFIX/manager, PREFIX/executor and PREFIX/kubectl-ptah")
	fs.StringVar(&s.plainHTTP, "plain-http", "auto", "`auto|true|false`: auto means plain HTTP for loopback and for 10.88.0.1, the registry of the local test cluster")
	fs.StringVar(&s.layout, "oci-layout", "", "write one OCI layout archive per image, `DIR`/NAME.tar, as \"ctr images import\" reads it")
	fs.StringVar(&s.output, "output", "text", "`text|json`")
	fs.StringVar(&s.version, "version", "0.0.0-dev", "product `VERSION` stamped into the binaries, without a leading v")
	fs.StringVar(&s.revision, "revision", "", "source `REVISION` stamped into the binaries (default: the commit that git reports, -dirty where the tree was changed)")
	fs.StringVar(&s.tag, "tag", "", "`TAG` to push (default: the version)")
	fs.StringVar(&platforms, "platform", "linux/"+runtime.GOARCH, "comma-separated `LIST` of platforms; more than one gives an image index")
	fs.StringVar(&only, "only", "", "comma-separated `LIST` of images to make (default: all that are shipped; manager-failpoints and executor-idle are for tests)")
	fs.StringVar(&s.binDir, "bin-dir", "bin", "`DIR` for the binaries, in one folder per platform; up-to-date ones are not linked again")
	fs.StringVar(&s.prebuilt, "prebuilt", "", "take the binaries from `DIR`/OS_ARCH instead of building them")
	fs.StringVar(&s.source, "source", ".", "root `DIR` of the module")
	fs.BoolVar(&s.binariesOnly, "binaries-only", false, "build the binaries and stop")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return s, err
		}
		return s, usageError{err.Error()}
	}
	s.platforms, s.only = list(platforms), list(only)
	if s.tag == "" {
		// A tag cannot carry the + of a semantic version's build metadata.
		s.tag = strings.ReplaceAll(s.version, "+", "-")
	}
	if fs.NArg() > 1 {
		return s, usageError{fmt.Sprintf("%d arguments are given, at most one FILE is taken", fs.NArg())}
	}
	s.file = fs.Arg(0)
	return s, s.check()
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
}

func (s settings) check() error {
	switch {
	case s.registry == "" && s.layout == "" && !s.binariesOnly:
		return usageError{"one of --registry, --oci-layout and --binaries-only is needed"}
	case s.plainHTTP != "auto" && s.plainHTTP != "true" && s.plainHTTP != "false":
		return usageError{"--plain-http is auto, true or false"}
	case s.output != "text" && s.output != "json":
		return usageError{"--output is text or json"}
	case s.file != "" && s.output != "json":
		return usageError{"a FILE goes with --output json"}
	case len(s.platforms) == 0:
		return usageError{"--platform is empty"}
	}
	for _, p := range s.platforms {
		if _, _, ok := splitPlatform(p); !ok {
			return usageError{fmt.Sprintf("platform %q is not linux/ARCH", p)}
		}
	}
	for _, name := range s.only {
		if _, ok := imageNamed(name); !ok {
			return usageError{fmt.Sprintf("there is no image %q", name)}
		}
	}
	if s.registry != "" {
		if _, err := parseTarget(s.registry, s.plainHTTP); err != nil {
			return usageError{err.Error()}
		}
	}
	return nil
}

func splitPlatform(p string) (goos, goarch string, ok bool) {
	goos, goarch, ok = strings.Cut(p, "/")
	return goos, goarch, ok && goos == "linux" && goarch != "" && !strings.ContainsAny(goarch, "/. ")
}
