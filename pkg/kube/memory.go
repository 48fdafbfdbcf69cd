package kube

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/operation"
	"github.com/ptah-run/ptah/pkg/realm"
)

// Key names one resource of one family.
type Key struct {
	Kind string // "PtahSchema" or "PtahMigration"
	types.NamespacedName
}

// Memory is what one process may know beyond the cluster: everything in it can be lost at any moment, and then costs time or an approval,
// never a second execution.
type Memory struct {
	mu        sync.Mutex
	resources map[Key]*recollection
	sights    map[string]realm.Sight // by Lease name
	waiting   map[string]map[Key]bool
}

// recollection is what is remembered of one resource.
type recollection struct {
	uid       types.UID
	object    client.Object // as this process wrote it last; nil once the cache has it
	version   string        // of what this process wrote last
	job       *batchv1.Job  // as this process wrote it last
	jobAt     time.Time     // when it did
	permit    string
	refusal   operation.Refusal
	result    operation.Result
	failures  int       // budgets that the reading of this result used up
	failing   time.Time // since when it could not be read
	published *v1alpha1.PtahSchemaPlan
	forClaim  string // the claim that published belongs to
	direct    bool   // the next look has to come from the API server
}

// NewMemory is an empty memory.
func NewMemory() *Memory {
	return &Memory{resources: map[Key]*recollection{}, sights: map[string]realm.Sight{}, waiting: map[string]map[Key]bool{}}
}

// with runs f on what is remembered of a resource.
func (m *Memory) with(k Key, f func(r *recollection)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.resources[k]
	if r == nil {
		r = &recollection{}
		m.resources[k] = r
	}
	f(r)
}

// Forget drops everything about a resource that is gone.
func (m *Memory) Forget(k Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.resources, k)
}

// Wrote remembers an object as the API server returned it, so that the next pass does not decide on an older one.
func (m *Memory) Wrote(k Key, object client.Object) {
	object.SetManagedFields(nil)
	m.with(k, func(r *recollection) {
		r.object, r.version = object, object.GetResourceVersion()
		r.direct = false
	})
}

// Arrived drops the object that this process wrote: the cache has it, or a later one.
func (m *Memory) Arrived(k Key, version string) {
	m.with(k, func(r *recollection) {
		if r.version == version {
			r.object = nil
		}
	})
}

// OurWrite reports whether a version of a resource is the one that this process wrote last.
func (m *Memory) OurWrite(k Key, version string) bool {
	ours := false
	m.with(k, func(r *recollection) { ours = version != "" && r.version == version })
	return ours
}

// Distrust makes the next pass read the resource from the API server: a write conflicted, or its reply was lost.
func (m *Memory) Distrust(k Key) {
	m.with(k, func(r *recollection) {
		r.object, r.version = nil, ""
		r.direct = true
	})
}

// Grant hands this process the permit to create a claim's Job once.
func (m *Memory) Grant(k Key, claimID string) {
	m.with(k, func(r *recollection) { r.permit = claimID })
}

// Surrender gives the permit up. It is called before the create is tried.
func (m *Memory) Surrender(k Key) {
	m.with(k, func(r *recollection) { r.permit = "" })
}

// Refuse remembers what the API server refused, and clears it with an empty message.
func (m *Memory) Refuse(k Key, claimID, message string, now time.Time) {
	m.with(k, func(r *recollection) {
		r.refusal = operation.Refusal{}
		if message != "" {
			r.refusal = operation.Refusal{ClaimID: claimID, At: now, Message: message}
		}
	})
}

// WroteJob remembers a Job as the API server returned it.
func (m *Memory) WroteJob(k Key, job *batchv1.Job, now time.Time) {
	job.ManagedFields = nil
	m.with(k, func(r *recollection) { r.job, r.jobAt = job, now })
}

// ForgetJob drops a Job that the API server itself does not have.
func (m *Memory) ForgetJob(k Key) {
	m.with(k, func(r *recollection) { r.job = nil })
}

// WrotePlan remembers the plan that was published for a claim.
func (m *Memory) WrotePlan(k Key, claimID string, plan *v1alpha1.PtahSchemaPlan) {
	m.with(k, func(r *recollection) { r.published, r.forClaim = plan, claimID })
}

// Look notes when this process first saw a Lease record unchanged.
func (m *Memory) Look(name string, lease *coordinationv1.Lease, now time.Time) realm.Sight {
	m.mu.Lock()
	defer m.mu.Unlock()
	sight := realm.Look(m.sights[name], lease, now)
	m.sights[name] = sight
	return sight
}

// Queue notes that a resource waits for a realm that another one of this process may release.
func (m *Memory) Queue(coordinationDigest string, k Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting[coordinationDigest] == nil {
		m.waiting[coordinationDigest] = map[Key]bool{}
	}
	m.waiting[coordinationDigest][k] = true
}

// Waiting takes everybody who waits for a realm.
func (m *Memory) Waiting(coordinationDigest string) []Key {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Key
	for k := range m.waiting[coordinationDigest] {
		out = append(out, k)
	}
	delete(m.waiting, coordinationDigest)
	return out
}

// newer reports whether version a of an object is later than version b. Versions that cannot be compared are not newer.
func newer(a, b string) bool {
	cmp, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && cmp > 0
}

// randomNonce is 128 random bits as 32 hex digits.
func randomNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime crashes instead
	return hex.EncodeToString(b[:])
}
