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
	"github.com/mcpdeck/mcpdeck/servers/agents/contract"
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
		fmt.Fprintf(&b, "%s +%d -%d\n%s", f.Path, f.Added, f.Removed, f.Diff)
	}
	fmt.Fprintf(&b, "+%d -%d partial=%v", r.Changed.Added, r.Changed.Removed, r.Changed.Partial)
	return b.String()
}

// recordedWork is what the record of the real session says.
const recordedWork = `"\"Mend the file\nwith care\"" "END"
read a.txt () failed=false runs=false
edit a.txt (+2 −1) failed=false runs=false
todowrite b.txt (The todowrite tool was called with invalid arguments: Schem…) failed=true runs=false
read c.txt () failed=false runs=false
todowrite c.txt (The todowrite tool was called with invalid arguments: Schem…) failed=true runs=false
bash false (exit 1) failed=true runs=false
bash echo hi () failed=false runs=false
edit a.txt (Could not find oldString in the file. It must match exactly…) failed=true runs=false
a.txt +2 -1
@@ -1,3 +1,4 @@
 one
-two
+2
+2b
 three
+2 -1 partial=false`

func TestARealSessionSaysWhatWasAskedSaidAndDone(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(lines(t, saidByPlugin)...)
		all := w.roster.Sessions()
		if len(all) != 1 || all[0].ID != recordedSession || !all[0].Unread || all[0].Hidden != "" || all[0].LastTool != "edit" {
			t.Fatalf("sessions %+v", all)
		}
		if got := told(all[0].Record); got != recordedWork {
			t.Errorf("got\n%s\nwant\n%s", got, recordedWork)
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
		{
			"a file that was there, and what was in it", "\"\" \"\"\nwrite f.txt (+1 −1) failed=false runs=false\nf.txt +1 -1\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n+1 -1 partial=false",
			[]string{tool("ses_1", "c", "write", "completed", `,"lines":2,"overwrote":true,"before":"a\nb\n","content":"a\nc\n"`)},
		},
		{
			"a patch", "\"\" \"\"\nedit f.txt (+2 −1) failed=false runs=false\nf.txt +2 -1\n@@ -1 +1,2 @@\n-b\n+c\n+d\n+2 -1 partial=false",
			[]string{tool("ses_1", "c", "edit", "completed", `,"files":[{"file":"/p/f.txt","additions":2,"deletions":1,"patch":"--- f\n+++ f\n@@ -1 +1,2 @@\n-b\n+c\n+d\n"}]`)},
		},
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

// pluginSays runs the plugin in a process of node that then does some work, and returns what it
// says after its hello. events and connected are of use there.
func pluginSays(t *testing.T, work string) (all []string) {
	t.Helper()
	node := realtest.Agent(t, "node")
	dir, err := os.MkdirTemp("", "oc") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	wrote, err := contract.Find("opencode-1.18.33-conversation")
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
Date.now = () => 946684000000
const hooks = await Mcpdeck({ client: {}, directory: "/p/api" })
const event = (type, properties) => hooks.event({ event: { type, properties } })
const events = readFileSync("events.jsonl", "utf8").trim().split("\n").map((line) => JSON.parse(line))
const connected = () => new Promise((done) => setTimeout(done, 500))
` + work + `
await connected() // until all is sent
`
	for name, text := range map[string][]byte{"events.jsonl": wrote.Text(), "plugin.mjs": opencode.Agent().Plugin.File(socket, ""), "use.mjs": []byte(use)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan []string, 1)
	go func() {
		defer close(got)
		c, err := l.Accept()
		if err != nil {
			return
		}
		var all []string
		in := bufio.NewScanner(c)
		for in.Buffer(nil, 1<<20); in.Scan(); {
			all = append(all, in.Text())
		}
		got <- all[min(len(all), 1):] // without its hello
	}()
	c := exec.CommandContext(t.Context(), node, "use.mjs")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	return <-got
}

// TestThePluginSaysWhatWasRecordedOfIt has the plugin take the events of a real session.
func TestThePluginSaysWhatWasRecordedOfIt(t *testing.T) {
	says := strings.Join(pluginSays(t, `await connected()
for (const event of events) await hooks.event({ event })`), "\n")
	if *update {
		if err := os.WriteFile(saidByPlugin, []byte(says+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := strings.Join(lines(t, saidByPlugin), "\n"); says != want {
		t.Errorf("got\n%s\nwant\n%s", says, want)
	}
}

// TestADeckThatComesLaterIsToldWhatWasAskedSaidAndDone has everything happen before the plugin is
// connected.
func TestADeckThatComesLaterIsToldWhatWasAskedSaidAndDone(t *testing.T) {
	const much = `await event("session.status", { sessionID: "ses_1", status: { type: "busy" } })
for (const role of ["user", "assistant"]) await event("message.updated", { info: { id: role, role } })
const part = (part) => event("message.part.updated", { part: { sessionID: "ses_1", ...part } })
await part({ type: "text", messageID: "user", text: "Write much" })
for (let i = 0; i < 100; i++) await part({ type: "tool", callID: "c" + i, tool: "write", state: { status: "completed", input: { filePath: "/p/" + i, content: "x\n".repeat(4000) } } })
await part({ type: "text", messageID: "assistant", text: "Much is written", time: { end: 1 } })
await event("message.updated", { info: { id: "compaction", role: "assistant", summary: true } })
await part({ type: "text", messageID: "compaction", text: "The story so far", time: { end: 1 } })
await event("session.status", { sessionID: "ses_1", status: { type: "idle" } })`
	said, large := pluginSays(t, `for (const event of events) await hooks.event({ event })`), pluginSays(t, much)
	record := func(lines []string) (r *snapshot.Record) {
		inDeck(t, approvals.Deps{}, func(w *world) {
			w.plugin().say(lines...)
			all := w.roster.Sessions()
			if len(all) != 1 || all[0].State != snapshot.Idle || all[0].Since.UnixMilli() != 946684000000 {
				t.Fatalf("sessions %+v", all)
			}
			r = all[0].Record
		})
		return r
	}
	if got := told(record(said)); got != recordedWork {
		t.Errorf("got\n%s\nwant\n%s", got, recordedWork)
	}
	size := len(strings.Join(large, "\n"))
	r := record(large)
	if r.Prompt != "Write much" || r.Said != "Much is written" || !r.Changed.Partial || len(r.Steps) < 20 || size > 300_000 {
		t.Errorf("of much, %d bytes say %q, %q, %d steps, all=%v", size, r.Prompt, r.Said, len(r.Steps), !r.Changed.Partial)
	}
}
