package render

import (
	"fmt"
	"time"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// Age spells a duration in at most two units, largest first: 45s, 4m, 2h11m, 12d, 3y40d. Negative durations are spelled as their size.
func Age(d time.Duration) string {
	d = d.Abs()
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < day:
		return two(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "m")
	case d < 7*day:
		return two(int(d/day), "d", int(d%day/time.Hour), "h")
	case d < 2*year:
		return fmt.Sprintf("%dd", int(d/day))
	default:
		return two(int(d/year), "y", int(d%year/day), "d")
	}
}

func two(large int, largeUnit string, small int, smallUnit string) string {
	if small == 0 {
		return fmt.Sprintf("%d%s", large, largeUnit)
	}
	return fmt.Sprintf("%d%s%d%s", large, largeUnit, small, smallUnit)
}

// Stamp spells a time for people: in UTC, to the minute, with how long ago it was or how soon it comes. The zero time is "never".
func Stamp(at, now time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return fmt.Sprintf("%s (%s)", at.UTC().Format("2006-01-02 15:04 UTC"), Relative(at, now))
}

// Relative spells a time as seen from now: "2h11m ago" or "in 4m".
func Relative(at, now time.Time) string {
	if at.After(now) {
		return "in " + Age(at.Sub(now))
	}
	return Age(now.Sub(at)) + " ago"
}
