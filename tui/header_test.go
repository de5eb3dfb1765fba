package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
)

// optional is a page that may have no tab.
type optional struct {
	*page
	filled bool
}

func (o *optional) HasTab() bool { return o.filled }

// six are the pages of the deck, by name, with badges.
func six(badges ...int) []tui.Page {
	var out []tui.Page
	for i, name := range strings.Fields("Inbox Agents Calls Servers Pixels Drift") {
		p := &page{id: strings.ToLower(name), title: name, badge: badges[i]}
		if i < 4 {
			out = append(out, p)
		} else {
			out = append(out, &optional{p, true})
		}
	}
	return out
}

func TestTabs(t *testing.T) {
	for _, tt := range []struct {
		w      int
		badges []int
		key    string
		want   string
	}{
		{200, []int{2, 0, 0, 0, 0, 0}, "I", " [Inbox ◆2]   Agents       Calls       Servers       Pixels       Drift" + strings.Repeat(" ", 121) + "mcpdeck"},
		{110, []int{0, 0, 0, 0, 2, 2}, "P", "  Inbox       Agents       Calls       Servers      [Pixels ◆2]   Drift ◆2                            mcpdeck"},
		{80, []int{2, 1, 0, 0, 0, 0}, "A", " Inbox ◆2  [Agents ◆1]  Calls      Servers      Pixels      Drift"},
		{80, []int{12, 99, 10, 10, 10, 10}, "I", "[Inbox ◆9+] Agents ◆9+  Calls ◆9+  Servers ◆9+  Pixels ◆9+  Drift ◆9+"},
		{80, []int{0, 1, 0, 0, 0, 0}, "I", "[Inbox]     Agents ◆1   Calls      Servers      Pixels      Drift"},
		{64, []int{2, 0, 0, 0, 2, 0}, "I", "[Inbox ◆2] Agents  Calls  Servers  Pixels ◆2  Drift"},
		{60, []int{2, 1, 0, 0, 2, 0}, "A", " Inbox ◆2[Agents ◆1]Calls Servers Pixels ◆2 Drift"},
		{60, []int{10, 10, 10, 10, 10, 10}, "I", "[Inbox◆9+]Agents◆9+ Calls◆9+ Servers◆9+ Pixels◆9+ Drift◆9+"},
		{56, []int{10, 10, 10, 10, 10, 10}, "I", "[Inbox◆9+]Agents◆9+ Calls◆9+ Servers◆9+ Pixels◆9+ …"},
		{40, []int{10, 10, 10, 10, 10, 10}, "D", " Inbox◆9+ Agents Calls Servers[Drift]…"},
		{40, []int{2, 1, 0, 0, 0, 2}, "D", " Inbox◆2 Agents◆1 Calls Servers[Drift]…"},
		{40, []int{2, 0, 0, 0, 0, 0}, "I", "[Inbox ◆2]Agents Calls Servers …"},
		{40, []int{0, 0, 0, 0, 0, 0}, "P", " Inbox Agents Calls Servers[Pixels]…"},
	} {
		run(t, frame.Size{W: tt.w, H: 12}, tui.Options{Pages: six(tt.badges...)}, func(s *frame.Screen) {
			s.Keys(tt.key)
			if got, _, _ := strings.Cut(s.Text(), "\n"); got != tt.want {
				t.Errorf("%d columns:\n%q, want\n%q", tt.w, got, tt.want)
			}
		})
	}
}

func TestAPageWithoutContentHasNoTabButAKey(t *testing.T) {
	pages := six(0, 0, 0, 0, 0, 0)
	drift := pages[5].(*optional)
	drift.filled = false
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: pages}, func(s *frame.Screen) {
		s.Lacks("Drift")
		s.Keys("D")
		s.Has("[Drift]")
		s.Keys("I", "[")
		s.Has("[Pixels]")
		s.Lacks("Drift")
		s.ClickOn("Servers")
		s.Has("[Servers]")
		s.Do(func() { drift.filled = true })
		s.Keys("I")
		s.Has("Drift")
	})
}

func TestTheTitleCountsWhatWaits(t *testing.T) {
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: six(2, 0, 0, 0, 0, 0)}, func(s *frame.Screen) {
		if raw := s.Raw(); !strings.Contains(raw, "\x1b]2;◆2 mcpdeck\a") {
			t.Error("the title does not count what waits")
		}
	})
}

func TestTheMoneyOfTodayIsSaid(t *testing.T) {
	var all *fake.Sessions
	frame.Run(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, func() tea.Model {
		all = fake.NewSessions(time.Now())
		return tui.New(tui.Options{Background: "dark", Feeds: []tui.Feed{tui.SessionsFeed(all)}, Pages: []tui.Page{agents.New(agents.Options{})}})
	}, func(s *frame.Screen) {
		s.Has("$3.37+ today ─")
		s.Do(func() {
			all.All = all.All[:1]
			all.Gone = 1.5
			all.Send()
		})
		s.Wait(time.Second)
		s.Has(" $3.64 today ─")
		s.Lacks("3.64+")
		s.Do(func() {
			all.All[0].Shared.Today = 1
			all.Send()
		})
		s.Wait(time.Second)
		s.Has(" $2.64 today ─")
		s.Do(func() {
			all.All, all.Gone = nil, 0
			all.Send()
		})
		s.Wait(time.Second)
		s.Lacks("today ─")
	})
}
