package tui

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
)

func TestTheOnlyRowOfTheGuideSaysWhatToPressElseWhatHappens(t *testing.T) {
	m := &stage{w: 40, h: 12, theme: theme.New(theme.Options{Dark: true})}
	for _, tt := range []struct{ try, want string }{{"Press 6.", "Press 6."}, {"", "It rains."}} {
		m.guide = GuideMsg{Badge: "demo 1/7", Say: "It rains.", Try: tt.try, Idle: "It goes on by itself."}
		rows := m.guideRows()
		if len(rows) != 1 || !strings.Contains(sanitize.Text(rows[0]), tt.want) {
			t.Errorf("to press %q: %q, want %q", tt.try, rows, tt.want)
		}
	}
}
