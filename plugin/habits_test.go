package plugin_test

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ptah-run/ptah/plugin"
	"github.com/ptah-run/ptah/plugin/options"
)

// silent are commands without an answer of their own: they print a script, or only lead to others.
var silent = []string{"completion", "push"}

// writers are commands whose -o is the file that they write.
var writers = []string{"export", "support-bundle"}

// files are flags whose values are files, which the shell completes best.
var files = []string{"ca-file", "values", "out", "file", "certificate-authority", "client-certificate", "client-key", "kubeconfig", "cache-dir", "output-dir", "export", "crds", "rest"}

// free are flags whose values nobody can guess.
var free = []string{"fingerprint", "selector", "dev-url-env", "dev-url", "var", "url-env", "version", "reason", "operation-id", "yes-i-established-what-ran", "log-level", "release", "registry-password-env"}

// eachCommand visits every command that can be run, except for cobra's own.
func eachCommand(t *testing.T, visit func(t *testing.T, cmd *cobra.Command)) {
	t.Helper()
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
	root := plugin.New(options.New(streams, options.Screen{}, fixedClock, noEnv))
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			walk(child)
		}
		if cmd != root && cmd.Name() != "help" && !strings.HasPrefix(cmd.Name(), "__") {
			t.Run(strings.TrimPrefix(cmd.CommandPath(), "kubectl ptah "), func(t *testing.T) { visit(t, cmd) })
		}
	}
	walk(root)
}

func TestEveryCommandHasTheHabits(t *testing.T) {
	eachCommand(t, func(t *testing.T, cmd *cobra.Command) {
		assert.NotEmpty(t, cmd.Short, "a line for the list of commands")
		assert.False(t, strings.HasSuffix(cmd.Short, "."), "%q", cmd.Short)
		assert.Greater(t, len(cmd.Long), len(cmd.Short), "long help")
		assert.NotNil(t, cmd.RunE, "errors have to reach main")
		if cmd.HasSubCommands() {
			return
		}
		assert.Contains(t, cmd.Example, "kubectl ptah "+strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "kubectl ptah "))[0], "examples")
		assert.NotNil(t, cmd.Args, "arguments have to be checked, so that too many are a usage error")
		for _, line := range strings.Split(cmd.Long+"\n"+cmd.Example, "\n") {
			assert.LessOrEqual(t, len([]rune(line)), 110, "help has to fit a terminal: %s", line)
		}
		checkOutput(t, cmd)
		checkLists(t, cmd)
		checkCompletion(t, cmd)
		checkWrites(t, cmd)
	})
}

// checkOutput wants every format where there is an answer.
func checkOutput(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	if slices.Contains(silent, cmd.Name()) || slices.Contains(writers, cmd.Name()) {
		return
	}
	flag := cmd.Flags().Lookup("output")
	require.NotNil(t, flag, "-o")
	assert.Equal(t, "o", flag.Shorthand)
	for _, format := range []string{"text", "json", "yaml", "jsonpath", "go-template"} {
		assert.Contains(t, flag.Usage, format)
	}
	for _, name := range []string{"jq", "no-headers", "color", "namespace", "context", "kubeconfig", "as"} {
		assert.NotNil(t, cmd.InheritedFlags().Lookup(name), "--%s", name)
	}
}

// checkLists wants the flags that belong together, under the same names.
func checkLists(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	if all := cmd.Flags().Lookup("all-namespaces"); all != nil {
		assert.Equal(t, "A", all.Shorthand)
		assert.True(t, cmd.Flags().Lookup("chunk-size") != nil || slices.Contains(writers, cmd.Name()), "a list over all namespaces is read in pages")
	}
	if selector := cmd.Flags().Lookup("selector"); selector != nil {
		assert.Equal(t, "l", selector.Shorthand)
	}
	if watch := cmd.Flags().Lookup("watch"); watch != nil {
		assert.Equal(t, "w", watch.Shorthand)
		assert.NotNil(t, cmd.Flags().Lookup("every"), "how often --watch looks")
	}
}

var placeholder = regexp.MustCompile(`\b(NAME|SCHEMA|MIGRATION|PLAN|WORD|RESOURCE)\b`)

// checkCompletion wants every argument and every value completed that can be.
func checkCompletion(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	if placeholder.MatchString(cmd.Use) {
		assert.True(t, cmd.ValidArgsFunction != nil || len(cmd.ValidArgs) > 0, "names are completed")
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Value.Type() != "string" || slices.Contains(files, flag.Name) || slices.Contains(free, flag.Name) ||
			(flag.Name == "output" && slices.Contains(writers, cmd.Name())) {
			return
		}
		_, found := cmd.GetFlagCompletionFunc(flag.Name)
		assert.True(t, found, "the value of --%s is completed, or said to be a file or free in this test", flag.Name)
	})
}

// checkWrites wants whatever asks before it changes something to have a way around asking, and a rehearsal.
func checkWrites(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	if cmd.Flags().Lookup("yes") != nil {
		assert.NotNil(t, cmd.Flags().Lookup("dry-run"), "--dry-run")
	}
}

func TestThereIsOneTableOfExitCodes(t *testing.T) {
	got := invoke(scenario{}, []string{"--help"})
	assert.Contains(t, strings.Join(strings.Fields(got.stdout), " "), strings.Join(strings.Fields(options.ExitTable), " "), "whatever the width is")
	page := read(t, "../docs/reference/exit-codes.md")
	for _, line := range strings.Split(options.ExitTable, "\n")[2:] {
		code, meaning, _ := strings.Cut(strings.TrimSpace(line), "  ")
		assert.Contains(t, page, "| "+code+" | "+meaning+" |", "docs/reference/exit-codes.md says the same as --help")
	}
}
