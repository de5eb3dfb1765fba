package main

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/card/settings"
)

// warned is what an instance warns of about the server git.
func warned(h *instance) string {
	var out []string
	for _, w := range h.host.Snapshot().Warnings {
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
	if h.startsOn(cfg, cfg.Cards[0]) || !strings.Contains(warned(h), "what it runs is new (runs git-server --fast)") {
		t.Errorf("a card that the user has not turned on starts; warned: %s", warned(h))
	}
	h.keepMode("git", "on") // as by the command or a key
	if !h.startsOn(cfg, cfg.Cards[0]) {
		t.Error("a card that the user has turned on does not start")
	}
	other := withCards(t, settings.Card{Name: "git", Command: []string{"other-server"}})
	other.Paths = cfg.Paths
	if h.startsOn(other, other.Cards[0]) || !strings.Contains(warned(h), "what it runs has changed (runs other-server)") {
		t.Errorf("a card that runs something else starts; warned: %s", warned(h))
	}
	titled := cfg.Cards[0]
	titled.Title = "Git"
	if !h.startsOn(cfg, titled) {
		t.Error("another title takes the consent away")
	}
	h.keepMode("git", "off")
	titled.Mode = "last"
	if h.startsOn(cfg, titled) {
		t.Error("a card that was off starts")
	}
}
