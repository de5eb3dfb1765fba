package deck

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// ServeCommand returns the command serve.
func ServeCommand(a *cli.Globals) *cobra.Command {
	var linked bool
	c := &cobra.Command{
		Use: "serve", Short: "Run the deck without a screen, logging to standard error", Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error { return serve(a, linked) },
	}
	a.PortFlag(c)
	c.Flags().BoolVar(&linked, "linked", false, "end when no deck of another machine has been linked for a while, and no agent works here")
	_ = c.Flags().MarkHidden("linked") // the flag exists
	return c
}

func serve(a *cli.Globals, linked bool) error {
	// Whoever sees the socket may already send a signal.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cfg, err := a.Load()
	if err != nil {
		return err
	}
	h, r, err := app.Open(cfg, false, linked)
	if err != nil {
		return err
	}
	logs := console.Err()
	if linked {
		logs, h.Yield = nil, stop // nobody reads them
	}
	if err := h.OpenLog(logs); err != nil {
		return err
	}
	h.Host.Start()
	h.TakeCards(h.Config)
	recovery.Go("leftovers", h.EndLeftovers)
	h.OpenJournal()
	if err := r.Serve(); err != nil {
		return err
	}
	h.Follow(ctx, a.Load)
	slog.Info("serving", "socket", r.Endpoints.Socket, "http", r.Endpoints.HTTP)
	if !linked { // else the deck that it is linked to tells the user
		h.PushAway(ctx, false)
	}
	if linked {
		recovery.Go("unused", func() {
			h.WaitUnused(ctx)
			stop()
		})
	}
	<-ctx.Done()
	stop() // a second signal ends at once
	r.Close()
	if !linked {
		app.LeaveHost(cfg)
	}
	return nil
}
