package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/render"
)

// renderCommand draws pixel art without a deck.
func renderCommand() *cobra.Command { return withUsage(render.Command()) }

// paletteCommand converts palettes without a deck.
func paletteCommand() *cobra.Command { return withUsage(render.PaletteCommand()) }

// withUsage tells wrong usage by the exit code.
func withUsage(c *cobra.Command) *cobra.Command {
	draw := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		err := draw(c, args)
		if errors.As(err, new(render.UsageError)) {
			return usage{err}
		}
		return err
	}
	return c
}
