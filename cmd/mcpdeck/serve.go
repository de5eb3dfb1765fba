package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

func serveCommand(a *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use: "serve", Short: "Run the deck without a screen, logging to standard error", Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error { return serve(a) },
	}
	a.PortFlag(c)
	return c
}

func serve(a *cli.Globals) error {
	// Whoever sees the socket may already send a signal.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cfg, err := a.Load()
	if err != nil {
		return err
	}
	h, r, err := open(cfg, false)
	if err != nil {
		return err
	}
	if err := h.openLog(console.Err()); err != nil {
		return err
	}
	h.host.Start()
	h.takeCards(h.cfg)
	recovery.Go("leftovers", h.endLeftovers)
	h.openJournal()
	if err := r.serve(); err != nil {
		return err
	}
	h.follow(ctx, a.Load)
	slog.Info("serving", "socket", r.endpoints.Socket, "http", r.endpoints.HTTP)
	<-ctx.Done()
	stop() // a second signal ends at once
	r.close()
	return nil
}
