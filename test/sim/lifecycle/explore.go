package lifecycle

import (
	"hash/maphash"
	"runtime"
	"sync"
)

// Bound limits a check.
type Bound struct {
	Roots  []State // each with the hostile moves that a run from it may have
	States int     // stop after about this many distinct states; 0 for none
}

// Result is what a check found.
type Result struct {
	States, Transitions int
	Depth               int
	Complete            bool // every reachable state within the bound was visited
	Violation           string
	Trace               []string
}

// key stands for a state in the set of visited ones: 128 bits of hash, of which no two states share one by accident.
type key [2]uint64

type hasher [2]maphash.Seed

func newHasher() hasher { return hasher{maphash.MakeSeed(), maphash.MakeSeed()} }

func (h *hasher) of(s *State) key {
	return key{maphash.Comparable(h[0], *s), maphash.Comparable(h[1], *s)}
}

// node is how a visited state was reached.
type node struct {
	parent uint32
	move   uint32
}

// shardCount divides the set of visited states, so that several goroutines can fill it.
const shardCount = 64

type shard struct {
	seen  map[key]struct{}
	nodes []node
}

// found is a state on its way into its shard, and out of it again to be expanded.
type found struct {
	state State
	key   key
	node  node
	id    uint32
}

type checker struct {
	hash   hasher
	shards [shardCount]shard

	mu     sync.Mutex
	bad    string
	badAt  uint32 // the state before
	badVia uint32 // the transition that violates; 0 where a kind world from badAt does
}

const rootParent = ^uint32(0)

// batch bounds how many states are expanded before their successors are merged: it bounds the memory that successors take.
const batch = 1 << 14

// Check walks all states that the roots lead to within the bound, breadth first.
func Check(b Bound) Result {
	c := &checker{hash: newHasher()}
	for i := range c.shards {
		c.shards[i].seen = map[key]struct{}{}
	}
	var frontier []found
	for i := range b.Roots {
		f := found{state: b.Roots[i], node: node{rootParent, uint32(i)}} //nolint:gosec // few roots
		f.state.tidy()
		f.key = c.hash.of(&f.state)
		if c.add(&f) {
			frontier = append(frontier, f)
		}
	}
	var r Result
	workers := make([]*worker, max(1, runtime.GOMAXPROCS(0)))
	for i := range workers {
		workers[i] = &worker{kind: newKinder(), check: c}
	}
	for len(frontier) > 0 && c.bad == "" && (b.States == 0 || r.States < b.States) {
		r.Depth++
		var next []found
		for len(frontier) > 0 && c.bad == "" {
			n := min(batch, len(frontier))
			r.Transitions += c.level(workers, frontier[:n])
			next = c.merge(workers, next)
			frontier = frontier[n:]
		}
		frontier, r.States = next, c.count()
	}
	r.Complete = len(frontier) == 0 && c.bad == ""
	if r.Violation = c.bad; c.bad != "" {
		r.Trace = c.trace(b.Roots)
	}
	return r
}

func (c *checker) count() int {
	n := 0
	for i := range c.shards {
		n += len(c.shards[i].nodes)
	}
	return n
}

func (k key) shard() uint64 { return k[0] % shardCount }

// add stores a state that is new. No two goroutines add to one shard.
func (c *checker) add(f *found) bool {
	k := f.key.shard()
	h := &c.shards[k]
	if _, known := h.seen[f.key]; known {
		return false
	}
	h.seen[f.key] = struct{}{}
	f.id = uint32(k)<<26 | uint32(len(h.nodes)) //nolint:gosec // 64 shards of less than 2^26 states each
	h.nodes = append(h.nodes, f.node)
	return true
}

func (c *checker) node(n uint32) node { return c.shards[n>>26].nodes[n&(1<<26-1)] }

// worker is one goroutine's tools.
type worker struct {
	check       *checker
	walk        walker
	kind        *kinder
	out         [shardCount][]found
	fresh       []found
	transitions int
}

// level makes the successors of some states. Nobody adds to a shard meanwhile.
func (c *checker) level(workers []*worker, states []found) int {
	var wg sync.WaitGroup
	for i, w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := i; j < len(states); j += len(workers) {
				w.expand(&states[j])
			}
		}()
	}
	wg.Wait()
	n := 0
	for _, w := range workers {
		n += w.transitions
		w.transitions = 0
	}
	return n
}

func (w *worker) expand(f *found) {
	c := w.check
	if why := w.kind.settles(&f.state); why != "" {
		c.report(why, f.id, 0)
		return
	}
	move := uint32(0)
	w.walk.emit = func(next *State, bad string) {
		w.transitions++
		move++
		if bad != "" {
			c.report(bad, f.id, move)
			return
		}
		k := c.hash.of(next)
		if _, known := c.shards[k.shard()].seen[k]; !known {
			w.out[k.shard()] = append(w.out[k.shard()], found{state: *next, key: k, node: node{f.id, move}})
		}
	}
	w.walk.successors(&f.state)
}

func (c *checker) report(bad string, at, via uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bad == "" {
		c.bad, c.badAt, c.badVia = bad, at, via
	}
}

// merge brings what the workers found into the shards, and appends what is new to the next level.
func (c *checker) merge(workers []*worker, next []found) []found {
	var wg sync.WaitGroup
	for i, w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w.fresh = w.fresh[:0]
			for k := i; k < shardCount; k += len(workers) {
				for _, from := range workers {
					for j := range from.out[k] {
						if f := &from.out[k][j]; c.add(f) {
							w.fresh = append(w.fresh, *f)
						}
					}
					from.out[k] = from.out[k][:0]
				}
			}
		}()
	}
	wg.Wait()
	for _, w := range workers {
		next = append(next, w.fresh...)
	}
	return next
}
