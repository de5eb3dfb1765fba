// Package log implements the subcommand that shows and exports the call log.
package log

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog/journal"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/query"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Options say where the call log is.
type Options struct {
	Path func() (string, error) // of the journal's file
	Now  func() time.Time       // nil: time.Now
	Poll time.Duration          // while following; 0: 300 ms
}

type flags struct {
	follow, json        bool
	count               int
	tool, server, agent string
	status, text        string
	since, until        string
}

// Command returns the subcommand log.
func Command(opt Options) *cobra.Command {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Poll <= 0 {
		opt.Poll = 300 * time.Millisecond
	}
	var f flags
	cmd := &cobra.Command{
		Use:   "log [QUERY]",
		Short: "Show agents' calls",
		Long: "Show agents' calls, oldest first: time, agent, tool, outcome, duration, arguments.\n" +
			"With --json, print each call as one line of JSON with its arguments and result.\n\n" +
			"The query syntax is that of the filter on the deck's Calls page: words, and " +
			strings.Join(query.Fields(), ":, ") + ":, >500ms, <2s. The flags do the same.",
		Example: "  mcpdeck log -f\n  mcpdeck log status:error since:2h '>500ms' lantern.pxl\n  mcpdeck log --tool 'pencil_*' --status error --since 2h\n  mcpdeck log --json -n 0 > calls.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := f.query(args, opt.Now())
			if err != nil {
				return err
			}
			path, err := opt.Path()
			if err != nil {
				return err
			}
			return show(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), path, q, f, opt)
		},
	}
	fl := cmd.Flags()
	fl.BoolVarP(&f.follow, "follow", "f", false, "follow: print new calls until interrupted")
	fl.IntVarP(&f.count, "lines", "n", 50, "number of newest calls to show; 0 for all")
	fl.StringVar(&f.tool, "tool", "", "only this tool; * stands for any text")
	fl.StringVar(&f.server, "server", "", "only this server; * stands for any text")
	fl.StringVar(&f.agent, "agent", "", "only agents with this in their name; * stands for any text")
	fl.StringVar(&f.status, "status", "", "only calls with this status: ok, error, refused, cancelled or lost")
	fl.StringVarP(&f.text, "grep", "g", "", "only calls with this text in the tool, agent, arguments or result")
	fl.StringVar(&f.since, "since", "", "only calls since this time: 90m, 2h, 3d, 15:04, 2006-01-02, RFC 3339")
	fl.StringVar(&f.until, "until", "", "only calls before this time")
	fl.BoolVar(&f.json, "json", false, "print each call as one complete line of JSON")
	return cmd
}

func (f flags) query(args []string, now time.Time) (journal.Query, error) {
	said, err := query.Parse(strings.Join(args, " "), now)
	if err != nil {
		return journal.Query{}, exit.Wrong(err)
	}
	q := journal.Query{
		Tool: cmp.Or(f.tool, said.Tool), Server: cmp.Or(f.server, said.Server), Agent: cmp.Or(f.agent, said.Agent),
		Status: snapshot.CallStatus(cmp.Or(f.status, said.FullStatus())), Text: f.text, Words: said.Words,
		Longer: said.Longer, Less: said.Less, Limit: f.count,
	}
	if f.count < 0 {
		return q, exit.Wrong(errors.New("--lines must be 0 or more"))
	}
	if f.count == 0 {
		q.Limit = -1
	}
	switch q.Status {
	case "", snapshot.OK, snapshot.ToolError, snapshot.Refused, snapshot.Cancelled, snapshot.Lost:
	default:
		return q, exit.Usagef("--status %q: use ok, error, refused, cancelled or lost", f.status)
	}
	if q.Since, err = query.Moment(f.since, now); err != nil {
		return q, exit.Usagef("--since %q: %w", f.since, err)
	}
	if q.Until, err = query.Moment(f.until, now); err != nil {
		return q, exit.Usagef("--until %q: %w", f.until, err)
	}
	if f.since == "" {
		q.Since = said.Since
	}
	if f.until == "" {
		q.Until = said.Until
	}
	return q, nil
}

func show(ctx context.Context, w, errs io.Writer, path string, q journal.Query, f flags, opt Options) error {
	r, err := openWhenThere(ctx, path, f.follow, opt.Poll)
	if err != nil || r == nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it was only read
	if f.json && !f.follow {
		return r.Export(ctx, console.JSON(w), q)
	}
	q.Bodies = f.json
	for {
		entries, err := r.Search(ctx, q)
		if err != nil {
			return quiet(ctx, err)
		}
		if err := write(w, entries, f.json, opt.Now()); err != nil {
			return fmt.Errorf("write log: %w", err)
		}
		if !f.follow {
			if len(entries) == 0 && !f.json {
				fmt.Fprintln(errs, "no matching calls") // not among them
			}
			return nil
		}
		if len(entries) > 0 {
			q.After = entries[len(entries)-1].ID
		}
		q.Oldest, q.Limit = true, 1000
		if len(entries) < q.Limit && process.Pause(ctx, opt.Poll) != nil {
			return nil
		}
	}
}

// openWhenThere opens the journal. While following, a journal that is not there
// yet is waited for; the reader is nil when ctx ends first.
func openWhenThere(ctx context.Context, path string, wait bool, poll time.Duration) (*journal.Reader, error) {
	for {
		r, err := journal.OpenReader(ctx, path)
		switch {
		case err == nil:
			return r, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, quiet(ctx, err)
		case !wait:
			return nil, errors.New("no call log yet; it starts when an agent calls a tool while a deck is running")
		case process.Pause(ctx, poll) != nil:
			return nil, nil
		}
	}
}

// quiet drops an error that an interrupt caused.
func quiet(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func write(w io.Writer, entries []journal.Entry, asJSON bool, now time.Time) error {
	if asJSON {
		return journal.WriteJSONL(console.JSON(w), entries)
	}
	for _, e := range entries {
		if _, err := fmt.Fprintln(w, console.Fold(w, lineOf(e, now))); err != nil {
			return err
		}
	}
	return nil
}

// lineOf shows a call on one line. What comes from outside is made safe for a
// terminal. The columns are as wide as they are, not a table of lipgloss: lines are
// printed as calls end, and such a table needs them all first.
func lineOf(e journal.Entry, now time.Time) string {
	at := e.Started.In(now.Location())
	layout := "15:04:05"
	if at.Format(time.DateOnly) != now.Format(time.DateOnly) {
		layout = time.DateTime
	}
	detail := sanitize.Line(e.Args)
	if e.Status != snapshot.OK {
		detail = strings.TrimSpace(sanitize.Line(e.Result) + "  " + detail)
	}
	return strings.TrimRight(fmt.Sprintf("%s  %-14s  %-28s  %-9s %9s  %s", at.Format(layout),
		sanitize.Cut(sanitize.Line(e.AgentName), 14), sanitize.Line(e.Tool), e.Status, took(&e.Call), detail), " ")
}

func took(c *snapshot.Call) string {
	if c.Status == snapshot.Lost {
		return ""
	}
	return humanize.Took(c.Duration)
}
