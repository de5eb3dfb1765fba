package app

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
)

// served is a deck that serves the cards of a configuration and nothing else.
func served(t *testing.T, cfg *config.Config) *App {
	t.Helper()
	h := &App{Config: cfg}
	host, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.prepare()
	h.bind(host)
	h.Host.Start()
	t.Cleanup(h.Stop)
	h.TakeCards(cfg)
	return h
}

func withCards(t *testing.T, cards ...settings.Card) *config.Config {
	t.Helper()
	cfg := &config.Config{Dir: t.TempDir()}
	cfg.Paths.CardState = t.TempDir()
	for _, c := range cards {
		c, warnings, err := c.Complete(c.Name)
		if err != nil || len(warnings) > 0 {
			t.Fatal(warnings, err)
		}
		cfg.Cards = append(cfg.Cards, c)
	}
	return cfg
}

func TestTheHostFollowsTheCardsOfTheConfiguration(t *testing.T) {
	git, fetch := settings.Card{Name: "git", Command: []string{"git-server"}}, settings.Card{Name: "fetch", Command: []string{"fetch-server"}}
	h := served(t, withCards(t, git, fetch))
	first, err := h.user.find("git")
	if err != nil || !slices.Equal(h.Host.Names(), []string{"fetch", "git"}) {
		t.Fatalf("%v, %v", h.Host.Names(), err)
	}
	h.TakeCards(withCards(t, git, fetch))
	if same, _ := h.user.find("git"); same.Card != first.Card {
		t.Error("a card whose settings are the same was made anew")
	}
	git.Title = "Git"
	h.TakeCards(withCards(t, git))
	other, err := h.user.find("git")
	if err != nil || other.Card == first.Card || other.Options().Title != "Git" || !slices.Equal(h.Host.Names(), []string{"git"}) {
		t.Errorf("%v, %v", h.Host.Names(), err)
	}
	if _, err := h.user.find("fetch"); err == nil || !strings.Contains(err.Error(), "unknown server") {
		t.Errorf("one that was removed: %v", err)
	}
}

func TestWhatACardCannotDoYetItDoesNotStartWithout(t *testing.T) {
	for _, row := range []struct {
		name string
		card settings.Card
		want string
	}{
		{"a URL that is not there", settings.Card{URL: "http://127.0.0.1:1/mcp"}, "cannot be reached"},
		{"a secret that is missing", settings.Card{Command: []string{"x"}, Env: map[string]string{"KEY": "${secret:key}"}}, "it needs ${secret:key}"},
		{"no such program", settings.Card{Command: []string{"/nowhere/x"}}, "failed to start"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.card.Name = "x"
			h := served(t, withCards(t, row.card))
			c, err := h.user.find("x")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Control(t.Context(), upstream.Request{Verb: "on"}); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("turned on: %v", err)
			}
		})
	}
}

// What the settings keep from agents, they do not get. What is to be asked they do.
func TestToolsThatTheSettingsTurnOff(t *testing.T) {
	s := settings.Card{Tools: map[string]string{"push": "off", "write_*": "ask"}}
	for tool, off := range map[string]bool{"read": false, "push": true, "write_file": false} {
		if (whyOff(s, tool) != "") != off {
			t.Errorf("%s: %q", tool, whyOff(s, tool))
		}
	}
}

func TestACardIsWhatItWas(t *testing.T) {
	git := settings.Card{Name: "git", Command: []string{"git-server"}}
	cfg := withCards(t, git)
	h := served(t, cfg)
	for _, mode := range []string{"on", "off"} {
		keepMode(cfg, h.Host, "git", mode)
		if LastMode(cfg, "git") != mode {
			t.Errorf("%s was not kept", mode)
		}
	}
	if info, err := os.Stat(filepath.Join(cfg.Paths.CardState, "git", "mode")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAServerIsStartedInTheProjectOfWhoUsesIt(t *testing.T) {
	deckFolder, shop := t.TempDir(), t.TempDir()
	cfg := withCards(t, settings.Card{Name: "files", Command: []string{"serve", "${root}"}}, settings.Card{Name: "there", Command: []string{"serve"}, Cwd: deckFolder})
	cfg.Dir = deckFolder
	files, there := cfg.Cards[0], cfg.Cards[1]
	gone := filepath.Join(shop, "gone")
	for _, row := range []struct {
		name      string
		card      settings.Card
		from      upstream.From
		dir, args string
	}{
		{"the deck, for its list", files, upstream.From{}, deckFolder, deckFolder},
		{"an agent", files, upstream.From{Agent: "a", Root: shop}, shop, shop},
		{"an agent elsewhere", files, upstream.From{Agent: "a", Root: gone}, deckFolder, gone},
		{"the settings say where", there, upstream.From{Agent: "a", Root: shop}, deckFolder, ""},
		{"an agent without a project", there, upstream.From{Agent: "a"}, deckFolder, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			found, err := behindCard(cfg, row.card, row.from)
			if err != nil || found.Dir != row.dir || strings.Join(found.Args, " ") != row.args {
				t.Errorf("%v in %q, %v", found.Args, found.Dir, err)
			}
		})
	}
	if _, err := behindCard(cfg, files, upstream.From{Agent: "a"}); err == nil || err.Error() != "it needs ${root}" {
		t.Errorf("without a project: %v", err)
	}
}

// Over HTTP, a session is the agent's own in either era.
func TestHowManyAgentsShareAServer(t *testing.T) {
	for _, row := range []struct {
		card settings.Card
		want upstream.Share
	}{
		{settings.Card{Command: []string{"x"}}, upstream.ShareAuto},
		{settings.Card{URL: "https://a.example/mcp"}, upstream.ShareSession},
		{settings.Card{URL: "https://a.example/mcp", Share: "deck"}, upstream.ShareDeck},
		{settings.Card{Command: []string{"x"}, Share: "project"}, upstream.ShareProject},
	} {
		c, _, err := row.card.Complete("x")
		if err != nil || shareOf(c) != row.want {
			t.Errorf("%+v: %s, %v", row.card, shareOf(c), err)
		}
	}
}

// Where nobody is at a deck, the agent's own client can ask its user.
func TestAFormOfAServerGoesToTheAgentWithoutADeck(t *testing.T) {
	echo, err := exec.LookPath("echo-server") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	h := served(t, withCards(t, settings.Card{Name: "echo", Command: []string{echo}, Env: map[string]string{"FORM": `{"type":"object","properties":{}}`}}))
	c, err := h.user.find("echo")
	if err != nil {
		t.Fatal(err)
	}
	c.On()
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	for want, in := range map[string]upstream.Call{
		`{\"action\":\"decline\"}`: {From: upstream.From{Agent: "1"}},
		`{\"action\":\"accept\"}`: {From: upstream.From{Agent: "2", Answers: upstream.Answers{Forms: true}}, Ask: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"action":"accept"}`), nil
		}},
	} {
		in.Tool = "echo_form"
		r, err := c.Call(t.Context(), in)
		if err != nil || !strings.Contains(string(r.Raw), want) {
			t.Errorf("got %s, %v; want %s", r.Raw, err, want)
		}
	}
}
