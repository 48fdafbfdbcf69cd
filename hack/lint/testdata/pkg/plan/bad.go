// Package plan breaks the rule pure-row: a decision that reads a file.
package plan

import "os"

// Read must be refused.
func Read() ([]byte, error) { return os.ReadFile("plan") }
