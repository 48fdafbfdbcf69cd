package plugin_test

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
)

// whole are answers whose lines are somebody's text, which no command may break: SQL and documents.
var whole = regexp.MustCompile(`-o (sql|json|yaml|wide)|--jq|^(__complete|completion)|--for cron`)

// asked is a question: the person's answer ends the line, and is not in these files.
var asked = regexp.MustCompile(`^Type \S+: `)

// TestNothingWrapsOnATerminal looks at every expected answer for a terminal: a line is wider than the terminal only where it cannot be
// broken, because of one identifier, or must not be, because it holds a command to copy.
func TestNothingWrapsOnATerminal(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*/case.yaml")
	require.NoError(t, err)
	widths := map[int]int{}
	for _, file := range files {
		s := readScenario(t, file)
		if s.Terminal == 0 || whole.MatchString(s.Command) {
			continue
		}
		widths[s.Terminal]++
		for _, stream := range []string{"stdout", "stderr"} {
			sql := false
			for _, line := range strings.Split(read(t, filepath.Join(filepath.Dir(file), stream)), "\n") {
				sql = sql && line != "" || strings.HasPrefix(line, "--") || strings.Contains(line, "-- ")
				line = asked.ReplaceAllString(line, "")
				if lipgloss.Width(line) > s.Terminal && !sql && !strings.Contains(line, "kubectl ") && !unbreakable(line, s.Terminal) {
					assert.Fail(t, "a line wraps", "%s, %s: %d columns in %d: %s", filepath.Dir(file), stream, lipgloss.Width(line), s.Terminal, line)
				}
			}
		}
	}
	assert.GreaterOrEqual(t, widths[80], 10, "scenarios at 80 columns")
	assert.GreaterOrEqual(t, widths[200], 5, "scenarios at 200 columns")
}

// TestHelpFitsATerminal looks at the help of every command. A terminal that does not say how wide it is gets what one of 80 columns gets.
func TestHelpFitsATerminal(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "kubectl ptah"))
		help := func(screen options.Screen) string {
			var stdout bytes.Buffer
			streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: io.Discard}
			global := options.New(streams, screen, func() time.Time { return now }, func(string) string { return "" })
			require.Equal(t, options.Done, plugin.Run(t.Context(), global, "kubectl-ptah", append(path, "--help")))
			return stdout.String()
		}
		for _, columns := range []int{60, 80, 200} {
			for _, line := range strings.Split(help(options.Screen{Out: true, Width: columns}), "\n") {
				example := strings.HasPrefix(line, "  ") && strings.Contains(line, "kubectl ")
				if lipgloss.Width(line) > columns && !example && !unbreakable(line, columns) {
					assert.Fail(t, "a line wraps", "%q, %d columns in %d: %s", path, lipgloss.Width(line), columns, line)
				}
			}
		}
		assert.Equal(t, help(options.Screen{Out: true, Width: 80}), help(options.Screen{Out: true}), "%q where the width is unknown", path)
		written := help(options.Screen{})
		assert.True(t, strings.HasPrefix(written, cmp.Or(cmd.Long, cmd.Short)), "%q in a pipe is as it was written", path)
		for _, child := range cmd.Commands() {
			if child.Name() != "help" && !child.Hidden {
				visit(child)
			}
		}
	}
	visit(plugin.New(options.New(genericiooptions.NewTestIOStreamsDiscard(), options.Screen{}, time.Now, func(string) string { return "" })))
}

// unbreakable says that no break would help: one word alone, behind its label, does not fit.
func unbreakable(line string, terminal int) bool {
	const label = 20
	for _, word := range strings.Fields(line) {
		if lipgloss.Width(word) > terminal-label {
			return true
		}
	}
	return false
}
