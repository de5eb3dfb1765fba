package inbox_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// driver is a queue with the page on an emulated terminal.
type driver struct {
	*frame.Screen
	t    *testing.T
	q    *questions.Queue
	gate gate
}

type setup struct {
	size  frame.Size
	queue questions.Options
	page  page.Options
	first tui.Page // before the page; nil: none
	ask   []string // open before the screen
	gate  userauth.Method
}

func (s setup) run(t *testing.T, test func(d *driver)) {
	t.Helper()
	if s.size.W == 0 {
		s.size = frame.Size{W: 80, H: 24}
	}
	d := &driver{t: t}
	frame.Run(t, s.size, colorprofile.TrueColor, func() tea.Model {
		d.q = questions.New(s.queue)
		for _, raw := range s.ask {
			d.ask(raw)
		}
		if s.gate != "" {
			d.gate = gated(t, s.gate)
			s.page.Gate = d.gate
		}
		pages := []tui.Page{page.New(d.q, s.page)}
		if s.first != nil {
			pages = append([]tui.Page{s.first}, pages...)
		}
		o := tui.Options{Pages: pages, Background: "dark", Still: true, Watch: s.page.Watch, Keys: map[string][]string{
			"inbox.note": {"f6"}, "inbox.pair": {"f7"}, "inbox.other": {"o"}, "inbox.skip": {"s"}, "inbox.recommended": {"f9"}, "inbox.allrecommended": {"R"},
		}}
		if s.page.Gate != nil {
			o.Feeds = []tui.Feed{page.GateFeed(s.page.Gate)}
		}
		return tui.New(o)
	}, func(sc *frame.Screen) {
		d.Screen = sc
		if len(s.ask) > 0 {
			d.Keys("enter")
		}
		test(d)
		_ = d.q.Close()
	})
}

func (d *driver) ask(raw string) *questions.Call {
	return d.askAs(raw, "claude-code", "/home/ana/src/shop")
}

func (d *driver) askAs(raw, client, cwd string) *questions.Call {
	d.t.Helper()
	qs, err := questions.ParseQuestions(json.RawMessage(raw))
	if err != nil {
		d.t.Fatal(err)
	}
	c, err := d.q.Open(questions.Request{Questions: qs, From: questions.From{Client: client, Cwd: cwd}, Peer: questions.Peer{PID: 7, Program: client, Key: client + cwd}})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func TestDeclineReason(t *testing.T) {
	setup{ask: []string{`[{"question":"A?","options":["x","y"]}]`}}.run(t, func(d *driver) {
		d.Keys("x")
		d.Type("not now")
		d.Has("decline the whole request?", "not now")
	})
}

// The page looks at the queue between two of its feed's messages, so it may know of
// a question before it is told.
func TestAQuestionIsListedThatCameWhileThePageWasShown(t *testing.T) {
	d := &driver{t: t, q: questions.New(questions.Options{})}
	defer d.q.Close()
	p := page.New(d.q, page.Options{})
	d.ask(abc)
	p.Show()
	p.Update(p.Feed().Load())
	if p.WindowTitle() == "" || p.Badge() != 1 {
		t.Errorf("title %q, badge %d: the question is missing", p.WindowTitle(), p.Badge())
	}
}

// It may even have shown it, which is no reason to tell the user nothing.
func TestAQuestionIsAnnouncedThatThePageHasShownBeforeItWasToldOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &driver{t: t, q: questions.New(questions.Options{})}
		defer d.q.Close()
		p := page.New(d.q, page.Options{})
		p.Show()
		feed := p.Feed()
		defer feed.Stop()
		rings := func(msg tea.Msg) (rang bool) {
			for _, m := range said(p.Update(msg)) {
				rang = rang || m == tea.Msg(tea.RawMsg{Msg: "\a"})
				p.Update(m) // with which the batch ends
			}
			return rang
		}
		gone := d.ask(abc)
		told := feed.Load()
		gone.Settled("")
		d.askAs(pair, "codex", "/b")
		if !rings(told) {
			t.Error("the first one is not announced")
		}
		p.Show() // draws the list, and with it what the page knows by now
		if it := d.q.Pending().Items[0]; it.State != questions.Shown {
			t.Fatalf("it is %s", it.State)
		}
		if !rings(feed.Load()) {
			t.Error("it is not announced")
		}
	})
}

// said is what comes of a command, all it waits for as well.
func said(cmd tea.Cmd) (all []tea.Msg) {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	batch, ok := msg.(tea.BatchMsg)
	if !ok {
		return []tea.Msg{msg}
	}
	for _, c := range batch {
		all = append(all, said(c)...)
	}
	return all
}

func TestThePaletteSaysThatNothingIsOpen(t *testing.T) {
	setup{}.run(t, func(d *driver) {
		d.Keys("ctrl+p")
		d.Type("choose this")
		d.Has("not on screen")
	})
}

func TestARefusalOfAnEmptyTextGoesWhenOneTypes(t *testing.T) {
	setup{ask: []string{`[{"question":"A?","options":["x","y"]}]`}}.run(t, func(d *driver) {
		d.Keys("o", "enter")
		d.Has("type an answer, or esc")
		d.Type("z")
		d.Lacks("type an answer")
	})
}

const deletes = `[{"question":"Really?","options":["Delete everything","Keep it"]}]`

func TestNothingIsSentFromAScreenTooSmallToShowIt(t *testing.T) {
	with(t, deletes, func(d *driver, c *questions.Call) {
		d.Has("Delete everything")
		d.Resize(39, 11)
		d.press("enter", "1", "ctrl+s", "enter")
		d.Click(10, 5)
		d.Wait(time.Minute)
		d.notSent(c)
		d.Resize(80, 24)
		if a := d.first(); len(a.Chosen) > 0 {
			t.Errorf("chosen: %v", a.Chosen)
		}
	})
}

func TestNothingIsSentFromTheHelpOrThePalette(t *testing.T) {
	for _, keys := range [][]string{{"?", "enter", "enter"}, {"ctrl+p", "c", "h", "o", "o", "s", "e", "enter", "enter"}, {"?", "s", "e", "n", "d", "enter"}} {
		with(t, deletes, func(d *driver, c *questions.Call) {
			d.Quick(keys...)
			d.Wait(time.Minute)
			d.notSent(c)
			d.Has("Delete everything")
			d.Keys("enter")
			d.Wait(time.Minute)
			d.reply(c)
		})
	}
}

func bash(id, command string) questions.Request {
	return fake.Permission("claude", "/home/ann/src/api", questions.Prompt{ID: id, Tool: "Bash", Command: command})
}
