//go:build linux

package node

import (
	"context"
	"fmt"
	"log"
	"net"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/pki"
	"github.com/ptah-run/ptah/test/cluster/process"
	"github.com/ptah-run/ptah/test/cluster/registry"
)

const (
	startTimeout = 3 * time.Minute
	pollInterval = 50 * time.Millisecond
)

// Node is process 1 of a cluster.
type Node struct {
	config    Config
	processes *process.Manager
	started   time.Time

	mu     sync.Mutex
	status Status
}

// Run is the life of process 1: it returns only when it could not even begin. Whatever goes wrong later is told by
// the control socket, and everything ends when this process is killed.
func Run(config Config) error {
	n := &Node{config: config, started: time.Now()}
	if err := isolate(config); err != nil {
		return err
	}
	n.processes = process.NewManager()
	server, err := n.listen()
	if err != nil {
		return err
	}
	go n.start()
	return server()
}

func (n *Node) start() {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err := n.bringUp(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status.Ready = err == nil
	if err != nil {
		log.Printf("start failed: %v", err)
		n.status.Failure = err.Error()
	}
}

func (n *Node) done(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	step := Step{Name: what, Elapsed: time.Since(n.started)}
	log.Printf("%6d ms  %s", step.Elapsed.Milliseconds(), step.Name)
	n.status.Steps = append(n.status.Steps, step)
}

func (n *Node) bringUp(ctx context.Context) error {
	if err := network(); err != nil {
		return err
	}
	first := []process.Spec{n.config.etcd(), n.config.apiServer(), n.config.registry()}
	if !n.config.NoNode {
		first = append(first, n.config.containerd())
	}
	if err := n.startAll(first); err != nil {
		return err
	}
	n.done("network ready, etcd and API server started")
	client, err := n.client()
	if err != nil {
		return err
	}
	err = poll(ctx, "waiting for the API server", func() error {
		return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
	if err != nil {
		return err
	}
	n.done("API server ready")
	if err := n.startAll([]process.Spec{n.config.controllerManager()}); err != nil {
		return err
	}
	if err := n.waitRegistry(ctx); err != nil {
		return err
	}
	if !n.config.NoNode {
		if err := n.bringUpNode(ctx, client); err != nil {
			return err
		}
	}
	err = poll(ctx, "waiting for the default ServiceAccount", func() error {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err == nil {
		n.done("default ServiceAccount exists")
	}
	return err
}

func (n *Node) bringUpNode(ctx context.Context, client kubernetes.Interface) error {
	if err := n.startAll([]process.Spec{n.config.scheduler(), n.config.dns(), n.config.proxy()}); err != nil {
		return err
	}
	err := poll(ctx, "waiting for containerd", func() error {
		conn, err := net.Dial("unix", runDir+"/containerd/containerd.sock")
		if err == nil {
			conn.Close()
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := n.startAll([]process.Spec{n.config.kubelet()}); err != nil {
		return err
	}
	n.done("container runtime ready, kubelet started")
	err = poll(ctx, "waiting for the node", func() error {
		node, err := client.CoreV1().Nodes().Get(ctx, cluster.NodeName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return schedulable(node)
	})
	if err == nil {
		n.done("node ready")
	}
	return err
}

// schedulable is nil when Pods without tolerations can run on the node.
func schedulable(node *corev1.Node) error {
	for _, taint := range node.Spec.Taints {
		if taint.Effect == corev1.TaintEffectNoSchedule {
			return fmt.Errorf("node %s has taint %s", node.Name, taint.Key)
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("node %s is not ready", node.Name)
}

// waitRegistry waits for the registry and puts the pause image into it, from where containerd pulls it like any
// other image.
func (n *Node) waitRegistry(ctx context.Context) error {
	err := poll(ctx, "waiting for the registry", func() error {
		conn, err := net.Dial("tcp", cluster.RegistryAddress)
		if err == nil {
			conn.Close()
		}
		return err
	})
	if err != nil || n.config.NoNode {
		return err
	}
	image, err := registry.ProgramImage(n.config.Binaries["pause"])
	if err != nil {
		return err
	}
	return registry.Push(ctx, n.config.PauseImage, image)
}

func (n *Node) startAll(specs []process.Spec) error {
	for _, spec := range specs {
		if err := n.processes.Start(spec); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) client() (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", n.config.pki(pki.AdminInside))
	if err != nil {
		return nil, fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	config.Timeout = 2 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making an API client: %w", err)
	}
	return client, nil
}

// poll calls check until it succeeds.
func poll(ctx context.Context, what string, check func() error) error {
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		case <-time.After(pollInterval):
		}
	}
}
