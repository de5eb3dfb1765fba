package tui_test

import (
	"errors"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

func themed(p *page) *theme.Theme {
	m, _ := p.last(func(m tea.Msg) bool { _, ok := m.(tui.ThemeMsg); return ok }).(tui.ThemeMsg)
	return m.Theme
}

func TestThePickerShowsAThemeBeforeItIsKept(t *testing.T) {
	p := &page{id: "one", title: "One"}
	kept := ""
	o := tui.Options{
		Pages: []tui.Page{p}, Background: "dark", Themes: theme.Schemes(theme.Dark(), theme.Light()), Keys: map[string][]string{"theme": {"T"}},
		KeepTheme: func(name string) (string, error) {
			if kept = name; name == "high-contrast" {
				return "", errors.New("the disk is full")
			}
			return "/state/screen.json", nil
		},
	}
	run(t, frame.Size{W: 80, H: 24}, o, func(s *frame.Screen) {
		s.Keys("T", "down", "down")
		s.Do(func() {
			if themed(p).Dark {
				t.Error("the light theme is not shown while the cursor is on it")
			}
		})
		s.Keys("esc")
		s.Lacks("high-contrast")
		s.Do(func() {
			if !themed(p).Dark || kept != "" {
				t.Errorf("after esc: dark %v, kept %q", themed(p).Dark, kept)
			}
		})
		s.Keys("T", "end", "enter")
		s.Has("theme high-contrast-light: written to", "/state/screen.json")
		s.Do(func() {
			if themed(p).Dark || kept != "high-contrast-light" {
				t.Errorf("after enter: dark %v, kept %q", themed(p).Dark, kept)
			}
		})
		s.Keys("T", "up", "up", "enter")
		s.Has("the disk is full")
	})
}

func TestTheThemeThatWasPickedIsThereAgain(t *testing.T) {
	for _, tt := range []struct {
		name, kept, configured string
		dark                   bool
	}{
		{"nothing", "", "", true},
		{"picked", "light", "", false},
		{"the configuration has another", "light", "high-contrast", true},
		{"one that is gone", "mine", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &page{id: "one", title: "One"}
			all := theme.Schemes(theme.Dark(), theme.Light())
			o := tui.Options{Pages: []tui.Page{p}, Background: "dark", Themes: all, Store: words{"theme": tt.kept}}
			for _, s := range all {
				if s.Name == tt.configured {
					o.Theme.Scheme = s
				}
			}
			run(t, frame.Size{W: 80, H: 24}, o, func(s *frame.Screen) {
				s.Do(func() {
					if themed(p).Dark != tt.dark {
						t.Errorf("dark %v", themed(p).Dark)
					}
				})
			})
		})
	}
}

// words is a store in memory.
type words map[string]string

func (w words) Get(key string) string       { return w[key] }
func (w words) Put(key, value string) error { w[key] = value; return nil }

func TestThePickersScreen(t *testing.T) {
	for name, keys := range map[string][]string{"themes-80x24": {"f9"}, "themes-high-contrast-80x24": {"f9", "down", "down", "down"}} {
		t.Run(name, func(t *testing.T) {
			frame.Run(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, func() tea.Model {
				d := fake.NewDeck(time.Now())
				return tui.New(tui.Options{
					Deck: d, Background: "dark", Themes: theme.Schemes(theme.Dark(), theme.Light()), Keys: map[string][]string{"theme": {"f9"}},
					Pages: []tui.Page{inbox.New(queue(), inbox.Options{CallsPage: "calls"}), calls.New(calls.Options{Bodies: d})},
				})
			}, func(s *frame.Screen) {
				s.Quick(keys...)
				s.Golden(name)
			})
		})
	}
}

func TestThePickerWarnsOfColoursThatAreHardToRead(t *testing.T) {
	weak := theme.Palette{Good: "#223322", Info: "#222233"}
	o := tui.Options{
		Pages: []tui.Page{&page{id: "one", title: "One"}}, Background: "dark", Keys: map[string][]string{"theme": {"T"}},
		Themes: append(theme.Schemes(theme.Dark(), theme.Light()), theme.Scheme{Name: "mine", Dark: &weak}),
	}
	run(t, frame.Size{W: 80, H: 24}, o, func(s *frame.Screen) {
		s.Keys("T")
		s.Lacks("hard to read")
		s.Keys("end")
		s.Has("! good #223322 is hard to read on", "and 1 more")
		s.Keys("home")
		s.Lacks("hard to read")
	})
}
