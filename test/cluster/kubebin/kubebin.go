// Package kubebin finds or builds the programs of a test cluster: the Kubernetes components, etcd, Helm and the pause
// program of Pods.
package kubebin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ptah-run/ptah/test/cluster"
)

// Versions of what Build builds; they must agree with binaries/go.mod, which a test checks.
const (
	KubernetesVersion = "v1.37.2"
	EtcdVersion       = "v3.7.3"
	HelmVersion       = "v4.3.1"
)

// Variables naming directories with programs to use instead of building them.
const (
	kubeBinVariable = "PTAH_KUBE_BIN"
	assetsVariable  = "KUBEBUILDER_ASSETS"
)

// hyperkubeNames are the programs that one build of hyperkube gives.
var hyperkubeNames = []string{
	"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl",
}

// Needed lists the programs of a cluster, with or without a node.
func Needed(noNode bool) []string {
	if noNode {
		return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "helm"}
	}
	return append([]string{"etcd", "helm", "pause"}, hyperkubeNames...)
}

// Options of Resolve.
type Options struct {
	NoNode   bool
	Progress io.Writer
}

// Set is where each program is.
type Set struct {
	Paths   map[string]string
	Version string // of the API server
}

// Resolve finds the programs of a cluster and builds those that are nowhere to be found.
func Resolve(ctx context.Context, options Options) (Set, error) {
	set := Set{Paths: map[string]string{}, Version: KubernetesVersion}
	names := Needed(options.NoNode)
	findPointed(ctx, &set, names, options.Progress)
	if err := buildRest(ctx, &set, names, options.Progress); err != nil {
		return Set{}, err
	}
	return set, nil
}

// Assets returns a directory with the programs that controller-runtime's envtest starts.
func Assets(ctx context.Context, progress io.Writer) (string, error) {
	set := Set{Paths: map[string]string{}}
	names := []string{"kube-apiserver", "etcd", "kubectl"}
	findPointed(ctx, &set, names, progress)
	dirs := map[string]bool{}
	for _, path := range set.Paths {
		dirs[filepath.Dir(path)] = true
	}
	if len(set.Paths) < len(names) || len(dirs) > 1 {
		clear(set.Paths) // one directory is wanted, so take none from elsewhere
	}
	if err := buildRest(ctx, &set, names, progress); err != nil {
		return "", err
	}
	return filepath.Dir(set.Paths["kube-apiserver"]), nil
}

// buildRest points the names that have no path yet to the cache, and builds what that lacks.
func buildRest(ctx context.Context, set *Set, names []string, progress io.Writer) error {
	source, err := SourceDir()
	if err != nil {
		return err
	}
	dir, err := CacheDir(source)
	if err != nil {
		return err
	}
	var units []unit
	for _, name := range names {
		if set.Paths[name] != "" {
			continue
		}
		set.Paths[name] = filepath.Join(dir, name)
		units = appendUnit(units, unitOf(name))
	}
	return ensure(ctx, source, dir, units, progress)
}

// Missing tells which units Resolve would have to build now.
func Missing(noNode bool) ([]string, error) {
	source, err := SourceDir()
	if err != nil {
		return nil, err
	}
	dir, err := CacheDir(source)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, name := range Needed(noNode) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// findPointed takes programs from the directories the user points at, where their version fits.
func findPointed(ctx context.Context, set *Set, names []string, progress io.Writer) {
	for _, variable := range []string{kubeBinVariable, assetsVariable} {
		dir := os.Getenv(variable)
		if dir == "" {
			continue
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err != nil || set.Paths[name] != "" {
				continue
			}
			version, err := programVersion(ctx, name, path)
			if err == nil {
				err = fits(name, version)
			}
			if err != nil {
				fmt.Fprintf(progress, "not using %s of %s: %v\n", name, variable, err)
				continue
			}
			fmt.Fprintf(progress, "using %s %s of %s\n", name, version, variable)
			set.Paths[name] = path
			if name == "kube-apiserver" {
				set.Version = version
			}
		}
	}
}

// versionArguments make a program print its version; kubectl alone has a subcommand.
func versionArguments(name string) []string {
	switch name {
	case "kubectl":
		return []string{"version", "--client"}
	case "helm":
		return []string{"version", "--short"}
	default:
		return []string{"--version"}
	}
}

func programVersion(ctx context.Context, name, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, versionArguments(name)...).Output()
	if err != nil {
		return "", fmt.Errorf("asking for its version: %w", err)
	}
	version := findVersion(string(output))
	if version == "" {
		return "", errors.New("it prints no version")
	}
	return version, nil
}

// findVersion returns the first word of text that is a version, always with its leading v.
func findVersion(text string) string {
	for _, word := range strings.Fields(text) {
		number := strings.TrimPrefix(word, "v")
		if strings.Count(number, ".") >= 2 && number[0] >= '0' && number[0] <= '9' {
			return "v" + number
		}
	}
	return ""
}

// fits refuses versions that the tests were not written for.
func fits(name, version string) error {
	want := "v1.37."
	switch name {
	case "etcd":
		want = "v3."
	case "helm":
		want = "v4."
	case "pause":
		return nil
	}
	if !strings.HasPrefix(version, want) {
		return fmt.Errorf("it is %s, wanted %sx", version, want)
	}
	return nil
}

// CacheDir is where programs built from this source are kept.
func CacheDir(source string) (string, error) {
	base, err := cluster.CacheDir()
	if err != nil {
		return "", err
	}
	key, err := sourceKey(source)
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "kubernetes-"+KubernetesVersion+"-"+key), nil
}

// sourceKey changes whenever the programs would.
func sourceKey(source string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.GOOS, runtime.GOARCH)
	for _, file := range []string{
		"binaries/go.mod", "binaries/go.sum", "binaries/hyperkube/main.go", "cmd/pause/main.go",
	} {
		data, err := os.ReadFile(filepath.Join(source, file))
		if err != nil {
			return "", fmt.Errorf("reading the source of the cluster's programs: %w", err)
		}
		fmt.Fprintln(hash, file, len(data))
		hash.Write(data)
	}
	return hex.EncodeToString(hash.Sum(nil))[:12], nil
}

// SourceDir finds the directory of this module: above the working directory, else where this program was compiled.
func SourceDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working directory: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		for _, candidate := range []string{dir, filepath.Join(dir, "test", "cluster")} {
			if isSource(candidate) {
				return candidate, nil
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		if candidate := filepath.Dir(filepath.Dir(file)); isSource(candidate) {
			return candidate, nil
		}
	}
	return "", errors.New("cannot find the source of the cluster's programs: run this from the checkout")
}

func isSource(dir string) bool {
	for _, file := range []string{"binaries/go.mod", "binaries/hyperkube/main.go", "cmd/pause/main.go"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			return false
		}
	}
	return true
}
