package configure

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/tui"
)

// boundJSON is an action in mcpdeck config keys --json.
type boundJSON struct {
	Action string   `json:"action"`
	Keys   []string `json:"keys"`
	Where  string   `json:"where"`
	Does   string   `json:"does"`
}

func configKeys(a *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "keys", Short: "List the actions of the screen, with their keys", Args: cli.NoArgs,
		Long: "List the actions of the screen, with the keys that they have: their own, or those of [keys] in the configuration,\n" +
			"which lines such as \"calls.copy\" = [\"ctrl+y\"] set. An entry that mcpdeck config check reports has no effect.",
		Example: "  mcpdeck config keys | grep calls",
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error {
			h, err := app.New(cfg, false, nil)
			if err != nil {
				return err
			}
			defer h.Stop()
			all := tui.Bounds(h.ScreenAlone())
			if asJSON {
				out := make([]boundJSON, len(all))
				for i, b := range all {
					out[i] = boundJSON{b.ID, append([]string{}, b.Keys...), b.Place, b.Title}
				}
				return cli.PrintJSON(c, out, true)
			}
			rows := [][]string{}
			for _, b := range all {
				rows = append(rows, []string{b.ID, cmp.Or(strings.Join(b.Keys, ", "), "–"), b.Place, b.Title})
			}
			return cli.PrintHeaded(c, []string{"ACTION", "KEYS", "WHERE", "WHAT IT DOES"}, rows, nil)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
