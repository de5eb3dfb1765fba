package deck_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	deckpage "github.com/mcpdeck/mcpdeck/tui/page/deck"
)

// cards are servers that the user can turn on and off.
type cards struct{ did []string }

func (c *cards) TurnOff(name string) (string, error) {
	c.did = append(c.did, "off "+name)
	return name + " is off", nil
}

func (c *cards) TurnOn(name string, lazy bool, seen string) (string, error) {
	c.did = append(c.did, strings.TrimSpace(fmt.Sprintf("on %s %v %s", name, lazy, seen)))
	if name == "gone" {
		return "", errors.New("unknown server \"gone\"")
	}
	return name + " is on: 2 tools offered.", nil
}

func (c *cards) Restart(name string) error {
	c.did = append(c.did, "restart "+name)
	return nil
}

// withCards is the screen of a deck that has cards beside its own servers.
func withCards(t *testing.T, size frame.Size, watch bool, test func(s *frame.Screen, d *fake.Deck, c *cards)) {
	t.Helper()
	var d *fake.Deck
	c := &cards{}
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDeck(time.Now())
		d.Change(func(s *snapshot.Snapshot) {
			s.Servers = append(slices.Clone(s.Servers),
				snapshot.Server{Name: "echo", Title: "Echo", Foreign: true, State: snapshot.State{Status: snapshot.Off}},
				snapshot.Server{Name: "gone", Title: "Gone", Foreign: true, State: snapshot.State{Status: snapshot.Off}},
			)
		})
		return tui.New(tui.Options{Deck: d, Background: "dark", Watch: watch, Pages: []tui.Page{deckpage.New(deckpage.Options{Host: d, Cards: c, Watch: watch})}})
	}, func(s *frame.Screen) { test(s, d, c) })
}

func did(t *testing.T, c *cards, want ...string) {
	t.Helper()
	if !slices.Equal(c.did, want) {
		t.Errorf("did %q, want %q", c.did, want)
	}
}

func TestSpaceTurnsTheServerUnderTheCursorOnOrOff(t *testing.T) {
	withCards(t, frame.Size{W: 110, H: 34}, false, func(s *frame.Screen, d *fake.Deck, c *cards) {
		state := func(st snapshot.State) {
			d.Change(func(n *snapshot.Snapshot) {
				n.Servers = slices.Clone(n.Servers)
				n.Servers[5].State = st
			})
			s.Wait(time.Second)
		}
		s.Keys("shift+tab", "end", "up")
		s.Has("space turn on", "○ Echo                 off")
		s.Keys("space")
		did(t, c, "on echo false")
		s.Has("echo is on: 2 tools offered.")
		state(snapshot.State{Status: snapshot.Starting})
		s.Has("space turn off", "● Echo                 starting…")
		state(snapshot.State{Status: snapshot.Ready, Detail: "idle"})
		s.Has("space turn off", "● Echo                 idle", "r restart")
		state(snapshot.State{Status: snapshot.Failed, Reason: "the port is taken"})
		s.Has("space turn on", "✗ Echo        failed: the port is taken")
		state(snapshot.State{Status: snapshot.Off, Reason: "the port is taken"})
		s.Has("space turn on", "○ Echo        off  the port is taken")
		s.Keys("down", "space")
		s.Has(`unknown server "gone"`)
	})
}

func TestSpaceTurnsAServerOfTheDecksOwnOnOrOff(t *testing.T) {
	withCards(t, frame.Size{W: 110, H: 34}, false, func(s *frame.Screen, _ *fake.Deck, c *cards) {
		s.Keys("shift+tab", "down")
		s.Has("space turn off")
		s.Keys("space")
		did(t, c, "off ask")
	})
}

func TestThePaletteMakesAServerLazyAndListsItsToolsAgain(t *testing.T) {
	withCards(t, frame.Size{W: 110, H: 34}, false, func(s *frame.Screen, d *fake.Deck, c *cards) {
		s.Keys("ctrl+p", "e", "c", "h", "o", "space", "l", "a", "z", "y")
		s.Has("Make Echo lazy: agents find its tools")
		s.Keys("enter")
		s.Has("echo is on")
		d.Change(func(n *snapshot.Snapshot) {
			n.Servers = slices.Clone(n.Servers)
			n.Servers[5].State, n.Servers[5].Lazy = snapshot.State{Status: snapshot.Ready, Detail: "lazy, idle"}, true
		})
		s.Wait(time.Second)
		s.Keys("shift+tab")
		s.Has("● Echo", "lazy, idle")
		s.Keys("ctrl+p", "L", "i", "s", "t", "space", "E", "c", "h", "o")
		s.Has("List Echo's tools")
		s.Keys("enter")
		did(t, c, "on echo true", "on echo false")
	})
}

func TestADeckThatOnlyWatchesTurnsNothingOnOrOff(t *testing.T) {
	withCards(t, frame.Size{W: 110, H: 34}, true, func(s *frame.Screen, _ *fake.Deck, c *cards) {
		s.Keys("shift+tab", "end", "up", "space")
		s.Has("the deck only watches (--")
		did(t, c)
	})
}

// To restart one that the user turned on leaves it on, as the command does.
func TestRestartingACardLeavesItOn(t *testing.T) {
	withCards(t, frame.Size{W: 110, H: 34}, false, func(s *frame.Screen, d *fake.Deck, c *cards) {
		s.Keys("shift+tab", "end", "up", "r")
		s.Has("Echo is off")
		d.Change(func(n *snapshot.Snapshot) {
			n.Servers = slices.Clone(n.Servers)
			n.Servers[5].State = snapshot.State{Status: snapshot.Ready}
		})
		s.Wait(time.Second)
		s.Keys("r", "y")
		s.Has("Echo was restarted")
		did(t, c, "restart echo")
		if len(d.Restarted) > 0 {
			t.Errorf("the host restarted %q", d.Restarted)
		}
	})
}

// other is a page that notes which server it is asked to show.
type other struct {
	tui.Page
	shows string
}

func (o *other) ID() string { return "cards" }

func (o *other) Update(msg tea.Msg) tea.Cmd {
	if m, ok := msg.(tui.ShowServerMsg); ok {
		o.shows = m.Name
	}
	return nil
}

func TestEnterShowsTheCardOfTheServer(t *testing.T) {
	o := &other{Page: deckpage.New(deckpage.Options{})}
	frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
		d := fake.NewDeck(time.Now())
		return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{deckpage.New(deckpage.Options{Host: d, Cards: &cards{}, CardsPage: "cards"}), o}})
	}, func(s *frame.Screen) {
		s.Keys("shift+tab", "down", "enter")
		if o.shows != "ask" {
			t.Errorf("shown is %q", o.shows)
		}
	})
}

func TestTheCommandPaletteTurnsEachCardOnOrOff(t *testing.T) {
	withCards(t, frame.Size{W: 110, H: 34}, false, func(s *frame.Screen, d *fake.Deck, c *cards) {
		d.Change(func(n *snapshot.Snapshot) {
			n.Servers = slices.Clone(n.Servers)
			n.Servers[5].State.Status = snapshot.Ready
		})
		s.Wait(time.Second)
		s.Keys("ctrl+p")
		s.Type("turn gone")
		s.Has("Turn Gone on")
		s.Keys("esc", "ctrl+p")
		s.Type("turn echo")
		s.Has("Turn Echo off")
		s.Lacks("Turn Ask")
		s.Keys("enter")
		did(t, c, "off echo")
	})
}
