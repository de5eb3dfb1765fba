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
		s.Has("▌ agent:", "tab complete")
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
		s.Has("2 wait for you", "codex")
		s.Keys("/")
		s.Type("status:bad")
		s.Has("status:bad: use waiting, permission")
		s.Keys("esc", "/")
		s.Type("zebra")
		s.Has("0 of 8", "No matching sessions. Esc clears the filter.")
		s.Keys("enter")
		s.Send(tui.ShowSessionMsg{Agent: "gemini", ID: "8b7a1c22"})
		s.Has("gemini · docs", "2 wait for you")
	})
}

func TestAWideScreenHasWhatElseThereIsToASession(t *testing.T) {
	show(t, frame.Size{W: 200, H: 60}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Has("Connection to the deck", "mcpdeck mcp, the socket", "─ Calls", "pencil_batch_design  hero=I(")
		s.Lacks("manage_memory") // which another agent called
		s.Keys("down")
		s.Has("is not connected to the deck")
	})
}

func TestASmallScreenNamesTheAgents(t *testing.T) {
	show(t, frame.Size{W: 40, H: 12}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Has("◆  claude    Bash rm -rf build", "◆  codex     How should")
	})
}

func TestATextIsFoundInTheDetails(t *testing.T) {
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Keys("tab", "/")
		s.Type("session")
		s.Has("/ session", "1 of 2", "enter keep")
		s.Keys("enter", "n")
		s.Has("2 of 2")
		s.Keys("tab", "down")
		s.Lacks("/ session")
	})
}

func TestASearchThatLosesTheFocusTakesNoKeys(t *testing.T) {
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Keys("tab", "/")
		s.Type("session")
		s.Click(82, 1) // 2 wait for you
		s.Has("/ status:waiting")
		s.Keys("home", "j")
		s.Has("▌ ◆ answer?")
		s.Lacks("sessionj")
	})
}
