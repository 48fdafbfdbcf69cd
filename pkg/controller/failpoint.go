//go:build !failpoints

package controller

// failpoint is where a test build dies. This build lives.
func failpoint(string) {}
