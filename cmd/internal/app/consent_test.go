package app

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// warned is what a deck warns of about the server git.
func warned(h *App) string {
	var out []string
	for _, w := range h.Host.Snapshot().Warnings {
		if w.From == "git" {
			out = append(out, w.Text)
		}
	}
	return strings.Join(out, "\n")
}

func TestACardStartsByItselfOnlyAsTheUserHasTurnedItOn(t *testing.T) {
	git := settings.Card{Name: "git", Command: []string{"git-server", "--fast"}, Mode: "on"}
	cfg := withCards(t, git)
	h := served(t, cfg)
	if h.user.startsOn(cfg, cfg.Cards[0]) || !strings.Contains(warned(h), "it is new (runs git-server --fast)") {
		t.Errorf("a card that the user has not turned on starts; warned: %s", warned(h))
	}
	digest := cfg.Cards[0].Digest()
	for _, seen := range []string{"", "another"} {
		if _, err := h.Servers.TurnOn("git", false, seen); !errors.Is(err, snapshot.ErrNotAgreed) {
			t.Errorf("turned on by who was shown %q: %v", seen, err)
		}
	}
	if err := h.Servers.Restart("git"); !errors.Is(err, snapshot.ErrNotAgreed) {
		t.Errorf("started: %v", err)
	}
	if _, err := h.Servers.TurnOn("git", false, digest); err != nil && !strings.Contains(err.Error(), "git-server") {
		t.Error(err)
	}
	if !h.user.startsOn(cfg, cfg.Cards[0]) {
		t.Error("a card that the user has turned on does not start")
	}
	other := withCards(t, settings.Card{Name: "git", Command: []string{"other-server"}})
	other.Paths = cfg.Paths
	if h.user.startsOn(other, other.Cards[0]) || !strings.Contains(warned(h), "its settings have changed (runs other-server)") {
		t.Errorf("a card that runs something else starts; warned: %s", warned(h))
	}
	loose := cfg.Cards[0]
	loose.Pin = "off"
	if h.user.startsOn(cfg, loose) {
		t.Error("a card starts whose changes are no longer held")
	}
	if err := os.WriteFile(consentFile(cfg, "git"), []byte(loose.Digest()), 0o600); err != nil {
		t.Fatal(err)
	}
	if h.user.startsOn(cfg, loose) {
		t.Error("a card starts by what another process has written")
	}
	titled := cfg.Cards[0]
	titled.Title = "Git"
	if !h.user.startsOn(cfg, titled) {
		t.Error("another title takes the consent away")
	}
	keepMode(cfg, h.Host, "git", "off")
	titled.Mode = "last"
	if h.user.startsOn(cfg, titled) {
		t.Error("a card that was off starts")
	}
}

// A file may change between the moment in which the user is asked and that in which
// they agree.
func TestConsentIsToWhatTheUserWasAskedFor(t *testing.T) {
	cfg := withCards(t, settings.Card{Name: "git", Command: []string{"git-server"}})
	h := served(t, cfg)
	asked, err := h.Servers.Turnable("git")
	if err != nil {
		t.Fatal(err)
	}
	other := withCards(t, settings.Card{Name: "git", Command: []string{"other-server"}, Mode: "on"})
	other.Paths = cfg.Paths
	h.TakeCards(other)
	select {
	case <-asked.replaced:
	default:
		t.Error("who waits for the user is not told that there is another server")
	}
	if _, err := asked.Control(t.Context(), upstream.Request{Verb: "on"}, asked.Terms.Digest); err == nil || !strings.Contains(err.Error(), "settings changed meanwhile") {
		t.Errorf("turned on: %v", err)
	}
	if h.user.consents.terms(other.Cards[0]).Agreed {
		t.Error("the user has agreed to what they were not asked for")
	}
}
