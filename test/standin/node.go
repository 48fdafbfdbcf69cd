// Package standin is a Job controller and a kubelet in one, for tests against a real API server without a node: it makes the Pods of Jobs as
// the Job controller would, carries their orders out with a function, and serves their logs to the API server over TLS.
package standin

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

// Name of the node.
const Name = "standin"

// Execute carries one order out. A nil frame is a Pod that leaves an empty log.
type Execute func(order intent.Intent) *frame.Frame

// Node watches Jobs, or polls them where its client cannot watch, and completes them.
type Node struct {
	client  client.Client
	execute Execute

	mu    sync.Mutex
	logs  map[string]string // namespace/pod
	begun map[string]bool   // Jobs by UID
}

// Start registers the node and runs it until the context ends.
func Start(ctx context.Context, c client.Client, execute Execute) (*Node, error) {
	n := &Node{client: c, execute: execute, logs: map[string]string{}, begun: map[string]bool{}}
	port, err := n.serve(ctx)
	if err != nil {
		return nil, err
	}
	if err := n.register(ctx, port); err != nil {
		return nil, err
	}
	go n.loop(ctx)
	return n, nil
}

func (n *Node) register(ctx context.Context, port int32) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: Name}}
	if err := n.client.Create(ctx, node); err != nil {
		return fmt.Errorf("creating the stand-in node: %w", err)
	}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = port
	if err := n.client.Status().Update(ctx, node); err != nil {
		return fmt.Errorf("addressing the stand-in node: %w", err)
	}
	return nil
}

// serve answers /containerLogs/<namespace>/<pod>/<container> as a kubelet does.
func (n *Node) serve(ctx context.Context) (int32, error) {
	certificate, err := selfSigned()
	if err != nil {
		return 0, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("listening for logs: %w", err)
	}
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/containerLogs/"), "/")
			if len(parts) != 3 {
				http.NotFound(w, r)
				return
			}
			n.mu.Lock()
			log, ok := n.logs[parts[0]+"/"+parts[1]]
			n.mu.Unlock()
			if !ok {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(log))
		}),
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	return int32(listener.Addr().(*net.TCPAddr).Port), nil //nolint:gosec // a port
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// ours are the Jobs that this node cares for.
var ours = client.MatchingLabels{v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue}

// loop looks at every Job, over and over. With a client that can watch it only does so where a watch begins: polling is dear among thousands of
// finished Jobs.
func (n *Node) loop(ctx context.Context) {
	watching, canWatch := n.client.(client.WithWatch)
	for ctx.Err() == nil {
		var jobs batchv1.JobList
		if err := n.client.List(ctx, &jobs, ours); err == nil {
			for i := range jobs.Items {
				n.begin(ctx, &jobs.Items[i])
			}
			if canWatch {
				n.follow(ctx, watching, jobs.ResourceVersion)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// follow begins every Job that appears after a list, until the watch breaks.
func (n *Node) follow(ctx context.Context, c client.WithWatch, resourceVersion string) {
	w, err := c.Watch(ctx, &batchv1.JobList{}, ours, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: resourceVersion}})
	if err != nil {
		return
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		job, ok := e.Object.(*batchv1.Job)
		switch {
		case !ok: // an error: list again
			return
		case e.Type == watch.Deleted:
			n.mu.Lock()
			delete(n.begun, string(job.UID))
			n.mu.Unlock()
		default:
			n.begin(ctx, job)
		}
	}
}

// begin runs a Job that has no Pod yet, beside all others.
func (n *Node) begin(ctx context.Context, job *batchv1.Job) {
	if finished(job) || job.DeletionTimestamp != nil {
		return
	}
	n.mu.Lock()
	begun := n.begun[string(job.UID)]
	n.begun[string(job.UID)] = true
	n.mu.Unlock()
	if !begun {
		go n.run(ctx, job.DeepCopy())
	}
}

func finished(job *batchv1.Job) bool { return len(job.Status.Conditions) > 0 }

// run makes a Job's Pod and carries it through to its end.
func (n *Node) run(ctx context.Context, job *batchv1.Job) {
	pod, err := n.makePod(ctx, job)
	if err != nil {
		return
	}
	order, err := intent.Decode(orderOf(job))
	if err != nil {
		return
	}
	f := n.execute(order)
	var log strings.Builder
	if f != nil {
		_ = frame.Encode(&log, *f)
	}
	n.mu.Lock()
	n.logs[pod.Namespace+"/"+pod.Name] = log.String()
	n.mu.Unlock()
	ok := f != nil && f.Error == nil
	n.finishPod(ctx, pod, ok)
	n.finishJob(ctx, job, ok)
}

func orderOf(job *batchv1.Job) string {
	for _, e := range job.Spec.Template.Spec.Containers[0].Env {
		if e.Name == v1alpha1.IntentEnv {
			return e.Value
		}
	}
	return ""
}

func (n *Node) makePod(ctx context.Context, job *batchv1.Job) (*corev1.Pod, error) {
	yes := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, GenerateName: job.Name + "-", Labels: job.Spec.Template.Labels, Annotations: job.Spec.Template.Annotations,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Spec: *job.Spec.Template.Spec.DeepCopy(),
	}
	if err := n.client.Create(ctx, pod); err != nil {
		return nil, fmt.Errorf("making the pod of job %s: %w", job.Name, err)
	}
	return pod, n.bind(ctx, pod)
}

func (n *Node) bind(ctx context.Context, pod *corev1.Pod) error {
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: Name}}
	if err := n.client.SubResource("binding").Create(ctx, pod, binding); err != nil {
		return fmt.Errorf("binding pod %s: %w", pod.Name, err)
	}
	return n.client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
}

func (n *Node) finishPod(ctx context.Context, pod *corev1.Pod, ok bool) {
	code, phase := int32(0), corev1.PodSucceeded
	if !ok {
		code, phase = 1, corev1.PodFailed
	}
	pod.Status.Phase = phase
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: v1alpha1.OperationContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
	}}
	_ = n.client.Status().Update(ctx, pod)
}

func (n *Node) finishJob(ctx context.Context, job *batchv1.Job, ok bool) {
	for range 5 {
		now := metav1.Now()
		job.Status.StartTime = &now
		if ok {
			job.Status.CompletionTime, job.Status.Succeeded = &now, 1
			job.Status.Conditions = []batchv1.JobCondition{
				{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue, LastTransitionTime: now},
				{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: now},
			}
		} else {
			job.Status.Failed = 1
			job.Status.Conditions = []batchv1.JobCondition{
				{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, LastTransitionTime: now, Reason: "BackoffLimitExceeded"},
				{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: now, Reason: "BackoffLimitExceeded"},
			}
		}
		err := n.client.Status().Update(ctx, job)
		if !apierrors.IsConflict(err) {
			return
		}
		if n.client.Get(ctx, client.ObjectKeyFromObject(job), job) != nil {
			return
		}
	}
}
