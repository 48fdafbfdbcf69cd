// Package plugin is kubectl ptah: the root command and the way from arguments to an exit code. Each verb is a package of its own, with
// cmd.go for flags and a file named after the verb for what it does.
//
//go:generate go run ../hack/docs -out ../docs/cli
package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ptah-run/ptah/pkg/release"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/approve"
	"github.com/ptah-run/ptah/plugin/clearunresolved"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/completion"
	"github.com/ptah-run/ptah/plugin/diff"
	"github.com/ptah-run/ptah/plugin/events"
	"github.com/ptah-run/ptah/plugin/explain"
	"github.com/ptah-run/ptah/plugin/export"
	"github.com/ptah-run/ptah/plugin/findstalled"
	"github.com/ptah-run/ptah/plugin/migration"
	"github.com/ptah-run/ptah/plugin/options"
	"github.com/ptah-run/ptah/plugin/plan"
	"github.com/ptah-run/ptah/plugin/preflight"
	"github.com/ptah-run/ptah/plugin/prune"
	"github.com/ptah-run/ptah/plugin/push"
	"github.com/ptah-run/ptah/plugin/reject"
	"github.com/ptah-run/ptah/plugin/schema"
	"github.com/ptah-run/ptah/plugin/status"
	"github.com/ptah-run/ptah/plugin/supportbundle"
	"github.com/ptah-run/ptah/plugin/suspend"
	"github.com/ptah-run/ptah/plugin/verify"
	"github.com/ptah-run/ptah/plugin/version"
	"github.com/ptah-run/ptah/plugin/wait"
)

// completeProgram is the name that kubectl starts to complete the words after "kubectl ptah".
const completeProgram = "kubectl_complete-ptah"

// New builds the whole command. Tests call it as main does.
func New(global *options.Global) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-ptah",
		Short: "Read, approve and operate database schemas and migrations that Ptah converges",
		Long: `Read, approve and operate database schemas and migrations that Ptah converges.

The answer goes to stdout, and only when it is whole and verified; progress, warnings and
next steps go to stderr.

` + options.ExitTable,
		Example: `  kubectl ptah status -A                 # every schema and migration, and what each waits for
  kubectl ptah plan orders -n app        # the SQL that waits for a decision
  kubectl ptah approve orders -n app     # show it, ask, approve exactly what was shown
  kubectl ptah push schema schema.sql oci://registry.example/app/orders:v2`,
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl ptah"},
		Version:           release.Version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              unknownCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error { return global.Validate() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(global.In)
	root.SetOut(global.Out)
	root.SetErr(global.ErrOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return options.Usagef("%w%s; see \"%s --help\"", err, likelyFlag(cmd, err), cmd.CommandPath())
	})
	root.CompletionOptions.DisableDefaultCmd = true
	global.AddFlags(root.PersistentFlags())
	root.AddGroup(&cobra.Group{ID: "look", Title: "Look:"}, &cobra.Group{ID: "act", Title: "Act:"}, &cobra.Group{ID: "other", Title: "Other:"})
	addTo(root, "look", status.New(global), plan.New(global), migration.New(global), diff.New(global), wait.New(global), events.New(global), explain.New(global), findstalled.New(global))
	addTo(root, "look", preflight.New(global), supportbundle.New(global))
	addTo(root, "act", approve.New(global), reject.New(global), clearunresolved.New(global), suspend.New(global), suspend.NewResume(global), export.New(global), verify.New(global), prune.New(global), push.New(global))
	addTo(root, "look", schema.New(global))
	addTo(root, "other", version.New(global), completion.New(global))
	fitHelp(root, global)
	root.SetHelpCommandGroupID("other")
	completeFlags(root, global)
	return root
}

func addTo(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, command := range commands {
		command.GroupID = group
		root.AddCommand(command)
	}
}

// unknownCommand makes a word that is no command a usage error, with the likely meant one.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if likely := cmd.SuggestionsFor(args[0]); len(likely) > 0 {
		text += fmt.Sprintf("; did you mean %q", likely[0])
	}
	return options.Usagef("%s; see \"kubectl ptah --help\"", text)
}

// likelyFlag names the flag that was probably meant.
func likelyFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	if near := spelling.Near(unknown.GetSpecifiedName(), names); len(near) > 0 {
		return fmt.Sprintf("; did you mean --%s?", near[0])
	}
	return ""
}

// completeFlags gives fixed values, live namespaces and the kubeconfig's names to the flags that all verbs have.
func completeFlags(root *cobra.Command, global *options.Global) {
	_ = root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	_ = root.RegisterFlagCompletionFunc("namespace", complete.Namespaces(global))
	_ = root.RegisterFlagCompletionFunc("context", complete.Kubeconfig(global, func(c clientcmdapi.Config) []string { return slices.Collect(maps.Keys(c.Contexts)) }))
	_ = root.RegisterFlagCompletionFunc("cluster", complete.Kubeconfig(global, func(c clientcmdapi.Config) []string { return slices.Collect(maps.Keys(c.Clusters)) }))
	_ = root.RegisterFlagCompletionFunc("user", complete.Kubeconfig(global, func(c clientcmdapi.Config) []string { return slices.Collect(maps.Keys(c.AuthInfos)) }))
	for _, name := range []string{"jq", "as", "as-group", "as-uid", "as-user-extra", "server", "token", "tls-server-name", "request-timeout", "proxy-url"} {
		_ = root.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	for _, cmd := range root.Commands() {
		for _, name := range []string{"coordination-namespace", "release-namespace"} {
			if cmd.Flags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, complete.Namespaces(global))
			}
		}
	}
}

// Run carries out one command line and returns its exit code. The name is argv[0]: under kubectl's completion name the arguments are words
// to complete.
func Run(ctx context.Context, global *options.Global, name string, args []string) options.Code {
	root := New(global)
	if isCompletion(name) {
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	report(global, err)
	return options.CodeOf(err)
}

func isCompletion(name string) bool {
	return strings.TrimSuffix(filepath.Base(name), ".exe") == completeProgram
}

// report prints an error as "error: …", or as "refused: …" where nothing went wrong and nothing was done, and the errors joined to it on lines
// of their own.
func report(global *options.Global, err error) {
	var exit *options.ExitError
	if err == nil || (errors.As(err, &exit) && exit.Silent()) {
		return
	}
	word := "error"
	if options.CodeOf(err) == options.Refused {
		word = "refused"
	}
	for _, line := range slices.Compact(lines(err)) {
		global.Note(render.Plain, "%s: %s", word, line)
	}
}

// lines gives each of the errors that were joined a line of its own; any other error is one line.
func lines(err error) []string {
	var texts []string
	for _, part := range cluster.Once(unjoined(err)) {
		texts = append(texts, part.Error())
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return strings.Split(strings.Join(texts, "\n"), "\n")
	}
	return texts
}

// unjoined takes errors.Join apart, however deep it is nested. An error that wraps several and has words of its own stays whole.
func unjoined(err error) []error {
	if exit, ok := err.(*options.ExitError); ok && exit.Err != nil { //nolint:errorlint // the error itself, not one that it wraps
		return unjoined(exit.Err)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || err.Error() != errors.Join(joined.Unwrap()...).Error() {
		return []error{err}
	}
	var parts []error
	for _, part := range joined.Unwrap() {
		parts = append(parts, unjoined(part)...)
	}
	return parts
}
