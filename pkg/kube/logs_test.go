package kube

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
	"github.com/ptah-run/ptah/pkg/operation"
)

func goodLog(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, frame.Encode(&b, frame.Frame{
		ProtocolVersion: intent.ProtocolVersion, Operation: intent.Resolve, OperationID: opID,
		Error: &frame.Failure{Code: frame.CodeRegistryUnreachable, Message: "gone"},
	}))
	return b.String()
}

const opID = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

type opener = func(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error)

func logOf(s string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }

// readOnce reads one result and waits for the wake-up.
func readOnce(t *testing.T, open opener, leaseSeconds int32, m *Memory) operation.Result {
	t.Helper()
	k := Key{Kind: "PtahSchema", NamespacedName: types.NamespacedName{Namespace: "app", Name: "shop"}}
	woken := make(chan struct{}, 1)
	l := NewLogReader(nil, m, func(Key) { woken <- struct{}{} })
	l.open = open
	l.Start(t.Context(), k, operation.ReadResult{
		Claim: operation.Claim{Type: intent.Resolve, ID: opID, LeaseSeconds: leaseSeconds}, Pod: operation.Pod{Name: "pod", Container: "operation"},
	})
	select {
	case <-woken:
	case <-time.After(20 * time.Second):
		require.Fail(t, "no wake-up")
	}
	var out operation.Result
	m.with(k, func(r *recollection) { out = r.result })
	return out
}

func TestReadResult(t *testing.T) {
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "pod")
	for name, c := range map[string]struct {
		open opener
		want operation.ResultState
	}{
		"a frame":         {func(context.Context, string, string, string) (io.ReadCloser, error) { return logOf(goodLog(t)) }, operation.ResultFrame},
		"an empty log":    {func(context.Context, string, string, string) (io.ReadCloser, error) { return logOf("") }, operation.ResultInvalid},
		"something else":  {func(context.Context, string, string, string) (io.ReadCloser, error) { return logOf("panic: oops\n") }, operation.ResultInvalid},
		"surplus":         {func(context.Context, string, string, string) (io.ReadCloser, error) { return logOf(goodLog(t) + "x") }, operation.ResultInvalid},
		"the Pod is gone": {func(context.Context, string, string, string) (io.ReadCloser, error) { return nil, gone }, operation.ResultLost},
		"the node does not answer": {func(context.Context, string, string, string) (io.ReadCloser, error) {
			return nil, errors.New("dial tcp: refused")
		}, operation.ResultFailed},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, readOnce(t, c.open, 0, NewMemory()).State)
		})
	}
}

// A frame may arrive a moment after its container ended.
func TestFrameArrivesLate(t *testing.T) {
	var looks atomic.Int32
	got := readOnce(t, func(context.Context, string, string, string) (io.ReadCloser, error) {
		whole := goodLog(t)
		if looks.Add(1) == 1 {
			return logOf(whole[:len(whole)/2])
		}
		return logOf(whole)
	}, 0, NewMemory())
	assert.Equal(t, operation.ResultFrame, got.State)
}

// A reading has a deadline of its own, the operation's Lease where that is shorter; two that ran out of it give the log up.
func TestReadingTimesOut(t *testing.T) {
	hang := func(ctx context.Context, _, _, _ string) (io.ReadCloser, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	m := NewMemory()
	assert.Equal(t, operation.ResultTimedOut, readOnce(t, hang, 1, m).State)
	assert.Equal(t, operation.ResultLost, readOnce(t, hang, 1, m).State)
}

// A node that refuses connections for a moment does not cost a log: reading is tried for as long as two budgets last.
func TestReadingThatFailsAtOnceIsTriedForLong(t *testing.T) {
	refused := func(context.Context, string, string, string) (io.ReadCloser, error) {
		return nil, errors.New("dial tcp: refused")
	}
	m := NewMemory()
	for range 5 {
		assert.Equal(t, operation.ResultFailed, readOnce(t, refused, 0, m).State)
	}
	for _, r := range m.resources {
		r.failing = r.failing.Add(-lostAfter * readBudget)
	}
	assert.Equal(t, operation.ResultLost, readOnce(t, refused, 0, m).State)
}

// A slow reading keeps nobody waiting who asks for another one.
func TestReadingsDoNotBlock(t *testing.T) {
	m := NewMemory()
	l := NewLogReader(nil, m, func(Key) {})
	l.open = func(ctx context.Context, _, _, _ string) (io.ReadCloser, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	began := time.Now()
	for range 100 {
		l.Start(t.Context(), Key{}, operation.ReadResult{Claim: operation.Claim{ID: opID}})
	}
	assert.Less(t, time.Since(began), time.Second)
}

// endless is a log that never ends and never holds a line.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestLargeReadsAreFew(t *testing.T) {
	large := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	first := &frugalReader{ctx: ctx, log: endless{}, large: large}
	_, err := io.CopyN(io.Discard, first, 3<<20)
	require.NoError(t, err)
	second := &frugalReader{ctx: ctx, log: endless{}, large: large}
	_, err = io.CopyN(io.Discard, second, 1<<19)
	require.NoError(t, err, "a small one does not wait")
	done := make(chan error)
	go func() {
		_, err := io.CopyN(io.Discard, second, 3<<20)
		done <- err
	}()
	select {
	case err := <-done:
		require.Fail(t, "a second large reading did not wait", err)
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	first.release()
	assert.Empty(t, large)
}
