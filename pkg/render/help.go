package render

import (
	"regexp"
	"strings"
)

// HelpWidth is how wide help is where the terminal's width is not known.
const HelpWidth = 80

// item is an indented line of two columns: a flag, a command, a row of a table; the second column begins behind its first match.
var item = regexp.MustCompile(`^\s+\S+(?: \S+)*\s{2,}`)

// Prose fits a help text into a width, 0 being unknown: paragraphs are filled anew, and an indented line goes on below its second column.
func Prose(text string, columns int) string {
	var out, paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			out = append(out, wrapped(strings.Join(paragraph, " "), helpWidth(columns))...)
			paragraph = nil
		}
	}
	for _, line := range strings.Split(text, "\n") {
		switch {
		case line == "":
			flush()
			out = append(out, "")
		case strings.HasPrefix(line, " "):
			flush()
			out = append(out, hanging(line, columns)...)
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// Usage fits the list of commands and flags of a help text into a width. Examples are commands to copy, and stay whole.
func Usage(text string, columns int) string {
	var out []string
	examples := false
	for _, line := range strings.Split(text, "\n") {
		if line != "" && !strings.HasPrefix(line, " ") {
			examples = strings.HasPrefix(line, "Examples:")
		}
		if examples || !strings.HasPrefix(line, " ") || strings.HasPrefix(line, "  kubectl ") {
			out = append(out, line)
			continue
		}
		out = append(out, hanging(line, columns)...)
	}
	return strings.Join(out, "\n")
}

func hanging(line string, columns int) []string {
	head := item.FindString(line)
	if head == "" {
		head = line[:len(line)-len(strings.TrimLeft(line, " "))]
	}
	room := helpWidth(columns) - len(head)
	if width(line) <= helpWidth(columns) || room < minFlexible {
		return []string{line}
	}
	lines := wrapped(line[len(head):], room)
	for i := range lines {
		if i > 0 {
			lines[i] = strings.Repeat(" ", len(head)) + lines[i]
		}
	}
	lines[0] = head + lines[0]
	return lines
}

func helpWidth(columns int) int {
	if columns <= 0 {
		return HelpWidth
	}
	return columns
}
