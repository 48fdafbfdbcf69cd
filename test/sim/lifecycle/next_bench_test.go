package lifecycle

import "testing"

// BenchmarkNext times a whole decision of the lifecycle itself, with a family that costs nothing: reading the world, asking again where Next
// wants more, and the step.
func BenchmarkNext(b *testing.B) {
	var states []State
	for _, root := range Roots(0) {
		states = append(states, Midway(root, 0, false)...)
	}
	var v view
	b.ReportAllocs()
	for i := range b.N {
		v.decide(&states[i%len(states)], 0, current)
	}
}
