package sessions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestASessionThatWentToTheBackgroundHasOneRow(t *testing.T) {
	reply := func(ids ...string) (lines string) {
		for _, id := range ids {
			lines += fmt.Sprintf(`{"type":"assistant","requestId":%q,"message":{"id":%q,"role":"assistant","model":"m","usage":{"input_tokens":1,"output_tokens":1}}}`+"\n", id, id)
		}
		return lines
	}
	home := t.TempDir()
	dir := filepath.Join(home, "projects", "-src-shop")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, lines := range map[string]string{"terminal": reply("a", "b"), "job": reply("a", "b", "c"), "fork": reply("a", "d")} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	terminal := snapshot.Session{Agent: "claude", ID: "terminal", Folder: "/src/shop", State: snapshot.Idle, Silent: true, Place: snapshot.Place{TmuxPane: "%3"}, Record: &snapshot.Record{Prompt: "add a test", Said: "It is there."}}
	job := snapshot.Session{Agent: "claude", ID: "job", Folder: "/src/shop", State: snapshot.Working, Silent: true, Detached: true}
	for _, tt := range []struct {
		name   string
		change func(terminal, job *snapshot.Session)
		want   string // the rows
	}{
		{"whose terminal does not say so", func(_, _ *snapshot.Session) {}, "job"},
		{"and whose terminal would say so", func(terminal, _ *snapshot.Session) { terminal.Silent = false }, "job terminal"},
		{"and goes on in its terminal", func(terminal, _ *snapshot.Session) { terminal.State = snapshot.Working }, "job terminal"},
		{"before its terminal's last turn", func(_, job *snapshot.Session) { job.Started = job.Started.Add(-time.Hour) }, "job terminal"},
		{"in another folder", func(terminal, _ *snapshot.Session) { terminal.Folder = "/src/api" }, "job terminal"},
		{"of which the rest is elsewhere", func(_, job *snapshot.Session) { job.ID = "fork" }, "fork terminal"},
		{"whose terminal has ended", func(terminal, _ *snapshot.Session) { terminal.State, terminal.Silent = snapshot.Ended, false }, "job"},
		{"and of which another ended", func(terminal, job *snapshot.Session) { terminal.State, job.ID = snapshot.Ended, "fork" }, "fork terminal"},
		{"and has no record yet", func(terminal, job *snapshot.Session) {
			terminal.State, job.ID, job.Title = snapshot.Ended, "new", "add a…"
		}, "new"},
		{"and another has no record yet", func(terminal, job *snapshot.Session) {
			terminal.State, job.ID, job.Title = snapshot.Ended, "new", "add a page"
		}, "new terminal"},
		{"and has no record long after", func(terminal, job *snapshot.Session) {
			terminal.State, job.ID, job.Title, job.Started = snapshot.Ended, "new", "add a test", job.Started.Add(time.Hour)
		}, "new terminal"},
		{"and rests there without a record", func(_, job *snapshot.Session) { job.ID, job.Title, job.State = "new", "add a…", snapshot.Idle }, "new"},
		{"and another that rests there without a record", func(_, job *snapshot.Session) { job.ID, job.Title, job.State = "new", "add a page", snapshot.Idle }, "new terminal"},
		{"and one that was asked the same and works", func(_, job *snapshot.Session) { job.ID, job.Title = "new", "add a…" }, "new terminal"},
		{"and has ended there", func(_, job *snapshot.Session) { job.State = snapshot.Ended }, "terminal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, sessions.Options{Usage: usage.New(usage.Options{Programs: map[string]usage.Program{"claude": {Folder: home, Format: usage.Claude()}}})}, func(r *sessions.Roster) {
				terminal, job := terminal, job
				terminal.Since, job.Since, job.Started = time.Now(), time.Now(), time.Now().Add(time.Second)
				tt.change(&terminal, &job)
				r.Report(terminal)
				testwait.Pass(15 * time.Second) // its files are looked at
				r.Report(job)
				testwait.Pass(15 * time.Second)
				var rows []string
				for _, s := range r.Sessions() {
					if s.Hidden == "" {
						rows = append(rows, s.ID)
					}
				}
				slices.Sort(rows)
				if got := strings.Join(rows, " "); got != tt.want {
					t.Fatalf("the rows are %s, want %s", got, tt.want)
				}
				if at := find(r, job.ID).Place.TmuxPane; tt.want == job.ID && terminal.State != snapshot.Ended && at != "%3" {
					t.Errorf("it is in pane %q", at)
				}
				if got := find(r, job.ID).Record; tt.want == job.ID && (got == nil || got.Said != terminal.Record.Said) {
					t.Errorf("its record is %+v", got)
				}
			})
		})
	}
}
