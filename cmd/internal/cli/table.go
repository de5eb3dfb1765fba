package cli

import (
	"slices"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
)

// PrintTable prints rows in columns. NO_COLOR, whatever its value, leaves the
// styles away.
func PrintTable(c *cobra.Command, rows [][]string, style func(row, col int) lipgloss.Style) error {
	if config.Env("NO_COLOR") != "" {
		style = nil
	}
	return console.Table(c.OutOrStdout(), rows, style)
}

// PrintHeaded is printTable under the names of the columns, which styles do not count as
// a row. Without rows it prints nothing.
func PrintHeaded(c *cobra.Command, head []string, rows [][]string, style func(row, col int) lipgloss.Style) error {
	if len(rows) == 0 {
		return nil
	}
	return PrintTable(c, slices.Concat([][]string{head}, rows), func(row, col int) lipgloss.Style {
		switch {
		case row == 0:
			return lipgloss.NewStyle().Faint(true)
		case style == nil:
			return lipgloss.NewStyle()
		}
		return style(row-1, col)
	})
}

// PrintJSON prints a value as JSON, on one line or indented.
func PrintJSON(c *cobra.Command, v any, indent bool) error {
	return console.PrintJSON(c.OutOrStdout(), v, indent)
}

// Ink is text in one of the terminal's own colours.
func Ink(good, bad bool) lipgloss.Style {
	switch s := lipgloss.NewStyle(); {
	case bad:
		return s.Foreground(lipgloss.Red).Bold(true)
	case good:
		return s.Foreground(lipgloss.Green)
	default:
		return s.Foreground(lipgloss.Yellow)
	}
}
