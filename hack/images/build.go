package main

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const releasePackage = "github.com/ptah-run/ptah/pkg/release"

// builder makes binaries with the Go toolchain, each at most once.
type builder struct {
	source, binDir, prebuilt string
	version, revision        string
	progress                 io.Writer
	done                     map[string]string // platform and name to file
}

// file returns where the binary for a platform is, building it where that is needed.
func (b *builder) file(ctx context.Context, platform string, bin binary) (string, error) {
	key := platform + " " + bin.name
	if file, ok := b.done[key]; ok {
		return file, nil
	}
	goos, goarch, _ := splitPlatform(platform)
	file := filepath.Join(b.binDir, goos+"_"+goarch, bin.name)
	if b.prebuilt != "" {
		file = filepath.Join(b.prebuilt, goos+"_"+goarch, bin.name)
	} else if err := b.build(ctx, goos, goarch, bin, file); err != nil {
		return "", err
	}
	if err := checkStatic(file); err != nil {
		return "", fmt.Errorf("checking %s: %w", file, err)
	}
	if b.done == nil {
		b.done = map[string]string{}
	}
	b.done[key] = file
	return file, nil
}

func (b *builder) build(ctx context.Context, goos, goarch string, bin binary, file string) error {
	target, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("locating %s: %w", file, err)
	}
	start := time.Now()
	_, _ = fmt.Fprintf(b.progress, "building %s for %s/%s\n", bin.name, goos, goarch)
	// -buildvcs=false: the stamp below says the revision; the toolchain's own would make the bytes depend on the state of the index.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", bin.tags, "-ldflags", b.linkerFlags(), "-o", target, bin.path) //nolint:gosec // a fixed command
	cmd.Dir = b.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	cmd.Stdout, cmd.Stderr = b.progress, b.progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building %s for %s/%s: %w", bin.name, goos, goarch, err)
	}
	_, _ = fmt.Fprintf(b.progress, "built %s for %s/%s in %.1fs\n", bin.name, goos, goarch, time.Since(start).Seconds())
	return nil
}

func (b *builder) linkerFlags() string {
	return fmt.Sprintf("-s -w -X %s.Version=%s -X %s.Revision=%s", releasePackage, b.version, releasePackage, b.revision)
}

// checkStatic refuses what would need a loader or a library that an image from scratch does not have.
func checkStatic(file string) error {
	f, err := elf.Open(file)
	if err != nil {
		return fmt.Errorf("opening the ELF file: %w", err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("it is linked dynamically; images hold static binaries only")
		}
	}
	return nil
}

// sourceRevision asks git; an export without a repository has the revision "unknown".
func sourceRevision(ctx context.Context, source string) string {
	head, err := git(ctx, source, "rev-parse", "HEAD")
	if err != nil || head == "" {
		return "unknown"
	}
	if changes, err := git(ctx, source, "status", "--porcelain", "--untracked-files=no"); err != nil || changes != "" {
		return head + "-dirty"
	}
	return head
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running git: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}
