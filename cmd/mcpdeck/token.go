package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func tokenCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Say where the token of the HTTP endpoint is", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return tokenFile(c, a, readToken) },
	}
	c.AddCommand(&cobra.Command{
		Use: "rotate", Short: "Make a new token; a running deck takes it at its next start", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return tokenFile(c, a, newToken) },
	})
	return c
}

// tokenFile prints the token's file once there is a token in it.
func tokenFile(c *cobra.Command, a *app, token func(config.Paths) (string, error)) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if err := cfg.Paths.Make(); err != nil {
		return err
	}
	if _, err := token(cfg.Paths); err != nil {
		return err
	}
	c.Println(cfg.Paths.Token)
	return nil
}
