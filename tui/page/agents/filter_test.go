package agents_test

import (
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
)

func TestSessionsAreFilteredWhileTheQueryIsTyped(t *testing.T) {
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Keys("/")
		s.Has("words, agent: status:")
		s.Type("ag")
		s.Has("▌ agent:", "tab choose")
		s.Keys("tab")
		s.Type("cl")
		s.Has("/ agent:cl", "▌ agent:claude", "3 of 8")
		s.Keys("tab")
		s.Has("/ agent:claude")
		s.Lacks("▌ agent:")
		s.Type(" status:w")
		s.Has("2 of 8")
		s.Keys("tab")
		s.Has("/ agent:claude status:waiting", "1 of 8", "claude · shop")
		s.Lacks("codex")
		s.Keys("enter", "G")
		s.Has("1 of 8", "claude · shop")
		s.Keys("esc")
		s.Has("needs you 2", "codex")
		s.Keys("/")
		s.Type("status:bad")
		s.Has("status:bad: use waiting, permission")
		s.Keys("esc", "/")
		s.Type("zebra")
		s.Has("0 of 8", "No matching sessions. Esc clears the filter.")
		s.Keys("enter")
		s.Send(tui.ShowSessionMsg{Agent: "gemini", ID: "8b7a1c22"})
		s.Has("gemini · docs", "esc back")
	})
}

func TestATextIsFoundInTheDetails(t *testing.T) {
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Keys("enter", "d")
		s.Has("program     claude 2.1.330, process 4211", "LiteLLM 1.109.1")
		s.Keys("/")
		s.Type("socket")
		s.Has("/ socket", "1 of 1", "enter next")
		s.Keys("enter", "esc", "down")
		s.Lacks("/ socket")
	})
}

func TestASearchThatLosesTheFocusTakesNoKeys(t *testing.T) {
	show(t, frame.Size{W: 180, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Keys("tab", "/")
		s.Type("session")
		s.ClickOn("needs you 2")
		s.Has("/ status:waiting", "Agents 2 of 8")
		s.Keys("home", "j")
		s.Has("▌◆ codex")
		s.Lacks("sessionj")
	})
}
