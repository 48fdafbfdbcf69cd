// Package gentest draws pairs of random schemas that have much in common, runs tests with them, and counts what came of them.
package gentest

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/engine/model"
)

// Chooser makes the decisions of one schema. The second schema of a pair makes most of them as the first did in the same place.
type Chooser struct {
	t      *rapid.T
	place  string
	number int
	made   map[string]int
	other  *Chooser // nil for the first
	common int      // of the second: it decides anew once in 2^common times
}

// Pair gives the choosers of two schemas. They have little, much or almost everything in common.
func Pair(t *rapid.T) (a, b *Chooser) {
	a = &Chooser{t: t, made: map[string]int{}}
	common := []int{6, 5, 4, 1}[a.draw(4)]
	return a, &Chooser{t: t, made: map[string]int{}, other: a, common: common}
}

// draw is uniform, unlike rapid's integers.
func (c *Chooser) draw(n int) int {
	v, wide := 0, n
	if n&(n-1) != 0 {
		wide = 4 * n // so that the remainder hardly matters
	}
	for size := 1; size < wide; size *= 2 {
		v *= 2
		if rapid.Bool().Draw(c.t, "") {
			v++
		}
	}
	return v % n
}

// Pick decides between 0 and n-1. The simplest choice is 0.
func (c *Chooser) Pick(n int) int {
	c.number++
	return c.choose(c.place+"#"+strconv.Itoa(c.number), n, c.common)
}

// Keep is Pick for what the engine often cannot change: the two schemas seldom differ in it.
func (c *Chooser) Keep(what string, n int) int {
	return c.choose(c.place+"!"+what, n, max(c.common, 3)+3)
}

func (c *Chooser) choose(key string, n, common int) int {
	v, known := 0, false
	if c.other != nil {
		v, known = c.other.made[key]
		known = known && v < n && !c.anew(common)
	}
	if !known {
		v = c.draw(n)
	}
	c.made[key] = v
	return v
}

func (c *Chooser) anew(common int) bool {
	for range common {
		if !rapid.Bool().Draw(c.t, "") {
			return false
		}
	}
	return true
}

// Within gives the decisions in f a place of their own: more or fewer of them move no other one to another place.
func (c *Chooser) Within(place string, f func()) {
	outer, number := c.place, c.number
	c.place, c.number = outer+"/"+place, 0
	f()
	c.place, c.number = outer, number
}

// Tally counts what came of the pairs of one engine. It is safe for concurrent use.
type Tally struct {
	mu                           sync.Mutex
	pairs, steps, changes, grown int
	refused                      map[string]int
}

// Pair counts a pair that held.
func (t *Tally) Pair() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pairs++
}

// Step counts a step from one schema to another and its statements. One that creates or drops everything is no change.
func (t *Tally) Step(change bool, statements int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changes += statements
	if change {
		t.steps++
	} else {
		t.grown++
	}
}

var quoted = regexp.MustCompile(`(?s)"(\\.|[^"\\])*"(\."(\\.|[^"\\])*")*`)

// Refused counts a step that the planner refused, by what its message says beside names.
func (t *Tally) Refused(message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps++
	if t.refused == nil {
		t.refused = map[string]int{}
	}
	t.refused[quoted.ReplaceAllString(message, "…")]++
}

func (t *Tally) refusals() int {
	n := 0
	for _, times := range t.refused {
		n += times
	}
	return n
}

func (t *Tally) summary(engine string, took time.Duration) string {
	n := t.refusals()
	return fmt.Sprintf("%s: %d pairs in %s; %d steps from one schema to another, %d of them refused by name (%.1f %%); %d steps from or to nothing; %d statements applied",
		engine, t.pairs, took.Round(time.Second), t.steps, n, 100*float64(n)/float64(max(t.steps, 1)), t.grown, t.changes)
}

func (t *Tally) reasons() []string {
	kinds := slices.SortedFunc(maps.Keys(t.refused), func(a, b string) int { return cmp.Or(t.refused[b]-t.refused[a], strings.Compare(a, b)) })
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%5d × %s", t.refused[k], k)
	}
	return kinds
}

// maxRefused is the largest share of steps that may be refused, in percent, where there are enough of them to tell.
const (
	maxRefused = 10
	enough     = 200
)

// Few makes the rapid checks of a test the same few ones each time: a change must not fail for what it did not change. Such tests run one after the other.
func Few(t *testing.T, checks int) {
	before := flag.Lookup("rapid.seed").Value.String()
	require.NoError(t, flag.Set("rapid.seed", "20261130"))
	t.Cleanup(func() { require.NoError(t, flag.Set("rapid.seed", before)) })
	draw(t, checks)
}

func draw(t *testing.T, checks int) {
	require.NoError(t, flag.Set("rapid.checks", strconv.Itoa(checks)))
	require.NoError(t, flag.Set("rapid.nofailfile", "true"))
}

// shardPairs is how many random pairs one counterexample can end.
const shardPairs = 125

// Check runs a test with few pairs, which are always the same, or with as many random ones as the variable says. These come in shards, so many beside
// each other: a counterexample ends its own shard. What is counted is logged, and added to the file that PTAH_TEST_TALLY names.
func Check(t *testing.T, engine, variable string, few, beside int, test func(*rapid.T, *Tally)) {
	shards, slots := 1, make(chan struct{}, beside)
	if given := os.Getenv(variable); given != "" {
		pairs, err := strconv.Atoi(given)
		require.NoError(t, err, variable)
		shards = min(pairs, max(beside, pairs/shardPairs))
		require.True(t, shards == 1 || flag.Lookup("rapid.seed").Value.String() == "0", "a seed makes all shards draw the same pairs")
		draw(t, (pairs+shards-1)/shards)
	} else {
		Few(t, few)
	}
	tally, start := &Tally{}, time.Now()
	t.Run("pairs", func(t *testing.T) {
		for shard := range shards {
			t.Run(strconv.Itoa(shard), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				rapid.Check(t, func(rt *rapid.T) { test(rt, tally) })
			})
		}
	})
	summary := tally.summary(engine, time.Since(start))
	t.Log(summary + "\n" + strings.Join(tally.reasons(), "\n"))
	if file := os.Getenv("PTAH_TEST_TALLY"); file != "" {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(summary + "\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	if tally.steps >= enough {
		require.Less(t, tally.refusals()*100, tally.steps*maxRefused, "too many steps are refused")
	}
}

// WasRead fails where a fact of what was drawn is not in what a server gave back, or where that holds something that has no model.
func WasRead(rt *rapid.T, drawn, got *model.Database, difference func(got, want *model.Database) string) {
	facts := map[model.Fact]bool{}
	for _, f := range model.Facts(got) {
		facts[f] = true
	}
	for _, f := range model.Facts(drawn) {
		if !facts[f] {
			rt.Fatalf("a fact was drawn and not read: %+v\n%s", f, difference(got, drawn))
		}
	}
	if len(got.Unmodelled) > 0 {
		rt.Fatalf("something was drawn that is not modelled: %v", got.Unmodelled)
	}
}
