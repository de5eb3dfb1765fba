package machines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/hub"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// HubCommand returns the command hub.
func HubCommand(a *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use: "hub", Short: "Reach machines that ssh does not, over a server of your own that all of them dial",
		Long: `Reach machines that ssh does not, over a server of your own that all of them dial.

The hub is a stock nats-server, which stores what waits on a machine and what you
answer until the other side is awake. It reads neither, and cannot answer: each
message is sealed for its readers and signed by its writer. It sees names, sizes
and times, and it can delay or drop.

The deck that makes the hub decides who may use it. Its hosts are shown in every
deck of the hub, beside the machines of mcpdeck remote.`,
	}
	c.AddCommand(hubInitCommand(a), hubRunCommand(a), hubAddCommand(a), hubRevokeCommand(a), hubStatusCommand(a), hubAskCommand(a), hubLeaveCommand(a))
	return c
}

func hubFolder(cfg *config.Config) string { return filepath.Join(cfg.Paths.Machines, "hub") }

func hubBook(cfg *config.Config) hub.Book { return hub.Book{Dir: cfg.Paths.Machines} }

// byUser runs a command that decides who sees or answers what agents ask: the user may give it, and no
// agent. A deck that runs here takes what has changed.
func byUser(a *cli.Globals, do func(c *cobra.Command, cfg *config.Config, args []string) error) func(*cobra.Command, []string) error {
	return a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
		if agent := agentAbove(); agent != "" {
			return fmt.Errorf("%s started this, and an agent must not decide who sees or answers what agents ask", agent)
		}
		if err := do(c, cfg, args); err != nil {
			return err
		}
		return tell(cfg)
	})
}

func hubInitCommand(a *cli.Globals) *cobra.Command {
	var listen, public, name string
	c := &cobra.Command{
		Use: "init", Short: "Make a hub, with this deck as its owner", Args: cli.NoArgs,
		Long: `Make a hub, with this deck as its owner. This writes files and starts nothing.

Run the hub on a machine that is always on and that the others can dial. If that
is not this one, copy the folder that is named in the end: it holds nothing that
reads or answers.`,
		RunE: byUser(a, func(c *cobra.Command, cfg *config.Config, _ []string) error {
			if err := cfg.Paths.Make(); err != nil {
				return err
			}
			if public == "" {
				public = listen
				if at, _, err := net.SplitHostPort(listen); err == nil && (at == "" || net.ParseIP(at).IsUnspecified()) {
					return exit.Usagef("say where machines reach a hub that listens on %s: --public HOST:PORT", listen)
				}
			}
			if name == "" {
				name = strings.ToLower(hostName())
			}
			o, err := hub.Init(hubFolder(cfg), listen, public, name)
			if err != nil {
				return exit.Wrong(err)
			}
			if err := hubBook(cfg).Join(o.Owner()); err != nil {
				return err
			}
			c.Printf("the hub listens on %s and is reached as %s; its owner is the deck %s\n", listen, public, name)
			if at, _, err := net.SplitHostPort(public); err == nil && (at == "localhost" || net.ParseIP(at).IsLoopback()) {
				c.Println("only this machine reaches it there; for others: --listen 0.0.0.0:4222 --public HOST:4222")
			}
			c.Printf("to run it here: mcpdeck hub run; to run it elsewhere, copy %s there and run: mcpdeck hub run --dir FOLDER\n", o.Server())
			c.Println("then add machines: mcpdeck hub add NAME")
			return nil
		}),
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:4222", "where the hub listens, such as 0.0.0.0:4222")
	c.Flags().StringVar(&public, "public", "", "where machines reach it, such as hub.example:4222 (default: as --listen)")
	c.Flags().StringVar(&name, "as", "", "what this deck is called on the hub (default: the name of this machine)")
	return c
}

func hubRunCommand(a *cli.Globals) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "run", Short: "Run the hub with the nats-server of this machine, until it is ended", Args: cli.NoArgs,
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error {
			if dir == "" {
				dir = (&hub.Owned{Dir: hubFolder(cfg)}).Server()
			}
			if _, err := os.Stat(filepath.Join(dir, hubConf)); err != nil {
				return fmt.Errorf("look for the hub: %w; make one with mcpdeck hub init, or name its folder with --dir", err)
			}
			return runServer(c, cfg, dir)
		}),
	}
	c.Flags().StringVar(&dir, "dir", "", "folder of the server (default: the one that mcpdeck hub init has made here)")
	return c
}

const (
	hubConf    = "hub.conf"
	natsServer = "nats-server"
	// oldestServer is the first minor version of 2 that has all that the configuration needs.
	oldestServer = 11
)

// runServer runs the stock server on a folder.
func runServer(c *cobra.Command, cfg *config.Config, dir string) error {
	path, err := process.Find(natsServer)
	if err != nil {
		return errors.New("nats-server is not in PATH; install it, version 2.11 or later: brew install nats-server, or go install github.com/nats-io/nats-server/v2@latest")
	}
	said, err := there(process.Command{Program: path, Args: []string{"--version"}, Kind: process.Tool, Own: cfg.Environ}, nil)
	if err != nil {
		return fmt.Errorf("ask nats-server for its version: %w", err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(said, natsServer+": v%d.%d.", &major, &minor); err != nil {
		return fmt.Errorf("nats-server says %q instead of its version", strings.TrimSpace(said))
	}
	if major < 2 || major == 2 && minor < oldestServer {
		return fmt.Errorf("nats-server %s is too old: a hub needs 2.%d or later", strings.TrimSpace(said), oldestServer)
	}
	if err := file.Private(dir); err != nil {
		return err
	}
	command := process.Command{Program: path, Args: []string{"-c", hubConf}, Dir: dir, Own: cfg.Environ}
	for again, runs := true, "the hub runs"; again; runs = "the hub was restarted with its new list of members" {
		was := versionOf(dir)
		d, err := process.StartDirect(command, nil, nil, console.Err())
		if err != nil {
			return fmt.Errorf("start nats-server: %s", process.StartReason(natsServer, err))
		}
		c.Printf("%s; what it says is in %s\n", runs, filepath.Join(dir, "hub.log"))
		over, changed := make(chan struct{}), make(chan bool, 1)
		recovery.Go("configuration of the hub", func() { changed <- endChanged(d, command, was, over) })
		code := d.Wait()
		close(over)
		if again = <-changed && !d.Told(); code != 0 && !again {
			return fmt.Errorf("nats-server ended with %d; see %s", code, filepath.Join(dir, "hub.log"))
		}
	}
	return nil
}

// endChanged ends the server when its configuration is another than it was, and reports whether it did
// before the server was over: one that reads it anew at work does not give new members what is stored later.
func endChanged(d *process.Direct, command process.Command, was file.Version, over <-chan struct{}) bool {
	for {
		select {
		case <-over:
			return false
		case <-time.After(time.Second):
		}
		if now := versionOf(command.Dir); now != was {
			was = now
			if fits(command) {
				d.End()
				return true
			}
		}
	}
}

// versionOf is the version of the configuration in a folder.
func versionOf(dir string) file.Version {
	info, err := os.Stat(filepath.Join(dir, hubConf))
	if err != nil {
		return file.Version{}
	}
	return file.VersionOf(info)
}

// fits reports whether the server would start with its configuration.
func fits(c process.Command) bool {
	c.Args = slices.Concat([]string{"-t"}, c.Args)
	_, err := there(c, nil)
	return err == nil
}

// taken says what is to be done where the hub does not run here, before its new configuration counts.
func taken(c *cobra.Command, o *hub.Owned) {
	raw, _ := file.Read(filepath.Join(o.Server(), "hub.pid"), 1<<10) // there is none where it never ran
	if pid, _ := strconv.Atoi(strings.TrimSpace(string(raw))); pid > 1 && socket.Program(pid) == natsServer {
		return
	}
	c.Printf("the hub does not run here: before this counts, copy %s to where it runs, if that is elsewhere; mcpdeck hub run takes it there within a second\n", o.Conf())
}

// changesHub has the user of this deck change who may use the hub, and says what came of it.
func changesHub(a *cli.Globals, change func(o *hub.Owned, name string) (said string, err error)) func(*cobra.Command, []string) error {
	return byUser(a, func(c *cobra.Command, cfg *config.Config, args []string) error {
		o, err := hub.Load(hubFolder(cfg))
		if err != nil {
			return err
		}
		said, err := change(o, args[0])
		if err != nil {
			return exit.Wrong(err)
		}
		taken(c, o)
		c.Println(said)
		return nil
	})
}

func hubAddCommand(a *cli.Globals) *cobra.Command {
	var deck bool
	c := &cobra.Command{
		Use: "add NAME", Short: "Add a host to the hub, or a deck, and print the line with which it joins",
		Args: cli.Args(1, 1, "name one host, or a deck: --deck NAME"),
		RunE: changesHub(a, func(o *hub.Owned, name string) (string, error) {
			role, first := hub.Host, ""
			if deck {
				role, first = hub.Deck, "each host asks its user whether "+name+" may answer there, and this deck shows that question, too\n"
			}
			m, err := o.Add(name, role)
			return first + fmt.Sprintf("run mcpdeck join on %s and give it this line, which is a secret and is shown once:\n%s", name, m.Line()), err
		}),
	}
	c.Flags().BoolVar(&deck, "deck", false, "NAME is a deck, which shows what waits on all hosts of the hub and answers where their users agree")
	return c
}

func hubRevokeCommand(a *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Remove a host or deck from the hub, and cut it off",
		Args: cli.Args(1, 1, "name one member; see mcpdeck hub status"),
		RunE: changesHub(a, func(o *hub.Owned, name string) (string, error) {
			m, err := o.Revoke(name)
			return fmt.Sprintf("the %s %s is no member of the hub any more", m.Role, m.Name), err
		}),
	}
}

func hubAskCommand(a *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use: "ask DECK", Short: "Be asked again whether a deck of the hub may answer here, after it was refused",
		Args: cli.Args(1, 1, "name one deck; see mcpdeck remote list"),
		RunE: byUser(a, func(c *cobra.Command, cfg *config.Config, args []string) error {
			again, err := notebook(cfg).Reconsider(called(args[0]))
			if err != nil {
				return err
			}
			if len(again) == 0 {
				return exit.Usagef("no deck called %q was refused here; see mcpdeck remote list", args[0])
			}
			for _, d := range again {
				c.Printf("whether %s may answer is asked where what waits on this machine is shown, if it is still on the hub\n", d.Name)
			}
			return nil
		}),
	}
}

func hubLeaveCommand(a *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use: "leave", Short: "Leave the hub, and take no more answers of the deck that has made it", Args: cli.NoArgs,
		RunE: byUser(a, func(c *cobra.Command, cfg *config.Config, _ []string) error {
			gone, err := hubBook(cfg).Leave()
			if err != nil {
				return exit.Wrong(err)
			}
			for i := range gone {
				m := &gone[i]
				if m.Role == hub.Host {
					if _, err := notebook(cfg).Forget(func(d book.Deck) bool { return d.Key.Equal(m.Owner) }); err != nil {
						return err
					}
				}
				c.Printf("%s is no %s of the hub %s any more\n", m.Name, m.Role, m.Hub)
			}
			return nil
		}),
	}
}

func hubStatusCommand(a *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Say who may use the hub, and how the running deck is linked to it", Args: cli.NoArgs,
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error {
			joined, err := hubBook(cfg).All()
			if err != nil {
				return err
			}
			members := []hub.Member{}
			o, err := hub.Load(hubFolder(cfg))
			if err == nil {
				members = o.List.Members
			} else if !errors.Is(err, hub.ErrNone) {
				return err
			}
			states := []hub.State{}
			if err := ask(cfg, "hubs", &states); err != nil && !errors.Is(err, transport.ErrNoDeck) {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c, map[string]any{"v": 1, "hubs": states, "members": members}, false)
			}
			if len(joined) == 0 {
				c.Println("this machine has joined no hub; make one with mcpdeck hub init, or join one with mcpdeck join")
			}
			for i := range joined {
				c.Println(hubInWords(&joined[i], states))
			}
			for i := range members {
				m := &members[i]
				c.Printf("%s %s  %s  since %s\n", m.Role, m.Name, wire.Fingerprint(m.Sign), m.Added.Format(time.DateOnly))
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func hubInWords(m *hub.Membership, states []hub.State) string {
	out := fmt.Sprintf("%s of the hub %s, as %s with the key %s: ", m.Role, m.Hub, m.Name, m.Fingerprint())
	i := slices.IndexFunc(states, func(s hub.State) bool { return s.Role == m.Role })
	if i < 0 {
		return out + "no deck runs here"
	}
	s := states[i]
	if s.Linked {
		s.Why = "linked"
	}
	if out += s.Why; s.Dropped > 0 {
		out += "; not taken, since not from whom it should be: " + humanize.Count(s.Dropped, "message")
	}
	return out
}

// JoinCommand returns the command join.
func JoinCommand(a *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use: "join", Short: "Join a hub with the line that mcpdeck hub add has printed", Args: cli.NoArgs,
		Long: `Join a hub with the line that mcpdeck hub add has printed. It is read from the
terminal or from standard input, never from arguments, since it is a secret.

As a host, this machine takes answers that are signed by the deck that has made
the hub, and mcpdeck runs here without a screen unless a deck is open. As a deck,
this one shows what waits on the hub's hosts.`,
		RunE: byUser(a, func(c *cobra.Command, cfg *config.Config, _ []string) error {
			line, err := joinLine(c)
			if err != nil {
				return err
			}
			m, err := hub.ReadLine(line)
			if err != nil {
				return exit.Wrong(err)
			}
			if err := cfg.Paths.Make(); err != nil {
				return err
			}
			if m.Role == hub.Host {
				waits := func(note string) error { c.Println(note); return nil }
				if err := learn(context.Background(), cfg, book.Deck{Name: m.Made, Key: m.Owner, Added: time.Now()}, waits); err != nil {
					return err
				}
			}
			if err := hubBook(cfg).Join(m); err != nil {
				return err
			}
			if m.Role == hub.Host {
				conn, err := connect(context.Background(), cfg)
				if err != nil {
					return err
				}
				conn.Close()
			}
			c.Printf("%s is a %s of the hub %s; mcpdeck hub status says how it is\n", m.Name, m.Role, m.Hub)
			return nil
		}),
	}
}

// joinLine reads the line, unseen if it is typed.
func joinLine(c *cobra.Command) (string, error) {
	if term.IsTerminal(os.Stdin.Fd()) {
		return prompt.Secret("The line of mcpdeck hub add: ")
	}
	const most = 4 << 10
	read := bufio.NewScanner(io.LimitReader(c.InOrStdin(), most))
	read.Scan()
	return read.Text(), read.Err()
}
