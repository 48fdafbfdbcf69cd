// Package executor is what runs inside an operation Pod, in two roles.
//
// The runner carries out one intent: it checks grants, deadlines and the database's identity, starts the engine as a child process with
// a clean environment, bounds, checks and redacts what comes back, and prints exactly one frame. Resolve, Verify and the fetch of an
// artifact need no database and happen in the runner itself.
//
// The engine role reads an order and a local file, works on the database and prints one Answer. It is a process of its own so that an
// executor image can be replaced by a team's own engine, and so that nothing a driver or a server says can reach the log.
//
// Nothing but the frame is ever written to standard output or standard error of a stage that has an intent.
package executor
