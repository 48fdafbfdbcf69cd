package render

import (
	"fmt"
	"unicode"
)

// isControl tells characters that a terminal acts on instead of showing, and those that reorder or hide what follows: C0 and C1 controls,
// bidirectional overrides, zero-width characters.
func isControl(char rune) bool {
	if char == '\n' || char == '\t' {
		return false
	}
	return unicode.IsControl(char) || unicode.Is(unicode.Cf, char) || char == unicode.ReplacementChar
}

func escapeRune(char rune) string {
	if char <= 0xff {
		return fmt.Sprintf(`\x%02x`, char)
	}
	return fmt.Sprintf(`\u%04x`, char)
}
