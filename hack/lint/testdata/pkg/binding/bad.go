// Package binding breaks the rule of the clock: a decision that looks at the time by itself.
package binding

import "time"

// Late must be refused.
func Late(t time.Time) bool { return time.Now().After(t) }
