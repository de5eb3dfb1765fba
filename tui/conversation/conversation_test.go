package conversation_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/conversation"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func newFrame(w int) *tui.Frame {
	return &tui.Frame{W: w, H: 40, Theme: theme.New(theme.Options{}), Now: noon, Focus: true}
}

func plain(rows []string) string {
	return ansi.Strip(strings.Join(rows, "\n")) + "\n"
}

// of is a session of the made-up ones: the one in a project.
func of(project string) *snapshot.Session {
	all := fake.FrontSessions(noon).All
	for i := range all {
		if strings.HasSuffix(all[i].Folder, "/"+project) {
			return &all[i]
		}
	}
	panic("no session in " + project)
}

func TestAConversationInItsRoom(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	for _, tt := range []struct {
		name, project string
		screen        int
		room          conversation.Room
	}{
		{"api-110x22", "api", 110, conversation.Room{W: 108, H: 22}},
		{"api-78x13", "api", 110, conversation.Room{W: 78, H: 13}},
		{"api-58x9", "api", 110, conversation.Room{W: 58, H: 9}},
		{"api-38x5", "api", 110, conversation.Room{W: 38, H: 5}},
		{"api-70x50", "api", 200, conversation.Room{W: 70, H: 50, Apart: true, Wide: true, File: -1}},
		{"shop-52x40", "shop", 200, conversation.Room{W: 52, H: 40, Wide: true, File: -1}},
		{"rel-58x12", "rel", 110, conversation.Room{W: 58, H: 12}},
		{"docs-whole", "docs", 110, conversation.Room{W: 58}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := conversation.Rows(newFrame(tt.screen), of(tt.project), tt.room)
			for _, row := range rows {
				if w := ansi.StringWidth(row); w > tt.room.W {
					t.Errorf("%d cells: %q", w, ansi.Strip(row))
				}
			}
			frame.Compare(t, tt.name, plain(rows))
		})
	}
}

func TestTheLatestOfASessionAtWork(t *testing.T) {
	for h := 1; h < 12; h++ {
		rows := conversation.Latest(newFrame(200), of("api"), 126, h)
		if text := plain(rows); len(rows) > h || !strings.Contains(text, "▸ 11:59  Bash") || strings.Contains(text, "The test") != (h > 1) {
			t.Errorf("%d rows of %d:\n%s", len(rows), h, text)
		}
	}
}

func TestSessionsAtWorkHavePanesAsHighAsTheyNeed(t *testing.T) {
	all, projects := []*snapshot.Session{of("api"), of("docs"), of("menu")}, []string{"api", "docs", "menu"}
	for h, want := range map[int][]int{5: nil, 6: {6}, 17: {9, 8}, 18: {6, 6, 6}, 40: {15, 14, 11}, 60: {34, 15, 11}} {
		rows := conversation.Panes(newFrame(200), all, projects, 120, h)
		var heights []int
		for _, row := range rows {
			if strings.HasPrefix(ansi.Strip(row), "─ ") {
				heights = append(heights, 0)
			}
			heights[len(heights)-1]++
		}
		if !slices.Equal(heights, want) {
			t.Errorf("%d rows are panes of %d rows:\n%s", h, heights, plain(rows))
		}
		if text := plain(rows); len(want) > 1 && !strings.Contains(text, "─ gemini · docs · Rewrite the install page ─") {
			t.Errorf("no heading:\n%s", text)
		}
	}
}

func TestTheHeadingKeepsWhoItIs(t *testing.T) {
	s := of("api")
	for w, want := range map[int]string{
		110: "━ claude · api · working ", 80: " context 61% · $0.54 ━", 60: " context 61% · $0.54 ━", 38: " $0.54 ━", 28: "━ claude · api · working ━━━",
	} {
		row := ansi.Strip(conversation.Heading(newFrame(w), s, "api", "working", true, w))
		if !strings.Contains(row, want) || ansi.StringWidth(row) != w {
			t.Errorf("%d cells: %q lacks %q", w, row, want)
		}
	}
	if row := ansi.Strip(conversation.Heading(newFrame(110), s, "api", "working", false, 110)); !strings.HasSuffix(row, " opus-4.8 · context 61% of 200k · $0.54 ─") {
		t.Errorf("%q lacks the model", row)
	}
}

func TestACallBeforeThePromptDoesNotRun(t *testing.T) {
	s := &snapshot.Session{Agent: "opencode", LastTool: "write", State: snapshot.Working, Record: &snapshot.Record{Prompt: "Go on"}}
	if got := plain(conversation.Rows(newFrame(80), s, conversation.Room{W: 40, H: 9})); strings.Contains(got, "running") || !strings.Contains(got, "write") {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsNotRecordedHasNoHeading(t *testing.T) {
	s := &snapshot.Session{Agent: "gemini", LastTool: "Read", LastSubject: "a.go", State: snapshot.Working}
	if got := plain(conversation.Rows(newFrame(80), s, conversation.Room{W: 40, H: 9})); got != "Steps\n▸ Read  a.go  running\n" {
		t.Errorf("got %q", got)
	}
	s.LastTool = ""
	if rows := conversation.Rows(newFrame(80), s, conversation.Room{W: 40, H: 9}); len(rows) > 0 {
		t.Errorf("got %q", rows)
	}
}

func TestWhatOthersWroteCannotRepaintTheScreen(t *testing.T) {
	const bad = "\x1b[2J\x1b]0;x\a\u202egood\r\x00"
	s := &snapshot.Session{Agent: "a" + bad, Model: bad, Record: &snapshot.Record{
		Prompt: bad, Said: bad, Changed: snapshot.Changed{Files: []snapshot.ChangedFile{{Path: bad}}}, Steps: []snapshot.Step{{Tool: bad, Subject: bad, Outcome: bad}},
	}}
	rows := append(conversation.Rows(newFrame(110), s, conversation.Room{W: 100}), conversation.Latest(newFrame(110), s, 100, 9)...)
	for _, row := range append(rows, conversation.Heading(newFrame(110), s, "", "", false, 100)) {
		if text := ansi.Strip(row); strings.ContainsAny(text, "\x1b\a\u202e\r\x00\n") || strings.Contains(row, "\x1b[2J") || strings.Contains(row, "\x1b]") {
			t.Errorf("%q", row)
		}
	}
}

func TestNoRowIsWiderThanItsPane(t *testing.T) {
	wide := of("api")
	wide.Record.Prompt, wide.Record.Changed.Files[0].Path = "日本語の見出し"+strings.Repeat("長", 90), strings.Repeat("路/", 80)+"a.go"
	wide.Record.Steps[len(wide.Record.Steps)-1].Subject = strings.Repeat("見出し ", 40)
	for _, screen := range []int{40, 110, 200} {
		for w := 30; w <= 130; w++ {
			f := newFrame(screen)
			rows := append(conversation.Rows(f, wide, conversation.Room{W: w, Wide: screen == 200}), conversation.Latest(f, wide, w, 20)...)
			rows = append(rows, conversation.Panes(f, []*snapshot.Session{wide}, []string{"api"}, w, 12)...)
			rows = append(rows, conversation.Heading(f, wide, "api", "working", true, w))
			for _, row := range append(rows, conversation.Details(f, wide, &snapshot.Snapshot{}, w)...) {
				if got := ansi.StringWidth(row); got > w {
					t.Fatalf("%d cells of %d: %q", got, w, ansi.Strip(row))
				}
			}
		}
	}
}
