package plugin_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shown are the commands that people see in a real terminal, by the cluster that they are asked about. Nothing in here changes a cluster:
// whoever is asked says no.
var shown = []struct {
	cluster  string
	commands []string
}{
	{"fleet", []string{"status -A", "wait stock --for insync -n shop", "suspend migration/ledger"}},
	{"destructive", []string{"status orders", "plan orders", "approve orders"}},
	{"waiting", []string{"reject orders --reason 'drops a column that reporting reads'", "wait orders --for insync --timeout 300ms", "status nothing"}},
	{"suspended", []string{"resume orders"}},
	{"migration-approved", []string{"migration ledger"}},
	{"unresolved", []string{"clear-unresolved ledger --wait 0s --reason 'row 13 repaired'"}},
	{"retention", []string{
		"prune -A", "export --all -A -o {dir}/all.tar", "plan --name ptah-mplan-cd43f951c7fbf737989c3b5e",
		"diff ptah-plan-eb3635968d83edc8b5ea98c7 ptah-plan-46ed44133ba8ec8e784af588",
	}},
	{"eventful", []string{"events orders"}},
	{"stalled", []string{"find-stalled -A"}},
	{"installed-bound", []string{"preflight --for upgrade --values testdata/values/good.yaml", "version"}},
	{"ready-contested", []string{"preflight schema/orders --offline"}},
	{"installed-with-work", []string{"support-bundle -A -o {dir}/bug.tar.gz --log-lines 0"}},
	{"empty", []string{
		"verify testdata/bundles/altered", "verify testdata/bundles/whole", "explain", "explain PolicyBlocked", "stats", "status",
		"--help", "push schema --help", "push migrations --help",
	}},
}

// shownElsewhere are commands whose answer is for a program, or needs a registry or a database; their help is shown all the same.
var shownElsewhere = []string{"completion", "push", "schema"}

// painted matches a command whose answer has something to colour.
var painted = regexp.MustCompile(`^(status (-A|orders)|plan|approve|reject|migration|prune|diff|events|find-stalled|preflight|verify|explain \w+|clear-unresolved|suspend|resume|version)( |$)`)

// TestInARealTerminal runs every command in real terminals, of 80 and 200 columns, dark, light and without colour, against a real API server,
// and looks at what stands on the screens. A terminal says itself what its background is, as people's do.
func TestInARealTerminal(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: no real terminal to run in")
	}
	server := startReal(t)
	screens := openScreens(t, server)
	seen := map[string]bool{}
	for _, group := range shown {
		for _, command := range group.commands {
			server.load(t, readCluster(t, group.cluster), scenario{Command: command})
			seen[strings.Fields(command)[0]] = true
			onEach(t, screens, command)
		}
	}
	for _, line := range strings.Split(invoke(scenario{Program: "kubectl_complete-ptah"}, []string{""}).stdout, "\n") {
		command, _, named := strings.Cut(line, "\t")
		if !named || command == "help" {
			continue
		}
		assert.True(t, seen[command] || slices.Contains(shownElsewhere, command), "%q is not shown in a terminal by this test", command)
		onEach(t, screens, command+" --help")
	}
}

// onEach runs a command on all screens at once and judges each.
func onEach(t *testing.T, screens []*screen, command string) {
	t.Helper()
	t.Run(command, func(t *testing.T) {
		for _, s := range screens {
			s.start(t, command)
		}
		for _, s := range screens {
			s.finish(t, command)
			s.judge(t, command)
		}
	})
}

// screen is a terminal of tmux.
type screen struct {
	socket, name, path, dir string
	width                   int
	style                   string
	env                     []string
	// own and other are the colours of this background and of the other one; a screen without any shows no escape sequence at all.
	own, other []string
	// joined is what the last command left, without the terminal's own line breaks.
	joined string
}

const screenHeight = 600

var (
	onDark  = []string{"38;5;246", "38;5;114", "38;5;214", "38;5;203"}
	onLight = []string{"38;5;242", "38;5;28", "38;5;130", "38;5;160"}
)

func openScreens(t *testing.T, server *realServer) []*screen {
	t.Helper()
	directory, err := os.MkdirTemp("", "ptah-tmux-") // short: a socket's path may have 107 bytes
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	kubeconfig := filepath.Join(directory, "kubeconfig")
	writeKubeconfig(t, kubeconfig, server.config())
	binary := buildPlugin(t)
	kubectl := "#!/bin/sh\nplugin=$1; shift\nexec \"" + filepath.Dir(binary) + "/kubectl-$plugin\" \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(directory, "kubectl"), []byte(kubectl), 0o755)) //nolint:gosec // to be run
	var screens []*screen
	for _, width := range []int{80, 200} {
		for _, look := range []screen{
			{name: "dark", style: "fg=#ffffff,bg=#000000", own: onDark, other: onLight},
			{name: "light", style: "fg=#000000,bg=#ffffff", own: onLight, other: onDark},
			{name: "plain", style: "fg=#ffffff,bg=#000000", env: []string{"-e", "NO_COLOR=1"}},
		} {
			s := look
			s.name, s.width, s.socket, s.path = fmt.Sprintf("%s-%d", look.name, width), width, filepath.Join(directory, "socket"), directory
			s.dir = filepath.Join(directory, s.name)
			s.env = append(s.env, "-e", "CI="+map[int]string{80: "", 200: "true"}[width], "-e", "COLORFGBG=", "-e", "TERM=xterm-256color", "-e", "LANG=C.UTF-8", "-e", "KUBECONFIG="+kubeconfig)
			require.NoError(t, os.Mkdir(s.dir, 0o755)) //nolint:gosec // of this test
			s.tmux(t, "-f", "/dev/null", "-u", "new-session", "-d", "-s", s.name, "-x", fmt.Sprint(width), "-y", fmt.Sprint(screenHeight), "sleep 600")
			s.tmux(t, "set-option", "-w", "-t", s.name, "window-style", s.style)
			screens = append(screens, &s)
		}
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", screens[0].socket, "kill-server").Run() })
	return screens
}

func (s *screen) tmux(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...) //nolint:gosec // of this test
	command.Env = append(os.Environ(), "PATH="+s.path+":"+os.Getenv("PATH"))      // tmux gives a pane the PATH of whoever asks for it
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	return string(output)
}

func (s *screen) start(t *testing.T, command string) {
	t.Helper()
	command = strings.ReplaceAll(command, "{dir}", s.dir)
	here, err := os.Getwd()
	require.NoError(t, err)
	args := append([]string{"respawn-pane", "-k", "-c", here, "-t", s.name}, s.env...)
	s.tmux(t, append(args, "kubectl ptah "+command+"; echo \"[exit $?]\"; exec sleep 600")...)
}

var (
	// question is a last line that waits for what a person types.
	question = regexp.MustCompile(`(^| )Type \S+: *$`)
	ended    = regexp.MustCompile(`^\[exit \d+\]$`)
)

// finish waits for the end of the command, and says no when it asks.
func (s *screen) finish(t *testing.T, command string) {
	t.Helper()
	answered := false
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		s.joined = strings.TrimRight(s.look(t, "-J"), "\n ")
		switch last := s.joined[strings.LastIndex("\n"+s.joined, "\n"):]; {
		case ended.MatchString(last):
			return
		case !answered && question.MatchString(last):
			answered = true
			s.tmux(t, "send-keys", "-t", s.name, "no", "Enter")
		case time.Now().After(end):
			require.Fail(t, "the command does not end", "%s on %s:\n%s", command, s.name, s.joined)
		}
	}
}

// endsWell is an end by which a command answered: a wrong word is a usage error, and nothing else could not be done.
func endsWell(command string) string {
	if command == "stats" {
		return `\n\[exit 2\]$`
	}
	return `\n\[exit (0|3|4|5|124)\]$`
}

// look is what stands on the screen. With -J, lines that the terminal wrapped are one again; with -e, colours are escape sequences.
func (s *screen) look(t *testing.T, flags ...string) string {
	t.Helper()
	return s.tmux(t, append([]string{"capture-pane", "-p", "-t", s.name}, flags...)...)
}

func (s *screen) judge(t *testing.T, command string) {
	t.Helper()
	painting := s.look(t, "-e")
	s.judgeColours(t, command, painting)
	assert.Regexp(t, endsWell(command), s.joined, "on %s", s.name)
	rows := map[string]bool{}
	for _, row := range strings.Split(escapes.ReplaceAllString(painting, ""), "\n") {
		rows[strings.TrimRight(row, " ")] = true
	}
	sql := false
	for _, line := range strings.Split(s.joined, "\n") {
		line = strings.TrimRight(line, " ")
		sql = sql && line != "" || strings.HasPrefix(line, "--") || strings.Contains(line, "-- ")
		if !rows[line] && !sql && !strings.Contains(line, "kubectl ") && !unbreakable(line, s.width) {
			assert.Fail(t, "the terminal wraps a line", "%s, %d columns: %s", s.name, lipgloss.Width(line), line)
		}
		assert.NotRegexp(t, `\[[0-9;]+m|\][0-9]+;|rgb:|\^\[`, line, "left over from an escape sequence, on %s", s.name)
	}
}

// escapes are what tmux writes for looks.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func (s *screen) judgeColours(t *testing.T, command, painting string) {
	t.Helper()
	if len(s.own) == 0 {
		assert.NotContains(t, painting, "\x1b", "on %s", s.name)
		return
	}
	for _, colour := range s.other {
		assert.NotContains(t, painting, "\x1b["+colour+"m", "a colour of the other background, on %s", s.name)
	}
	if painted.MatchString(command) && !strings.HasSuffix(command, "--help") {
		has := func(colour string) bool { return strings.Contains(painting, "\x1b["+colour+"m") }
		assert.True(t, slices.ContainsFunc(s.own, has), "no colour on %s:\n%s", s.name, painting)
	}
}
