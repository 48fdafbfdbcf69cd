package bundle

import (
	"strings"
)

// maxText bounds what is quoted from a bundle, in bytes.
const maxText = 200

// printable makes a text from a bundle harmless in a message.
func printable(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || (r >= 0x7f && r < 0xa0) || r == 0xfffd {
			return '?'
		}
		return r
	}, text)
}

// namesOf takes a plan's directory apart.
func namesOf(where string) (namespace, name string) {
	namespace, name, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(where, plansDir), "/"), "/")
	return namespace, name
}
