package main

import "github.com/spf13/cobra"

func tokenCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Say where the token of the HTTP endpoint is", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			if err := cfg.Paths.Make(); err != nil {
				return err
			}
			if _, err := readToken(cfg.Paths); err != nil {
				return err
			}
			c.Println(cfg.Paths.Token)
			return nil
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "rotate", Short: "Make a new token; a running deck takes it at its next start", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			if err := cfg.Paths.Make(); err != nil {
				return err
			}
			if _, err := newToken(cfg.Paths); err != nil {
				return err
			}
			c.Println(cfg.Paths.Token)
			return nil
		},
	})
	return c
}
