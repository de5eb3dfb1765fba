package inbox_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// turns tells the page what the sessions in some folders do since now: "rel works", "rel waits",
// "rel done" and "rel read".
func (d *driver) turns(all ...string) {
	states := map[string]snapshot.SessionState{"works": snapshot.Working, "waits": snapshot.WaitsForPermission, "done": snapshot.Idle, "read": snapshot.Idle}
	var m tui.SessionsMsg
	for _, of := range all {
		name, state, _ := strings.Cut(of, " ")
		m.Sessions = append(m.Sessions, snapshot.Session{
			Agent: "claude", ID: name, State: states[state], Since: time.Now(), Unread: state == "done", Folder: "/src/" + name, Title: "Cut release",
		})
	}
	d.Send(m)
}

func TestALongTurnIsAnnouncedAtItsEnd(t *testing.T) {
	on := page.Notify{Done: true}
	const osc = "\x1b]9;"
	for _, tt := range []struct {
		name   string
		notify page.Notify
		focus  tea.Msg
		took   time.Duration
		want   string // "" for nothing
	}{
		{"long", on, nil, 61 * time.Second, osc + "claude · rel finished after 1 m 01 s: Cut release\x1b\\"},
		{"short", on, nil, 59 * time.Second, ""},
		{"unfocused", on, tea.BlurMsg{}, 5 * time.Minute, osc + "claude · rel finished after 5 m 00 s: Cut release\x1b\\"},
		{"focused", on, tea.FocusMsg{}, 61 * time.Second, ""},
		{"private", page.Notify{Done: true, Private: true}, nil, 61 * time.Second, osc + "claude · rel finished after 1 m 01 s\x1b\\"},
		{"whatever is announced of what waits", page.Notify{Done: true, Mode: page.NotifyTitle}, nil, 61 * time.Second, osc + "claude"},
		{"switched off", page.Notify{}, nil, 61 * time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			setup{page: page.Options{Notify: tt.notify}}.run(t, func(d *driver) {
				if tt.focus != nil {
					d.Send(tt.focus)
				}
				d.turns("rel works")
				d.Wait(tt.took - time.Second)
				d.turns("rel waits") // which is part of the turn
				d.Wait(time.Second)
				d.turns("rel done")
				d.Wait(time.Minute)
				raw := d.Raw()
				if strings.Contains(raw, osc) != (tt.want != "") || !strings.Contains(raw, tt.want) {
					t.Errorf("want %q", tt.want)
				}
				if bell := regexp.MustCompile(`\x1b\][^\x07\x1b]*\x07`).ReplaceAllString(raw, ""); strings.Contains(bell, "\a") {
					t.Error("it rang")
				}
			})
		})
	}
}

func TestTurnsThatEndTogetherAreOneNotice(t *testing.T) {
	setup{page: page.Options{Notify: page.Notify{Done: true}}}.run(t, func(d *driver) {
		notices := func() int { return strings.Count(d.Raw(), "\x1b]9;") }
		d.turns("api works", "rel works")
		d.Wait(2 * time.Minute)
		d.turns("api done", "rel works")
		d.Wait(time.Second)
		same(t, notices(), 0)
		d.turns("api done", "rel done")
		d.Wait(time.Minute)
		same(t, notices(), 1)
		if !strings.Contains(d.Raw(), "\x1b]9;2 agents finished: claude · api, claude · rel\x1b\\") {
			t.Error("it does not name both")
		}
	})
}

func TestATurnIsNotAnnouncedWhoseEndWasSeenOrIsOld(t *testing.T) {
	setup{page: page.Options{Notify: page.Notify{Done: true}}}.run(t, func(d *driver) {
		d.turns("rel done") // since before the deck
		d.turns("rel works")
		d.Wait(2 * time.Minute)
		d.turns("rel done")
		d.Wait(time.Second)
		d.turns("rel read") // in its own terminal
		d.Wait(time.Minute)
		d.turns("rel works")
		d.Wait(20 * time.Second)
		d.turns("rel done")
		d.Wait(time.Minute)
		if raw := d.Raw(); strings.Contains(raw, "\x1b]9;") {
			t.Error("it was announced")
		}
	})
}
