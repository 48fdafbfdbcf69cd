package postgres

import (
	"slices"

	"github.com/ptah-run/ptah/pkg/engine/internal/contract"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// orderDefinitions sorts definitions, which must be sorted by key, so that each stands behind those that it depends on. A routine whose body is a
// string has no dependencies that the server knows; the names in it order it too, as far as they lead in no circle. It refuses a circle of
// real dependencies by name.
func orderDefinitions(list []*model.Definition) ([]*model.Definition, error) {
	g := newGraph(list)
	out := make([]*model.Definition, 0, len(list))
	for len(out) < len(list) {
		next := g.next()
		if next < 0 {
			return nil, refuseObject("%s and others depend on each other in a circle, which no order of statements can create or drop: break the circle, or exclude them", contract.NameObject(g.inCircle().Object))
		}
		g.take(next)
		out = append(out, list[next])
	}
	return out, nil
}

// graph counts what every definition still waits for.
type graph struct {
	list        []*model.Definition
	hard, soft  []int   // how many it waits for; -1 in hard once taken
	above, hint [][]int // who waits for it
}

func newGraph(list []*model.Definition) *graph {
	g := &graph{list: list, hard: make([]int, len(list)), soft: make([]int, len(list)), above: make([][]int, len(list)), hint: make([][]int, len(list))}
	byKey, byName := map[model.Dependency]int{}, map[string][]int{}
	for i, d := range list {
		byKey[d.Key()] = i
		byName[d.Name] = append(byName[d.Name], i)
	}
	for i, d := range list {
		under := map[int]bool{}
		for _, dep := range d.DependsOn {
			dep.Column = ""
			if j, ok := byKey[dep]; ok && !under[j] {
				under[j] = true
				g.hard[i]++
				g.above[j] = append(g.above[j], i)
			}
		}
		if !isRoutine(d.Kind) {
			continue
		}
		for name := range mentions(d.Create) {
			for _, j := range byName[name] {
				if j != i && !under[j] && (isRoutine(list[j].Kind) || list[j].Kind == model.KindView || list[j].Kind == model.KindMaterializedView) {
					under[j] = true
					g.soft[i]++
					g.hint[j] = append(g.hint[j], i)
				}
			}
		}
	}
	return g
}

// next is the first that waits for nothing, or for the fewest hints; -1 where each waits for something real.
func (g *graph) next() int {
	best := -1
	for i := range g.list {
		if g.hard[i] == 0 && (best < 0 || g.soft[i] < g.soft[best]) {
			best = i
			if g.soft[i] == 0 {
				break
			}
		}
	}
	return best
}

func (g *graph) take(i int) {
	g.hard[i] = -1
	for _, j := range g.above[i] {
		g.hard[j]--
	}
	for _, j := range g.hint[i] {
		g.soft[j]--
	}
}

// inCircle finds one of a circle: who waits may only stand behind one, but going down from anywhere ends in one.
func (g *graph) inCircle() *model.Definition {
	i := slices.IndexFunc(g.hard, func(n int) bool { return n > 0 })
	for range g.list {
		i = g.under(i)
	}
	return g.list[i]
}

func (g *graph) under(i int) int {
	for j := range g.list {
		if g.hard[j] > 0 && slices.Contains(g.above[j], i) {
			return j
		}
	}
	return i
}

// standingUnder returns the keys of some definitions and of all that they depend on.
func standingUnder(list []*model.Definition, roots func(*model.Definition) bool) map[model.Dependency]bool {
	byKey, found := map[model.Dependency]*model.Definition{}, map[model.Dependency]bool{}
	for _, d := range list {
		byKey[d.Key()] = d
	}
	var visit func(*model.Definition)
	visit = func(d *model.Definition) {
		if found[d.Key()] {
			return
		}
		found[d.Key()] = true
		for _, dep := range d.DependsOn {
			dep.Column = ""
			if next := byKey[dep]; next != nil {
				visit(next)
			}
		}
	}
	for _, d := range list {
		if roots(d) {
			visit(d)
		}
	}
	return found
}
