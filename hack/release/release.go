package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

const releasePackage = "github.com/ptah-run/ptah/pkg/release"

// release is one run of the program.
type release struct {
	source, out, tools string
	version, revision  string
	baseURL            string
	platforms          []string
}

// archive is what the manifest says of one platform. File names an entry of the output directory.
type archive struct {
	OS, Arch, File, Binary, SHA256 string
}

func (r *release) run(ctx context.Context) error {
	if err := os.RemoveAll(r.out); err != nil {
		return fmt.Errorf("clearing %s: %w", r.out, err)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil { //nolint:gosec // for everybody to read
		return fmt.Errorf("making %s: %w", r.out, err)
	}
	archives := make([]archive, 0, len(r.platforms))
	for _, platform := range r.platforms {
		fmt.Printf("building kubectl-ptah for %s\n", platform)
		a, err := r.platform(ctx, platform)
		if err != nil {
			return fmt.Errorf("releasing for %s: %w", platform, err)
		}
		archives = append(archives, a)
	}
	if err := r.manifest(ctx, archives); err != nil {
		return err
	}
	return r.sums()
}

// platform builds, archives and inventories the plugin for one platform.
func (r *release) platform(ctx context.Context, platform string) (archive, error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return archive{}, fmt.Errorf("%q is not os/arch", platform)
	}
	a := archive{OS: goos, Arch: goarch, Binary: "kubectl-ptah"}
	name := fmt.Sprintf("kubectl-ptah_%s_%s_%s", r.version, goos, goarch)
	a.File = name + ".tar.gz"
	if goos == "windows" {
		a.Binary, a.File = "kubectl-ptah.exe", name+".zip"
	}
	work, err := os.MkdirTemp("", "ptah-release-")
	if err != nil {
		return a, fmt.Errorf("making a directory to build in: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	binary := filepath.Join(work, a.Binary)
	if err := r.build(ctx, goos, goarch, binary); err != nil {
		return a, err
	}
	contents, err := r.contents(a.Binary, binary)
	if err != nil {
		return a, err
	}
	packed, err := pack(goos, contents)
	if err != nil {
		return a, err
	}
	if err := os.WriteFile(filepath.Join(r.out, a.File), packed, 0o644); err != nil { //nolint:gosec // for everybody to read
		return a, fmt.Errorf("writing %s: %w", a.File, err)
	}
	a.SHA256 = hexSum(packed)
	return a, r.inventory(ctx, binary, filepath.Join(r.out, name+".sbom.json"))
}

func (r *release) build(ctx context.Context, goos, goarch, target string) error {
	flags := fmt.Sprintf("-s -w -X %s.Version=%s -X %s.Revision=%s", releasePackage, r.version, releasePackage, r.revision)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", target, "./cmd/kubectl-ptah") //nolint:gosec // a fixed command
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	return r.start(cmd, "building")
}

// inventory writes the SBOM of a binary, in the JSON form of CycloneDX.
func (r *release) inventory(ctx context.Context, binary, target string) error {
	cmd := exec.CommandContext(ctx, r.tool("cyclonedx-gomod"), "bin", "-json", "-std", "-noserial", "-notimestamp", "-version", "v"+r.version, "-output", target, binary) //nolint:gosec // our own tool
	return r.start(cmd, "writing the SBOM")
}

// manifest fills krew's manifest in and has krew's validator read it. The validator would install from the published archives, which are not there yet.
func (r *release) manifest(ctx context.Context, archives []archive) error {
	text, err := os.ReadFile(filepath.Join(r.source, "krew", "ptah.yaml"))
	if err != nil {
		return fmt.Errorf("reading the manifest's template: %w", err)
	}
	parsed, err := template.New("krew/ptah.yaml").Option("missingkey=error").Parse(withoutComments(string(text)))
	if err != nil {
		return fmt.Errorf("parsing krew/ptah.yaml: %w", err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, map[string]any{"Version": r.version, "BaseURL": r.baseURL + "/v" + r.version, "Archives": archives}); err != nil {
		return fmt.Errorf("filling in krew/ptah.yaml: %w", err)
	}
	target := filepath.Join(r.out, "ptah.yaml")
	if err := os.WriteFile(target, out.Bytes(), 0o644); err != nil { //nolint:gosec // for everybody to read
		return fmt.Errorf("writing %s: %w", target, err)
	}
	return r.start(exec.CommandContext(ctx, r.tool("validate-krew-manifest"), "-skip-install", "-manifest", target), "validating the krew manifest") //nolint:gosec // our own tool
}

// withoutComments drops the lines that explain the template.
func withoutComments(text string) string {
	lines := slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
	return strings.Join(lines, "")
}

// sums writes SHA256SUMS in the form that sha256sum --check reads.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return fmt.Errorf("listing %s: %w", r.out, err)
	}
	var out strings.Builder
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		fmt.Fprintf(&out, "%s  %s\n", hexSum(data), entry.Name())
	}
	fmt.Print(out.String())
	if err := os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(out.String()), 0o644); err != nil { //nolint:gosec // for everybody to read
		return fmt.Errorf("writing SHA256SUMS: %w", err)
	}
	return nil
}

// tool is the path of a program of the tools directory; relative to this process, not to the checkout.
func (r *release) tool(name string) string {
	path, err := filepath.Abs(filepath.Join(r.tools, name))
	if err != nil {
		return filepath.Join(r.tools, name)
	}
	return path
}

func (r *release) start(cmd *exec.Cmd, doing string) error {
	if filepath.Base(cmd.Path) == "go" {
		cmd.Dir = r.source
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", doing, err, said.String())
	}
	return nil
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
