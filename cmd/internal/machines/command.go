// Package machines implements the commands about other machines: adding one to this deck, and what
// runs at its other end.
package machines

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/mirror"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Command returns the command remote.
func Command(a *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use: "remote", Short: "Show agents of other machines in this deck, over ssh",
		Long: `Show agents of other machines in this deck, over ssh.

The other machine holds what its agents ask; this deck shows it and sends your
answers, each signed with a key that the machine learns when you add it. The
first answer wins, wherever it is given. A machine's name stands before its
projects: build1:shop. What it runs, its files and its servers stay there.

ssh is the system's, with your configuration, jump hosts, known hosts and agent.
Once added, a machine is reached without asking you for a password.`,
	}
	c.AddCommand(addCommand(a), listCommand(a), statusCommand(a), logCommand(a), removeCommand(a), revokeCommand(a))
	return c
}

func notebook(cfg *config.Config) book.Book { return book.Book{Dir: cfg.Paths.Machines} }

func listCommand(a *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the machines that this deck shows, and the decks that may answer here", Args: cli.NoArgs,
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error {
			list, err := notebook(cfg).Machines()
			if err != nil {
				return err
			}
			decks, err := notebook(cfg).Decks()
			if err != nil {
				return err
			}
			refused, err := notebook(cfg).Refused()
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c, map[string]any{
					"v": 1, "machines": append([]book.Machine{}, list...), "decks": append([]book.Deck{}, decks...), "refused": append([]book.Deck{}, refused...),
				}, false)
			}
			if len(list)+len(decks)+len(refused) == 0 {
				c.Println("no other machine was added to this deck; add one with: mcpdeck remote add USER@HOST")
			}
			for _, m := range list {
				c.Printf("%s  %s %s  since %s\n", m.Name, mirror.Reach{Engine: m.Engine}.Program(), m.Target, m.Added.Format(time.DateOnly))
			}
			for _, d := range decks {
				c.Printf("%s may answer here  %s  since %s\n", d.Name, wire.Fingerprint(d.Key), d.Added.Format(time.DateOnly))
			}
			for _, d := range refused {
				c.Printf("%s may not answer here  %s  since %s\n", d.Name, wire.Fingerprint(d.Key), d.Added.Format(time.DateOnly))
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func statusCommand(a *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Say which machines the running deck is linked to", Args: cli.NoArgs,
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error {
			var all []mirror.State
			if err := ask(cfg, "machines", &all); err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c, map[string]any{"v": 1, "machines": append([]mirror.State{}, all...)}, false)
			}
			if len(all) == 0 {
				c.Println("this deck shows no other machine; add one with: mcpdeck remote add USER@HOST")
			}
			for _, s := range all {
				c.Println(inWords(&s))
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// inWords says how it is with a machine.
func inWords(s *mirror.State) string {
	if !s.Linked {
		return s.Name + "  away since " + s.Since.Format("15:04") + ": " + s.Why
	}
	out := s.Name + "  linked since " + s.Since.Format("15:04") + ", mcpdeck " + s.Program + ", " + humanize.Count(s.Items, "item")
	for _, d := range s.Unknown {
		out += "; the deck " + d + " may answer there, too: if it is yours, run mcpdeck remote add again"
	}
	if !s.Answers {
		out += "; it takes no answers of this deck: run mcpdeck remote add again"
	}
	return out
}

// ask asks the running deck how it is: with machines, whose list it looks at again for that, or with hubs.
func ask(cfg *config.Config, control string, states any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return transport.Ask(ctx, cfg.Paths.Socket, control, nil, states)
}

// tell has a deck that runs take what has changed.
func tell(cfg *config.Config) error {
	if err := ask(cfg, "machines", nil); err != nil && !errors.Is(err, transport.ErrNoDeck) {
		return fmt.Errorf("tell the running deck: %w; restart it", err)
	}
	return nil
}

func removeCommand(a *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Show a machine no more, and have it take no more answers of this deck",
		Args: cli.Args(1, 1, "name one machine; see mcpdeck remote list"),
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
			m, had, err := notebook(cfg).RemoveMachine(args[0])
			if err != nil {
				return err
			}
			if !had {
				return exit.Usagef("no machine is called %q; see mcpdeck remote list", args[0])
			}
			if err := tell(cfg); err != nil {
				return err
			}
			key, err := notebook(cfg).Key()
			if err != nil {
				return err
			}
			public, _ := key.Public().(ed25519.PublicKey) // it is always one
			by := mirror.Reach{Environ: cfg.Environ, Engine: m.Engine}
			if _, err := there(by.Script(m.Target, "exec mcpdeck remote-end --forget "+base64.RawURLEncoding.EncodeToString(public), true), nil); err != nil {
				return fmt.Errorf("%s is not shown any more, but was not reached: %w; there run: mcpdeck remote revoke %s", m.Name, err, wire.Fingerprint(public))
			}
			c.Printf("%s is not shown any more, and takes no more answers of this deck\n", m.Name)
			return nil
		}),
	}
}

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

// called tells the decks with a name or fingerprint.
func called(text string) func(book.Deck) bool {
	return func(d book.Deck) bool { return d.Name == text || wire.Fingerprint(d.Key) == text }
}

func revokeCommand(a *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use: "revoke DECK", Short: "Take no more answers here of a deck, by its name or fingerprint",
		Args: cli.Args(1, 1, "name one deck; see mcpdeck remote list"),
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
			gone, err := notebook(cfg).Forget(called(args[0]))
			if err != nil {
				return err
			}
			if len(gone) == 0 {
				return exit.Usagef("no deck here is called %q; see mcpdeck remote list", args[0])
			}
			for _, d := range gone {
				d.Added = time.Now()
				if err := notebook(cfg).Refuse(d); err != nil { // else a hub's list would have the user asked about it again
					return err
				}
				c.Printf("no more answers of %s (%s) are taken here\n", d.Name, wire.Fingerprint(d.Key))
			}
			return nil
		}),
	}
}

// encoded is a key in an argument.
func encoded(text string) (ed25519.PublicKey, error) {
	key, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, exit.Usagef("%q is no key of a deck", text)
	}
	return key, nil
}

// hostName is what this machine is called by its user's decks.
func hostName() string {
	name, _ := os.Hostname() // "" is no name, either
	name, _, _ = strings.Cut(name, ".")
	if book.Named(name) != nil {
		return "deck"
	}
	return name
}
