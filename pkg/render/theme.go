package render

import (
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Theme says what the reader's screen can show. The zero Theme is a pipe: no colour, ASCII marks, no width.
type Theme struct {
	// Color allows escape sequences.
	Color bool
	// Unicode allows ✓ ! ✗ – and …; without it they become ok, !, x, - and "...".
	Unicode bool
	// Width in columns, of a terminal; 0 is unbounded, and then no identifier is ever cut.
	Width int
	// Dark says that the background is dark. Only read with Color.
	Dark bool
}

// Tone is the meaning of a piece of text, from which its colour follows. Meaning is never by colour alone.
type Tone int

// Tones.
const (
	Plain Tone = iota
	Strong
	Dim
	Good
	Caution
	Bad
)

// Readable on white and on black, and told apart by people who do not see red and green: the marks carry the meaning, these only help.
var palette = map[Tone]lipgloss.AdaptiveColor{
	Dim:     {Light: "242", Dark: "246"},
	Good:    {Light: "28", Dark: "114"},
	Caution: {Light: "130", Dark: "214"},
	Bad:     {Light: "160", Dark: "203"},
}

// painter applies a theme to strings.
type painter struct {
	theme  Theme
	styles map[Tone]lipgloss.Style
}

func newPainter(theme Theme) *painter {
	p := &painter{theme: theme}
	if !theme.Color {
		return p
	}
	// The profile is fixed here rather than detected: the caller has already decided, and detection would read the environment again.
	renderer := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(termenv.ANSI256))
	renderer.SetColorProfile(termenv.ANSI256)
	renderer.SetHasDarkBackground(theme.Dark)
	p.styles = map[Tone]lipgloss.Style{Strong: renderer.NewStyle().Bold(true)}
	for tone, colour := range palette {
		p.styles[tone] = renderer.NewStyle().Foreground(colour)
	}
	return p
}

// unbounded paints the same without a width.
func (p *painter) unbounded() *painter {
	free := *p
	free.theme.Width = 0
	return &free
}

// paint colours one line; text without a tone, and every text without colour, comes back unchanged.
func (p *painter) paint(tone Tone, text string) string {
	style, ok := p.styles[tone]
	if !ok || text == "" {
		return text
	}
	return style.Render(text)
}

// mark is the sign that carries a tone's meaning without colour.
func (p *painter) mark(tone Tone) string {
	switch tone {
	case Good:
		return p.paint(tone, p.glyph("✓", "ok"))
	case Caution:
		return p.paint(tone, "!")
	case Bad:
		return p.paint(tone, p.glyph("✗", "x"))
	default:
		return p.none()
	}
}

// none stands where there is nothing to say.
func (p *painter) none() string { return p.glyph("–", "-") }

func (p *painter) ellipsis() string { return p.glyph("…", "...") }

func (p *painter) glyph(unicode, ascii string) string {
	if p.theme.Unicode {
		return unicode
	}
	return ascii
}

// fit cuts plain text to a number of columns, and only for a terminal: in a pipe everything stays whole.
func (p *painter) fit(text string, columns int) string {
	if p.theme.Width == 0 || width(text) <= columns {
		return text
	}
	dots := p.ellipsis()
	room := columns - width(dots)
	if room <= 0 {
		return text
	}
	var cut strings.Builder
	used := 0
	for _, char := range text {
		w := width(string(char))
		if used+w > room {
			break
		}
		cut.WriteRune(char)
		used += w
	}
	return cut.String() + dots
}

// width is how many columns a text takes, escape sequences not counted.
func width(text string) int { return lipgloss.Width(text) }

// Printable makes a text harmless on a terminal: control characters, which could move the cursor or hide what follows, become visible
// escapes. Newlines and tabs stay.
func Printable(text string) string {
	if !strings.ContainsFunc(text, isControl) {
		return text
	}
	var safe strings.Builder
	for _, char := range text {
		if isControl(char) {
			safe.WriteString(escapeRune(char))
			continue
		}
		safe.WriteRune(char)
	}
	return safe.String()
}

// harmless is Printable for text that was painted already: only colours stay, which change nothing but the look.
func (p *painter) harmless(text string) string {
	if !p.theme.Color || !strings.ContainsFunc(text, isControl) {
		return Printable(text)
	}
	var safe strings.Builder
	last := 0
	for _, colour := range colours.FindAllStringIndex(text, -1) {
		safe.WriteString(Printable(text[last:colour[0]]) + text[colour[0]:colour[1]])
		last = colour[1]
	}
	return safe.String() + Printable(text[last:])
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// DarkBackground asks the terminal, once. Call it only where stdin and stdout are terminals: the answer comes in on the terminal's input. It asks
// whatever the environment says; the library by itself takes a variable CI for the absence of a terminal.
var DarkBackground = sync.OnceValue(func() bool {
	return termenv.NewOutput(os.Stdout, termenv.WithTTY(true)).HasDarkBackground()
})
