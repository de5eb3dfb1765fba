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
		m.guide = GuideMsg{Badge: "demo 1/7", Say: "It rains.", Try: tt.try, Idle: "It plays on its own."}
		rows := m.guideRows()
		if len(rows) != 1 || !strings.Contains(sanitize.Text(rows[0]), tt.want) {
			t.Errorf("to press %q: %q, want %q", tt.try, rows, tt.want)
		}
	}
}

func TestTheGuideIsWholeInASidePane(t *testing.T) {
	m := &stage{w: 60, h: 40, theme: theme.New(theme.Options{Dark: true})}
	m.guide = GuideMsg{Badge: "demo 6/7", Say: "All three ask to run a command: in their terminals, and here.", Try: "y allows once, n denies. If you wait, the demo denies."}
	rows := m.guideRows()
	text := strings.Join(strings.Fields(sanitize.Text(strings.Join(rows, " "))), " ")
	if want := "demo 6/7 " + m.guide.Say + " " + m.guide.Try; len(rows) != 4 || text != want {
		t.Errorf("%d rows: %q, want %q", len(rows), text, want)
	}
}
