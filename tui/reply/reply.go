// Package reply is the field in which the user types the next prompt of a session, at the bottom
// of the session's pane. What is typed there, and sent by its key, is the only text that the deck
// sends to a session.
package reply

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Part is the part of a page while a prompt is typed there.
const Part = "reply"

// Options are what a [Line] needs.
type Options struct {
	// Send sends a text to a session as its next prompt, and says why it does not.
	// machine is "" for this one.
	Send func(machine, agent, id, text string) error
	// TakeBack forgets a prompt that the session has not taken, and returns its text.
	TakeBack func(machine, agent, id string) string
	// Mode is the setting: "on", "off", or "ask", which explains it before the first one; nil: off.
	Mode func() string
	// Drafts keeps what is typed, also between runs, until a session has taken it.
	Drafts Drafts
}

// Drafts keeps a text for each session.
type Drafts interface {
	NextDraft(agent, id string) string
	SetNextDraft(agent, id, text string)
}

// Line is the field, which several pages share. A nil Line sends nothing.
type Line struct {
	opt       Options
	editor    widget.Editor
	at        key          // the session for which it is open; the zero key: it is closed
	sent      map[key]bool // whose drafts are under way
	explained bool
	typed     time.Time // when something was, last
}

type key struct{ Machine, Agent, ID string }

func of(s *snapshot.Session) key {
	if s == nil {
		return key{}
	}
	return key{s.Machine, s.Agent, s.ID}
}

// New makes a closed field.
func New(o Options) *Line {
	return &Line{opt: o, editor: widget.Editor{Multi: true}, sent: map[key]bool{}}
}

// Explained reports whether the user has been told what the field does, which is kept between runs.
func (l *Line) Explained() bool { return l != nil && l.explained }

// Restore takes what was kept.
func (l *Line) Restore(explained bool) {
	if l != nil {
		l.explained = l.explained || explained
	}
}

func (l *Line) draft(at key) string {
	if l.sent[at] {
		return ""
	}
	return l.opt.Drafts.NextDraft(snapshot.OnMachine(at.Machine, at.Agent), at.ID)
}

func (l *Line) keep(at key, text string) {
	delete(l.sent, at)
	if strings.TrimSpace(text) == "" {
		text = ""
	}
	l.opt.Drafts.SetNextDraft(snapshot.OnMachine(at.Machine, at.Agent), at.ID, text)
}

// edit changes the text.
func (l *Line) edit(change func()) {
	change()
	l.typed = time.Now()
	l.keep(l.at, l.editor.Value())
}

// Update takes what is typed while the field is open for the session that the page shows, and what
// became of prompts; it reports whether nobody else needs the message.
func (l *Line) Update(msg tea.Msg, s *snapshot.Session) (taken bool) {
	if l == nil {
		return false
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if taken = l.Editing(s); taken {
			l.edit(func() { l.editor.Key(msg) })
		}
	case tea.PasteMsg:
		if taken = l.Editing(s); taken {
			l.edit(func() { l.editor.Insert(msg.Content) })
		}
	case backMsg:
		if delete(l.sent, msg.at); l.draft(msg.at) == "" {
			l.keep(msg.at, msg.text)
		}
	}
	return taken
}

// backMsg gives the user a text back that was not sent.
type backMsg struct {
	at   key
	text string
}

// Why says why no prompt can be typed for a session; "" if one can.
func (l *Line) Why(s *snapshot.Session) string {
	switch {
	case s == nil:
		return "no session selected"
	case l == nil || l.opt.Mode == nil || s.WhyNoPrompt() != "":
		if why := s.WhyNoPrompt(); why != "" {
			return why
		}
		return sanitize.Line(s.Agent) + snapshot.InItsTerminal
	case l.opt.Mode() == "off":
		return "prompts from here are turned off: sessions.reply"
	case s.Next.State == snapshot.NextSending, s.Next.State == snapshot.NextKept:
		return "one prompt at a time: the last one is still under way"
	}
	return ""
}

// Editing reports whether the field is open for a session.
func (l *Line) Editing(s *snapshot.Session) bool { return l != nil && s != nil && l.at == of(s) }

// Open opens the field for a session; opened is called when it is.
func (l *Line) Open(s *snapshot.Session, opened func()) tea.Cmd {
	at, untaken := of(s), s.Next
	open := func() {
		text := l.draft(at)
		if text == "" && untaken.State == snapshot.NextUntaken {
			text = untaken.Text
		}
		l.at = at
		l.editor.SetValue(text)
		opened()
	}
	if l.explained || l.opt.Mode() == "on" {
		open()
		return nil
	}
	name := sanitize.Line(s.Agent)
	return tui.Open(&tui.Confirm{
		Name: "reply", Title: "Send prompts from here?",
		Text: "What you type goes to " + name + " as your next prompt in this session, as if you had typed it in its terminal. " +
			"It is sent once, by enter in the field, and never by anything else.\n\nsessions.reply = \"off\" turns this off.",
		Choices: []tui.Choice{{Key: "y", Text: "Yes", Run: tui.Do(func() { l.explained = true; open() })}, {Key: "n", Text: "No"}},
	})
}

// Close closes the field and keeps its text.
func (l *Line) Close() {
	if l == nil || l.at == (key{}) {
		return
	}
	l.keep(l.at, l.editor.Value())
	l.at = key{}
}

// pasteGap is how soon behind other input an Enter is one of a paste that the terminal did not mark.
const pasteGap = 10 * time.Millisecond

// send sends the text to the session that the user sees, which is asked about first where it may
// do more than say something.
func (l *Line) send(s *snapshot.Session, closed func()) tea.Cmd {
	if time.Since(l.typed) < pasteGap {
		l.edit(func() { l.editor.Insert("\n") })
		return nil
	}
	text, at := l.editor.Value(), l.at
	if strings.TrimSpace(text) == "" {
		l.Close()
		closed()
		return nil
	}
	send := func() tea.Cmd {
		l.Close()
		l.sent[at] = true
		closed()
		return func() tea.Msg {
			if err := l.opt.Send(at.Machine, at.Agent, at.ID, text); err != nil {
				return tea.BatchMsg{tui.Toast(tui.Warn, err.Error()), func() tea.Msg { return backMsg{at, text} }}
			}
			return nil
		}
	}
	name, doubt := sanitize.Line(s.Agent), s.Door.Warning
	if s.Door.Commands && strings.ContainsAny(text[:1], "/!") {
		doubt = "may run this as a command, since it begins with " + text[:1]
	}
	if doubt == "" {
		return send()
	}
	return tui.Open(&tui.Confirm{
		Name: "reply", Title: "Send it to " + name + "?", Text: name + " " + doubt + ":\n\n" + sanitize.Cut(sanitize.Text(text), 400),
		Choices: []tui.Choice{{Key: "y", Text: "Send", Run: send}, {Key: "n", Text: "Back"}},
	})
}

// WhyNotBack says why no prompt of a session can be taken back; "" if one can.
func (l *Line) WhyNotBack(s *snapshot.Session) string {
	return tui.Because(l == nil || s == nil || s.Next.State != snapshot.NextKept && s.Next.State != snapshot.NextUntaken, "no prompt waits for this session")
}

// TakeBack takes it back; its text is a draft again.
func (l *Line) TakeBack(s *snapshot.Session) tea.Cmd {
	at := of(s)
	return func() tea.Msg { return backMsg{at, l.opt.TakeBack(at.Machine, at.Agent, at.ID)} }
}

// Actions are those of the open field; id begins theirs, and closed is called when the field is.
func (l *Line) Actions(id string, session func() *snapshot.Session, closed func()) []tui.Action {
	if l == nil {
		return nil
	}
	edit := func(f func()) func() tea.Cmd { return tui.Do(func() { l.edit(f) }) }
	return []tui.Action{
		{ID: id + ".reply.send", Title: "Send the prompt to the session", Hint: "send", Verb: verb.Open, Also: []verb.Verb{verb.Send}, Part: Part, InText: true, Acts: true, Sight: true, Run: func() tea.Cmd {
			return l.send(session(), closed)
		}},
		{ID: id + ".reply.close", Title: "Close the field; keep the text", Hint: "back", Verb: verb.Back, Part: Part, InText: true, Run: tui.Do(func() { l.Close(); closed() })},
		{ID: id + ".reply.break", Title: "Line break (also shift+enter and alt+enter)", Moves: true, Verb: verb.Break, Part: Part, InText: true, Run: edit(func() { l.editor.Insert("\n") })},
		{ID: id + ".reply.undo", Title: "Undo what was typed", Moves: true, Verb: verb.UndoTyping, Part: Part, InText: true, Run: edit(func() { l.editor.Undo() })},
		{ID: id + ".reply.redo", Title: "Redo what was undone", Moves: true, Verb: verb.RedoTyping, Part: Part, InText: true, Run: edit(func() { l.editor.Redo() })},
	}
}

// A text takes so many rows at most, and so many cells.
const mostRows, prose = 6, 88

// Render draws the field, or what became of the last prompt, w cells wide; x and y are where its
// first row is in the frame, if it takes as many as it returns up to the bottom of a pane of h rows.
func (l *Line) Render(f *tui.Frame, s *snapshot.Session, x, bottom, w, h int) []string {
	if l == nil || h < 4 {
		return nil
	}
	th := f.Theme
	w = min(w, prose)
	head := func(name, rest string) string { return th.Muted.Render(name) + th.Faint.Render(rest) }
	few := func(text string) []string {
		rows := widget.Wrap(sanitize.Text(strings.TrimSpace(text)), w-2)
		if len(rows) > 2 {
			rows = append(rows[:1:1], widget.Cut(rows[1], w-4)+" …")
		}
		for i := range rows {
			rows[i] = "  " + th.Text.Render(rows[i])
		}
		return rows
	}
	name := sanitize.Line(s.Agent)
	switch next := s.Next; {
	case l.Editing(s):
		l.editor.Placeholder = "your next prompt"
		text, cx, cy := l.editor.Render(th, w-2, min(max(l.editor.Rows(w-3), 1), mostRows, h-2), true)
		for i := range text {
			text[i] = "  " + text[i]
		}
		rows := append([]string{th.Accent.Render("To " + name)}, text...)
		f.Cursor(x+2+cx, bottom-len(text)+cy)
		return rows
	case next.State == snapshot.NextSending && s.State != snapshot.Idle:
		return append([]string{head("Sent", "; read after the present step")}, few(next.Text)...)
	case next.State == snapshot.NextSending:
		return append([]string{head("Sent", "")}, few(next.Text)...)
	case next.State == snapshot.NextKept:
		return append([]string{head("Next prompt", ", sent when it is idle; u undo")}, few(next.Text)...)
	case next.State == snapshot.NextUntaken:
		why := cmp.Or(next.Note, "not taken yet")
		return append([]string{th.Warn.Render(why) + th.Faint.Render("; see its terminal: J")}, few(next.Text)...)
	case l.draft(of(s)) != "":
		return append([]string{head("Draft", ", not sent; m to go on")}, few(l.draft(of(s)))...)
	}
	return nil
}
