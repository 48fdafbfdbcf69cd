// Package spelling finds what somebody probably meant by a word that does not exist.
package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// Near lists the words that are close to one that was typed, the closest first, then in alphabetical order; at most three. Case does not
// count. A word is close when a third of the typed one's letters, and at least one, would have to change, or when it begins with what was
// typed.
func Near(typed string, words []string) []string {
	const most = 3
	typed = strings.ToLower(typed)
	distances := map[string]int{}
	for _, word := range words {
		lower := strings.ToLower(word)
		distance := edits(typed, lower)
		switch {
		case len(typed) > 2 && strings.HasPrefix(lower, typed):
			distance = min(distance, 1)
		case distance > max(1, len([]rune(typed))/3):
			continue
		}
		distances[word] = distance
	}
	near := make([]string, 0, len(distances))
	for word := range distances {
		near = append(near, word)
	}
	slices.SortFunc(near, func(a, b string) int { return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b)) })
	return near[:min(len(near), most)]
}

// edits is the Levenshtein distance: how many letters have to be put in, taken out or replaced.
func edits(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			cost := diagonal
			if x != y {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(to)]
}
