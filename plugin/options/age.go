package options

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Age is the value of a flag that takes a duration in days and weeks too: 90m, 12h, 30d, 2w.
type Age time.Duration

var longUnits = map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// Set reads the flag's value.
func (a *Age) Set(text string) error {
	for unit, size := range longUnits {
		number, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		count, err := strconv.ParseInt(number, 10, 32)
		if err != nil || count < 0 || count > int64(1<<62)/int64(size) {
			return fmt.Errorf("%q is no duration: want a whole number and w, d, h, m or s", text)
		}
		*a = Age(time.Duration(count) * size)
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is no duration: want a whole number and w, d, h, m or s", text)
	}
	*a = Age(d)
	return nil
}

// String spells the value.
func (a *Age) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

// Type names the value in help.
func (*Age) Type() string { return "duration" }
