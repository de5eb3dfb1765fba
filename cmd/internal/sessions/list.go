package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// List is what mcpdeck sessions --json prints.
type List struct {
	V        int       `json:"v"`
	Sessions []Session `json:"sessions"`
}

// Session is one of them.
type Session struct {
	ID         string       `json:"id"`
	Agent      string       `json:"agent"`
	Version    string       `json:"version,omitempty"`
	PID        int          `json:"pid,omitempty"`
	State      string       `json:"state"`
	Kind       string       `json:"kind"` // what it does, in a word: "allow?", "plan?", "done"
	Since      *time.Time   `json:"since,omitempty"`
	WaitingFor string       `json:"waitingFor,omitempty"`
	Note       string       `json:"note,omitempty"`
	Project    string       `json:"project,omitempty"`
	Cwd        string       `json:"cwd,omitempty"`
	Title      string       `json:"title,omitempty"`
	Name       string       `json:"name,omitempty"` // that its program gives it
	Prompt     string       `json:"prompt,omitempty"`
	Said       string       `json:"said,omitempty"`
	Changed    *changedJSON `json:"changed,omitempty"`
	Unread     bool         `json:"unread,omitempty"` // it is done, and the user has not looked since
	Mode       string       `json:"mode,omitempty"`
	Model      string       `json:"model,omitempty"`
	Subagents  int          `json:"subagents,omitempty"`
	LastTool   *toolJSON    `json:"lastTool,omitempty"`
	Tokens     Tokens       `json:"tokens"`
	Cost       *costJSON    `json:"cost"` // null: unknown
	Context    *contextJSON `json:"context,omitempty"`
	Place      *placeJSON   `json:"place,omitempty"`
	AlsoIn     string       `json:"alsoIn,omitempty"`    // ID of a session with which some of it is shared
	Connected  bool         `json:"connected,omitempty"` // to the deck
	Headless   bool         `json:"headless,omitempty"`
	Verified   bool         `json:"verified"`
}

type toolJSON struct {
	Name    string `json:"name"`
	Subject string `json:"subject,omitempty"`
}

// changedJSON counts the files and lines that a session's own edits changed.
type changedJSON struct {
	Files    int  `json:"files"`
	Added    int  `json:"added"`
	Removed  int  `json:"removed"`
	Complete bool `json:"complete"`
}

// Tokens are those that a session has used.
type Tokens struct {
	In         int64 `json:"in"`
	Out        int64 `json:"out"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Reasoning  int64 `json:"reasoning"`
	Partial    bool  `json:"partial,omitempty"`
}

type costJSON struct {
	USD      float64 `json:"usd"`
	Complete bool    `json:"complete"`
	Source   string  `json:"source,omitempty"`
}

type contextJSON struct {
	Used   int64 `json:"used"`
	Window int64 `json:"window,omitempty"`
}

type placeJSON struct {
	Tmux  string `json:"tmux,omitempty"`
	TTY   string `json:"tty,omitempty"`
	Other string `json:"other,omitempty"`
}

func newSessionList(all []snapshot.Session) List {
	out := List{V: 1, Sessions: []Session{}}
	all = slices.DeleteFunc(slices.Clone(all), func(s snapshot.Session) bool { return s.Hidden != "" })
	names := snapshot.Projects(all)
	for i := range all {
		j := newSessionJSON(&all[i])
		j.Project = names[i]
		out.Sessions = append(out.Sessions, j)
	}
	return out
}

func newSessionJSON(s *snapshot.Session) Session {
	j := Session{
		ID: s.ID, Agent: s.Agent, Version: s.Version, PID: s.PID, State: string(s.State), Kind: s.Word(), WaitingFor: s.WaitingFor, Note: s.Note,
		Cwd: s.Folder, Title: s.Name(), Name: cmp.Or(s.Title, s.Handle), Mode: s.Mode, Model: s.Model, Subagents: s.Subagents,
		Tokens:    Tokens{s.Usage.In, s.Usage.Out, s.Usage.CacheRead, s.Usage.CacheWrite, s.Usage.Reasoning, s.Usage.Partial},
		Connected: s.Connection != "", Headless: s.Headless, Verified: s.Verified, Unread: s.Unread, AlsoIn: s.Shared.With,
	}
	if !s.Since.IsZero() {
		at := s.Since.UTC().Truncate(time.Millisecond)
		j.Since = &at
	}
	if r := s.Record; r != nil {
		j.Prompt, j.Said = r.Prompt, r.Said
		if c := r.Changed; len(c.Files) > 0 {
			j.Changed = &changedJSON{len(c.Files), c.Added, c.Removed, !c.Partial}
		}
	}
	if s.LastTool != "" {
		j.LastTool = &toolJSON{s.LastTool, s.LastSubject}
	}
	if s.Cost.Known {
		j.Cost = &costJSON{s.Cost.USD, !s.Cost.Partial, s.Cost.Source}
	}
	if s.Context.Used > 0 {
		j.Context = &contextJSON{s.Context.Used, s.Context.Window}
	}
	p := placeJSON{s.Place.Tmux, s.Place.TTY, s.Place.Other}
	if p.Tmux == "" && s.Place.TmuxPane != "" {
		p.Tmux = s.Place.TmuxPane
	}
	if p != (placeJSON{}) {
		j.Place = &p
	}
	return j
}

// sessionsRequest asks a deck for its list. With Known, the answer comes when the list is
// another than the one of that mark.
type sessionsRequest struct {
	Known string `json:"known,omitempty"`
}

type sessionsReply struct {
	Mark string `json:"mark"`
	List List   `json:"list"`
}

// Control tells a command about the sessions.
func (p *Programs) Control(ctx context.Context, _ transport.Requester, args json.RawMessage) (any, error) {
	var r sessionsRequest
	if err := json.Unmarshal(args, &r); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	hints, stop := p.Roster.Hints()
	defer stop()
	for {
		reply := sessionsReply{List: newSessionList(p.Roster.Sessions())}
		text, err := json.Marshal(reply.List)
		if err != nil {
			return nil, fmt.Errorf("write the list: %w", err)
		}
		mark := fnv.New64a()
		_, _ = mark.Write(text) // never fails
		if reply.Mark = strconv.FormatUint(mark.Sum64(), 36); reply.Mark != r.Known {
			return reply, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-hints:
		}
		const calm = 200 * time.Millisecond // changes come in bursts
		if err := process.Pause(ctx, calm); err != nil {
			return nil, err
		}
	}
}

// Command lists agents' sessions.
func Command(a *cli.Globals) *cobra.Command {
	var o sessionsOptions
	c := &cobra.Command{
		Use: "sessions", Short: "List the sessions of all agents on this machine, with their state, tokens and cost", Args: cli.NoArgs,
		Long: `List the sessions of all agents on this machine: whether one waits for you, works or is idle, what it did
last, how full its context is, its tokens, and what they cost at list prices. A running deck supplies
the data; without one, the files of the agents' programs are read, which say less. Changes nothing.

The states that --wait takes are permission and answer (it waits for you), working, background, idle,
ended and unknown.`,
		Example: "  mcpdeck sessions --wait idle --session 3f6c   # until the session whose ID begins with 3f6c is idle",
		PreRunE: func(*cobra.Command, []string) error { return o.check() },
		RunE:    a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error { return listSessions(c, cfg, o) }),
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	c.Flags().BoolVar(&o.watch, "watch", false, "print the list again whenever it changes")
	c.Flags().StringVar(&o.wait, "wait", "", "wait until the session given by --session is in this `state`; waiting means permission or answer")
	c.Flags().StringVar(&o.session, "session", "", "the session to wait for: its `ID` or the beginning of it")
	_ = c.RegisterFlagCompletionFunc("wait", cobra.FixedCompletions(waitStates(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

type sessionsOptions struct {
	json, watch   bool
	wait, session string
}

func waitStates() []string {
	return []string{"waiting", string(snapshot.WaitsForPermission), string(snapshot.WaitsForAnswer), string(snapshot.Working), string(snapshot.Background), string(snapshot.Idle), string(snapshot.Ended), string(snapshot.StateUnknown)}
}

func (o *sessionsOptions) check() error {
	switch {
	case o.wait == "" && o.session == "":
		return nil
	case o.wait == "" || o.session == "":
		return exit.Usagef("use --wait and --session together")
	case !slices.Contains(waitStates(), o.wait):
		return exit.Usagef("--wait %q: use %s", o.wait, strings.Join(waitStates(), ", "))
	}
	return nil
}

func listSessions(c *cobra.Command, cfg *config.Config, o sessionsOptions) error {
	known := ""
	for {
		var r sessionsReply
		err := transport.Ask(c.Context(), cfg.Paths.Socket, "sessions", sessionsRequest{known}, &r)
		if errors.Is(err, transport.ErrNoDeck) && !o.watch && o.wait == "" {
			r.List, err = SessionFiles(c.Context(), cfg)
		}
		if err != nil {
			return err
		}
		known = r.Mark
		if o.wait != "" {
			done, err := o.reached(r.List.Sessions)
			if err != nil {
				return err
			}
			if !done {
				continue
			}
		}
		if err := o.print(c, r.List); err != nil || !o.watch || o.wait != "" {
			return err
		}
	}
}

// reached tells whether the session that is waited for is in the state.
func (o *sessionsOptions) reached(all []Session) (bool, error) {
	var of []Session
	for _, s := range all {
		if s.ID == o.session {
			of = []Session{s}
			break
		}
		if strings.HasPrefix(s.ID, o.session) {
			of = append(of, s)
		}
	}
	switch {
	case len(of) == 0:
		return false, fmt.Errorf("wait for %q: no session has this ID; mcpdeck sessions lists them", o.session)
	case len(of) > 1:
		return false, fmt.Errorf("wait for %q: the IDs of several sessions begin with it", o.session)
	}
	o.session = of[0].ID
	state := snapshot.SessionState(of[0].State)
	switch {
	case o.wait == of[0].State, o.wait == "waiting" && state.Waits():
		return true, nil
	case state == snapshot.Ended:
		return false, fmt.Errorf("wait for %q: the session has ended", o.session)
	}
	return false, nil
}

func (o *sessionsOptions) print(c *cobra.Command, list List) error {
	if o.json {
		return cli.PrintJSON(c, list, !o.watch) // when watching, a line each
	}
	if len(list.Sessions) == 0 {
		c.Println("no sessions")
	}
	head := []string{"STATE", "AGENT", "PROJECT", "NAME", "AGE", "TOKENS", "COST", "ID", "ACTIVITY"}
	rows := make([][]string, len(list.Sessions))
	for i := range list.Sessions {
		rows[i] = sessionRow(&list.Sessions[i])
	}
	err := cli.PrintHeaded(c, head, rows, func(row, col int) lipgloss.Style {
		if col != 0 {
			return lipgloss.NewStyle()
		}
		switch s := snapshot.SessionState(list.Sessions[row].State); {
		case s.Waits():
			return cli.Ink(false, false)
		case s == snapshot.Working:
			return cli.Ink(true, false)
		}
		return lipgloss.NewStyle().Faint(true)
	})
	if o.watch {
		c.Println()
	}
	return err
}

func sessionRow(s *Session) []string {
	age, what := "", s.WaitingFor
	if s.Since != nil {
		age, _ = humanize.Age(time.Since(*s.Since))
	}
	if what == "" && s.LastTool != nil {
		what = s.LastTool.Name + " " + s.LastTool.Subject
	}
	what = cmp.Or(what, s.Note)
	id, _, _ := strings.Cut(s.ID, "-")
	return []string{
		cmp.Or(s.Kind, s.State), s.Agent, sanitize.Line(s.Project), sanitize.Cut(sanitize.Line(s.Title), 60), age,
		snapshot.CountTokens(s.Tokens.In + s.Tokens.Out + s.Tokens.CacheRead + s.Tokens.CacheWrite), costWord(s), id, sanitize.Line(what),
	}
}

func costWord(s *Session) string {
	if s.Cost == nil {
		return "–"
	}
	return humanize.Dollars(s.Cost.USD, !s.Cost.Complete)
}
