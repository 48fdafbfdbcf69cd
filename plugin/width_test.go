package plugin_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// whole are answers whose lines are somebody's text, which no command may break: SQL and documents.
var whole = regexp.MustCompile(`-o (sql|json|yaml|wide)|--jq|^(__complete|completion)|--help|--for cron`)

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
