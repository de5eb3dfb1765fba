package main

import (
	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
)

// printTable prints rows in columns. NO_COLOR, whatever its value, leaves the
// styles away.
func printTable(c *cobra.Command, rows [][]string, style func(row, col int) lipgloss.Style) error {
	if config.Env("NO_COLOR") != "" {
		style = nil
	}
	return console.Table(c.OutOrStdout(), rows, style)
}

// ink is text in one of the terminal's own colours.
func ink(good, bad bool) lipgloss.Style {
	switch s := lipgloss.NewStyle(); {
	case bad:
		return s.Foreground(lipgloss.Red).Bold(true)
	case good:
		return s.Foreground(lipgloss.Green)
	default:
		return s.Foreground(lipgloss.Yellow)
	}
}
