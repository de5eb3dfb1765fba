package inbox

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Gate is what shells have to pass before they may answer.
type Gate interface {
	State() userauth.State
	Hint() <-chan struct{} // that State differs
	Pair() string
	Withdraw()
	Unlock()
	SetPassphrase(string) error // takes a moment
}

// pairing lets shells answer.
type pairing struct {
	gate Gate           // nil: none may
	last userauth.State // as it was
}

type gateMsg struct{ userauth.State }

// GateFeed tells the page of attempts to answer from a shell.
func GateFeed(g Gate) tui.Feed {
	return tui.Feed{Hint: g.Hint(), Load: func() tea.Msg { return gateMsg{g.State()} }}
}

const pairID = "ask-pair"

// take says who tried to pass.
func (p *pairing) take(s userauth.State) tea.Cmd {
	fresh := min(s.Total-p.last.Total, len(s.Tries))
	used := !p.last.Until.IsZero() && s.Until.IsZero()
	p.last = s
	var cmds []tea.Cmd
	for _, t := range s.Tries[len(s.Tries)-max(fresh, 0):] {
		switch {
		case t.OK:
			cmds = append(cmds, tui.Toast(tui.Good, sanitize.Line(t.Who.String())+" may answer for you"))
		case t.Why != "":
			why, _, _ := strings.Cut(t.Why, "; ")
			cmds = append(cmds, tui.Toast(tui.Warn, sanitize.Line(t.Who.String()+" was refused: "+why)))
		default:
			cmds = append(cmds, tui.Toast(tui.Warn, sanitize.Line(t.Who.String())+" showed a wrong "+thing(s.Method)))
		}
	}
	if s.Locked {
		cmds = append(cmds, tui.Toast(tui.Bad, `answers from a shell are locked after too many failed attempts; ":" and "let a shell answer" unlocks them`))
	}
	if used {
		cmds = append(cmds, tui.Close(pairID))
	}
	return tea.Batch(cmds...)
}

func thing(m userauth.Method) string {
	if m == userauth.Pair {
		return "code"
	}
	return "passphrase"
}

// action lets a shell in.
func (p *pairing) action() tui.Action {
	return tui.Action{
		ID: "inbox.pair", Title: "Let a shell answer: show a pairing code, set the passphrase, or unlock", Acts: true,
		Enabled: func() string {
			switch {
			case p.gate == nil:
				return "this deck does not accept answers from a shell"
			case p.gate.State().Method == userauth.Off:
				return `answers from a shell are off (ask.cli_answers in the configuration, then restart)`
			}
			return ""
		},
		Run: p.open,
	}
}

func (p *pairing) open() tea.Cmd {
	g := p.gate
	switch s := g.State(); {
	case s.Locked:
		return p.openLocked(s)
	case s.Method == userauth.Pair:
		return tui.Open(newCode(g))
	default:
		return tui.Open(&phrase{gate: g})
	}
}

func (p *pairing) openLocked(s userauth.State) tea.Cmd {
	text := "Too many failed attempts to answer from a shell. The last ones:\n"
	for _, t := range s.Tries[max(0, len(s.Tries)-5):] {
		text += "\n" + t.At.Format(time.TimeOnly) + "  " + sanitize.Line(t.Who.String())
	}
	return tui.Open(&tui.Confirm{Name: pairID, Title: "Unlock answers from a shell?", Text: text, Choices: []tui.Choice{
		{Key: "n", Text: "Leave locked"},
		{Key: "u", Text: "Unlock", Run: func() tea.Cmd {
			p.gate.Unlock()
			return tui.Toast(tui.Info, "unlocked")
		}},
	}})
}

// code shows a pairing code.
type code struct {
	gate  Gate
	text  string
	until time.Time
}

func newCode(g Gate) *code {
	text := g.Pair()
	return &code{gate: g, text: text, until: g.State().Until}
}

// ID names the overlay.
func (c *code) ID() string { return pairID }

// TextEntry is false.
func (c *code) TextEntry() bool { return false }

// Actions hide the code, and end it.
func (c *code) Actions() []tui.Action {
	closing := func() tea.Cmd { return tui.Close(pairID) }
	return []tui.Action{
		{ID: "pair.hide", Title: "Hide the code; it stays valid", Hint: "back", Verb: verb.Back, Also: []verb.Verb{verb.Open}, Run: closing},
		{ID: "pair.withdraw", Title: "Revoke the code", Hint: "stop", Verb: verb.Stop, Run: func() tea.Cmd {
			c.gate.Withdraw()
			return tea.Sequence(closing(), tui.Toast(tui.Info, "the code is no longer valid"))
		}},
	}
}

// Update does nothing.
func (c *code) Update(tea.Msg) tea.Cmd { return nil }

// Render draws the code.
func (c *code) Render(f *tui.Frame) []string {
	th := f.Theme
	w := min(f.W, 64) - 6
	left := c.until.Sub(f.Now)
	rows := []string{"", "   " + th.Key.Render(c.text), ""}
	if left <= 0 {
		rows = []string{"", th.Warn.Render("The code has expired."), ""}
	} else {
		f.RedrawAfter(min(left, time.Minute))
		text := fmt.Sprintf("Type it where mcpdeck ask answer or mcpdeck pencil accept asks for it. It works once, until %s.", c.until.Format("15:04"))
		rows = append(rows, widget.Wrap(text, w)...)
		rows = append(rows, "")
		rows = append(rows, widget.Paragraph(th.Faint, "", "Anyone who can read this screen can use it: do not show it in a tmux session that agents can reach.", w)...)
	}
	return widget.Dialog(th, "Pairing code for a shell", "", rows, f.W, f.H)
}

// phrase asks for a new passphrase.
type phrase struct {
	gate Gate
	edit widget.Editor
}

// ID names the overlay.
func (o *phrase) ID() string { return pairID }

// TextEntry is true.
func (o *phrase) TextEntry() bool { return true }

// Actions set the passphrase or leave.
func (o *phrase) Actions() []tui.Action {
	return []tui.Action{
		{ID: "pair.set", Title: "Set the passphrase", Hint: "choose", Verb: verb.Open, InText: true, Acts: true, Run: o.set},
		{ID: "pair.hide", Title: "Back", Hint: "back", Verb: verb.Back, InText: true, Run: func() tea.Cmd { return tui.Close(pairID) }},
	}
}

func (o *phrase) set() tea.Cmd {
	gate, text := o.gate, o.edit.Value()
	return func() tea.Msg {
		if err := gate.SetPassphrase(text); err != nil {
			return tui.Toast(tui.Bad, err.Error())()
		}
		return tea.Sequence(tui.Close(pairID), tui.Toast(tui.Good, "the passphrase is set"))()
	}
}

// Update edits the passphrase.
func (o *phrase) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		o.edit.Key(msg)
	case tea.PasteMsg:
		o.edit.Insert(strings.TrimRight(msg.Content, "\r\n"))
	}
	return nil
}

// Render draws the field, without what is in it.
func (o *phrase) Render(f *tui.Frame) []string {
	th := f.Theme
	w := min(f.W, 64) - 6
	n := utf8.RuneCountInString(o.edit.Value())
	rows := []string{strings.Repeat("*", min(n, w-1)), ""}
	rows = append(rows, widget.Paragraph(th.Faint, "", "At least 12 characters that no program can guess. Any shell that gives it may answer for you.", w)...)
	out := widget.Dialog(th, "New passphrase for shells", "", rows, f.W, f.H)
	f.Cursor(3+min(n, w-1), 1)
	return out
}
