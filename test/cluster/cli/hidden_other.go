//go:build !linux

package cli

import "github.com/spf13/cobra"

func platformHidden() []*cobra.Command { return nil }
