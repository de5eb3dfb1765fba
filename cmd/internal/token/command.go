package token

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
)

// Command returns the command token.
func Command(a *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Print the path of the HTTP endpoint's token file", Args: cli.NoArgs,
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error { return tokenFile(c, cfg, Read) }),
	}
	c.AddCommand(&cobra.Command{
		Use: "rotate", Short: "Create a new token and revoke the old one", Args: cli.NoArgs,
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error { return tokenFile(c, cfg, rotate) }),
	})
	return c
}

// tokenFile prints the token's file once there is a token in it.
func tokenFile(c *cobra.Command, cfg *config.Config, token func(config.Paths) (string, error)) error {
	if err := cfg.Paths.Make(); err != nil {
		return err
	}
	if _, err := token(cfg.Paths); err != nil {
		return err
	}
	c.Println(cfg.Paths.Token)
	return nil
}

// rotate makes a new token and has a running deck take it.
func rotate(p config.Paths) (string, error) {
	token, err := create(p)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := transport.Ask(ctx, p.Socket, "token", nil, nil); err != nil && !errors.Is(err, transport.ErrNoDeck) {
		return "", fmt.Errorf("tell the running deck about the new token: %w; restart it", err)
	}
	return token, nil
}
