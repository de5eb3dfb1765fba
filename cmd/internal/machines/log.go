package machines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/mirror"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

func logCommand(a *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use: "log NAME [QUERY or FLAG of mcpdeck log]…", Short: "Print the log of calls on a machine",
		Long: `Print the log of calls on a machine, as mcpdeck log prints it there. Nothing
of it is kept here. With -f it goes on with the calls as they come.`,
		Example: "  mcpdeck remote log build1 status:error since:2h\n  mcpdeck remote log build1 -f",
		Args:    cli.Args(1, 100, "name one machine; see mcpdeck remote list"),
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
			list, err := notebook(cfg).Machines()
			if err != nil {
				return err
			}
			i := slices.IndexFunc(list, func(m book.Machine) bool { return m.Name == args[0] })
			if i < 0 {
				return exit.Usagef("no machine was added as %q, see mcpdeck remote list; for a host on a hub, see the Calls page", args[0])
			}
			line := []string{"exec mcpdeck log"}
			for _, arg := range args[1:] {
				line = append(line, mirror.Quote(arg))
			}
			by := mirror.Reach{Environ: cfg.Environ, Engine: list[i].Engine}
			if err := run(by.Script(list[i].Target, strings.Join(line, " "), true), nil, &lines{each: func(line string) { c.Println(sanitize.Output(line)) }}, 0); err != nil {
				return fmt.Errorf("read the log of %s: %w", args[0], err)
			}
			return nil
		}),
	}
	c.Flags().SetInterspersed(false) // what follows the name is for mcpdeck log
	return c
}
