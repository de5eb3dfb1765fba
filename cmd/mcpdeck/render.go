package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/render"
)

// renderCommand draws pixel art without a deck.
func renderCommand() *cobra.Command {
	c := render.Command()
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
