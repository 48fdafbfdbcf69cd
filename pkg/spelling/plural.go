package spelling

import (
	"fmt"
	"strings"
)

// Count is a number with the word that it counts: "1 plan", "2 plans".
func Count[N int | int32 | int64](count N, word string) string {
	return fmt.Sprintf("%d %s", count, Plural(count, word))
}

// Plural is the word as it stands behind a number: 1 takes the word as it is, every other number its plural.
func Plural[N int | int32 | int64](count N, word string) string {
	if count == 1 {
		return word
	}
	stem, ends := strings.CutSuffix(word, "y")
	if ends && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	for _, hiss := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(word, hiss) {
			return word + "es"
		}
	}
	return word + "s"
}
