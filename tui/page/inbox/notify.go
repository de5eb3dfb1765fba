package inbox

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// NotifyMode is how much a new question may draw attention.
type NotifyMode string

// The modes: everything, bell and title, title only, nothing but the badge.
const (
	NotifyAll   NotifyMode = "all"
	NotifyBell  NotifyMode = "bell"
	NotifyTitle NotifyMode = "title"
	NotifyOff   NotifyMode = "off"
)

// Escape is the sequence that a terminal makes a desktop notification of.
type Escape string

// The sequences. NoEscape is for terminals that would print them.
const (
	NoEscape Escape = "none"
	OSC9     Escape = "osc9"
	OSC777   Escape = "osc777"
	OSC99    Escape = "osc99" // kitty
)

// Notify is how the user is told of questions.
type Notify struct {
	Mode    NotifyMode // "": NotifyAll
	Escape  Escape     // "": OSC9
	Tmux    bool       // sequences must be wrapped to pass through
	Private bool       // leave texts out
	Done    bool       // tell of long turns that have ended, too
	// After is how long a permission has to wait before it is announced: many are given
	// at once, by the agent's own rules or in its terminal.
	After time.Duration
	// Here announces also what an agent's own program asks in a terminal that the user looks
	// at, where no notice is needed.
	Here bool
	// Command is run for each batch of questions; without a program, none is.
	Command process.Command
}

// EscapeFor picks the sequence for a terminal from its environment.
func EscapeFor(getenv func(string) string) Escape {
	term, program := getenv("TERM"), strings.ToLower(getenv("TERM_PROGRAM"))
	switch {
	case term == "dumb" || term == "linux" || program == "apple_terminal" || program == "vscode":
		return NoEscape
	case strings.Contains(term, "kitty"):
		return OSC99
	case strings.HasPrefix(term, "rxvt") || strings.HasPrefix(term, "foot") || getenv("VTE_VERSION") != "":
		return OSC777
	}
	return OSC9
}

// The pauses of notifications.
const (
	batchFor    = 2 * time.Second
	firstAgain  = 2 * time.Minute
	secondAgain = 10 * time.Minute
	commandFor  = 10 * time.Second
)

// alerts are the notifications that are due.
type alerts struct {
	looksAt        func(questions.Request) bool // nil: what the user looks at is not known
	known, focused bool                         // what the terminal said about its focus
	batch          []questions.Item
	turns          turns
	failed         bool // the command has failed before
}

// alertMsg is a notification that is due: the batch, or a reminder.
type alertMsg struct{ reminder bool }

// permissionsMsg is permissions that are to be announced if they still wait.
type permissionsMsg struct{ items []questions.Item }

// unseenMsg is what is to be announced, since the user does not look at where it is asked.
type unseenMsg struct{ items []questions.Item }

// commandMsg is the end of the user's own command.
type commandMsg struct{ err error }

func (a *alerts) focus(on bool) { a.known, a.focused = true, on }

// came announces what has come, but permissions only if they wait for longer.
func (a *alerts) came(fresh []questions.Item, n Notify) tea.Cmd {
	var now, later []questions.Item
	for _, it := range fresh {
		if d := it.Request.Prompt; d != nil && d.Kind == questions.Permission {
			later = append(later, it)
		} else {
			now = append(now, it)
		}
	}
	var cmds []tea.Cmd
	if len(now) > 0 {
		cmds = append(cmds, a.elsewhere(now, n))
	}
	if len(later) > 0 {
		cmds = append(cmds, after(n.After, permissionsMsg{later}))
	}
	return tea.Batch(cmds...)
}

// still announces the permissions that were not answered meanwhile.
func (a *alerts) still(msg permissionsMsg, s *questions.Snapshot, n Notify) tea.Cmd {
	items := slices.DeleteFunc(msg.items, func(it questions.Item) bool {
		now, ok := s.Item(it.ID)
		return !ok || !now.Waits()
	})
	if len(items) == 0 {
		return nil
	}
	return a.elsewhere(items, n)
}

// elsewhere announces what does not ask where the user looks.
func (a *alerts) elsewhere(items []questions.Item, n Notify) tea.Cmd {
	own := func(it questions.Item) bool { return it.Request.Prompt != nil }
	if n.Here || a.looksAt == nil || n.Mode == NotifyOff || !slices.ContainsFunc(items, own) {
		return a.arrived(items, n)
	}
	return func() tea.Msg {
		return unseenMsg{slices.DeleteFunc(items, func(it questions.Item) bool { return own(it) && a.looksAt(it.Request) })}
	}
}

// arrived rings once and begins a batch.
func (a *alerts) arrived(fresh []questions.Item, n Notify) tea.Cmd {
	if n.Mode == NotifyOff {
		return nil
	}
	if len(fresh) == 0 {
		return nil
	}
	first := len(a.batch) == 0
	a.batch = append(a.batch, fresh...)
	if !first {
		return nil
	}
	cmds := []tea.Cmd{
		after(batchFor, alertMsg{}), after(firstAgain, alertMsg{reminder: true}), after(secondAgain, alertMsg{reminder: true}),
	}
	if n.Mode != NotifyTitle {
		cmds = append(cmds, tea.Raw("\a"))
	}
	return tea.Batch(cmds...)
}

func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// due notifies of the batch, or reminds of what still waits.
func (a *alerts) due(msg alertMsg, s *questions.Snapshot, all []snapshot.Session, n Notify, shown bool) tea.Cmd {
	var items []questions.Item
	if msg.reminder {
		items = due(s)
	} else {
		for _, it := range a.batch {
			if now, ok := s.Item(it.ID); ok && now.Waits() {
				items = append(items, now)
			}
		}
		a.batch = nil
	}
	if len(items) == 0 {
		return nil
	}
	text := announce(items, all, n.Private)
	var cmds []tea.Cmd
	if !shown { // the user is here, on another page
		cmds = append(cmds, tui.Toast(tui.Needs, text))
	}
	if msg.reminder && n.Mode != NotifyTitle {
		cmds = append(cmds, tea.Raw("\a"))
	}
	if (n.Mode == NotifyAll || n.Mode == "") && (!a.known || !a.focused) {
		cmds = append(cmds, n.escape(text))
	}
	return tea.Batch(append(cmds, n.command(text, about(items, n.Private)))...)
}

// announce is what a notification says.
func announce(items []questions.Item, all []snapshot.Session, private bool) string {
	if len(items) == 1 {
		it := items[0]
		agent, in := whoAsks(&it.Request, projectNames(all))
		who := strings.TrimSpace(agent + " " + in)
		if d := it.Request.Prompt; d != nil && d.Kind == questions.Permission {
			what := tui.About(&it.Request)
			if private {
				what = sanitize.Line(d.Tool)
			}
			return sanitize.Cut(who+": "+what, 120)
		}
		if private {
			return sanitize.Cut(who+" asks something", 120)
		}
		return sanitize.Cut(who+" asks: "+widget.Unmarked(sanitize.Bare(it.Request.Questions[0].Question)), 120)
	}
	askers := map[string]bool{}
	for _, it := range items {
		askers[it.Request.Asker()] = true
	}
	return humanize.Count(len(items), "question") + " from " + humanize.Count(len(askers), "agent")
}

// escape has the terminal show text as a notification; nil if it cannot.
func (n Notify) escape(text string) tea.Cmd {
	seq := escape(n.Escape, text)
	if seq == "" {
		return nil
	}
	if n.Tmux {
		seq = "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return tea.Raw(seq)
}

// escape is text as the sequence of a terminal.
func escape(e Escape, text string) string {
	text = strings.TrimSpace(text)
	switch e {
	case NoEscape:
		return ""
	case OSC777:
		return "\x1b]777;notify;mcpdeck;" + strings.ReplaceAll(text, ";", ",") + "\x1b\\"
	case OSC99:
		return "\x1b]99;i=mcpdeck:d=0;mcpdeck\x1b\\\x1b]99;i=mcpdeck:d=1:p=body;" + text + "\x1b\\"
	default:
	}
	// A digit and a semicolon at the beginning would be a command for the
	// terminal's progress bar.
	if i := strings.IndexByte(text, ';'); i > 0 && strings.Trim(text[:i], "0123456789") == "" {
		text = "mcpdeck: " + text
	}
	return "\x1b]9;" + text + "\x1b\\"
}

// facts are what the user's own notifier learns of the first thing that a notification tells.
type facts struct {
	kind                          questions.PromptKind
	session, asker, cwd, question string
	pending                       int // questions
}

// about is what a notification of requests tells.
func about(items []questions.Item, private bool) facts {
	first := items[0].Request
	f := facts{questions.OwnQuestion, first.From.Session, first.Client(), first.Cwd(), "", len(items)}
	if !private {
		f.question = tui.About(&first)
	}
	if d := first.Prompt; d != nil {
		f.kind, f.session = d.Kind, d.Session
	}
	return f
}

// command runs the user's own notifier, if there is one, with what a notification says as its
// last argument. The text may begin with what an agent calls itself, which must not become an option.
func (n Notify) command(text string, of facts) tea.Cmd {
	c := n.Command
	if c.Program == "" {
		return nil
	}
	c.Args = append(c.Args[:len(c.Args):len(c.Args)], strings.TrimLeft(text, "- "))
	c.Extra = append(c.Extra[:len(c.Extra):len(c.Extra)],
		"MCPDECK_KIND="+sanitize.Line(string(of.kind)), "MCPDECK_SESSION="+sanitize.Line(of.session),
		"MCPDECK_ASKER="+sanitize.Line(of.asker), "MCPDECK_CWD="+sanitize.Line(of.cwd),
		"MCPDECK_QUESTION="+of.question, "MCPDECK_PENDING="+strconv.Itoa(of.pending))
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), commandFor)
		defer cancel()
		return commandMsg{err: process.Run(ctx, c, process.Streams{})}
	}
}

// ran says once that the command does not work.
func (a *alerts) ran(msg commandMsg) tea.Cmd {
	if msg.err == nil || a.failed {
		return nil
	}
	a.failed = true
	return tui.Toast(tui.Warn, "the notification command failed: "+sanitize.Line(msg.err.Error()))
}
