// Package deck implements the commands that open a deck, with a screen, without one or as a demo,
// and the one that agents' clients start to reach it.
package deck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/demo"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/plain"
)

// deckFlags are the screen's.
type deckFlags struct {
	plain, watch, version bool

	demo func(*app.App) *demo.Show // nil: it is no demo
	says <-chan plain.Word         // what it says without a screen
}

// Command returns the command without a name, which opens the deck.
func Command(a *cli.Globals) *cobra.Command {
	var f deckFlags
	c := &cobra.Command{
		Use:   "mcpdeck",
		Short: "Open the deck: watch and answer coding agents",
		Args:  noSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.version {
				c.Println("mcpdeck " + cli.Version())
				return nil
			}
			return openDeck(a, f)
		},
	}
	c.Flags().BoolVar(&f.plain, "plain", false, "no full screen: print one line per event, answer questions by number")
	c.Flags().BoolVar(&f.watch, "watch", false, "watch only; keys change nothing")
	c.Flags().StringVar(&a.Flags.Page, "page", "", "page to show first")
	c.Flags().StringVar(&a.Flags.Background, "background", "", "dark or light (default: ask the terminal)")
	c.Flags().BoolVarP(&f.version, "version", "v", false, "print the version")
	a.PortFlag(c)
	cli.CompleteFlag(c, "page", app.PageIDs()...)
	cli.CompleteFlag(c, "background", "dark", "light")
	return c
}

// signalled is why a deck ended that was told to by a signal.
type signalled struct{ syscall.Signal }

func (s signalled) Error() string { return "ended by " + s.String() }

func openDeck(a *cli.Globals, f deckFlags) error {
	if err := app.CheckScreen(a); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	watchSignals(cancel, keepTerminal())
	full := !f.plain && app.Terminal()
	cfg, err := a.Load()
	if err != nil {
		return err
	}
	h, r, err := app.Open(cfg, full, false)
	if err != nil {
		return err
	}
	h.Agents.Alone = f.demo != nil
	if err := h.OpenLog(nil); err != nil {
		h.Host.Warn("log", err.Error())
	}
	h.Host.Start()
	h.TakeCards(h.Config)
	recovery.Go("leftovers", h.EndLeftovers)
	if err := r.Serve(); err != nil {
		h.Host.Warn("http", err.Error())
	}
	// The journal's disk work waits until the first frame is out.
	time.AfterFunc(150*time.Millisecond, func() {
		defer recovery.Recover("journal")
		if h.OpenJournal() {
			h.Earlier.Load(ctx)
		}
	})
	var played playing
	if f.demo == nil {
		h.PushAway(ctx, true)
	} else {
		played = play(ctx, f.demo(h), cancel)
	}
	if !full {
		h.Follow(ctx, a.Load)
		err = h.Plain(ctx, f.watch, f.says)
	} else {
		o := h.Screen(f.watch)
		if played.show != nil {
			o.Guide, o.Demo = played.show, nil
		}
		o.Settings = app.FollowSettings(ctx, a.Load, h.Config.Paths.Config, h.Reload())
		err = tui.Run(ctx, o)
	}
	err = played.end(err)
	r.Close()
	app.LeaveHost(cfg)
	if s := (signalled{}); errors.As(context.Cause(ctx), &s) {
		return exit.Code(128 + int(s.Signal))
	}
	return err
}

// watchSignals ends the deck in good order on the first signal, and at once on
// the second, once restore has given the terminal back.
func watchSignals(cancel context.CancelCauseFunc, restore func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	recovery.Go("signals", func() {
		s := <-signals
		number, _ := s.(syscall.Signal)
		cancel(signalled{number})
		<-signals
		restore()
		os.Exit(128 + int(number))
	})
}

// keepTerminal returns what brings the terminal back to how it is now, for an
// end that leaves the screen no time to do it.
func keepTerminal() func() {
	if !app.Terminal() {
		return func() {}
	}
	state, err := term.GetState(os.Stdin.Fd())
	return func() {
		fmt.Fprint(console.Bytes(console.Out()), "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[>4m\x1b[<u")
		if err == nil {
			_ = term.Restore(os.Stdin.Fd(), state) // nothing else can be done
		}
	}
}

// noSuchCommand refuses what the deck itself would be given: it takes nothing, so
// that a command was meant.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	if meant := fuzzy.Meant(args[0], names); meant != "" {
		return exit.Usagef("unknown command %q; did you mean %q?", args[0], meant)
	}
	return exit.Usagef("unknown command %q; see mcpdeck --help", args[0])
}
