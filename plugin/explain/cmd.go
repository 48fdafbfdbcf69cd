// Package explain is "kubectl ptah explain": what a condition, reason, failure code, Event or phase means, without a cluster.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/explain"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/complete"
	"github.com/ptah-run/ptah/plugin/options"
)

// New builds the verb.
func New(global *options.Global) *cobra.Command {
	o := &explainOptions{global: global}
	cmd := &cobra.Command{
		Use:   "explain [WORD]",
		Short: "Say what a condition, reason, failure code, Event or phase means",
		Long: `Say what a condition, reason, failure code, Event or phase means, who has to move, and what to run.

Without a word: a table of all of them. Upper and lower case do not count. "Type/Reason" and
"Type=Status/Reason" explain both. No cluster is needed.`,
		Example: `  kubectl ptah explain PolicyBlocked
  kubectl ptah explain Ready=False/AwaitingApproval
  kubectl ptah explain --use failure
  kubectl ptah explain HistoryDirty -o json --jq '.items[].clears'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || (len(args) == 1 && args[0] == "") {
				return options.Usagef("want one word, got %s", spelling.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return words(prefix), cobra.ShellCompDirectiveNoFileComp
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.use, "use", "", "Only words of this use: "+strings.Join(uses(), ", "))
	o.output = global.AddOutput(flags, render.Text, render.Wide, render.JSON, render.YAML, render.Name, render.JSONPath, render.GoTemplate)
	_ = cmd.RegisterFlagCompletionFunc("output", complete.Formats(o.output))
	_ = cmd.RegisterFlagCompletionFunc("use", cobra.FixedCompletions(uses(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func uses() []string {
	var list []string
	for _, kind := range explain.Kinds() {
		list = append(list, string(kind))
	}
	return list
}

// words completes without regard to case, with what the word is as the hint.
func words(prefix string) []string {
	var list []string
	for _, name := range explain.Names() {
		if !strings.HasPrefix(strings.ToLower(name), strings.ToLower(prefix)) {
			continue
		}
		var hints []string
		for _, entry := range explain.Find(name) {
			hints = append(hints, string(entry.Kind))
		}
		list = append(list, name+"\t"+strings.Join(hints, ", "))
	}
	return list
}

type explainOptions struct {
	global *options.Global
	output *options.Output
	use    string
}

func (o *explainOptions) run(args []string) error {
	if o.use != "" && !slices.Contains(uses(), o.use) {
		return options.Usagef("--use %q: want one of %s", o.use, strings.Join(uses(), ", "))
	}
	entries := explain.All()
	if len(args) == 1 {
		if entries = explain.Find(args[0]); len(entries) == 0 {
			return options.Nothingf("nothing called %q is known%s; \"kubectl ptah explain\" lists all, and a newer operator may have more", args[0], meant(args[0]))
		}
	}
	if o.use != "" {
		entries = slices.DeleteFunc(slices.Clone(entries), func(e explain.Entry) bool { return string(e.Kind) != o.use })
	}
	if len(entries) == 0 {
		return options.Nothingf("%q is no %s", args[0], o.use)
	}
	return o.output.Print(render.NewExplanations(entries, len(args) == 0))
}

func meant(word string) string {
	near := explain.Near(word)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", strings.Join(near, ", or "))
}
