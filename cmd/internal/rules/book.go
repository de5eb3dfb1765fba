package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	reading "github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// withBook runs a command on the user's book, told where the deck keeps what.
func withBook(a *cli.Globals, do func(c *cobra.Command, args []string, s *book.Store, p config.Paths) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		p, err := config.Where(a.Flags)
		if err != nil {
			return err
		}
		return do(c, args, sessions.Book(p), p)
	}
}

// Listed is what mcpdeck rules list --json prints.
type Listed struct {
	File    string `json:"file"`
	Enabled bool   `json:"enabled"`
	// Fault is why the file is not used, Edited is set if it is not as it was accepted on the screen: then
	// nothing is allowed.
	Fault  string `json:"fault,omitempty"`
	Edited bool   `json:"edited,omitempty"`
	Rules  []Row  `json:"rules"`
}

// Row is one rule of the list.
type Row struct {
	ID      string       `json:"id"`
	Line    int          `json:"line"`
	Verdict book.Verdict `json:"verdict"`
	Words   string       `json:"words"`
	State   string       `json:"state"`
	Until   *time.Time   `json:"until,omitempty"`
	// Used is how often the rule has answered of the prompts in the history, and when last; nil: not once.
	Used *ask.RuleUse `json:"used,omitempty"`
}

func listCommand(a *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List your rules", Args: cli.NoArgs,
		Long: `List your rules, and whether they answer. --json prints {"file", "enabled", "fault", "edited", "rules"};
a rule is {"id", "line", "verdict", "words", "state", "until", "used"}, and "used" is {"times", "last"}, of the
last 200 prompts and questions.`,
		RunE: withBook(a, func(c *cobra.Command, _ []string, s *book.Store, p config.Paths) error {
			now, used := s.Now(), ask.RuleUses(ask.ReadHistory(p.History))
			out := Listed{File: s.Path(), Enabled: now.Enabled, Fault: now.Fault, Edited: now.Edited, Rules: []Row{}}
			rows := [][]string{}
			for i := range now.Listed.Rules {
				r := &now.Listed.Rules[i]
				row := Row{ID: r.ID, Line: r.Line(), Verdict: r.Verdict, Words: r.Words(), State: now.State(r, time.Now())}
				if !r.Until.IsZero() {
					row.Until = &r.Until
				}
				says := "not used"
				if u, is := used[r.ID]; is {
					row.Used, says = &u, humanize.Count(u.Times, "use")+", "+humanize.Ago(time.Since(u.Last))
				}
				out.Rules = append(out.Rules, row)
				rows = append(rows, []string{r.ID, row.State, says, sanitize.Line(row.Words)})
			}
			for i := range now.Listed.Programs {
				rows = append(rows, []string{"", "", "", sanitize.Line(now.Listed.Programs[i].Words())})
			}
			if asJSON {
				return cli.PrintJSON(c, out, true)
			}
			c.Println(now.Says())
			return cli.PrintTable(c, rows, nil)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// mostLines is how many lines are printed of how a script has changed.
const mostLines = 40

// since are rows that say how what a command runs has changed since a rule was kept for it.
func since(c *book.Changed) (rows [][]string) {
	for line := range strings.Lines(c.Diff()) {
		rows = append(rows, []string{"", sanitize.Line(strings.TrimSuffix(line, "\n"))})
	}
	if n := len(rows) - mostLines; n > 0 {
		return append(rows[:mostLines], []string{"", "and " + humanize.Count(n, "more line")})
	}
	return rows
}

func whyCommand(a *cli.Globals) *cobra.Command {
	var at where
	var agent string
	c := &cobra.Command{
		Use: "why COMMAND", Short: "Say what your rules say of a command, and why",
		Long: `Say what your rules say of a command, and why each other rule says nothing of it. It is not run, and
nothing is answered. A rule that is paused or not accepted is not counted; whether rules are on is.
Where a script has changed since a rule was kept for it, the difference is printed.
A real prompt may still be asked for reasons that only it has: its mode, its shell's aliases.`,
		Example: "  mcpdeck rules why 'git push -f'",
		Args:    cli.Args(1, 1, "give one command, in quotes"),
		RunE: withBook(a, func(c *cobra.Command, args []string, s *book.Store, _ config.Paths) error {
			in, err := at.place()
			if err != nil {
				return err
			}
			now := s.Now()
			in.Programs = now.Programs()
			d := now.Decide(book.Request{Agent: agent, Project: in.Root, Home: in.Home, Now: time.Now(), Reading: reading.Read(args[0], in), Explain: true})
			verdict, by := "ask", d.Why
			if d.Rule != nil && d.Verdict != book.Ask {
				verdict, by = string(d.Verdict), "rule "+d.Rule.ID+": "+d.Rule.Words()
			}
			rows := append([][]string{{verdict, sanitize.Line(by)}}, since(d.Changed)...)
			if !now.Enabled {
				rows = append(rows, []string{"", now.Says()})
			}
			for _, p := range d.Passed {
				rows = append(rows, []string{p.Rule.ID, sanitize.Line(p.Why)})
			}
			return cli.PrintTable(c, rows, nil)
		}),
	}
	c.Flags().StringVar(&agent, "agent", agents.All()[0].ID, "`AGENT` that would run it")
	at.flags(c)
	return c
}

func forgetCommand(a *cli.Globals) *cobra.Command {
	var history, yes bool
	c := &cobra.Command{
		Use: "forget [ID]", Short: "Remove one of your rules, or the prompts that rules are learned from", Args: cli.Args(0, 1, "name one rule"),
		Long: `Remove one of your rules from the book. All else in the file stays as it is.

While rules are on, the deck keeps what agents asked and whether it was allowed, for rules to be learned
from: without secrets, for 30 days, at most 20,000 prompts, in prompts.jsonl of its state folder. With
journal.shape_only or without ask.history it keeps none. --history removes them all, and no rule.`,
		RunE: withBook(a, func(c *cobra.Command, args []string, s *book.Store, p config.Paths) error {
			if (len(args) == 0) != history {
				return exit.Usagef("name one rule, or give --history alone")
			}
			if history {
				return forgetPast(c, p, yes)
			}
			now := s.Now()
			i := slices.IndexFunc(now.Listed.Rules, func(r book.Rule) bool { return r.ID == args[0] })
			if i >= 0 && now.Listed.Rules[i].Verdict != book.Allow {
				return errors.New("without a deny or an ask more may be allowed: forget it on the deck's screen (H, then v)")
			}
			if err := s.Forget(args[0]); err != nil {
				return err
			}
			c.Println("forgotten: " + sanitize.Line(now.Listed.Rules[i].Words()))
			return nil
		}),
	}
	c.Flags().BoolVar(&history, "history", false, "remove the prompts that rules are learned from")
	c.Flags().BoolVar(&yes, "yes", false, "with --history: remove without asking")
	return c
}

func forgetPast(c *cobra.Command, p config.Paths, yes bool) error {
	c.Println("All prompts that rules are learned from are removed from " + p.Past)
	if err := prompt.Agreed(c, yes); err != nil {
		return err
	}
	if err := (&ask.Past{Path: p.Past}).Forget(); err != nil {
		return fmt.Errorf("remove the prompts: %w", err)
	}
	c.Println("forgotten")
	return nil
}

func offCommand(a *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use: "off", Short: "Have no rule answer", Args: cli.NoArgs,
		Long: "Have no rule answer: everything is asked, from the next prompt on.",
		RunE: withBook(a, func(c *cobra.Command, _ []string, s *book.Store, _ config.Paths) error {
			if err := s.Off(); err != nil {
				return fmt.Errorf("turn the rules off: %w", err)
			}
			c.Println(book.Off)
			return nil
		}),
	}
}

func onCommand() *cobra.Command {
	return &cobra.Command{
		Use: "on", Short: "Say where rules are turned on", Args: cli.NoArgs,
		Long: "Rules are turned on on the deck's screen only. An agent has a shell, too.",
		RunE: func(*cobra.Command, []string) error {
			return errors.New("rules are turned on on the deck's screen only: H, then v, then y")
		},
	}
}
