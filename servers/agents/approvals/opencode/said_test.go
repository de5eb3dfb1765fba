package opencode_test

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/opencode"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const recordedSession = "ses_df31614a2ffeSf3qJc2OCWg2Ch"

var update = flag.Bool("update", false, "write anew what the plugin says")

// saidByPlugin is what the plugin says of the events of a real session.
const saidByPlugin = "testdata/plugin-1.18.33.jsonl"

func lines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// told writes what a record says.
func told(r *snapshot.Record) string {
	if r == nil {
		return "nothing"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q\n", r.Prompt, r.Said)
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "%s %s (%s) failed=%v runs=%v\n", s.Tool, s.Subject, s.Outcome, s.Failed, s.Running)
	}
	for _, f := range r.Changed.Files {
		fmt.Fprintf(&b, "%s +%d -%d\n", f.Path, f.Added, f.Removed)
	}
	fmt.Fprintf(&b, "+%d -%d partial=%v", r.Changed.Added, r.Changed.Removed, r.Changed.Partial)
	return b.String()
}

func TestARealSessionSaysWhatWasAskedSaidAndDone(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(lines(t, saidByPlugin)...)
		all := w.roster.Sessions()
		if len(all) != 1 || all[0].ID != recordedSession || !all[0].Unread || all[0].Hidden != "" || all[0].LastTool != "edit" {
			t.Fatalf("sessions %+v", all)
		}
		const want = `"\"Mend the file\nwith care\"" "END"
read a.txt () failed=false runs=false
edit a.txt (+2 −1) failed=false runs=false
todowrite b.txt (The todowrite tool was called with invalid arguments: Schem…) failed=true runs=false
read c.txt () failed=false runs=false
todowrite c.txt (The todowrite tool was called with invalid arguments: Schem…) failed=true runs=false
bash false (exit 1) failed=true runs=false
bash echo hi () failed=false runs=false
edit a.txt (Could not find oldString in the file. It must match exactly…) failed=true runs=false
a.txt +2 -1
+2 -1 partial=false`
		if got := told(all[0].Record); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestWhatIsSaidOfASessionIsTakenApart(t *testing.T) {
	const (
		asked = `{"event":"message.user","properties":{"sessionID":"ses_1","at":1000,"messageID":"m1","text":"Mend it"}}`
		sub   = `{"event":"session.created","properties":{"sessionID":"ses_2","info":{"id":"ses_2","parentID":"ses_1"}}}`
	)
	tool := func(session, call, tool, status, more string) string {
		return fmt.Sprintf(`{"event":"message.tool","properties":{"sessionID":%q,"at":2000,"callID":%q,"tool":%q,"status":%q,"input":{"filePath":"/p/f.txt"}%s}}`, session, call, tool, status, more)
	}
	edited := `,"files":[{"file":"/p/f.txt","additions":2,"deletions":1}]`
	for _, tt := range []struct {
		name, want string
		says       []string
	}{
		{"asked", "\"Mend it\" \"\"\n+0 -0 partial=false", []string{asked, asked}},
		{"asked again by its message, which does not forget the steps", "\"Mend it\" \"\"\nread f.txt () failed=false runs=true\n+0 -0 partial=false", []string{asked, tool("ses_1", "c", "read", "running", ""), asked}},
		{"a new file", "\"\" \"\"\nwrite f.txt (+3) failed=false runs=false\nf.txt +3 -0\n+3 -0 partial=false", []string{tool("ses_1", "c", "write", "completed", `,"lines":3`)}},
		{"a file that was there", "\"\" \"\"\nwrite f.txt () failed=false runs=false\n+0 -0 partial=true", []string{tool("ses_1", "c", "write", "completed", `,"lines":3,"overwrote":true`)}},
		{"denied", "\"\" \"\"\nedit f.txt (denied) failed=true runs=false\n+0 -0 partial=false", []string{tool("ses_1", "c", "edit", "error", `,"error":"The user rejected permission to use this specific tool call."`)}},
		{"a sub-agent's edit", "\"Mend it\" \"\"\nf.txt +2 -1\n+2 -1 partial=false", []string{asked, sub, tool("ses_2", "c", "edit", "completed", edited)}},
		{"no JSON that is understood", "nothing", []string{`{"event":"message.tool","properties":{"sessionID":"ses_1","at":"x"}}`, `{"event":"message.other","properties":{"sessionID":"ses_1"}}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inDeck(t, approvals.Deps{}, func(w *world) {
				p := w.plugin()
				p.say(`{"event":"session.status","properties":{"sessionID":"ses_1","status":{"type":"busy"}}}`)
				p.say(tt.says...)
				if got := told(w.roster.Sessions()[0].Record); got != tt.want {
					t.Errorf("got\n%s\nwant\n%s", got, tt.want)
				}
			})
		})
	}
}

func TestASessionInWhichNothingWasAskedHasNoRow(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(`{"event":"session.created","properties":{"sessionID":"ses_1","info":{"id":"ses_1","title":"New session - 2026"}}}`)
		if s := w.roster.Sessions()[0]; s.Hidden == "" || s.Name() != snapshot.NoPrompt {
			t.Errorf("%+v", s)
		}
		p.say(`{"event":"session.status","properties":{"sessionID":"ses_1","status":{"type":"busy"}}}`)
		if s := w.roster.Sessions()[0]; s.Hidden != "" {
			t.Errorf("%+v", s)
		}
	})
}

// TestThePluginSaysWhatWasRecordedOfIt has the plugin take the events of a real session.
func TestThePluginSaysWhatWasRecordedOfIt(t *testing.T) {
	node := realtest.Agent(t, "node")
	dir, err := os.MkdirTemp("", "oc") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	events, err := filepath.Abs("testdata/events-1.18.33.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	use := `import { readFileSync } from "node:fs"
import { Mcpdeck } from "./plugin.mjs"
const hooks = await Mcpdeck({ client: {}, directory: "/p/api" })
await new Promise((done) => setTimeout(done, 500)) // until it is connected
for (const line of readFileSync("` + events + `", "utf8").trim().split("\n")) await hooks.event({ event: JSON.parse(line) })
await new Promise((done) => setTimeout(done, 500)) // until all is sent
`
	for name, text := range map[string][]byte{"plugin.mjs": opencode.Plugin(socket), "use.mjs": []byte("Date.now = () => 1795512990000\n" + use)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan string, 1)
	go func() {
		defer close(got)
		c, err := l.Accept()
		if err != nil {
			return
		}
		var all []string
		for s := bufio.NewScanner(c); s.Scan(); {
			all = append(all, s.Text())
		}
		got <- strings.Join(all[min(len(all), 1):], "\n") // without its hello
	}()
	c := exec.CommandContext(t.Context(), node, "use.mjs")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	says := <-got
	if *update {
		if err := os.WriteFile(saidByPlugin, []byte(says+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := strings.Join(lines(t, saidByPlugin), "\n"); says != want {
		t.Errorf("got\n%s\nwant\n%s", says, want)
	}
}
