package options

import (
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"

	"github.com/ptah-run/ptah/pkg/render"
)

// Screen is what is known about the three streams. The zero Screen is a pipeline: no terminal anywhere.
type Screen struct {
	// In, Out and ErrOut tell terminals from files and pipes.
	In, Out, ErrOut bool
	// Width of the terminal that shows the answer, in columns; 0 is unknown.
	Width int
}

// DetectScreen looks at the streams once, at start.
func DetectScreen(in io.Reader, out, errOut io.Writer) Screen {
	screen := Screen{In: isTerminal(in), Out: isTerminal(out), ErrOut: isTerminal(errOut)}
	for _, stream := range []any{out, errOut} {
		file, ok := stream.(*os.File)
		if !ok || !isTerminal(stream) {
			continue
		}
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			screen.Width = width
			break
		}
	}
	return screen
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// theme for one stream: colour and width only on a terminal, unless the person says otherwise.
func (g *Global) theme(terminal bool) render.Theme {
	theme := render.Theme{Unicode: g.unicode()}
	if terminal {
		theme.Width = g.Screen.Width
	}
	switch g.color {
	case colorAlways:
		theme.Color = true
	case colorNever:
	default:
		theme.Color = terminal && g.Getenv("NO_COLOR") == "" && g.Getenv("TERM") != "dumb"
	}
	if theme.Color {
		theme.Dark = g.dark()
	}
	return theme
}

// dark prefers what the terminal wrote into the environment over asking the terminal, which costs a round trip.
func (g *Global) dark() bool {
	if value := g.Getenv("COLORFGBG"); value != "" {
		background := value[strings.LastIndex(value, ";")+1:]
		return background != "7" && background != "15"
	}
	if g.Screen.In && g.Screen.Out {
		return render.DarkBackground()
	}
	return true
}

// unicode follows the locale, as other command-line programs do.
func (g *Global) unicode() bool {
	if runtime.GOOS == "windows" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(g.Getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}
