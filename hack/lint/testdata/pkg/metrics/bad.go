// Package metrics breaks the rule drawing: colour outside of pkg/render.
package metrics

import "github.com/charmbracelet/lipgloss"

// Style must be refused.
type Style = lipgloss.Style
