//go:build linux

package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/cli"
	"github.com/ptah-run/ptah/test/cluster/database"
	"github.com/ptah-run/ptah/test/cluster/debian"
	"github.com/ptah-run/ptah/test/cluster/kubebin"
	"github.com/ptah-run/ptah/test/cluster/local"
	"github.com/ptah-run/ptah/test/cluster/process"
	"github.com/ptah-run/ptah/test/cluster/registry"
)

// TestMain lets the test binary be the program that clusters run: their subcommands go to the real command line.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// life is one cluster of a test with what is needed to use it.
type life struct {
	name   string
	driver cluster.Driver
	log    *bytes.Buffer
	before host
}

// newLife skips where no cluster can run. Binaries must be in the cache: a test is no place for a build of minutes.
func newLife(t *testing.T, name string, noNode bool) *life {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a cluster needs root: run the tests with sudo -E, with PATH kept")
	}
	if os.Getenv(cluster.InsideVariable) != "" {
		t.Skip("a cluster cannot be started inside another one")
	}
	missing, err := kubebin.Missing(noNode)
	require.NoError(t, err)
	if len(missing) > 0 {
		t.Skipf("not built yet: %s; run first: go run ./cmd/ptah-cluster build", strings.Join(missing, ", "))
	}
	if packages := debian.MissingPackages(debian.NodePrograms); len(packages) > 0 && !debian.CanInstall() {
		t.Skipf("Debian packages are missing: %s", strings.Join(packages, " "))
	}
	program, err := os.Executable()
	require.NoError(t, err)
	name = fmt.Sprintf("%s-%d", name, os.Getpid())
	driver, err := local.New(name, program)
	require.NoError(t, err)
	l := &life{name: name, driver: driver, log: &bytes.Buffer{}}
	l.before = l.snapshot(t)
	t.Cleanup(func() {
		assert.NoError(t, driver.Down(context.Background()))
		if t.Failed() {
			t.Log(l.log)
		}
	})
	return l
}

func compile(t *testing.T, pkg string) string {
	t.Helper()
	target := filepath.Join(t.TempDir(), filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", target, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, string(output))
	return target
}

// host is what a cluster could leave behind.
type host struct {
	mounts, links, cgroups, processes, files []string
}

func (l *life) snapshot(t *testing.T) host {
	t.Helper()
	cache, err := cluster.CacheDir()
	require.NoError(t, err)
	// Of this very thread: the first one of the process may have stayed in a namespace that it was sent into.
	mounts, err := os.ReadFile("/proc/thread-self/mountinfo")
	require.NoError(t, err)
	h := host{mounts: strings.Split(string(mounts), "\n")}
	links, err := netlink.LinkList()
	require.NoError(t, err)
	for _, link := range links {
		h.links = append(h.links, link.Attrs().Name)
	}
	// Of the rest only what belongs to this cluster: others may come and go meanwhile.
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && strings.Contains(entry.Name(), l.name) {
			h.cgroups = append(h.cgroups, path)
		}
		return nil
	})
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range commands {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte("/"+l.name+"/")) {
			h.processes = append(h.processes, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	h.files, err = filepath.Glob(filepath.Join(cache, "cluster", l.name) + "*")
	require.NoError(t, err)
	for _, dir := range []string{"/var/lib/kubelet", "/var/lib/cni", "/opt/containerd", "/var/log/pods", "/run/ptah"} {
		if _, err := os.Stat(dir); err == nil {
			h.files = append(h.files, dir)
		}
	}
	return h
}

func (l *life) up(ctx context.Context, t *testing.T, noNode bool) kubernetes.Interface {
	t.Helper()
	options := cluster.UpOptions{Progress: l.log, NoNode: noNode}
	started := time.Now()
	require.NoError(t, l.driver.Up(ctx, options))
	t.Logf("up took %s", time.Since(started).Round(100*time.Millisecond))
	require.NoError(t, l.driver.Up(ctx, options))
	assert.Contains(t, l.log.String(), "is up already")
	env, err := l.driver.Env(ctx)
	require.NoError(t, err)
	config, err := clientcmd.BuildConfigFromFlags("", env.Kubeconfig)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	version, err := client.Discovery().ServerVersion()
	require.NoError(t, err)
	assert.Equal(t, kubebin.KubernetesVersion, version.GitVersion)
	return client
}

func (l *life) down(ctx context.Context, t *testing.T) {
	t.Helper()
	require.NoError(t, l.driver.Down(ctx))
	after := l.snapshot(t)
	assert.Equal(t, l.before, after, "down must leave nothing behind")
}

func TestLifeOfACluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	l := newLife(t, "it", false)
	client := l.up(ctx, t, false)
	status, err := l.driver.Status(ctx)
	require.NoError(t, err)
	assert.True(t, status.Ready)
	for _, component := range status.Components {
		assert.Equal(t, "running", component.State, component.Name)
	}
	t.Run("a Job pulls by digest and finds Services by name", func(t *testing.T) { runJob(ctx, t, l, client) })
	t.Run("exec reaches Services and returns the exit code", func(t *testing.T) { runExec(ctx, t, l) })
	t.Run("a database can be stopped, go on and vanish", func(t *testing.T) { runDatabase(ctx, t, l) })
	t.Run("a killed component and a killed forwarder come back", func(t *testing.T) { runRecovery(ctx, t, l, client) })
	l.down(ctx, t)
}

// runJob runs a Pod with an image that exists only in the cluster's registry. It dials the API server and a Service
// without selector whose endpoint is outside of Pods.
func runJob(ctx context.Context, t *testing.T, l *life, client kubernetes.Interface) {
	image, err := registry.ProgramImage(compile(t, "./testdata/pod"))
	require.NoError(t, err)
	env, err := l.driver.Env(ctx)
	require.NoError(t, err)
	pushed, err := registry.Reference(env.RegistryHost, "test/pod", image)
	require.NoError(t, err)
	require.NoError(t, registry.Push(ctx, pushed, image))
	reference, err := registry.Reference(env.Registry, "test/pod", image)
	require.NoError(t, err)

	createOutside(ctx, t, client)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "names"}}
	job.Spec.BackoffLimit = ptr.To[int32](0)
	job.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: ptr.To(false),
		Containers: []corev1.Container{{
			Name: "c", Image: reference,
			Args: []string{"kubernetes.default:443", "outside:80", "outside.default.svc.cluster.local:80"},
			SecurityContext: &corev1.SecurityContext{
				RunAsNonRoot: ptr.To(true), ReadOnlyRootFilesystem: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false),
			},
		}},
	}
	_, err = client.BatchV1().Jobs("default").Create(ctx, job, metav1.CreateOptions{})
	require.NoError(t, err)
	var pod *corev1.Pod
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "job-name=names"})
		if assert.NoError(c, err) && assert.Len(c, pods.Items, 1) {
			pod = &pods.Items[0]
			assert.Contains(c, []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}, pod.Status.Phase)
		}
	}, time.Minute, 200*time.Millisecond)
	log, err := client.CoreV1().Pods("default").GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
	require.NoError(t, err)
	assert.Equal(t, corev1.PodSucceeded, pod.Status.Phase, string(log))
	assert.Contains(t, string(log), "kubernetes.default:443 is ["+cluster.ServiceIP+"] and answers")
	assert.Contains(t, string(log), "outside.default.svc.cluster.local:80 is [10.96.")
}

func createOutside(ctx context.Context, t *testing.T, client kubernetes.Interface) {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "outside"}}
	service.Spec.Ports = []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(cluster.RegistryPort)}}
	_, err := client.CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{})
	require.NoError(t, err)
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: "outside-1", Labels: map[string]string{discoveryv1.LabelServiceName: "outside"},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Port: ptr.To[int32](cluster.RegistryPort)}},
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{cluster.NodeAddress}}},
	}
	_, err = client.DiscoveryV1().EndpointSlices("default").Create(ctx, slice, metav1.CreateOptions{})
	require.NoError(t, err)
}

func runExec(ctx context.Context, t *testing.T, l *life) {
	code, err := l.driver.Exec(ctx, []string{"sh", "-c", "exit 7"})
	require.NoError(t, err)
	assert.Equal(t, 7, code)
	file := filepath.Join(t.TempDir(), "out")
	code, err = l.driver.Exec(ctx, []string{
		"sh", "-c",
		"{ kubectl get --raw /readyz && hostname && getent hosts outside.default.svc.cluster.local; } >" + file,
	})
	require.NoError(t, err)
	assert.Zero(t, code)
	output, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(output), "ok"+cluster.NodeName+"\n10.96.")
	_, err = l.driver.Exec(ctx, []string{"no-such-command"})
	assert.ErrorContains(t, err, "no-such-command")
}

func runDatabase(ctx context.Context, t *testing.T, l *life) {
	if _, _, err := database.Programs(0); err != nil {
		t.Skip(err)
	}
	options := cluster.DatabaseOptions{Name: "shop", Engine: "postgres", LogStatement: "ddl", Progress: l.log}
	first, err := l.driver.StartDatabase(ctx, options)
	require.NoError(t, err)
	execute := func(statement string) error {
		conn, err := pgx.Connect(ctx, first.Forward.URL)
		if err != nil {
			return err
		}
		defer conn.Close(ctx) //nolint:errcheck // the statement's error is the one of interest
		_, err = conn.Exec(ctx, statement)
		return err
	}
	require.NoError(t, execute("CREATE TABLE kept (id int)"))
	log, err := os.ReadFile(first.LogFile)
	require.NoError(t, err)
	assert.Contains(t, string(log), "CREATE TABLE kept")

	require.NoError(t, l.driver.StopDatabase(ctx, "shop", true))
	assert.Error(t, execute("SELECT 1"))
	again, err := l.driver.StartDatabase(ctx, options)
	require.NoError(t, err)
	assert.Equal(t, first, again, "same addresses, same password")
	assert.NoError(t, execute("SELECT id FROM kept"))

	other, err := l.driver.StartDatabase(ctx, cluster.DatabaseOptions{Name: "other", Engine: "postgres", Progress: io.Discard})
	require.NoError(t, err)
	assert.NotEqual(t, first.Port, other.Port)
	require.NoError(t, l.driver.StopDatabase(ctx, "shop", false))
	_, err = pgx.Connect(ctx, first.Forward.URL)
	assert.ErrorContains(t, err, "refused")
	// The other one is left for Down.
}

func runRecovery(ctx context.Context, t *testing.T, l *life, client kubernetes.Interface) {
	status, err := l.driver.Status(ctx)
	require.NoError(t, err)
	for _, component := range status.Components {
		if component.Name == "kube-scheduler" {
			code, err := l.driver.Exec(ctx, []string{"kill", "-9", strconv.Itoa(component.PID)})
			require.NoError(t, err)
			require.Zero(t, code)
		}
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		status, err := l.driver.Status(ctx)
		assert.NoError(c, err)
		assert.True(c, slices.ContainsFunc(status.Components, func(s cluster.ComponentStatus) bool {
			return s.Name == "kube-scheduler" && s.State == "running" && s.Restarts > 0
		}))
	}, 20*time.Second, 100*time.Millisecond)

	data, err := os.ReadFile(filepath.Join(status.StateDir, "cluster.json"))
	require.NoError(t, err)
	var record struct{ Forwarder process.Identity }
	require.NoError(t, json.Unmarshal(data, &record))
	require.NoError(t, record.Forwarder.Kill(ctx))
	status, err = l.driver.Status(ctx)
	require.NoError(t, err)
	assert.Contains(t, status.Problem, "forwarder")
	require.NoError(t, l.driver.Up(ctx, cluster.UpOptions{Progress: l.log}))
	_, err = client.Discovery().ServerVersion()
	assert.NoError(t, err, "the same kubeconfig works again")
}

func TestLifeOfAClusterWithoutNode(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	l := newLife(t, "it-api", true)
	client := l.up(ctx, t, true)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "waits"}}
	job.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "none"}},
	}
	_, err := client.BatchV1().Jobs("default").Create(ctx, job, metav1.CreateOptions{})
	require.NoError(t, err)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		assert.NoError(c, err)
		if assert.Len(c, pods.Items, 1, "the Job controller works") {
			assert.Equal(c, corev1.PodPending, pods.Items[0].Status.Phase)
		}
	}, 20*time.Second, 100*time.Millisecond)
	env, err := l.driver.Env(ctx)
	require.NoError(t, err)
	response, err := http.Get("http://" + env.RegistryHost + "/v2/")
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Error(t, l.driver.Up(ctx, cluster.UpOptions{Progress: l.log}), "a cluster with another shape is in the way")
	l.down(ctx, t)
}
