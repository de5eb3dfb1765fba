package machines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// learned is what remote-end says once it has learned of a deck.
type learned struct {
	Host  string      `json:"host,omitempty"`
	Decks []wire.Deck `json:"decks,omitempty"` // that may answer there, with this one
	Waits string      `json:"waits,omitempty"` // what it waits for before that
}

// EndCommand returns the command remote-end.
func EndCommand(a *cli.Globals) *cobra.Command {
	var learn, forget, deck string
	c := &cobra.Command{
		Use: "remote-end", Short: "Serve this machine's deck on standard input and output to the deck of another machine", Args: cli.NoArgs,
		Long: `Serve this machine's deck on standard input and output to the deck of another
machine. A deck that was told mcpdeck remote add starts this over ssh. If no deck
runs here, it starts one without a screen, which ends when it has not been needed
for ten minutes.`,
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error {
			switch {
			case learn != "":
				return learnOf(c, cfg, learn, deck)
			case forget != "":
				key, err := encoded(forget)
				if err != nil {
					return err
				}
				_, err = notebook(cfg).Forget(func(d book.Deck) bool { return d.Key.Equal(key) })
				return err
			}
			return bridge(cfg)
		}),
	}
	c.Flags().StringVar(&learn, "learn", "", "take answers that are signed with this key from now on")
	c.Flags().StringVar(&deck, "deck", "", "name of the deck that has the key")
	c.Flags().StringVar(&forget, "forget", "", "take no more answers that are signed with this key")
	return c
}

// learnOf has this machine take a deck's answers.
func learnOf(c *cobra.Command, cfg *config.Config, key, deck string) error {
	public, err := encoded(key)
	if err != nil {
		return err
	}
	if err := book.Named(deck); err != nil {
		return exit.Wrong(err)
	}
	if agent := agentAbove(); agent != "" {
		return fmt.Errorf("%s started this, and an agent must not decide who answers it: run mcpdeck remote add on the machine of the deck yourself", agent)
	}
	if err := cfg.Paths.Make(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	recovery.Go("the other machine", func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the command there
		stop()
	})
	b, out := notebook(cfg), json.NewEncoder(c.OutOrStdout())
	waits := func(note string) error { return out.Encode(learned{Waits: note}) }
	if err := learn(ctx, cfg, book.Deck{Name: deck, Key: public, Added: time.Now()}, waits); err != nil {
		return err
	}
	var l learned
	if l.Host, err = b.Host(); err != nil {
		return err
	}
	all, err := b.Decks()
	for _, o := range all {
		l.Decks = append(l.Decks, wire.Deck{Name: o.Name, Fingerprint: wire.Fingerprint(o.Key)})
	}
	return errors.Join(err, out.Encode(l))
}

// learn has this machine take a deck's answers, which a deck that runs here asks its user about. waits is
// called with what it waits for then.
func learn(ctx context.Context, cfg *config.Config, d book.Deck, waits func(string) error) error {
	err := transport.ControlClient{Wait: waits}.Ask(ctx, cfg.Paths.Socket, "learn", d, nil)
	if errors.Is(err, transport.ErrNoDeck) {
		_, err = notebook(cfg).Learn(d)
	}
	return err
}

// agentAbove is the agent's program that has started this process, "" if none has.
func agentAbove() string {
	for _, pid := range socket.Ancestors(os.Getpid()) {
		if name := socket.Program(pid); name != "" {
			if c, ok := clients.Find(name); ok {
				return c.ID
			}
		}
	}
	return ""
}

// bridge connects the standard streams to the deck of this machine until one of the two ends.
func bridge(cfg *config.Config) error {
	if err := cfg.Paths.Make(); err != nil {
		return err
	}
	c, err := connect(context.Background(), cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	w, r, err := transport.Greet(c, transport.Hello{Control: wire.Control})
	if err != nil {
		return err
	}
	if w.Error != "" {
		return errors.New("the deck of this machine says: " + w.Error)
	}
	ended := make(chan error, 2)
	recovery.Go("from the other machine", func() {
		_, err := io.Copy(c, os.Stdin)
		ended <- err
	})
	recovery.Go("to the other machine", func() {
		_, err := io.Copy(console.Bytes(console.Out()), r)
		ended <- err
	})
	return <-ended
}

// connect connects to the deck of this machine. If none runs, one is started without a screen.
func connect(ctx context.Context, cfg *config.Config) (net.Conn, error) {
	c, err := socket.Dial(ctx, cfg.Paths.Socket)
	if err == nil || errors.Is(err, socket.ErrUnsafe) {
		return c, err
	}
	return app.Begin(ctx, cfg)
}
