package deck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/demo"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/tui/plain"
)

// DemoCommand returns the command demo.
func DemoCommand(a *cli.Globals) *cobra.Command {
	var f deckFlags
	pace := 6 * time.Second
	c := &cobra.Command{
		Use: "demo", Short: "See the deck at work, with stand-in agents", Args: cli.NoArgs,
		Long: `See the deck at work, with stand-in agents.

They ask a question, draw, make a mistake, break a contract and want to run a
command: on a real deck, over the real protocol, in a temporary folder that is
removed at the end. Your configuration and a deck that is running are not
touched. You can answer, too; the demo plays on its own if you just watch.

With --plain, or without a terminal, it prints what happens and ends.`,
		RunE: func(*cobra.Command, []string) error { return playDemo(a, f, pace) },
	}
	c.Flags().BoolVar(&f.plain, "plain", false, "no full screen: print one line per event, and end by itself")
	c.Flags().StringVar(&a.Flags.Background, "background", "", "dark or light (default: ask the terminal)")
	cli.CompleteFlag(c, "background", "dark", "light")
	c.Flags().DurationVar(&pace, "pace", pace, "how long each scene waits for you")
	c.AddCommand(
		&cobra.Command{
			Use: "agent NAME", Hidden: true, Args: cobra.ExactArgs(1), Short: "Stand in for an agent's program",
			RunE: a.Run(func(_ *cobra.Command, cfg *config.Config, args []string) error {
				return demo.StandIn(context.Background(), args[0], demo.Folder{Home: cfg.Home}.Program("mcpdeck"), cfg.Environ, os.Stdin, console.Bytes(console.Out()), console.Err())
			}),
		},
		&cobra.Command{
			Use: "stamp", Hidden: true, DisableFlagParsing: true, Short: "Stand in for the stamp command",
			RunE: func(_ *cobra.Command, args []string) error {
				dir, err := os.Getwd()
				if err != nil {
					return err
				}
				return demo.Stamp(context.Background(), args, dir, console.Out())
			},
		},
		&cobra.Command{
			Use: "server", Hidden: true, Args: cli.NoArgs, Short: "Stand in for a server of somebody else's",
			RunE: func(*cobra.Command, []string) error { demo.Serve(os.Stdin, console.Bytes(console.Out())); return nil },
		},
	)
	return c
}

// playDemo opens a deck in a home of its own.
func playDemo(a *cli.Globals, f deckFlags, pace time.Duration) (err error) {
	if err := app.CheckScreen(a); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // where symbolic links, by which the stand-ins have names, need a privilege
		return errors.New("the demo runs on Linux and macOS only")
	}
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	folder, err := demo.NewFolder(own, config.Temporary())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Remove()) }()
	if err := config.Isolate(folder.Home, folder.Project(), agents.Env()); err != nil {
		return err
	}
	says := make(chan plain.Word)
	f.says = says
	f.demo = func(h *app.App) *demo.Show {
		o := demo.Options{Folder: folder, Environ: h.Config.Environ, Deck: h.Host, Queue: h.Queue, Pace: pace, TurnOn: func(server string) error {
			s, err := h.Servers.Turnable(server)
			if err != nil {
				return err
			}
			_, err = s.Control(context.Background(), upstream.Request{Verb: "on"}, s.Terms.Digest) // which is the demo's own
			return err
		}}
		if f.plain || !app.Terminal() {
			o.Line = func(ctx context.Context, text string) {
				printed := make(chan struct{})
				select {
				case says <- plain.Word{Text: text, Printed: printed}:
					<-printed
				case <-ctx.Done():
				}
			}
			if !term.IsTerminal(os.Stdin.Fd()) {
				o.Pace = 0
			}
		}
		return demo.New(o)
	}
	a.Flags = demoFlags(a.Flags)
	return openDeck(a, f)
}

// demoFlags are those of a demo's deck: what is said of its screen. Others lead to the
// user's own deck.
func demoFlags(f config.Flags) config.Flags {
	return config.Flags{Port: -1, Pages: f.Pages, Sections: f.Sections, Page: app.PageIDs()[0], Background: f.Background}
}

// errPlayed is why a deck ends whose demo is over.
var errPlayed = errors.New("the demo is over")

// playing is a demo on a deck. The zero value is none.
type playing struct {
	show *demo.Show
	stop context.CancelFunc
	over chan error
}

// play plays a demo, and ends the deck with it.
func play(ctx context.Context, show *demo.Show, ended context.CancelCauseFunc) playing {
	ctx, stop := context.WithCancel(ctx)
	p := playing{show: show, stop: stop, over: make(chan error, 1)}
	recovery.Go("demo", func() {
		err := show.Run(ctx)
		p.over <- err
		if err == nil || show.Plain() {
			ended(errPlayed)
		}
	})
	return p
}

// end ends the stand-ins. err is how the deck has ended.
func (p playing) end(err error) error {
	if p.show == nil {
		return err
	}
	p.stop()
	if errors.Is(err, errPlayed) {
		err = nil
	}
	return errors.Join(err, <-p.over)
}
