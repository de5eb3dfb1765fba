package inbox_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// home is a first page with nothing on it but, maybe, a text field.
type home struct{ text bool }

func (h *home) ID() string                 { return "home" }
func (h *home) Title() string              { return "Home" }
func (h *home) Badge() int                 { return 0 }
func (h *home) Actions() []tui.Action      { return nil }
func (h *home) Part() string               { return "" }
func (h *home) TextEntry() bool            { return h.text }
func (h *home) Update(tea.Msg) tea.Cmd     { return nil }
func (h *home) Render(*tui.Frame) []string { return []string{"this is home"} }
func (h *home) Show() tea.Cmd              { return nil }
func (h *home) Hide()                      {}

func TestTypedTextIsWarnedOf(t *testing.T) {
	with(t, abc, func(d *driver, c *questions.Call) {
		d.press("o", "'my own", "esc", "1")
		d.Has("will not be sent")
		d.notSent(c)
		d.Keys("1")
		same(t, d.reply(c).Results, one([]string{"A"}, ""))
	})
	with(t, abc, func(d *driver, c *questions.Call) {
		d.press("o", "'my own", "esc", "home", "enter", "o", "enter")
		same(t, d.reply(c).Results, one(nil, "my own"))
	})
	with(t, pair, func(d *driver, _ *questions.Call) {
		d.press("o", "'my own", "esc", "1", "1", "2")
		d.Has("your text is not sent")
	})
}

func TestNumberOfChoicesIsLimited(t *testing.T) {
	raw := `[{"id":"a","question":"?","multi":true,"options":["A","B","C"],"minSelect":2,"maxSelect":2}]`
	with(t, raw, func(d *driver, c *questions.Call) {
		d.Keys("1", "enter")
		d.Has("choose at least 2")
		d.Keys("2", "3", "enter")
		d.Has("choose at most 2")
		d.notSent(c)
		d.Keys("1", "enter")
		same(t, d.reply(c).Results, one([]string{"B", "C"}, ""))
	})
}

func TestOnlyXDeclines(t *testing.T) {
	with(t, pair, func(d *driver, c *questions.Call) {
		d.press("f6", "'n", "esc", "esc", "esc", "enter", "x", "esc", "esc")
		d.notSent(c)
		same(t, d.first().Notes[0], "n")
		d.press("enter", "x", "'no time", "enter")
		r := d.reply(c)
		same(t, []any{r.Status, r.Reason}, []any{questions.Declined, "no time"})
	})
}

func TestWideSpaceChooses(t *testing.T) {
	with(t, several, func(d *driver, _ *questions.Call) {
		d.Type("\u3000")
		same(t, d.first().Chosen, []int{0})
	})
}

func TestClickChoosesAndNeverSends(t *testing.T) {
	with(t, pair, func(d *driver, c *questions.Call) {
		at := func(text string) (int, int) {
			for y, l := range strings.Split(d.Text(), "\n") {
				if i := strings.Index(l, text); i >= 0 {
					return len([]rune(l[:i])), y
				}
			}
			t.Fatalf("no %q:\n%s", text, d.Text())
			return 0, 0
		}
		d.Click(at("2 B"))
		same(t, d.first().Chosen, []int{1})
		d.Click(at("b  "))
		d.Has("Second?")
		d.Click(at("1 C"))
		d.Click(at("Review"))
		d.Has("enter sends these answers", "enter send")
		d.notSent(c)
	})
}

func TestKeysAreTextInAField(t *testing.T) {
	with(t, pair, func(d *driver, c *questions.Call) {
		d.press("f6", "'1 x s [ z q ?", "left", "right")
		same(t, d.first().Notes[0], "1 x s [ z q ?")
		d.notSent(c)
	})
}

func TestPasteIsTextAndNeverAKey(t *testing.T) {
	with(t, pair, func(d *driver, c *questions.Call) {
		d.Send(tea.PasteMsg{Content: "1\r\nx\r\n"})
		same(t, len(d.first().Chosen), 0)
		d.Keys("f6")
		d.Send(tea.PasteMsg{Content: "a\r\nb\x1b[31m\rc"})
		same(t, d.first().Notes[0], "a\nb[31m\nc")
		d.Send(frame.Key("d"), frame.Key("enter"), frame.Key("e")) // an unmarked paste
		same(t, d.first().Notes[0], "a\nb[31m\ncd\ne")
		d.notSent(c)
	})
}

func TestCountdownToTheDeadline(t *testing.T) {
	setup{}.run(t, func(d *driver) {
		r := questions.Request{From: questions.From{Client: "codex"}, ClientDeadline: 6 * time.Minute}
		r.Questions, _ = questions.ParseQuestions([]byte(abc))
		if _, err := d.q.Open(r); err != nil {
			t.Fatal(err)
		}
		d.Wait(5 * time.Second)
		d.Lacks("gives up")
		d.Wait(2 * time.Minute)
		d.Has("codex gives up in 3:5")
		d.Wait(3*time.Minute + 18*time.Second)
		d.Has("codex gives up in 0:3")
	})
}

func TestANewRequestBringsThePageOnlyIfItFollowsTheInbox(t *testing.T) {
	for _, tt := range []struct {
		name                string
		follow, text, shown bool
	}{
		{"as it comes", false, false, false},
		{"it follows", true, false, true},
		{"a text field is open", true, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			setup{first: &home{text: tt.text}, page: page.Options{Follow: tt.follow}}.run(t, func(d *driver) {
				d.Wait(5 * time.Second)
				d.ask(abc)
				d.Wait(time.Second)
				if got := strings.Contains(d.Text(), "Needs you"); got != tt.shown {
					t.Errorf("shown is %v:\n%s", got, d.Text())
				}
			})
		})
	}
	t.Run("never over an open request", func(t *testing.T) {
		with(t, pair, func(d *driver, _ *questions.Call) {
			d.Wait(time.Minute)
			d.askAs(abc, "codex", "/b")
			d.Wait(5 * time.Minute)
			d.Has("First?")
			d.Lacks("Which?")
		})
	})
}

func TestGuardAfterSending(t *testing.T) {
	setup{ask: []string{abc, pair}}.run(t, func(d *driver) {
		d.Wait(5 * time.Second)
		d.Quick("enter", "enter", "x")
		d.Has("First?")
		it, _ := d.q.Pending().Item(2)
		same(t, []any{it.Draft.Field, it.Draft.Tab, len(it.Draft.Answers[0].Chosen)}, []any{questions.NoField, 0, 0})
	})
}

func TestQuitAsksWhileQuestionsWait(t *testing.T) {
	with(t, abc, func(d *driver, c *questions.Call) {
		d.Keys("q")
		d.Has("Quit mcpdeck?", "keep the questions")
		d.Keys("s")
		d.notSent(c)
		d.Keys("q", "d")
		same(t, d.reply(c).Status, questions.Declined)
	})
}

func TestHistoryOfAnswers(t *testing.T) {
	with(t, abc, func(d *driver, c *questions.Call) {
		d.press("f6", "'because", "enter", "enter")
		d.reply(c)
		c.Delivered(questions.Delivered)
		d.ask(`[{"question":"Another thing?"}]`).Leave("gone")
		d.Wait(time.Second)
		d.Keys("esc", "esc", "H")
		d.Has("Which?", "Another thing?", "withdrawn")
		d.press("/", "'which", "enter")
		d.Lacks("Another thing?")
		d.Has("A - because")
		d.Keys("c")
		d.Has("copied question and answer")
		if !strings.Contains(d.Raw(), "\x1b]52;c;") {
			t.Error("nothing went to the clipboard")
		}
		d.Keys("esc")
	})
}

func TestAnEmptyHistorySaysWhy(t *testing.T) {
	with(t, abc, func(d *driver, _ *questions.Call) {
		d.Keys("esc", "H")
		d.Has("no answered questions yet")
		d.press("/", "'which")
		d.Has("no matching questions")
	})
}

func TestHistoryGivesWayToWhatWaits(t *testing.T) {
	setup{first: &home{}, page: page.Options{}}.run(t, func(d *driver) {
		d.Keys("alt+i", "H", "/", "'x", "alt+h")
		d.ask(`[{"question":"Another thing?"}]`)
		d.Wait(time.Second)
		d.Keys("alt+i")
		d.Has("Another thing?")
		d.Lacks("Answered before")
	})
}

func TestUndoKey(t *testing.T) {
	with(t, abc, func(d *driver, c *questions.Call) {
		d.Keys("2")
		d.Has("sent to claude", "u undo")
		d.Keys("u")
		d.Has("taken back", "(•) 2 B")
		d.notSent(c)
		d.Keys("enter")
		same(t, d.reply(c).Results, one([]string{"B"}, ""))
	})
}

func TestDeclineIsConfirmed(t *testing.T) {
	with(t, pair, func(d *driver, c *questions.Call) {
		d.Keys("space", "x")
		d.Has("decline the whole request?")
		d.notSent(c)
	})
}

func TestSnoozeSkipAndAskBack(t *testing.T) {
	with(t, pair, func(d *driver, c *questions.Call) {
		d.Keys("z", "1")
		d.Has("back in 10 minutes", "back in 10 m")
		d.Wait(11 * time.Minute)
		d.press("enter", "s", "m", "'which one is cheaper?", "enter", "enter")
		r := d.reply(c)
		same(t, r.Status, questions.Partial)
		same(t, r.Results, []questions.Result{
			{ID: "a", SelectedOptions: []string{}, Skipped: true},
			{ID: "b", SelectedOptions: []string{}, Clarify: "which one is cheaper?"},
		})
	})
}

func TestConfirmKeys(t *testing.T) {
	got := play(t, `[{"id":"a","question":"Drop it?","kind":"confirm"}]`, "n")
	same(t, got, one([]string{"No"}, ""))
}

func TestDraftCursorAndTabAreBack(t *testing.T) {
	dir := t.TempDir()
	opt := questions.Options{StateFile: filepath.Join(dir, "state.json")}
	r := questions.Request{ResumeKey: "k", From: questions.From{Client: "claude-code"}}
	r.Questions, _ = questions.ParseQuestions([]byte(pair))
	setup{queue: opt}.run(t, func(d *driver) {
		if _, err := d.q.Open(r); err != nil {
			t.Fatal(err)
		}
		d.Wait(5 * time.Second)
		d.press("enter", "1", "down", "f6", "'half a note", "left", "left")
		d.Wait(time.Second)
	})
	setup{queue: opt}.run(t, func(d *driver) {
		c, err := d.q.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		d.Wait(time.Second)
		d.Has("Second?", "( ) 2 D", "┃ half a note")
		d.Type("X")
		d.press("enter", "enter", "enter")
		same(t, d.reply(c).Results[1].Notes, map[string]string{"D": "half a noXte"})
	})
}

func TestEveryPageFitsEverySize(t *testing.T) {
	setup{size: frame.Size{W: 110, H: 34}, ask: []string{shop, previews, long(30, 20)}}.run(t, func(d *driver) {
		d.press("f6", "'a note with some words that needs more than one row of a narrow window")
		for _, size := range [][2]int{{110, 34}, {80, 24}, {79, 9}, {40, 12}, {41, 40}, {30, 10}, {24, 8}, {10, 3}, {200, 60}} {
			d.Resize(size[0], size[1])
			rows := strings.Split(strings.TrimSuffix(d.Text(), "\n"), "\n")
			if len(rows) != size[1] {
				t.Errorf("%v: %d rows", size, len(rows))
			}
		}
	})
}

func TestWhoAsksIsShown(t *testing.T) {
	setup{}.run(t, func(d *driver) {
		r := questions.Request{From: questions.From{Client: "claude-code", Agent: "reviewer", Cwd: "/x/claimed"}, Peer: questions.Peer{}}
		r.Questions, _ = questions.ParseQuestions([]byte(abc))
		_, _ = d.q.Open(r)
		d.Wait(5 * time.Second)
		d.Has("claude", "reviewer", "claimed", "unverified")
	})
}

func TestDrawingRules(t *testing.T) {
	wide := frame.Size{W: 110, H: 34}
	tests := []struct {
		name  string
		size  frame.Size
		ask   string
		keys  []string
		has   []string
		lacks []string
	}{
		{"too small says how many wait", frame.Size{W: 30, H: 8}, abc, nil, []string{"40", "1 waiting"}, []string{"Which?"}},
		{"options before the description", frame.Size{W: 60, H: 14}, long(50, 5), nil, []string{"option 01", "option 05"}, nil},
		{"hidden rows are counted", frame.Size{W: 60, H: 14}, long(50, 12), nil, []string{"↓"}, nil},
		{"reader", frame.Size{W: 60, H: 14}, long(6, 5), []string{"d"}, []string{"about", "back"}, nil},
		{"the edited row is seen", frame.Size{W: 60, H: 14}, long(50, 12), []string{"down", "down", "f6", "'noted"}, []string{"option 03", "┃ noted"}, nil},
		{"tabs that do not fit", frame.Size{W: 40, H: 14}, "[" + strings.TrimSuffix(strings.Repeat(`{"header":"a long header","question":"?","options":["A"]},`, 7), ",") + "]", []string{"right", "right", "right"}, []string{"‹", "›"}, nil},
		{"descriptions of all if they fit", wide, shop, nil, []string{"one login page", "a key per device", "needs the web view"}, nil},
		{"else the description under the cursor", frame.Size{W: 60, H: 12}, shop, []string{"down"}, []string{"a key per device"}, []string{"one login page"}},
		{"preview beside", wide, previews, nil, []string{"preview", "| nav | a  |"}, nil},
		{"preview below", frame.Size{W: 60, H: 24}, previews, []string{"v"}, []string{"| nav | a  |"}, nil},
		{"marks of a single choice", wide, abc, []string{"space", "down"}, []string{"(•) 1 A", "▌( ) 2 B"}, nil},
		{"marks of several", wide, several, []string{"space"}, []string{"▌[x] 1 JWT", "[ ] 2 Session"}, nil},
		{"the last row is free text", wide, abc, []string{"end", "down", "down"}, []string{"▌( ) 4 Your own answer"}, nil},
		{"no free text if it is not allowed", wide, `[{"question":"?","options":["A","B"],"allowOther":false}]`, nil, []string{"2 B"}, []string{"Your own answer"}},
		{"digits in review go to a question", wide, pair, []string{"left", "2"}, []string{"Second?"}, nil},
		{"a note stays when the option is unchosen", wide, several, []string{"f6", "'kept", "enter", "space"}, []string{"[ ] 1 JWT — kept"}, nil},
		{"nothing of another width", wide, shop, nil, []string{"Auth"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sized(t, tt.size, tt.ask, func(d *driver, _ *questions.Call) {
				d.press(tt.keys...)
				d.Has(tt.has...)
				d.Lacks(tt.lacks...)
			})
		})
	}
}

func TestListOfQuestions(t *testing.T) {
	setup{first: &home{}, page: page.Options{}}.run(t, func(d *driver) {
		d.askAs(pair, "claude-code", "/src/shop")
		d.askAs(abc, "codex", "/src/menu")
		d.askAs(sessions, "claude-code", "/src/shop")
		d.askAs(several, "codex", "/src/menu").Leave("gone")
		d.Wait(time.Second)
		d.Has("Inbox ◆3")
		d.Keys("I", "g", "enter", "space", "esc")
		d.Has("claude shop", "codex  menu", "1 of 2", "draft", "no agent is waiting")
		d.Keys("down", "down", "down")
		d.Has("no agent is waiting for this")
		d.Keys("x")
		d.Lacks("no agent is waiting")
	})
}

func TestAgentHasGoneOn(t *testing.T) {
	with(t, abc, func(d *driver, _ *questions.Call) {
		d.Lacks("has gone on")
		d.Wait(2 * time.Minute)
		d.Keys("down")
		d.Has("the agent moved on; it still gets your answer")
	})
}

func BenchmarkHundredPending(b *testing.B) {
	q := questions.New(questions.Options{})
	defer q.Close()
	qs, err := questions.ParseQuestions([]byte(shop))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 100 {
		if _, err := q.Open(questions.Request{Questions: qs, From: questions.From{Client: fmt.Sprint("agent ", i%20)}, Peer: questions.Peer{PID: 1 + i%20, Program: "x"}}); err != nil {
			b.Fatal(err)
		}
	}
	m := tui.New(tui.Options{Pages: []tui.Page{page.New(q, page.Options{})}, Background: "dark"})
	defer m.Close()
	m.Init()
	m.Update(tea.WindowSizeMsg{Width: 110, Height: 34})
	for b.Loop() {
		m.Update(frame.Key("down"))
		m.View()
		m.Update(frame.Key("esc"))
		m.View()
		m.Update(frame.Key("enter"))
		m.View()
	}
}

func TestADigitForAnotherPageDoesNotAnswerWhatHasJustCome(t *testing.T) {
	setup{first: &home{}, page: page.Options{Follow: true}}.run(t, func(d *driver) {
		d.Wait(5 * time.Second)
		c := d.ask(abc)
		d.Wait(100 * time.Millisecond)
		d.Quick("2")
		d.Has("just arrived")
		d.Lacks("u undo")
		d.Keys("2")
		d.Has("u undo")
		d.reply(c)
	})
}

func TestWatchingChangesNothing(t *testing.T) {
	setup{page: page.Options{Watch: true}}.run(t, func(d *driver) {
		d.ask(`[{"question":"Name?"}]`)
		d.Wait(5 * time.Second)
		d.Has("Name?")
		d.press("'text")
		if it := d.q.Pending().Items[0]; !it.Draft.Empty() || it.Draft.Field != questions.NoField {
			t.Errorf("%+v", it.Draft)
		}
	})
}
