package tui_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/clippy"
	"github.com/mcpdeck/mcpdeck/tui/page/drift"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
	"github.com/mcpdeck/mcpdeck/tui/page/pixels"
	"github.com/mcpdeck/mcpdeck/tui/page/servers"
)

// keeper is a page whose state is the last key.
type keeper struct {
	page
	state, restored string
}

func (k *keeper) SaveState() string     { return k.state }
func (k *keeper) LoadState(kept string) { k.restored, k.state = kept, kept }
func (k *keeper) Update(m tea.Msg) tea.Cmd {
	if key, ok := m.(tea.KeyPressMsg); ok {
		k.state = key.String()
	}
	return nil
}

// sounds are those of agents.
type sounds struct {
	clippy.Tools
	muted bool
}

func (s *sounds) Muted() bool  { return s.muted }
func (s *sounds) Mute(on bool) { s.muted = on }

func TestAPagesStateIsThereAgainInTheNextRun(t *testing.T) {
	store := words{}
	for _, r := range []struct{ restored, key, written string }{{"", "x", "x"}, {"x", "y", "y"}, {"y", "z", "z"}} {
		k := &keeper{page: page{id: "one", title: "One"}}
		run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{k}, Store: store}, func(s *frame.Screen) {
			if k.restored != r.restored {
				t.Errorf("restored %q, want %q", k.restored, r.restored)
			}
			s.Keys(r.key)
			s.Wait(2 * time.Second)
			s.Do(func() {
				if store["page.one"] != r.written {
					t.Errorf("written %q, want %q", store["page.one"], r.written)
				}
			})
		})
	}
}

func TestAPagesStateIsWrittenWhenTheUserQuits(t *testing.T) {
	for name, tt := range map[string]struct {
		agents bool // the user is asked
		keys   []string
	}{
		"at once":      {false, []string{"x", "q"}},
		"after asking": {true, []string{"x", "q", "y"}},
		"by ctrl+c":    {true, []string{"x", "ctrl+c", "ctrl+c"}},
	} {
		t.Run(name, func(t *testing.T) {
			store := words{}
			frame.Run(t, frame.Size{W: 60, H: 20}, colorprofile.TrueColor, func() tea.Model {
				o := tui.Options{Pages: []tui.Page{&keeper{page: page{id: "one", title: "One"}}}, Background: "dark", Store: store}
				if tt.agents {
					o.Deck = fake.NewDeck(time.Now())
				}
				return tui.New(o)
			}, func(s *frame.Screen) {
				s.Keys(tt.keys...)
				if !s.Ended() {
					t.Error("it goes on")
				}
			})
			if store["page.one"] != "x" {
				t.Errorf("written %q", store["page.one"])
			}
		})
	}
}

// What each page keeps, which is no filter that would hide what is new, it says again after a restart, and nothing else makes it say
// anything but what it says of itself.
func TestPagesKeepHowTheyAreLookedAt(t *testing.T) {
	d := fake.NewDeck(time.Now())
	for _, tt := range []struct {
		name string
		make func() tui.Page
		kept []string
	}{
		{"agents", func() tui.Page { return agents.New(agents.Options{}) }, []string{`{"Sort":"tokens","Turned":true,"Group":true}`}},
		{"servers", func() tui.Page { return servers.New(servers.Options{}) }, []string{`{"Sort":"Tokens","Turned":true,"Tools":{"Sort":"p95"},"Kept":{}}`, `{"Sort":"","Tools":{"Sort":"calls","Turned":true},"Kept":{"github":"2 x"}}`}},
		{"sounds", func() tui.Page {
			return inbox.New(queue(), inbox.Options{Widgets: []inbox.Widget{clippy.NewWidget(&sounds{})}})
		}, []string{`{"Widgets":{"clippy":"muted"}}`}},
		{"calls", func() tui.Page { return calls.New(calls.Options{Bodies: d}) }, []string{`{"Raw":true,"Sort":"duration"}`}},
		{"drift", func() tui.Page { return drift.New(drift.Options{}) }, []string{`{"Mode":1}`}},
		{"pixels", func() tui.Page { return pixels.New(pixels.Options{}) }, []string{`{"Zoom":8,"Ground":1,"Grid":true}`, `{"Zoom":-4,"Ground":0,"Grid":false}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, kept := range tt.kept {
				p := tt.make().(tui.StateSaver)
				if p.LoadState(kept); p.SaveState() != kept {
					t.Errorf("kept %s, want %s", p.SaveState(), kept)
				}
			}
			fresh := tt.make().(tui.StateSaver).SaveState()
			for _, bad := range []string{"", "{", "[]", `"x"`, `{"Filter":"hides what is new","Failed":true}`, `{"Zoom":1000000,"Sort":"colour","Kind":-1,"Mode":7,"Ground":99}`, `{"Sort":99}`, `{"Folds":["gone.tsx"],"Widgets":{"clippy":"loud","gone":"x"}}`, `{"Sort":-1}`} {
				p := tt.make().(tui.StateSaver)
				if p.LoadState(bad); p.SaveState() != fresh {
					t.Errorf("%s became %s", bad, p.SaveState())
				}
			}
		})
	}
}
