package render

import "strings"

// labelWidth is where values start in a list of labelled lines; a label of exactly this many columns has no space after it.
const labelWidth = 16

// fields draws labelled lines.
type fields struct {
	painter *painter
	out     *strings.Builder
}

// line writes "Label:          value". More values go on lines of their own under the first; no value is no line.
func (f *fields) line(label string, values ...string) {
	for i, value := range values {
		head := ""
		if i == 0 {
			head = label + ":"
		}
		f.out.WriteString(f.painter.paint(Dim, head))
		f.out.WriteString(strings.Repeat(" ", max(labelWidth-width(head), 0)))
		f.out.WriteString(f.wrap(f.painter.harmless(value)))
		f.out.WriteByte('\n')
	}
}

// wrap breaks a value at spaces so that it stays right of its label on a terminal.
func (f *fields) wrap(value string) string {
	room := f.painter.theme.Width - labelWidth
	if f.painter.theme.Width == 0 || room < minFlexible || width(value) <= room {
		return value
	}
	return strings.Join(wrapped(value, room), "\n"+strings.Repeat(" ", labelWidth))
}

// wrapped breaks text at spaces into lines of some width. Words longer than a line stay whole.
func wrapped(text string, room int) []string {
	var lines []string
	var line strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		w := width(word)
		switch {
		case i == 0:
		case used+1+w > room:
			lines = append(lines, strings.TrimRight(line.String(), " "))
			line.Reset()
			used = 0
		default:
			line.WriteByte(' ')
			used++
		}
		line.WriteString(word)
		used += w
	}
	return append(lines, strings.TrimRight(line.String(), " "))
}

// identifier fits a digest or a long name into what a terminal leaves beside its label and beside what follows it.
func (f *fields) identifier(text string, following int) string {
	return f.painter.fit(text, f.painter.theme.Width-labelWidth-following)
}

// pairs joins labelled values on one line, in columns, when the terminal has the room; otherwise each gets a line.
func (f *fields) pairs(parts ...[2]string) {
	const columnWidth = 16
	var joined strings.Builder
	for i, part := range parts {
		text := part[1]
		if i > 0 {
			text = f.painter.paint(Dim, part[0]+":") + " " + part[1]
		}
		joined.WriteString(text)
		if i < len(parts)-1 {
			joined.WriteString(strings.Repeat(" ", max(roundUp(width(text)+3, columnWidth)-width(text), 0)))
		}
	}
	if f.painter.theme.Width == 0 || labelWidth+width(joined.String()) <= f.painter.theme.Width {
		f.line(parts[0][0], joined.String())
		return
	}
	for _, part := range parts {
		f.line(part[0], part[1])
	}
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
