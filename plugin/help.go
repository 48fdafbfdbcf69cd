package plugin

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/options"
)

// fitHelp makes the help of all commands fit the terminal that shows it. In a pipe, and in the pages that are made of it, it stays as written.
func fitHelp(root *cobra.Command, global *options.Global) {
	if !global.Screen.Out || global.Screen.Width == 0 {
		return
	}
	written := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var text bytes.Buffer
		cmd.SetOut(&text)
		written(cmd, args)
		cmd.SetOut(nil)
		_, _ = io.WriteString(global.Out, render.Reflow(text.String(), global.Screen.Width))
	})
}
