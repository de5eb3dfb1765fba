package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	deckpage "github.com/mcpdeck/mcpdeck/tui/page/deck"
)

func header(t *testing.T, size frame.Size, test func(s *frame.Screen, d *fake.Deck, all *fake.Sessions)) {
	t.Helper()
	var d *fake.Deck
	var all *fake.Sessions
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		d, all = fake.NewDeck(time.Now()), fake.NewSessions(time.Now())
		asks := &page{id: "ask", title: "Ask", badge: 3}
		return tui.New(tui.Options{Deck: d, Background: "dark", Feeds: []tui.Feed{tui.SessionsFeed(all)}, Pages: []tui.Page{
			deckpage.New(deckpage.Options{Host: d, CallsPage: calls.ID, AgentsPage: agents.ID, AskPage: "ask"}), asks, agents.New(agents.Options{}), calls.New(calls.Options{Bodies: d}),
			&page{id: "cards", title: "Cards"}, &page{id: "pixels", title: "Pixels"}, &page{id: "drift", title: "Drift"},
		}})
	}, func(s *frame.Screen) { test(s, d, all) })
}

func TestACountOfTheHeaderShowsWhatItCounts(t *testing.T) {
	header(t, frame.Size{W: 118, H: 34}, func(s *frame.Screen, d *fake.Deck, _ *fake.Sessions) {
		s.Has("2 Ask ◆3", "4 Calls ✗2")
		if raw := s.Raw(); !strings.Contains(raw, "\x1b]2;(3) mcpdeck\a") {
			t.Error("the title does not count what waits, and that alone")
		}
		row, _, _ := strings.Cut(s.Text(), "\n")
		s.Click(len([]rune(row[:strings.Index(row, "✗2")])), 0)
		s.Has("only failed", "no memory named palette", "2 of 9 calls")
		s.Keys("!")
		s.Lacks("✗2")
		s.Keys("1")
		d.Add(snapshot.Call{AgentName: "codex", Tool: "echo", Status: snapshot.ToolError, Result: "no"})
		s.Wait(time.Second)
		s.Has("4 Calls ✗1")
		s.Keys("4")
		s.Wait(2 * time.Second)
		s.Lacks("✗1 ")
	})
}

func TestACountInARuleOfTheDeckShowsWhatItCounts(t *testing.T) {
	header(t, frame.Size{W: 118, H: 34}, func(s *frame.Screen, d *fake.Deck, _ *fake.Sessions) {
		d.Change(func(n *snapshot.Snapshot) { n.Errors = 2 })
		click := func(text string) {
			t.Helper()
			s.Has(text)
			for y, row := range strings.Split(s.Text(), "\n") {
				if at := strings.Index(row, text); at >= 0 {
					s.Click(len([]rune(row[:at])), y)
					return
				}
			}
		}
		s.Wait(time.Second)
		click("2 failed")
		s.Has("only failed", "2 of 9 calls")
		s.Keys("1")
		click("2 of 7 at work")
		s.Has("status:working", "go test ./internal/...")
		s.Lacks("rm -rf build")
		s.Keys("esc")
		click("1 idle") // so do those of the Agents page
		s.Has("status:idle", "A menu for the winter")
		s.Lacks("go test ./internal/...")
	})
}

func TestTheDeckLeadsToTheFiltersOfItsLists(t *testing.T) {
	header(t, frame.Size{W: 118, H: 34}, func(s *frame.Screen, _ *fake.Deck, _ *fake.Sessions) {
		s.Has("/ filter")
		s.Keys("/")
		s.Type("menu")
		s.Has("A menu for the winter")
		s.Lacks("go test ./internal/...")
		s.Keys("esc", "1", "tab", "/")
		s.Type("palette")
		s.Has("no memory named palette", "1 of 9 calls")
	})
}

func TestPagesWithoutNewsShrinkToDigits(t *testing.T) {
	header(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, _ *fake.Deck, _ *fake.Sessions) {
		s.Has(" 1 Deck   2 Ask ◆3   3   4 ✗2   5   6   7")
	})
}

func TestTheHeaderSaysWhatWasSpentToday(t *testing.T) {
	header(t, frame.Size{W: 118, H: 34}, func(s *frame.Screen, _ *fake.Deck, all *fake.Sessions) {
		s.Has("$3.37+ today")
		s.Do(func() {
			all.All = all.All[:1]
			all.Gone = 1.5
			all.Send()
		})
		s.Wait(time.Second)
		s.Has(" $3.64 today")
		s.Lacks("≥")
		s.Do(func() {
			all.All[0].Shared.Today = 1
			all.Send()
		})
		s.Wait(time.Second)
		s.Has(" $2.64 today")
		s.Do(func() {
			all.All, all.Gone = nil, 0
			all.Send()
		})
		s.Wait(time.Second)
		s.Lacks("today")
	})
}
