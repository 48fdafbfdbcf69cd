// Package lifecycle is an explicit-state model checker of the operation lifecycle. It walks every state that the real operation.Next can
// reach in a world that fails, lies, forgets and interferes, up to a bound on how often it does so, and checks in each of them what the
// project promises.
//
// What is real: operation.Next, compiled as it is or with one deliberate bug (package mutants). What is a model: the world around it, and
// two families that are as small as a family can be, one that owes a proof after an Apply (as a schema does) and one that keeps a record
// of an unaccounted run (as a migration does). Real families and the real edges are walked elsewhere: pkg/schema by the random walk in
// test/sim, pkg/kube and pkg/controller by the crash tests against a real API server.
//
// Time is relative: every instant in a state is an age in ticks of one minute that stops growing where no decision can tell it from a
// greater one. Identifiers are the smallest numbers that nothing in the state refers to. Both make the state space finite.
package lifecycle
