package inbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// made is a machine with three clients.
type made struct {
	planned, applied []string
	done             bool // one is set up
}

func (m *made) Clients() []tui.SetupClient {
	return []tui.SetupClient{
		{Name: "claude", Files: []string{"~/.claude.json", "~/.claude/settings.json"}},
		{Name: "codex", Files: []string{"~/.codex/config.toml"}, Apart: true},
		{Name: "cursor", Files: []string{"~/.cursor/mcp.json"}, SetUp: m.done},
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

func (m *made) Snippet() string {
	return `{"mcpServers": {"mcpdeck": {"command": "mcpdeck", "args": ["mcp"]}}}`
}

func TestTheFirstStartAppliesWhatIsTickedOnceAllOfItWasShown(t *testing.T) {
	m := &made{}
	setup{page: page.Options{Setup: m}}.run(t, func(d *driver) {
		d.Has("[x] claude", "~/.claude.json, ~/.claude/settings.json", "[x] codex")
		d.press(" ")
		d.Has("[ ] claude")
		d.press("down", "down", " ", "up", "up")
		d.press("wait", "enter")
		d.Has("Apply 1 changes?", "~/codex  +30", "adds mcpdeck to codex", "zed: left alone", "+ line 1 of codex", "rows not shown yet")
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
		d.Has("+ line 30 of codex", "all ")
		d.press("y", "wait")
		if strings.Join(m.applied, " ") != "codex" {
			t.Errorf("applied for %q", m.applied)
		}
		d.Has("written", "codex: restart it")
	})
}

// ready is a machine on which each of some clients is connected.
type ready struct {
	made
	n int
}

func (r *ready) Clients() []tui.SetupClient {
	all := r.made.Clients()[:r.n]
	for i := range all {
		all[i].SetUp = true
	}
	return all
}

func TestNothingIsTickedWhereNothingIsLeftToConnect(t *testing.T) {
	for n, tt := range []struct{ step, why string }{
		{" 1  Install an agent, then run mcpdeck setup", "no agent was found on this machine"},
		{" ✓  Connect the agents on this machine", "every agent found here is connected"},
	} {
		setup{page: page.Options{Setup: &ready{n: n}}}.run(t, func(d *driver) {
			d.Has(tt.step)
			d.Lacks("on/off", "▌")
			d.press("enter")
			d.Has(tt.why)
		})
	}
}

// TestTheFirstStepsTickThemselves is W-83: connected, seen, answered; the first answer ends them.
func TestTheFirstStepsTickThemselves(t *testing.T) {
	for _, size := range []frame.Size{{W: 60, H: 40}, {W: 80, H: 24}, {W: 200, H: 60}} {
		setup{size: size, page: page.Options{Setup: &made{done: true}}}.run(t, func(d *driver) {
			d.Wait(time.Second)
			d.Has(" ✓  Connect the agents", " 2  Start an agent as always. It appears here.", " 3  Tell it: ", ": commands")
			s := snapshot.Session{Agent: "codex", ID: "1", State: snapshot.Idle, Folder: "/home/ana/src/shop"}
			d.Send(tui.SessionsMsg{Sessions: []snapshot.Session{s}})
			d.Has(" ✓  Start an agent as always. It appears here.   codex", " 3  Tell it: ", "[x] claude")
			s.State = snapshot.Working
			d.Send(tui.SessionsMsg{Sessions: []snapshot.Session{s}})
			d.Has("Working 1", "Welcome: three steps", " ✓  Connect the agents", " ✓  Start an agent", " 3  Tell it: ")
			d.Lacks("[x] claude", ": commands")
			for row := range strings.Lines(d.Text()) {
				if size.W == 200 && strings.Contains(row, "Tell it: ") && []rune(row)[72] != '│' {
					t.Errorf("the pane beside it does not begin where the list ends: %s", row)
				}
			}
			d.ask(abc)
			d.Wait(5 * time.Second)
			d.Has("Needs you 1", " 3  Tell it: ")
			d.Lacks("That is all")
			d.press("1")
			d.Wait(5 * time.Second)
			d.Has("That is all. ? for keys", " ✓  Tell it: ")
			d.Wait(15 * time.Second)
			d.Lacks("That is all", "Tell it: ", "three steps")
			d.Send(tui.SessionsMsg{})
			d.Lacks("three steps")
		})
	}
}

// TestASessionSaysThatItsPermissionsStayInItsTerminal is W-83, and that a command brings them.
func TestASessionSaysThatItsPermissionsStayInItsTerminal(t *testing.T) {
	m := &made{done: true}
	setup{page: page.Options{Setup: m}}.run(t, func(d *driver) {
		const line = "its permissions stay in its terminal: :setup prompts"
		s := snapshot.Session{Agent: "codex", ID: "1", State: snapshot.Working, Folder: "/home/ana/src/shop"}
		d.Send(tui.SessionsMsg{Sessions: []snapshot.Session{s}})
		d.Lacks(line)
		s.Connection = "a1"
		d.Send(tui.SessionsMsg{Sessions: []snapshot.Session{s}})
		d.Has(line)
		d.press(":", "'setup prompts", "enter", "wait")
		d.Has("Apply 2 changes?")
		if !slices.Equal(m.planned, []string{"claude", "codex"}) {
			t.Errorf("planned for %q", m.planned)
		}
	})
}
