package inbox_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// scene is what a frame shows: what is asked, and the keys that were pressed.
type scene struct {
	name     string
	asks     func() []questions.Request
	answered bool // there are answers of today
	keys     []string
	fresh    bool   // nobody has come yet
	busy     bool   // there are more sessions
	still    bool   // marks do not turn
	machine  string // of the first request, and of the first session that works
	look     look
}

// look is how the terminal looks, and what the other tabs say.
type look struct {
	name   string
	theme  theme.Options
	light  bool
	badges int
}

// looks are all but the dark one with all colours.
func looks() []look {
	return []look{{name: "no-color", theme: theme.Options{Depth: theme.NoColor}}, {name: "light", light: true}, {name: "ascii", theme: theme.Options{ASCII: true}}}
}

func asksTwo() []questions.Request {
	return []questions.Request{fake.FrontAllow(), fake.FrontQuestion()}
}

func sizes() []frame.Size {
	return []frame.Size{{W: 40, H: 12}, {W: 60, H: 40}, {W: 80, H: 24}, {W: 110, H: 34}, {W: 200, H: 60}}
}

func scenes() []scene {
	return []scene{
		{name: "home", asks: asksTwo, answered: true},
		{name: "permission-59-lines", asks: func() []questions.Request { return []questions.Request{fake.FrontLong()} }, keys: []string{"enter"}},
		{name: "question", asks: func() []questions.Request { return []questions.Request{fake.FrontParts()} }, keys: []string{"enter", "1", "down", "space"}},
		{name: "nothing-waiting", asks: func() []questions.Request { return nil }, answered: true},
		{name: "first-start", asks: func() []questions.Request { return nil }, fresh: true, keys: []string{"down", "down", " ", "up", "up"}},
	}
}

// front runs the scene.
func (s scene) front(t *testing.T, size frame.Size, test func(d *driver)) {
	t.Helper()
	d := &driver{t: t}
	colors, background := colorprofile.TrueColor, "dark"
	if s.look.theme.Depth == theme.NoColor {
		colors = colorprofile.ASCII
	}
	if s.look.light {
		background = "light"
	}
	frame.Run(t, size, colors, func() tea.Model {
		d.q = questions.New(questions.Options{})
		if s.answered {
			if err := fake.AnswerFront(d.q, 4*time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		asks := s.asks()
		if s.machine != "" {
			asks[0].Peer.Host = s.machine
		}
		for i, r := range asks {
			if i > 0 {
				time.Sleep(29 * time.Second) // virtual
			}
			d.prompt(r)
		}
		sessions, deck := fake.FrontSessions(time.Now()), fake.NewDeck(time.Now())
		fake.FrontCalls(deck, time.Now())
		for i := range sessions.All {
			switch o := &sessions.All[i]; {
			case s.name == "home" || o.Unread:
				o.Unread = s.name == "nothing-waiting"
			case o.State.Waits():
				o.State = snapshot.Idle
			}
		}
		if i := slices.IndexFunc(sessions.All, func(o snapshot.Session) bool { return o.State == snapshot.Working }); i >= 0 {
			sessions.All[i].Machine = s.machine
		}
		opt := page.Options{Home: "/home/ana", Jump: func(questions.Request) (string, error) { return "", nil }, Setup: &made{}}
		o := tui.Options{Theme: s.look.theme, Background: background, Still: s.still}
		if s.fresh {
			o.Demo = func() tea.ExecCommand { return nil }
		} else {
			o.Deck, o.Feeds = deck, []tui.Feed{tui.SessionsFeed(sessions)}
		}
		if s.busy {
			for i := range sessions.All[:7] {
				more := sessions.All[i]
				more.ID, more.State, more.Unread, more.Folder = more.ID+"-2", snapshot.Working, false, more.Folder+"-2"
				sessions.All = append(sessions.All, more)
			}
		}
		o.Pages = fake.Tabs(page.New(d.q, opt), s.look.badges)
		return tui.New(o)
	}, func(sc *frame.Screen) {
		d.Screen = sc
		d.Wait(5 * time.Second)
		d.press(s.keys...)
		d.Wait(time.Second)
		test(d)
		_ = d.q.Close()
	})
}

func TestTheFirstPageAtEverySize(t *testing.T) {
	for _, s := range scenes() {
		for _, size := range sizes() {
			name := fmt.Sprintf("front-%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s.front(t, size, func(d *driver) { d.Golden(name) })
			})
		}
	}
	for _, size := range sizes()[1:4] {
		name := fmt.Sprintf("front-machines-%dx%d", size.W, size.H)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scene{name: "machines", asks: asksTwo, machine: "build1"}.front(t, size, func(d *driver) { d.Golden(name) })
		})
	}
	home := scenes()[0]
	home.look.badges = 12
	for _, size := range sizes()[:3] {
		name := fmt.Sprintf("front-badges-%dx%d", size.W, size.H)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home.front(t, size, func(d *driver) { d.Golden(name) })
		})
	}
}

// TestTheLookChangesNoPlace compares each frame without colours, in a light terminal and in ASCII
// with the golden one, cell by cell: only styles differ, and signs, each in one cell.
func TestTheLookChangesNoPlace(t *testing.T) {
	for _, s := range scenes() {
		for _, size := range sizes() {
			name := fmt.Sprintf("front-%s-%dx%d", s.name, size.W, size.H)
			golden, err := os.ReadFile("testdata/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(string(golden), "\n")
			for _, s.look = range looks() {
				t.Run(name+" "+s.look.name, func(t *testing.T) {
					t.Parallel()
					s.front(t, size, func(d *driver) {
						for y, got := range strings.Split(d.Text(), "\n") {
							if !placed([]rune(want[y]), []rune(got), s.look.theme.ASCII) {
								t.Errorf("row %d is\n%s\nwant\n%s", y+1, got, want[y])
							}
						}
					})
				})
			}
		}
	}
}

// placed reports whether a row says the same in the same cells as another one; in ASCII, any
// sign may stand for one of the other.
func placed(want, got []rune, ascii bool) bool {
	if len(want) != len(got) {
		return false
	}
	for i, r := range got {
		if r != want[i] && (!ascii || want[i] < utf8.RuneSelf || r >= utf8.RuneSelf) {
			return false
		}
	}
	return true
}

// TestAGlanceTellsWhatIsAsked is W-91: who asks what, who works, and the key that allows it are
// in the first rows and the last; what is asked is there also among nine, with 14 sessions.
func TestAGlanceTellsWhatIsAsked(t *testing.T) {
	home, busy := scenes()[0], scenes()[0]
	busy.busy, busy.asks = true, func() []questions.Request {
		out := asksTwo()
		for i := range 7 {
			out = append(out, fake.Permission("claude", "/home/ana/src/rel", questions.Prompt{ID: fmt.Sprint(i), Tool: "Bash", Command: fmt.Sprintf("make %d", i)}))
		}
		return out
	}
	first := []string{"claude", "shop", "allow?", "rm -rf build && make all"}
	for _, tt := range []struct {
		scene scene
		want  []string
	}{
		{home, append([]string{"Needs you 2", "Working 3", "Fix the flaky auth test"}, first...)},
		{busy, append([]string{"Needs you 9"}, first...)},
	} {
		for _, size := range []frame.Size{{W: 80, H: 24}, {W: 60, H: 40}} {
			tt.scene.front(t, size, func(d *driver) {
				rows := strings.Split(strings.TrimRight(d.Text(), "\n"), "\n")
				top := strings.Join(rows[:8], "\n")
				for _, want := range tt.want {
					if !strings.Contains(top, want) {
						t.Errorf("%v: the first rows lack %q:\n%s", size, want, top)
					}
				}
				if last := rows[len(rows)-1]; !strings.Contains(last, "y allow once") {
					t.Errorf("%v: the last row is %q", size, last)
				}
				d.Has("1 Allow once")
				d.Lacks("allowed once")
			})
		}
	}
}

// TestNoPaneOfALargeScreenIsMostlyBlank is W-22: with three agents at work, no pane is more than a
// third blank, whatever is selected: what waits, is done, works, or has its answer.
func TestNoPaneOfALargeScreenIsMostlyBlank(t *testing.T) {
	for i, items := range map[int]int{0: 11, 2: 1, 3: 10} {
		scenes()[i].front(t, frame.Size{W: 200, H: 60}, func(d *driver) {
			for range items {
				frame.Filled(t, d.Text())
				d.press("down")
				d.Wait(time.Second)
			}
		})
	}
	for _, tt := range []struct{ scene, keys string }{{"home", "n"}, {"home", "down 1"}, {"question", "down enter"}} {
		i := slices.IndexFunc(scenes(), func(s scene) bool { return s.name == tt.scene })
		scenes()[i].front(t, frame.Size{W: 200, H: 60}, func(d *driver) {
			d.press(strings.Fields(tt.keys)...)
			for range 4 { // it is on its way, and then it has its answer
				frame.Filled(t, d.Text())
				d.Wait(time.Second)
			}
		})
	}
}

// TestTheListTakesTheRowsThatSayNothing is W-22 below 160 columns: what waits does not push who works
// from the screen while there are blank rows below it.
func TestTheListTakesTheRowsThatSayNothing(t *testing.T) {
	s := scene{name: "nothing-waiting", asks: func() []questions.Request {
		return []questions.Request{fake.FrontAllow(), fake.FrontQuestion(), fake.FrontLong(), fake.FrontParts()}
	}}
	s.front(t, frame.Size{W: 80, H: 24}, func(d *driver) {
		d.Has("Needs you 4", "Done 1", "Working 3", "Rewrite the install page", "claude: \"Start", "You asked: Make", "4 Deny with a message")
		d.press("down")
		d.Has("Working 3", "You asked\n", "Three decisions first", "4 Your own answer")
		d.press("down")
		d.Has("Done 1", "lines 1–") // which are cut themselves
	})
}

// TestTextGoesBeforeTheSessionsAtWork is W-22: no text of what is selected is cut while there is a
// pane below it.
func TestTextGoesBeforeTheSessionsAtWork(t *testing.T) {
	for n := 1; n < 60; n += 6 {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprintf("line %d", i+1)
		}
		text := strings.Join(lines, "\n")
		allow, question := fake.FrontAllow(), fake.FrontQuestion()
		allow.Prompt.Command, allow.Prompt.Words = text, strings.Repeat("word ", 5*n)+"end"
		question.Questions[0].Options[0].Preview, question.Questions[0].Description = text, strings.ReplaceAll(text, "\n", "\n\n")
		for _, tt := range []struct {
			ask  questions.Request
			want []string
		}{
			{allow, []string{lines[n-1], "end", "4 Deny with a message"}},
			{question, []string{lines[n-1], "3 Session cookies"}},
		} {
			s := scenes()[0]
			s.still = true
			s.asks = func() []questions.Request { return []questions.Request{tt.ask} }
			s.front(t, frame.Size{W: 200, H: 60}, func(d *driver) {
				below := strings.Contains(d.Text(), "─ gemini · docs")
				if n < 12 && !below {
					t.Errorf("%d lines leave no room:\n%s", n, d.Text())
				}
				if below {
					d.Has(tt.want...)
				}
			})
		}
	}
}

// TestAWideScreenShowsHowAFileWasChanged is W-20: the diff stands below the names of the files, of a
// session that is selected and of one that asks.
func TestAWideScreenShowsHowAFileWasChanged(t *testing.T) {
	home, asks := scenes()[0], scenes()[0]
	home.keys = []string{"down", "down"}
	asks.asks = func() []questions.Request {
		return []questions.Request{fake.Permission("claude", "/home/ana/src/api", questions.Prompt{ID: "1", Session: "claude-api", Tool: "Bash", Command: "make"})}
	}
	for _, tt := range []struct {
		scene scene
		size  frame.Size
	}{{home, frame.Size{W: 200, H: 60}}, {asks, frame.Size{W: 200, H: 36}}} {
		tt.scene.front(t, tt.size, func(d *driver) {
			d.Has("internal/auth/token.go  1 of 2, ← → next", "now := s.clock.Now()", "▸ 00:23  Bash  go test")
			d.press("right", "right")
			d.Has("internal/auth/token_test.go  2 of 2", "s := New(fixedClock)")
			d.press("left")
			d.Has("internal/auth/token.go  1 of 2")
			d.Resize(110, 34)
			d.Lacks("1 of 2")
		})
	}
}

// TestOpeningMovesOnlyTheFocus is W-23 on a wide screen: the list stays, and so do the sessions at
// work below what is open.
func TestOpeningMovesOnlyTheFocus(t *testing.T) {
	ages := regexp.MustCompile("[0-9]+ s")
	for _, tt := range []struct {
		keys []string
		open string
	}{
		{nil, "━ claude · shop · allow? ━"},
		{[]string{"down"}, "━ codex · payments · answer? ━"},
		{[]string{"down", "down"}, "━ claude · api · working ━"},
	} {
		scenes()[0].front(t, frame.Size{W: 200, H: 60}, func(d *driver) {
			d.press(tt.keys...)
			d.Wait(time.Second)
			heads := func() (out []string) {
				for row := range strings.SplitSeq(d.Text(), "\n") {
					if _, right, _ := strings.Cut(row, "│"); strings.HasPrefix(right, "─") || strings.HasPrefix(right, "━") {
						out = append(out, ages.ReplaceAllString(strings.ReplaceAll(right, "━", "─"), ""))
					}
				}
				return out
			}
			before := heads()
			d.press("enter")
			d.Wait(time.Second)
			d.Has(tt.open, "─ Needs you 2 ─", "─ Working 3 ─")
			if after := heads(); len(before) < 3 || !slices.Equal(before, after) {
				t.Errorf("below %q the panes are\n%s\nthey were\n%s", tt.open, strings.Join(after, "\n"), strings.Join(before, "\n"))
			}
		})
	}
}

// TestFewKeysAnswer is W-92 for the first page.
func TestFewKeysAnswer(t *testing.T) {
	for _, tt := range []struct {
		name string
		asks []questions.Request
		keys []string
	}{
		{"the first permission", asksTwo(), []string{"y"}},
		{"59 lines", []questions.Request{fake.FrontLong()}, []string{"enter", "pgdown", "pgdown", "pgdown", "y"}},
		{"an option of a question", []questions.Request{fake.FrontQuestion()}, []string{"2"}},
		{"three parts", []questions.Request{fake.FrontParts()}, []string{"1", "1", "1", "enter"}},
		{"denied with a message", asksTwo(), []string{"m", "'no", "enter"}},
	} {
		setup{}.run(t, func(d *driver) {
			var calls []*questions.Call
			for _, r := range tt.asks {
				calls = append(calls, d.prompt(r))
			}
			d.Wait(5 * time.Second)
			d.press(tt.keys...)
			d.Wait(5 * time.Second)
			if !slices.Contains(ended(calls), 0) {
				t.Errorf("%s: %v do not answer it:\n%s", tt.name, tt.keys, d.Text())
			}
		})
	}
}

// TestAnAnsweredRowSaysWhatBecameOfItInPlaceOfWhatItAsked holds the words of a row until it goes.
func TestAnAnsweredRowSaysWhatBecameOfItInPlaceOfWhatItAsked(t *testing.T) {
	scenes()[0].front(t, frame.Size{W: 80, H: 24}, func(d *driver) {
		d.press("n")
		d.Has("✓ claude   shop      sent     Bash  rm -rf build", "  u undo, 2 s  ")
		d.Wait(2500 * time.Millisecond)
		d.Has("✓ claude   shop      sent: Bash")
	})
}

// TestNoHeadingOfAnswersStandsAlone holds that a list that is cut ends in a row.
func TestNoHeadingOfAnswersStandsAlone(t *testing.T) {
	for h := 18; h < 34; h++ {
		scenes()[3].front(t, frame.Size{W: 80, H: h}, func(d *driver) {
			rows := strings.Split(d.Text(), "\n")
			for i, row := range rows[:h-1] {
				if strings.HasPrefix(row, "─ Answered") && strings.HasPrefix(rows[i+1], "─ ") {
					t.Errorf("%d rows: %s\n%s", h, row, rows[i+1])
				}
			}
		})
	}
}
