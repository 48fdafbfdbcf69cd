package render

import (
	"slices"
	"strings"
)

// column of a table.
type column struct {
	title string
	// flexible columns give up room when the terminal is too narrow; identifiers are not flexible. The last column then goes on below itself,
	// any other is cut.
	flexible bool
	// spare columns are left out when giving up room is not enough, the highest number first; 0 always stays.
	spare int
}

// cell of a table.
type cell struct {
	text string
	tone Tone
}

const (
	columnGap   = 2
	minFlexible = 18
)

// table draws columns that line up, without a line of white space at the end of any row.
type table struct {
	painter *painter
	columns []column
	rows    [][]cell
}

// draw writes the table; without headers only its rows.
func (t *table) draw(out *strings.Builder, headers bool) { t.drawExcept(out, headers, nil) }

// drawExcept leaves rows out, in ascending order, that still count for the widths.
func (t *table) drawExcept(out *strings.Builder, headers bool, hidden []int) {
	for _, row := range t.rows {
		for i := range row {
			row[i].text = t.painter.harmless(row[i].text)
		}
	}
	t.leaveOut(headers)
	widths := t.widths(headers)
	if headers {
		titles := make([]cell, len(t.columns))
		for i, column := range t.columns {
			titles[i] = cell{text: column.title, tone: Strong}
		}
		t.line(out, titles, widths)
	}
	for i, row := range t.rows {
		if _, skip := slices.BinarySearch(hidden, i); !skip {
			t.line(out, row, widths)
		}
	}
}

// leaveOut drops spare columns until the rest fits the terminal.
func (t *table) leaveOut(headers bool) {
	for t.painter.theme.Width > 0 {
		worst := -1
		total := columnGap * (len(t.columns) - 1)
		for i, width := range t.widths(headers) {
			total += width
			if spare := t.columns[i].spare; spare > 0 && (worst < 0 || spare > t.columns[worst].spare) {
				worst = i
			}
		}
		if total <= t.painter.theme.Width || worst < 0 {
			return
		}
		t.columns = slices.Delete(slices.Clone(t.columns), worst, worst+1)
		for i, row := range t.rows {
			t.rows[i] = slices.Delete(slices.Clone(row), worst, worst+1)
		}
	}
}

func (t *table) line(out *strings.Builder, row []cell, widths []int) {
	for len(row) > 0 && row[len(row)-1].text == "" {
		row = row[:len(row)-1]
	}
	below := 0 // where the last column begins
	for i, cell := range row[:max(len(row)-1, 0)] {
		text := cell.text
		if t.columns[i].flexible {
			text = t.painter.fit(text, widths[i])
		}
		out.WriteString(t.painter.paint(cell.tone, text))
		out.WriteString(strings.Repeat(" ", max(widths[i]-width(text), 0)+columnGap))
		below += max(widths[i], width(text)) + columnGap
	}
	if len(row) > 0 {
		t.last(out, row[len(row)-1], len(row)-1, widths, below)
	}
	out.WriteByte('\n')
}

// last writes the last cell of a row, over several lines where it has to give up room and is the table's last.
func (t *table) last(out *strings.Builder, c cell, i int, widths []int, below int) {
	switch {
	case !t.columns[i].flexible || width(c.text) <= widths[i]:
		out.WriteString(t.painter.paint(c.tone, c.text))
	case i < len(t.columns)-1:
		out.WriteString(t.painter.paint(c.tone, t.painter.fit(c.text, widths[i])))
	default:
		for n, line := range wrapped(c.text, widths[i]) {
			if n > 0 {
				out.WriteString("\n" + strings.Repeat(" ", below))
			}
			out.WriteString(t.painter.paint(c.tone, t.painter.fit(line, widths[i])))
		}
	}
}

// widths gives each column what its longest cell needs, then takes from the flexible ones what the terminal lacks.
func (t *table) widths(headers bool) []int {
	widths := make([]int, len(t.columns))
	for i, column := range t.columns {
		if headers {
			widths[i] = width(column.title)
		}
	}
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell.text))
		}
	}
	excess := columnGap*(len(widths)-1) - t.painter.theme.Width
	for _, w := range widths {
		excess += w
	}
	if t.painter.theme.Width == 0 {
		return widths
	}
	for i, column := range t.columns {
		if column.flexible && excess > 0 {
			give := min(excess, max(widths[i]-minFlexible, 0))
			widths[i] -= give
			excess -= give
		}
	}
	return widths
}
