package plugin

import (
	"bytes"
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/options"
)

// unknownWidth is taken for the columns of a terminal that does not say how many it has.
const unknownWidth = 80

// fitHelp makes the help of all commands fit the terminal that shows it. In a pipe, and in the pages that are made of it, it stays as written.
func fitHelp(root *cobra.Command, global *options.Global) {
	if !global.Screen.Out {
		return
	}
	columns := cmp.Or(global.Screen.Width, unknownWidth)
	written := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var text bytes.Buffer
		cmd.SetOut(&text)
		written(cmd, args)
		cmd.SetOut(nil)
		_, _ = io.WriteString(global.Out, render.Reflow(text.String(), columns))
	})
}
