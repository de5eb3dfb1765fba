package inbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/tui"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// made is a machine with three clients, one of which is set up.
type made struct{ planned, applied []string }

func (m *made) Clients() []tui.SetupClient {
	return []tui.SetupClient{
		{Name: "claude", Files: []string{"~/.claude.json", "~/.claude/settings.json"}},
		{Name: "codex", Files: []string{"~/.codex/config.toml"}},
		{Name: "cursor", Files: []string{"~/.cursor/mcp.json"}, SetUp: true},
	}
}

func (m *made) Plan(names []string) (tui.SetupPlan, error) {
	m.planned = names
	p := tui.SetupPlan{Question: fmt.Sprintf("Apply %d changes?", len(names)), Remarks: []string{"zed: left alone"}}
	for _, name := range names {
		f := tui.SetupFile{Path: "~/" + name, Does: []string{"adds mcpdeck to " + name}}
		for i := range 30 {
			f.Lines = append(f.Lines, fmt.Sprintf("+ line %d of %s", i+1, name))
		}
		p.Files = append(p.Files, f)
	}
	p.Apply = func() (tui.SetupDone, error) {
		m.applied = names
		return tui.SetupDone{Then: []string{"codex: restart it"}}, nil
	}
	return p, nil
}

func (m *made) Snippet() string { return `{"mcpServers": {}}` }

func TestTheFirstStartAppliesWhatIsTickedOnceAllOfItWasShown(t *testing.T) {
	m := &made{}
	setup{page: page.Options{Setup: m}}.run(t, func(d *driver) {
		d.Has("[x] claude", "~/.claude.json, ~/.claude/settings.json", "[x] codex")
		d.press(" ")
		d.Has("[ ] claude")
		d.press("wait", "enter")
		d.Has("Apply 1 changes?", "adds mcpdeck to codex", "+ line 1 of codex", "rows not shown yet")
		if !slices.Equal(m.planned, []string{"codex"}) {
			t.Errorf("planned for %q", m.planned)
		}
		d.press("wait", "y")
		if m.applied != nil {
			t.Fatal("it was applied before it was shown")
		}
		for range 5 {
			d.press("wait", "pgdown")
		}
		d.press("wait")
		d.Has("zed: left alone", "all ")
		d.press("y", "wait")
		if strings.Join(m.applied, " ") != "codex" {
			t.Errorf("applied for %q", m.applied)
		}
		d.Has("written", "codex: restart it")
	})
}
