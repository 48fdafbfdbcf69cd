// Command release builds what people download: the plugin for every platform in an archive of its own with the licence and the man pages, an
// SBOM for each, SHA256SUMS over all of them, and the krew manifest that names the archives by digest. The same sources give the same bytes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

const allPlatforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	var r release
	var platforms string
	flag.StringVar(&r.source, "source", ".", "the checkout to build")
	flag.StringVar(&r.out, "out", filepath.Join("bin", "release"), "directory to write; what it holds is replaced")
	flag.StringVar(&r.tools, "tools", "bin", "directory with validate-krew-manifest and cyclonedx-gomod")
	flag.StringVar(&r.version, "version", "0.1.0", "version to stamp, without a v")
	flag.StringVar(&r.revision, "revision", "unknown", "source revision to stamp")
	flag.StringVar(&r.baseURL, "base-url", "https://github.com/ptah-run/ptah/releases/download", "where the archives of all versions will be found")
	flag.StringVar(&platforms, "platforms", allPlatforms, "os/arch pairs, separated by commas")
	flag.Parse()
	r.platforms = strings.Split(platforms, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}
