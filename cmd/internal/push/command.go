package push

import (
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
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error {
			to, err := To(cfg).Open()
			if err != nil {
				return err
			}
			var wrong []string
			for _, text := range cfg.Warnings {
				if strings.Contains(text, "notify.") {
					wrong = append(wrong, text)
				}
			}
			if to == nil {
				return errors.New(strings.Join(append([]string{"nothing to test: set ntfy, webhook or command under [notify.away] in " + cfg.Paths.Config}, wrong...), "\n"))
			}
			for _, text := range wrong {
				c.PrintErrln(text)
			}
			if err := to.Send(c.Context(), Event{V: 1, Kind: Test, ID: strings.ToLower(rand.Text()), Title: "mcpdeck", Text: "This is what a notification looks like. Nothing waits for you."}); err != nil {
				return fmt.Errorf("send a notification: %w", err)
			}
			c.Println("sent")
			if cfg.File.Ask.CLIAnswers.Method() != userauth.Push {
				return nil
			}
			if err := to.Secret(c.Context()); err != nil {
				c.Println("codes are not sent: " + err.Error())
			} else {
				c.Println("codes are sent")
			}
			return nil
		}),
	})
	return c
}

// Check says what is the matter with where pushes go; "" if nothing is, or if they go nowhere.
func Check(cfg *config.Config) (text string, set bool) {
	to, err := To(cfg).Open()
	if err != nil {
		return err.Error(), true
	}
	return "", to != nil
}
