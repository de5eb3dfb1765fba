// Package rules implements the commands that say what a shell command may do before it runs.
package rules

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	reading "github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Command holds the commands about rules.
func Command(a *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use: "rules", Short: "Say what a command may do, and what your rules say of it",
		Long: `Say what a shell command may do before it runs, and what your rules say of it. It is read, never run,
and nothing is answered by it.`,
	}
	c.AddCommand(checkCommand(), testCommand(a), listCommand(a), whyCommand(a), forgetCommand(a), offCommand(a), onCommand(), grantedCommand(a), revokeCommand(a), deniedCommand(a))
	return c
}

// Checked is what mcpdeck rules check --json prints.
type Checked struct {
	Command string `json:"command"`
	Shell   string `json:"shell"`
	Project string `json:"project,omitempty"`
	// Effects are all that the command may do, the worst first, and Class how far a rule may go with it.
	Effects []reading.Effect `json:"effects"`
	Class   string           `json:"rule_may_allow"`
	*reading.Reading
}

func checkCommand() *cobra.Command {
	var at where
	var asJSON bool
	c := &cobra.Command{
		Use: "check COMMAND", Short: "Say what a command may do, part by part",
		Long: `Say what a command may do, part by part: what it reads, writes and deletes in the project and
outside, whether it reaches the network or runs code, and what of it is not known. It is not run.

The effects, the worst first: opaque (not worked out), priv, secret, guard (changes what runs or
allows programs later), delete, write-out, net, code, write-in, read-out, read. A part without one
only prints or compares texts.

--json prints {"command", "shell", "project", "effects", "rule_may_allow", "segments", "rest"}: a
segment is {"text", "facts"}, a fact {"effect", "what"}.`,
		Example: "  mcpdeck rules check 'go test ./... 2>&1 | tail -5 > /tmp/t'",
		Args:    cli.Args(1, 1, "give one command, in quotes"),
		RunE: func(c *cobra.Command, args []string) error {
			in, err := at.place()
			if err != nil {
				return err
			}
			r := reading.Read(args[0], in)
			if asJSON {
				return cli.PrintJSON(c, Checked{Command: args[0], Shell: at.shell, Project: in.Root, Effects: r.Effects(), Class: r.Class(), Reading: r}, true)
			}
			return printReading(c, r)
		},
	}
	at.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// where is where a command would run, by the flags that say so.
type where struct{ project, cwd, shell string }

func (w *where) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&w.project, "project", "", "`FOLDER` of the project (default: the repository of this one)")
	f.StringVar(&w.cwd, "cwd", "", "`FOLDER` in which the command begins (default: this one)")
	f.StringVar(&w.shell, "shell", "bash", "`SHELL` that runs it: bash, sh or zsh")
	cli.CompleteFlag(c, "shell", "bash", "sh", "zsh")
}

func (w *where) place() (in reading.Place, err error) {
	home, err := config.Home()
	if err != nil {
		return in, err
	}
	cwd, err := filepath.Abs(w.cwd)
	if err != nil {
		return in, fmt.Errorf("find the folder: %w", err)
	}
	project, err := filepath.Abs(cmp.Or(w.project, cwd))
	if err != nil {
		return in, fmt.Errorf("find the project: %w", err)
	}
	if in = reading.At(cwd, project, home); w.project != "" {
		in.Root = filepath.ToSlash(project)
	}
	in.Shell = w.shell
	return in, nil
}

func printReading(c *cobra.Command, r *reading.Reading) error {
	var rows [][]string
	var effects []reading.Effect
	add := func(text string, facts []reading.Fact) {
		if len(facts) == 0 {
			rows, effects = append(rows, []string{text, "", "text only"}), append(effects, "")
		}
		for _, f := range facts {
			rows, effects = append(rows, []string{text, string(f.Effect), sanitize.Line(f.String())}), append(effects, f.Effect)
			text = ""
		}
	}
	for _, s := range r.Segments {
		add(sanitize.Line(s.Text), s.Facts)
	}
	if len(r.Rest) > 0 || len(rows) == 0 {
		add("by itself", r.Rest)
	}
	return cli.PrintTable(c, rows, func(row, col int) lipgloss.Style {
		if col != 1 {
			return lipgloss.NewStyle()
		}
		harmless := slices.Contains([]reading.Effect{"", reading.Reads, reading.WriteIn, reading.Code}, effects[row])
		return cli.Ink(harmless, !harmless)
	})
}

// Case is one line of a file of cases.
type Case struct {
	Command  string           `json:"cmd"`
	Shell    string           `json:"shell"`
	Segments []string         `json:"segments"`
	Effects  []reading.Effect `json:"effects"`
	Class    string           `json:"rule_may_allow"`
}

// mostCases is how large a file of cases may be.
const mostCases = 16 << 20

func testCommand(a *cli.Globals) *cobra.Command {
	var project, home string
	var history bool
	var days int
	c := &cobra.Command{
		Use: "test [FILE]", Short: "Hold commands to what they are written to do, or your rules to what you answered",
		Long: `Hold commands to what they are written to do. The file has a JSON object per line: {"cmd", "effects"},
and if they are to be compared "shell", "segments" and "rule_may_allow". Each difference is printed;
with one, it exits with 1.

--history holds your rules to the prompts that are kept for rules to be learned from: it says how many
each would answer as it is now, and which it would allow that you denied; with one, it exits with 1.`,
		Example: "  mcpdeck rules test commands.jsonl --project /home/u/shop --home /home/u\n  mcpdeck rules test --history --days 30",
		Args:    cli.Args(0, 1, "name one file of cases"),
		RunE: withBook(a, func(c *cobra.Command, args []string, s *book.Store, p config.Paths) error {
			if (len(args) == 0) != history {
				return exit.Usagef("name one file of cases, or give --history alone")
			}
			if history {
				return holdToHistory(c, s, p, days)
			}
			b, err := file.Read(args[0], mostCases)
			if err != nil {
				return fmt.Errorf("read the cases: %w", err)
			}
			n, wrong, err := runCases(c, args[0], b, reading.Place{Cwd: project, Root: project, Home: home})
			if err != nil {
				return err
			}
			c.Printf("%s, %s\n", humanize.Count(n, "command"), humanize.Count(wrong, "difference"))
			if wrong > 0 {
				return exit.Failed
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&history, "history", false, "hold your rules to what agents asked and you answered")
	c.Flags().IntVar(&days, "days", 7, "with --history: of how many `DAYS`, at most 30")
	c.Flags().StringVar(&project, "project", "/home/u/shop", "`FOLDER` of the project in which they run")
	c.Flags().StringVar(&home, "home", "/home/u", "home `FOLDER` of their user")
	return c
}

// runCases compares each case with its reading.
func runCases(c *cobra.Command, name string, b []byte, in reading.Place) (n, wrong int, err error) {
	s := bufio.NewScanner(bytes.NewReader(b))
	s.Buffer(nil, mostCases)
	for at := 1; s.Scan(); at++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var want Case
		if err := json.Unmarshal(s.Bytes(), &want); err != nil {
			return n, wrong, exit.Usagef("%s:%d is no case: %v", name, at, err)
		}
		n++
		in.Shell = want.Shell
		for _, d := range want.differences(reading.Read(want.Command, in)) {
			wrong++
			c.Printf("%s:%d %s\n   %s\n", name, at, sanitize.Line(want.Command), sanitize.Line(d))
		}
	}
	return n, wrong, s.Err()
}

// differences says how a reading differs from the case.
func (want *Case) differences(r *reading.Reading) (all []string) {
	got, effects := r.Effects(), slices.Clone(want.Effects)
	slices.Sort(got)
	slices.Sort(effects)
	if !slices.Equal(got, effects) {
		all = append(all, fmt.Sprintf("effects %v, not %v: %v", got, effects, r.Facts()))
	}
	if want.Class != "" && r.Class() != want.Class {
		all = append(all, fmt.Sprintf("a rule may allow it: %s, not %s", r.Class(), want.Class))
	}
	texts := []string{}
	for _, s := range r.Segments {
		texts = append(texts, s.Text)
	}
	if want.Segments != nil && !slices.Equal(texts, want.Segments) {
		all = append(all, fmt.Sprintf("segments %q, not %q", texts, want.Segments))
	}
	return all
}
