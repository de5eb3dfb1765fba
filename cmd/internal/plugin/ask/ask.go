// Package ask implements the subcommands about questions: the server that an agent's
// client starts, and listing, answering and configuring from a shell.
package ask

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog/journal"
	"github.com/mcpdeck/mcpdeck/servers/support/form"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Settings are what the commands need to know of the program around them.
type Settings struct {
	Socket  string            // of the deck's questions
	Session string            // label of the agent's session; may be empty
	Root    string            // project folder; may be empty
	Roots   *roots.Rules      // which folders may be one
	Program string            // absolute path of this program
	Version string            // of this program
	Hints   map[string]string // for deck.Caller
	Journal *journal.Journal  // of the server's calls, not open yet; nil: none is kept
	Redact  redact.Rules
}

// Commands are "ask-server" and "ask" with its subcommands. load is called when
// one of them runs.
func Commands(load func() (Settings, error)) []*cobra.Command {
	ask := &cobra.Command{
		Use: "ask", Short: "List and answer questions, configure agents to ask",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	ask.AddCommand(listCommand(load), answerCommand(load), configCommand(load))
	return []*cobra.Command{serverCommand(load), ask}
}

// noDeck says what to do about a deck that does not answer.
func noDeck(err error) error {
	if errors.Is(err, questions.ErrUnavailable) {
		return errors.New("no deck is running; open one with: mcpdeck")
	}
	return err
}

func listCommand(load func() (Settings, error)) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "Print the open questions of the running deck",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := load()
			if err != nil {
				return err
			}
			items, err := questions.NewClient(questions.ClientOptions{Path: s.Socket}).List()
			if err != nil {
				return noDeck(err)
			}
			if asJSON {
				return console.PrintJSON(c.OutOrStdout(), items, true)
			}
			printList(c.OutOrStdout(), items, time.Now())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print them whole, as JSON")
	return c
}

func printList(w io.Writer, items []questions.Listed, now time.Time) {
	if len(items) == 0 {
		fmt.Fprintln(w, "no open questions")
		return
	}
	for _, it := range items {
		who := sanitize.Line(it.Asker)
		if it.Cwd != "" {
			who += " in " + sanitize.Line(filepath.Base(it.Cwd))
		}
		switch {
		case it.Via != "":
			who += " (unverified, via " + sanitize.Line(it.Via) + ")"
		case !it.Verified:
			who += " (unverified)"
		}
		state := ""
		if it.Absent != questions.Present {
			state = ", " + string(it.Absent)
		}
		fmt.Fprintf(w, "%d  %s, %s%s\n", it.ID, who, humanize.Ago(now.Sub(it.Arrived)), state)
		printPrompt(w, it.Prompt)
		for _, q := range it.Questions {
			fmt.Fprintf(w, "   %s: %s\n", sanitize.Line(q.ID), sanitize.Line(q.Question))
			for i, o := range q.Options {
				effect := ""
				if p := it.Prompt; p != nil && i < len(p.Grants) && p.Grants[i].Effect != "" {
					effect = ": " + sanitize.Exact(p.Grants[i].Effect)
				}
				fmt.Fprintf(w, "     - %s%s\n", sanitize.Line(o.Label), effect)
			}
			printForm(w, q)
		}
	}
}

// printPrompt prints what an agent's own program asks for, exactly.
func printPrompt(w io.Writer, p *questions.Prompt) {
	if p == nil {
		return
	}
	where := ""
	switch p.Door {
	case questions.InTerminal:
		where = ", to be answered in its terminal"
	case questions.Held:
		where = ", its terminal shows nothing"
	default:
	}
	fmt.Fprintf(w, "   %s%s\n", p.Kind, where)
	if p.Kind != questions.Permission {
		return
	}
	fmt.Fprintf(w, "   %s wants to run:\n", sanitize.Line(p.Tool))
	for line := range strings.SplitSeq(sanitize.Exact(strings.TrimSuffix(p.Subject(), "\n")), "\n") {
		fmt.Fprintf(w, "   | %s\n", line)
	}
	for _, n := range slices.Concat(p.Marks, p.Notes) {
		fmt.Fprintf(w, "   note: %s\n", sanitize.Line(n))
	}
}

// printForm lists the fields of a form by the names that an answer gives them.
func printForm(w io.Writer, q questions.Question) {
	if q.Kind != questions.Form {
		return
	}
	f, err := q.Form()
	if err != nil { // it was read before it was asked
		return
	}
	for _, field := range f.Fields(f.New()) {
		if field.Role != form.Member {
			continue
		}
		need := ""
		if field.Required {
			need = ", required"
		}
		fmt.Fprintf(w, "     - %s (%s%s)\n", sanitize.Line(strings.TrimPrefix(field.Path, "/")), field.Kind(), need)
	}
}
