package help

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// VersionCommand returns the command version.
func VersionCommand(a *cli.Globals) *cobra.Command {
	verbose := false
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			c.Println("mcpdeck " + cli.Version())
			if !verbose {
				return nil
			}
			cfg, err := a.Load()
			if err != nil {
				return err
			}
			p, err := sessions.PriceList(cfg)
			if p != nil {
				c.Printf("%s, %s\n", runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
				c.Printf("prices of %s: %s\n", humanize.Count(p.Len(), "model"), p.Source)
			}
			return err
		},
	}
	c.Flags().BoolVar(&verbose, "verbose", false, "also what it was built with, and the table of prices")
	return c
}
