package plugin_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
)

var update = flag.Bool("update", false, "write the expected files of scenarios instead of comparing")

// scenario is one command line against one state of a cluster: case.yaml, with stdout and stderr beside it.
type scenario struct {
	Command string            `json:"command"`           // after "kubectl ptah", split at spaces; 'quoted words' stay whole
	Cluster string            `json:"cluster"`           // of testdata/clusters; without one there is no kubeconfig
	Becomes string            `json:"becomes,omitempty"` // cluster that comes while the command runs
	Exit    int               `json:"exit,omitempty"`    //
	Stdin   string            `json:"stdin,omitempty"`   //
	Env     map[string]string `json:"env,omitempty"`     //
	// Terminal makes all three streams a terminal of this many columns.
	Terminal int `json:"terminal,omitempty"`
	// Forbid names resources that the person may not touch.
	Forbid []string `json:"forbid,omitempty"`
	// Admin makes the person a cluster-admin.
	Admin bool `json:"admin,omitempty"`
	// Refuse, Bare and Unreachable are what only a stub can do: admission says no, the kinds are missing, nothing listens.
	Refuse      string `json:"refuse,omitempty"`
	Bare        bool   `json:"bare,omitempty"`
	Unreachable bool   `json:"unreachable,omitempty"`
	// Lacks names resources that an older operator does not have; only a stub can do without them.
	Lacks []string `json:"lacks,omitempty"`
	// After are commands that follow on the same cluster. What they print is appended to stdout, under the command.
	After []string `json:"after,omitempty"`
	// Program is argv[0]; kubectl-ptah if empty.
	Program string `json:"program,omitempty"`
	// dir is where the scenario may write, the commands that follow included.
	dir string
	// registry is the host of one that is empty at first, for commands that say {registry}.
	registry string
}

// stubOnly says that a real server cannot play the scenario.
func (s scenario) stubOnly() bool {
	return s.Refuse != "" || s.Bare || s.Unreachable || len(s.Lacks) > 0 || s.Cluster == ""
}

// server serves a cluster's objects.
type server interface {
	// load replaces everything that was served before.
	load(t *testing.T, objects []*unstructured.Unstructured, s scenario)
	config() *rest.Config
	// later makes one state follow another while the command runs.
	later(t *testing.T, from, to []*unstructured.Unstructured)
	// user is who the person is to the server; "" is whoever the config says.
	user(s scenario) string
}

func TestScenarios(t *testing.T) {
	if *update {
		writeClusters(t)
	}
	t.Run("stub", func(t *testing.T) { runScenarios(t, &stubServer{}, false) })
	t.Run("real API server", func(t *testing.T) {
		server := startReal(t)
		runScenarios(t, server, true)
		t.Run("approvals of one plan", server.selectsApprovals) // last, because it changes the CRDs
	})
}

func runScenarios(t *testing.T, against server, realServer bool) {
	files, err := filepath.Glob("testdata/*/*/case.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		directory := filepath.Dir(file)
		if realServer && readScenario(t, file).stubOnly() {
			continue
		}
		t.Run(strings.TrimPrefix(directory, "testdata/"), func(t *testing.T) {
			s := readScenario(t, file)
			s.dir = t.TempDir()
			if strings.Contains(s.Command, "{registry}") {
				s.registry = startRegistry(t)
			}
			against.load(t, readCluster(t, s.Cluster), s)
			if s.Becomes != "" {
				against.later(t, readCluster(t, s.Cluster), readCluster(t, s.Becomes))
			}
			got := s.play(t, against)
			if *update && !realServer {
				write(t, filepath.Join(directory, "stdout"), got.stdout)
				write(t, filepath.Join(directory, "stderr"), got.stderr)
			}
			assert.Equal(t, read(t, filepath.Join(directory, "stdout")), got.stdout, "stdout")
			assert.Equal(t, read(t, filepath.Join(directory, "stderr")), got.stderr, "stderr")
			assert.Equal(t, options.Code(s.Exit), got.code, "exit code")
		})
	}
}

// play runs the command and those that follow it.
func (s scenario) play(t *testing.T, against server) result {
	t.Helper()
	got := s.run(t, against)
	for _, command := range s.After {
		next := scenario{Command: command, Cluster: s.Cluster, Env: s.Env, Forbid: s.Forbid, Admin: s.Admin, dir: s.dir, registry: s.registry}.run(t, against)
		got.stdout += fmt.Sprintf("$ kubectl ptah %s\n%s%s[exit %d]\n", command, next.stdout, next.stderr, next.code)
	}
	return got
}

type result struct {
	stdout, stderr string
	code           options.Code
}

func (s scenario) run(t *testing.T, against server) result {
	t.Helper()
	kubeconfig := "testdata/no-kubeconfig"
	if s.Cluster != "" {
		kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
		writeKubeconfig(t, kubeconfig, against.config())
	}
	// {dir} is a directory of this run, for commands that write files.
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	s.Command = strings.NewReplacer("{dir}", s.dir, "{registry}", s.registry).Replace(s.Command)
	args := append(words(s.Command), "--kubeconfig", kubeconfig)
	if user := against.user(s); user != "" {
		args = append(args, "--as", user)
	}
	if s.Program != "" || strings.HasPrefix(s.Command, "__complete") {
		// The word to complete is the last one, so flags go first.
		typed := words(s.Command)
		flags := args[len(typed):]
		var request []string
		if s.Program == "" {
			request, typed = typed[:1], typed[1:]
		}
		args = slices.Concat(request, flags, typed)
	}
	got := invoke(s, args)
	place := strings.NewReplacer(s.dir, "{dir}", cmp.Or(s.registry, "{registry}"), "{registry}")
	got.stdout, got.stderr = place.Replace(got.stdout), place.Replace(got.stderr)
	return got
}

func invoke(s scenario, args []string) result {
	var stdout, stderr bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(s.Stdin), Out: &stdout, ErrOut: &stderr}
	screen := options.Screen{In: s.Terminal > 0, Out: s.Terminal > 0, ErrOut: s.Terminal > 0, Width: s.Terminal}
	env := map[string]string{"LANG": "C.UTF-8", "COLORFGBG": "15;0"}
	for name, value := range s.Env {
		env[name] = value
	}
	global := options.New(streams, screen, func() time.Time { return now }, func(name string) string { return env[name] })
	global.Patience = time.Hour // what a command says after a while depends on the machine
	program := s.Program
	if program == "" {
		program = "/usr/local/bin/kubectl-ptah"
	}
	code := plugin.Run(context.Background(), global, program, args)
	return result{stdout.String(), stderr.String(), code}
}

// words splits a command line at spaces; single quotes keep words whole, and ” is an empty word.
func words(command string) []string {
	var list []string
	var word strings.Builder
	quoted, present := false, false
	for _, char := range command {
		switch {
		case char == '\'':
			quoted, present = !quoted, true
		case char == ' ' && !quoted:
			if present {
				list = append(list, word.String())
			}
			word.Reset()
			present = false
		default:
			word.WriteRune(char)
			present = true
		}
	}
	if present {
		list = append(list, word.String())
	}
	return list
}

// startRegistry is a registry in memory, for whoever has no credentials.
func startRegistry(t *testing.T) string {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// stubServer loads a fresh stub for every scenario.
type stubServer struct{ current *stub }

func (s *stubServer) load(t *testing.T, objects []*unstructured.Unstructured, c scenario) {
	t.Helper()
	s.current = newStub()
	t.Cleanup(s.current.Close)
	s.current.put(withCRDs(t, objects, c)...)
	s.current.admin = c.Admin
	s.current.refuse, s.current.bare = c.Refuse, c.Bare
	s.current.person = (&realServer{}).user(c)
	for _, resource := range c.Forbid {
		s.current.forbid[resource] = true
	}
	s.current.lacks = c.Lacks
	if c.Unreachable {
		s.current.Close()
		s.current.URL = "https://127.0.0.1:1"
	}
}

func (s *stubServer) config() *rest.Config { return &rest.Config{Host: s.current.URL} }
func (s *stubServer) user(scenario) string { return "" }

func writeKubeconfig(t *testing.T, path string, config *rest.Config) {
	t.Helper()
	cluster := clientcmdapi.NewCluster()
	cluster.Server, cluster.CertificateAuthorityData = config.Host, config.CAData
	if !strings.Contains(cluster.Server, "://") {
		cluster.Server = "https://" + cluster.Server
	}
	user := clientcmdapi.NewAuthInfo()
	user.ClientCertificateData, user.ClientKeyData, user.Impersonate = config.CertData, config.KeyData, config.Impersonate.UserName
	point := clientcmdapi.NewContext()
	point.Cluster, point.AuthInfo, point.Namespace = "test", "test", "app"
	document := clientcmdapi.NewConfig()
	document.Clusters["test"], document.AuthInfos["test"], document.Contexts["test"] = cluster, user, point
	document.CurrentContext = "test"
	require.NoError(t, clientcmd.WriteToFile(*document, path))
}

func readScenario(t *testing.T, path string) scenario {
	t.Helper()
	var s scenario
	require.NoError(t, yaml.UnmarshalStrict([]byte(read(t, path)), &s), path)
	return s
}

func clusterPath(name string) string { return filepath.Join("testdata", "clusters", name+".yaml") }

func writeClusters(t *testing.T) {
	t.Helper()
	for name, build := range clusters {
		text := "# Generated by \"go test ./plugin -update\" from clusters_test.go.\n"
		for _, object := range build() {
			data, err := yaml.Marshal(toUnstructured(object).Object)
			require.NoError(t, err)
			text += "---\n" + string(data)
		}
		write(t, clusterPath(name), text)
	}
}

func readCluster(t *testing.T, name string) []*unstructured.Unstructured {
	t.Helper()
	if name == "" {
		return nil
	}
	var objects []*unstructured.Unstructured
	for _, text := range strings.Split(read(t, clusterPath(name)), "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
		if object.Object != nil {
			objects = append(objects, object)
		}
	}
	return objects
}

func toUnstructured(object any) *unstructured.Unstructured {
	data, err := yaml.Marshal(object)
	must(err)
	result := &unstructured.Unstructured{}
	must(yaml.Unmarshal(data, &result.Object))
	return result
}

func fromUnstructured(object *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(t, err)
	return string(data)
}

// write leaves out empty files.
func write(t *testing.T, path, text string) {
	t.Helper()
	if text == "" {
		require.NoError(t, os.RemoveAll(path))
		return
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644), fmt.Sprintf("writing %s", path))
}
