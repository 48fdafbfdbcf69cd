package render

import "strings"

// Reflow breaks a text that people wrote for about a hundred columns so that it fits a terminal: a paragraph is filled anew, and what
// stands in the second column of a list stays there. Paragraphs that fit, and lines with a command to copy, stay as they are.
func Reflow(text string, columns int) string {
	var out strings.Builder
	var open paragraph
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if open.goesOn(line) {
			open.lines = append(open.lines, line)
			continue
		}
		open.write(&out, columns)
		open = paragraph{lines: []string{line}, hang: hang(line)}
	}
	open.write(&out, columns)
	return out.String()
}

// paragraph is lines that belong together. All but the first begin at the column hang.
type paragraph struct {
	lines []string
	hang  int
}

// goesOn says that a line continues the paragraph rather than beginning another.
func (p *paragraph) goesOn(line string) bool {
	if len(p.lines) == 0 || line == "" || p.lines[0] == "" || command(line) || command(p.lines[0]) {
		return false
	}
	return indent(line) == p.hang && hang(line) == p.hang
}

func (p *paragraph) write(out *strings.Builder, columns int) {
	if len(p.lines) == 0 {
		return
	}
	text := strings.Join(p.lines, "\n")
	if p.tooWide(columns) && !command(p.lines[0]) {
		text = p.filled(text, columns)
	}
	out.WriteString(text + "\n")
}

// filled breaks the text right of its first column, or below that where a word does not fit beside it.
func (p *paragraph) filled(text string, columns int) string {
	const below = 4
	head, words := text[:p.hang], strings.Fields(text[p.hang:])
	longest := 0
	for _, word := range words {
		longest = max(longest, width(word))
	}
	room, margin := columns-p.hang, "\n"+strings.Repeat(" ", p.hang)
	if first := indent(head + "."); room < max(minFlexible, longest) && first < p.hang {
		room, margin = columns-first-below, "\n"+strings.Repeat(" ", first+below)
		head = strings.TrimRight(head, " ") + margin
	}
	if room < minFlexible {
		return text
	}
	return head + strings.Join(wrapped(strings.Join(words, " "), room), margin)
}

func (p *paragraph) tooWide(columns int) bool {
	for _, line := range p.lines {
		if width(line) > columns {
			return true
		}
	}
	return false
}

// command says that a line is a command that somebody may copy, as examples are: prose that only names one is filled like any other.
func command(line string) bool {
	return strings.HasPrefix(line, " ") && strings.Contains(line, "kubectl ")
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// hang is where the text of a line begins: behind the first gap of two spaces and more, or behind the indent.
func hang(line string) int {
	start := indent(line)
	_, second, found := strings.Cut(line[start:], "  ")
	if !found || strings.TrimSpace(second) == "" {
		return start
	}
	return len(line) - len(strings.TrimLeft(second, " "))
}
