package push

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

// Command returns the command notify.
func Command(a *cli.Globals) *cobra.Command {
	c := &cobra.Command{Use: "notify", Short: "Notifications on your phone while you are away"}
	c.AddCommand(&cobra.Command{
		Use: "test", Short: "Send a notification to your phone, and say whether codes may be sent", Args: cli.NoArgs,
		Long: `Send a notification to where [notify.away] in the configuration says, as the deck does when something
waits and nobody is there. It exits with 1 if the server does not take it.`,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.Load()
			if err != nil {
				return err
			}
			to, err := To(cfg).Open()
			if err != nil {
				return err
			}
			if to == nil {
				return errors.New("nothing to test: set ntfy, webhook or command under [notify.away] in " + cfg.Paths.Config)
			}
			if err := Try(c.Context(), to); err != nil {
				return err
			}
			c.Println("sent")
			if cfg.File.Ask.CLIAnswers.Method() == userauth.Push {
				c.Println(codes(c.Context(), to))
			}
			return nil
		},
	})
	return c
}

// Try sends a notification that asks for nothing.
func Try(ctx context.Context, to Sender) error {
	ctx, done := context.WithTimeout(ctx, sendWithin)
	defer done()
	e := Event{V: 1, Kind: Test, ID: strings.ToLower(rand.Text()), Title: "mcpdeck", Text: "This is what a notification looks like. Nothing waits for you."}
	if err := to.Send(ctx, e); err != nil {
		return fmt.Errorf("send a notification: %w", err)
	}
	return nil
}

// codes says whether codes may go to where notifications go.
func codes(ctx context.Context, to Sender) string {
	ctx, done := context.WithTimeout(ctx, sendWithin)
	defer done()
	if err := to.Secret(ctx); err != nil {
		return "codes are not sent: " + err.Error()
	}
	return "codes are sent"
}

// Check says what is the matter with where pushes go; "" if nothing is, or if they go nowhere.
func Check(cfg *config.Config) (text string, set bool) {
	to, err := To(cfg).Open()
	if err != nil {
		return err.Error(), true
	}
	return "", to != nil
}
