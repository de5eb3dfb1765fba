package plugin

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
)

// aloneCommand serves a server without a deck.
func (p *Plugin) aloneCommand(of *Program) *cobra.Command {
	return &cobra.Command{
		Use: p.Name() + "-server", Short: fmt.Sprintf("Serve the %s tools alone, without a deck, on standard input and output", p.Name()),
		Long: fmt.Sprintf("Serve the tools of %[1]s over MCP on standard input and output. Without a deck, nobody is asked and no\n"+
			"call is logged. With one, use mcpdeck mcp %[1]s.", p.Name()),
		Args: cobra.NoArgs, GroupID: GroupStarted,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := of.Load()
			if err == nil {
				err = cfg.Paths.Make()
			}
			if err != nil {
				return err
			}
			of.Log(cfg)
			made, err := p.New(&Env{Config: cfg, Version: of.Version})
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			own, ok := made.Server.(*inproc.Server)
			if !ok {
				return fmt.Errorf("serve %s alone: it is another program's server", p.Name())
			}
			return own.ServeAlone(ctx, c.InOrStdin(), console.Bytes(c.OutOrStdout()))
		},
	}
}

// AllCommands are those of a server, in the sections of the help that they belong to.
func (p *Plugin) AllCommands(of *Program) (out []*cobra.Command) {
	if p.Commands != nil {
		out = p.Commands(of)
	}
	if p.Alone {
		out = append(out, p.aloneCommand(of))
	}
	for _, c := range out {
		c.GroupID = cmp.Or(c.GroupID, p.Group)
	}
	return out
}
