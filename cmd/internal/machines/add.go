package machines

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/mirror"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// adding is one run of remote add.
type adding struct {
	c      *cobra.Command
	cfg    *config.Config
	by     mirror.Reach
	target string
	name   string // of the machine
	yes    bool
}

func addCommand(a *cli.Globals) *cobra.Command {
	var d adding
	var container, folder string
	c := &cobra.Command{
		Use: "add USER@HOST", Short: "Show the agents of another machine, or of a container, in this deck",
		Long: `Show the agents of another machine in this deck.

Over ssh this looks whether mcpdeck is there, and copies this program to
~/.local/bin if it is not and the machine is of the same kind. Then the machine
learns this deck's key: it takes answers that are signed with that. Nothing is
changed before you agree.

While this deck is linked, and for as long as agents work there, mcpdeck runs on
the machine without a screen. A deck that is open there is used as it is.

With --container it is a container on this machine, reached by docker exec or
podman exec instead of ssh; with --devcontainer the development container of a
folder, reached by devcontainer exec.`,
		Args: cli.Args(0, 1, errOne),
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
			d.c, d.cfg, d.by.Environ = c, cfg, cfg.Environ
			all := slices.DeleteFunc(append(args, container, folder), func(s string) bool { return s == "" })
			if len(all) != 1 {
				return exit.Usagef("%s", errOne)
			}
			var engines []string
			switch d.target = all[0]; {
			case container != "":
				engines = []string{"docker", "podman"}
			case folder != "":
				engines = []string{mirror.Devcontainer}
				if !filepath.IsAbs(folder) {
					d.target = filepath.Join(cfg.Dir, folder)
				}
			default:
				return d.run()
			}
			for _, d.by.Engine = range engines {
				if _, err := process.Find(d.by.Engine); err == nil {
					return d.run()
				}
			}
			return errors.New(strings.Join(engines, " or ") + " is not in PATH")
		}),
	}
	c.Flags().StringVar(&d.name, "as", "", "what the machine is called in this deck (default: its name in USER@HOST)")
	c.Flags().StringVar(&container, "container", "", "name of a container, in place of USER@HOST")
	c.Flags().StringVar(&folder, "devcontainer", "", "folder of a development container, in place of USER@HOST")
	c.Flags().BoolVar(&d.yes, "yes", false, "agree to everything without being asked")
	return c
}

const errOne = "name one machine: a host of your ssh configuration, or user@host; or a container: --container NAME, --devcontainer FOLDER"

func (d *adding) run() error {
	if err := d.by.Check(d.target); err != nil {
		return exit.Wrong(err)
	}
	if d.by.Engine == mirror.Devcontainer {
		d.name = cmp.Or(d.name, filepath.Base(d.target))
	}
	d.name = cmp.Or(d.name, nameIn(d.target))
	if err := book.Named(d.name); err != nil {
		return exit.Usagef("%s; give it one with --as NAME", err)
	}
	b := notebook(d.cfg)
	list, err := b.Machines()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(list, func(m book.Machine) bool { return m.Name == d.name }); i >= 0 && (list[i].Target != d.target || list[i].Engine != d.by.Engine) {
		return exit.Usagef("%s is %s already; call this one something else with --as NAME", d.name, list[i].Target)
	}
	if err := d.cfg.Paths.Make(); err != nil {
		return err
	}
	key, err := b.Key()
	if err != nil {
		return err
	}
	public, _ := key.Public().(ed25519.PublicKey) // it is always one
	copies, err := d.look()
	if err != nil {
		return err
	}
	if copies {
		d.c.Printf("mcpdeck is not on %s: this program is copied to ~/.local/bin/mcpdeck there\n", d.name)
	}
	d.c.Printf("%s takes answers that are signed by this deck, %s\n", d.name, wire.Fingerprint(public))
	if err := prompt.Agreed(d.c, d.yes); err != nil {
		return err
	}
	if copies {
		if err := d.install(); err != nil {
			return err
		}
	}
	l, err := d.introduce(public)
	if err != nil {
		return fmt.Errorf("tell %s this deck's key: %w", d.name, err)
	}
	m := book.Machine{Name: d.name, Engine: d.by.Engine, Target: d.target, Host: l.Host, Added: time.Now()}
	for _, o := range l.Decks {
		o.Bound()
		if o.Fingerprint != wire.Fingerprint(public) {
			m.Decks = append(m.Decks, o.Fingerprint)
			d.c.Printf("the deck %s may answer there, too\n", o.String())
		}
	}
	if err := b.SetMachine(m); err != nil {
		return err
	}
	if err := tell(d.cfg); err != nil {
		return err
	}
	d.c.Printf("%s is shown in this deck; mcpdeck remote status says how it is\n", d.name)
	if copies {
		d.c.Printf("to connect the agents there, run on %s: ~/.local/bin/mcpdeck setup\n", d.name)
	}
	return nil
}

// learnWithin is how long a machine may take to learn a deck's key: with ssh's questions to the user
// here, and with those of the deck there.
const learnWithin = 10 * time.Minute

// introduce tells the machine this deck's key, and says what it waits for.
func (d *adding) introduce(key ed25519.PublicKey) (learned, error) {
	in, hold, err := os.Pipe() // the other end lives as long as this
	if err != nil {
		return learned{}, err
	}
	defer in.Close()
	defer hold.Close()
	var l learned
	var text string // that is none of it
	read := lines{each: func(line string) {
		if l = (learned{}); json.Unmarshal([]byte(line), &l) != nil {
			text = line
		}
		if l.Waits != "" {
			d.c.Println(shown(l.Waits))
		}
	}}
	if err := run(d.by.Script(d.target, "exec mcpdeck remote-end --learn "+base64.RawURLEncoding.EncodeToString(key)+" --deck "+hostName(), true), in, &read, learnWithin); err != nil {
		if errors.Is(err, process.ErrLate) {
			err = fmt.Errorf("it has not agreed within %s; agree there, then run this again", humanize.Took(learnWithin))
		}
		if strings.Contains(err.Error(), "unknown flag --learn") {
			err = errors.New("mcpdeck there is older and cannot be linked: update it, then run this again")
		}
		return learned{}, err
	}
	if l.Host == "" {
		return learned{}, fmt.Errorf("it says %q", shown(text))
	}
	if len(l.Host) > mostShown || len(l.Decks) > wire.MostDecks {
		return learned{}, fmt.Errorf("it names %s, or itself with more than %d letters", humanize.Count(len(l.Decks), "deck"), mostShown)
	}
	return l, nil
}

// mostShown is how much is shown of what a machine says.
const mostShown = 500

func shown(text string) string { return sanitize.Cut(sanitize.Line(text), mostShown) }

// lines passes on what is written to it by lines. A machine that writes no end of one gets it passed on in pieces.
type lines struct {
	each func(string)
	rest []byte
}

// mostLine is the longest line, which a call in a log may have.
const mostLine = 1 << 20

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found && len(l.rest) <= mostLine {
			return len(b), nil
		}
		l.rest = rest
		l.each(string(line))
	}
}

// nameIn is the name of a machine in a target of ssh, without its user and domain. An address is one as a whole.
func nameIn(target string) string {
	host := target[strings.Index(target, "@")+1:]
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	name, _, _ := strings.Cut(host, ".")
	return name
}

// look finds out whether mcpdeck is on the machine, and whether it can be copied there.
func (d *adding) look() (copies bool, err error) {
	out, err := there(d.by.Script(d.target, "uname -sm; command -v mcpdeck || true", true), nil)
	if err != nil {
		err = fmt.Errorf("reach %s: %w", d.name, err)
		if d.by.Engine == "" && strings.Contains(err.Error(), "Host key verification failed") {
			err = fmt.Errorf("%w; its key is not known to ssh, or has changed: connect once with ssh %s, and accept the key if it is the right one", err, d.target)
		}
		return false, err
	}
	kind, program, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if program != "" {
		return false, nil
	}
	if !sameKind(kind, runtime.GOOS, runtime.GOARCH) {
		return false, fmt.Errorf("mcpdeck is not on %s, and this program does not run there (%s): install mcpdeck there and run this again", d.name, shown(kind))
	}
	return true, nil
}

// sameKind reports whether a program for a system and a processor runs where uname says this.
func sameKind(uname, system, processor string) bool {
	processors := map[string][]string{"amd64": {"x86_64", "amd64"}, "arm64": {"aarch64", "arm64"}}
	is, on, _ := strings.Cut(uname, " ")
	return strings.EqualFold(is, system) && slices.Contains(processors[processor], on)
}

// install copies this program to the machine.
func (d *adding) install() error {
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	f, err := file.OpenPlain(own, true)
	if err != nil {
		return err
	}
	defer f.Close()
	const script = `umask 077; mkdir -p "$HOME/.local/bin" && cd "$HOME/.local/bin" && cat >.mcpdeck.new && chmod 755 .mcpdeck.new && mv .mcpdeck.new mcpdeck`
	if _, err := there(d.by.Script(d.target, script, true), f); err != nil {
		return fmt.Errorf("copy mcpdeck to %s: %w", d.name, err)
	}
	return nil
}

// there runs a program that may ask the user on the terminal, and returns the first lines that it prints.
func there(c process.Command, in io.Reader) (string, error) {
	var out strings.Builder
	err := run(c, in, &lines{each: func(line string) {
		if out.Len() < mostShown {
			out.WriteString(sanitize.Cut(line, mostShown) + "\n")
		}
	}}, 0)
	return out.String(), err
}

// run is there for who reads what it prints meanwhile. The program is ended when it takes longer than
// it may; 0: it may take any time.
func run(c process.Command, in io.Reader, out io.Writer, within time.Duration) error {
	var problems mirror.Tail
	f := process.Foreground{Command: c, Within: within}
	f.SetStdin(in)
	f.SetStdout(out)
	f.SetStderr(&problems)
	err := f.Run()
	if err == nil || errors.Is(err, process.ErrLate) {
		return err
	}
	if _, exited := process.ExitCode(err); !exited {
		return fmt.Errorf("start %s: %s", c.Program, process.StartReason(c.Program, err))
	}
	if said := problems.Last(); said != "" {
		return errors.New(said)
	}
	return err
}
