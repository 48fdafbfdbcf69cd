package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/operation"
)

const (
	maxReads      = 8                // logs read at once
	maxLargeReads = 2                // of them, those that hold more than smallRead in memory
	smallRead     = 1 << 20          // bytes
	readBudget    = 60 * time.Second // of one reading, or the operation's Lease where that is shorter
	lostAfter     = 2                // budgets of reading that ended without a log before it is given up
	frameTries    = 5                // looks at a log whose frame has not arrived completely
	framePatience = 400 * time.Millisecond
)

// LogReader reads results off the reconcile path: a slow node holds up one reading, never a reconcile worker.
type LogReader struct {
	open   func(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error)
	memory *Memory
	wake   func(Key)
	slots  chan struct{}
	large  chan struct{}
}

// NewLogReader reads Pod logs through the API server.
func NewLogReader(core kubernetes.Interface, memory *Memory, wake func(Key)) LogReader {
	return LogReader{
		open: func(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error) {
			return core.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container}).Stream(ctx)
		},
		memory: memory, wake: wake, slots: make(chan struct{}, maxReads), large: make(chan struct{}, maxLargeReads),
	}
}

// Start begins to read a claim's result and returns at once. What it finds is in the memory when wake is called.
func (l LogReader) Start(ctx context.Context, k Key, s operation.ReadResult) {
	l.memory.with(k, func(r *recollection) {
		if r.result.ClaimID != s.Claim.ID {
			r.failures, r.failing = 0, time.Time{}
		}
		r.result = operation.Result{State: operation.ResultReading, ClaimID: s.Claim.ID, At: time.Now()}
	})
	budget := readBudget
	if s.Claim.LeaseSeconds > 0 {
		budget = min(budget, time.Duration(s.Claim.LeaseSeconds)*time.Second)
	}
	go func() {
		select {
		case l.slots <- struct{}{}:
			defer func() { <-l.slots }()
		case <-ctx.Done():
			return
		}
		reading, cancel := context.WithTimeout(ctx, budget)
		defer cancel()
		l.store(k, s.Claim.ID, l.read(reading, k.Namespace, s))
		l.wake(k)
	}()
}

// store keeps a result, unless the resource went on to another claim meanwhile.
func (l LogReader) store(k Key, claimID string, result operation.Result) {
	l.memory.with(k, func(r *recollection) {
		if r.result.ClaimID != claimID {
			return
		}
		if r.spent(result.State, time.Now()) {
			result.State = operation.ResultLost
		}
		result.ClaimID, result.At = claimID, time.Now()
		r.result = result
	})
}

// spent reports whether a log was tried for long enough to be given up. A reading that fails at once costs no budget, only the time until the
// next one: a node whose kubelet restarts must not turn a run that succeeded into an unknown one.
func (r *recollection) spent(state operation.ResultState, now time.Time) bool {
	switch state {
	case operation.ResultTimedOut:
		r.failures++
	case operation.ResultFailed:
		if r.failing.IsZero() {
			r.failing = now
		}
	default:
		return false
	}
	return r.failures >= lostAfter || (!r.failing.IsZero() && now.Sub(r.failing) >= lostAfter*readBudget)
}

// read looks at the log until a whole frame is there. A frame that never becomes whole is no result.
func (l LogReader) read(ctx context.Context, namespace string, s operation.ReadResult) operation.Result {
	var err error
	for try := range frameTries {
		var f frame.Frame
		f, err = l.parse(ctx, namespace, s)
		if err == nil {
			return operation.Result{State: operation.ResultFrame, Frame: f}
		}
		if !frame.Incomplete(err) || ctx.Err() != nil || try == frameTries-1 {
			break
		}
		select {
		case <-time.After(framePatience << try):
		case <-ctx.Done():
		}
	}
	return failedRead(ctx, err)
}

func failedRead(ctx context.Context, err error) operation.Result {
	switch {
	case ctx.Err() != nil:
		return operation.Result{State: operation.ResultTimedOut, Failure: "reading the result took too long"}
	case apierrors.IsNotFound(err), apierrors.IsBadRequest(err):
		return operation.Result{State: operation.ResultLost, Failure: "the Pod's log is gone"}
	case frameError(err):
		return operation.Result{State: operation.ResultInvalid, Failure: "the Pod's log holds no result: " + oneLine(err.Error())}
	}
	return operation.Result{State: operation.ResultFailed, Failure: "the Pod's log cannot be read for now"}
}

func frameError(err error) bool {
	for _, kind := range []error{
		frame.ErrNoFrame, frame.ErrTruncated, frame.ErrSurplus, frame.ErrAltered, frame.ErrTooLarge, frame.ErrForeign, frame.ErrProtocol, frame.ErrInvalid,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func (l LogReader) parse(ctx context.Context, namespace string, s operation.ReadResult) (frame.Frame, error) {
	log, err := l.open(ctx, namespace, s.Pod.Name, s.Pod.Container)
	if err != nil {
		return frame.Frame{}, fmt.Errorf("opening log of pod %s/%s: %w", namespace, s.Pod.Name, err)
	}
	defer func() { _ = log.Close() }()
	bounded := &frugalReader{ctx: ctx, log: log, large: l.large}
	defer bounded.release()
	return frame.Parse(bounded, frame.Expect{Operation: s.Claim.Type, OperationID: s.Claim.ID})
}

// frugalReader lets only few logs at a time grow beyond what is harmless to hold in memory.
type frugalReader struct {
	ctx   context.Context //nolint:containedctx // of the one reading that it serves
	log   io.Reader
	large chan struct{}
	read  int
	holds bool
}

// Read waits for a large slot once the log turns out to be a large one.
func (r *frugalReader) Read(p []byte) (int, error) {
	if r.read > smallRead && !r.holds {
		select {
		case r.large <- struct{}{}:
			r.holds = true
		case <-r.ctx.Done():
			return 0, r.ctx.Err()
		}
	}
	n, err := r.log.Read(p)
	r.read += n
	return n, err
}

func (r *frugalReader) release() {
	if r.holds {
		<-r.large
	}
}
