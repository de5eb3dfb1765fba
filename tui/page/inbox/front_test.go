package inbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
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
	sizes    []frame.Size
}

func asksTwo() []questions.Request {
	return []questions.Request{fake.FrontAllow(), fake.FrontQuestion()}
}

func sizes() []frame.Size {
	return []frame.Size{{W: 40, H: 12}, {W: 60, H: 40}, {W: 80, H: 24}, {W: 110, H: 34}, {W: 200, H: 60}}
}

func scenes() []scene {
	return []scene{
		{"home", asksTwo, true, nil, sizes()},
		{"permission-59-lines", func() []questions.Request { return []questions.Request{fake.FrontLong()} }, false, []string{"enter"}, sizes()},
		{"question", func() []questions.Request { return []questions.Request{fake.FrontParts()} }, false, []string{"1", "down", "space"}, sizes()},
		{"nothing-waiting", func() []questions.Request { return nil }, true, nil, sizes()},
	}
}

// front runs the scene.
func (s scene) front(t *testing.T, size frame.Size, test func(d *driver)) {
	t.Helper()
	d := &driver{t: t}
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		d.q = questions.New(questions.Options{})
		if s.answered {
			answerAll(t, d.q)
		}
		for i, r := range s.asks() {
			if i > 0 {
				time.Sleep(29 * time.Second) // virtual
			}
			d.prompt(r)
		}
		sessions := fake.FrontSessions(time.Now())
		for i := range sessions.All {
			switch o := &sessions.All[i]; {
			case s.name == "home" || o.Unread:
				o.Unread = s.name == "nothing-waiting"
			case o.State.Waits():
				o.State = snapshot.Idle
			}
		}
		p := page.New(d.q, page.Options{Home: "/home/ana", Jump: func(questions.Request) (string, error) { return "", nil }})
		return tui.New(tui.Options{Pages: []tui.Page{p}, Background: "dark", Feeds: []tui.Feed{tui.SessionsFeed(sessions)}})
	}, func(sc *frame.Screen) {
		d.Screen = sc
		d.Wait(5 * time.Second)
		d.press(s.keys...)
		d.Wait(time.Second)
		test(d)
		_ = d.q.Close()
	})
}

// answerAll asks and answers what was answered before.
func answerAll(t *testing.T, q *questions.Queue) {
	t.Helper()
	all, labels := fake.FrontAnswered()
	for i, r := range all {
		c, err := q.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		id := q.Pending().Items[0].ID
		if err := q.Answer(id, []questions.Result{{ID: r.Questions[0].ID, SelectedOptions: []string{labels[i]}}}); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		c.Delivered(questions.Delivered)
		time.Sleep(4 * time.Minute) // virtual
	}
}

func TestTheFirstPageAtEverySize(t *testing.T) {
	for _, s := range scenes() {
		for _, size := range s.sizes {
			s.front(t, size, func(d *driver) { d.Golden(fmt.Sprintf("front-%s-%dx%d", s.name, size.W, size.H)) })
		}
	}
}

// TestAGlanceTellsWhatIsAsked is W-91: who asks what, who works, and the key that allows it are
// in the first rows and the last.
func TestAGlanceTellsWhatIsAsked(t *testing.T) {
	for _, size := range []frame.Size{{W: 80, H: 24}, {W: 60, H: 40}} {
		scenes()[0].front(t, size, func(d *driver) {
			rows := strings.Split(strings.TrimRight(d.Text(), "\n"), "\n")
			top := strings.Join(rows[:8], "\n")
			for _, want := range []string{"Needs you 2", "claude", "shop", "allow?", "rm -rf build && make all", "Working 3", "Fix the flaky auth test"} {
				if !strings.Contains(top, want) {
					t.Errorf("%v: the first rows lack %q:\n%s", size, want, top)
				}
			}
			if last := rows[len(rows)-1]; !strings.Contains(last, "y allow once") {
				t.Errorf("%v: the last row is %q", size, last)
			}
			if strings.Contains(d.Text(), "allowed once") {
				t.Errorf("%v: something is said to be allowed", size)
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
	} {
		setup{}.run(t, func(d *driver) {
			var calls []*questions.Call
			for _, r := range tt.asks {
				calls = append(calls, d.prompt(r))
			}
			d.Wait(5 * time.Second)
			d.Keys(tt.keys...)
			d.Wait(5 * time.Second)
			if !slices.Contains(ended(calls), 0) {
				t.Errorf("%s: %v do not answer it:\n%s", tt.name, tt.keys, d.Text())
			}
		})
	}
}
