package postgres

import "github.com/ptah-run/ptah/pkg/engine/model"

// calls returns the routines that a deparsed expression calls by a qualified name, which is how the server prints all but its own. Overloads
// share a name, so that it may say too much, never too little.
func calls(expression string) []model.Name {
	var found []model.Name
	var previous, current string // the last two names of a dotted chain
	for i := 0; i < len(expression); {
		switch c := expression[i]; {
		case c == '\'':
			i = skipQuoted(expression, i)
			previous, current = "", ""
		case c == '"' || isWord(c):
			end := nameToken(expression, i)
			if current == "." {
				current = unquote(expression[i:end])
			} else {
				previous, current = "", unquote(expression[i:end])
			}
			i = end
		case c == '.' && current != "" && previous == "":
			previous, current = current, "."
			i++
		case c == '(':
			if previous != "" && current != "" && current != "." {
				found = append(found, model.Name{Schema: previous, Name: current})
			}
			previous, current = "", ""
			i++
		default:
			previous, current = "", ""
			i++
		}
	}
	return found
}

// nameToken is the end of the quoted or plain word that starts at i.
func nameToken(s string, i int) int {
	if s[i] == '"' {
		return skipQuoted(s, i)
	}
	for i < len(s) && isWord(s[i]) {
		i++
	}
	return i
}
