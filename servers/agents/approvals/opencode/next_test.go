package opencode_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/opencode"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// openCode2 plays OpenCode 2 by what is published of its plugins: it does what its input says, a
// line of JavaScript each, and prints what the plugin replies.
const openCode2 = `import plugin from "./plugin.mjs"
import { createInterface } from "node:readline"
const events = []
let wake
const say = (type, data) => { events.push({ type, data }); wake?.() }
const context = {
  location: { directory: "/src/shop" },
  event: { async *subscribe() { for (;;) { while (events.length) yield events.shift(); await new Promise((done) => (wake = done)) } } },
  session: { get: async ({ sessionID }) => ({ id: sessionID, title: "Mend the shop", location: { directory: "/src/shop" }, model: { id: "m", providerID: "p" }, time: { created: 1 } }) },
  permission: { reply: async (reply) => { console.log(JSON.stringify(reply)); say("permission.replied", { sessionID: reply.sessionID, requestID: reply.requestID, reply: reply.decision }) } },
}
if (plugin.id !== "mcpdeck") throw new Error("it has no ID")
const stop = plugin.setup(context)
for await (const line of createInterface({ input: process.stdin })) new Function("say", line)(say)
stop()
process.exit(0)
`

// TestOpenCode2IsAnsweredByItsPublishedContract is all that is known of it: no version was run.
func TestOpenCode2IsAnsweredByItsPublishedContract(t *testing.T) {
	node := realtest.Agent(t, "node")
	dir, err := os.MkdirTemp("", "oc") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	q, roster, path := ask.New(ask.Options{Hold: -1}), &sessions.Roster{}, filepath.Join(dir, "s")
	defer q.Close()
	a := opencode.Agent().New(approvals.Deps{Queue: q, Roster: roster})
	s, err := hook.Listen(hook.Options{Path: path, Handlers: map[string]hook.Handler{"opencode": a.(hook.Handler)}})
	if err != nil {
		t.Skip("no socket can be opened here:", err)
	}
	defer s.Close()
	plugin := opencode.Agent().Next.Plugin
	file := plugin.File(path, "")
	if version, ours := plugin.Own(file); version != 1 || !ours {
		t.Error("it does not know itself")
	}
	if _, ours := opencode.Agent().Plugin.Own(file); ours {
		t.Error("it is taken for the plugin of OpenCode 1")
	}
	for name, text := range map[string][]byte{"plugin.mjs": file, "program.mjs": []byte(openCode2)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(context.WithoutCancel(t.Context()), node, "program.mjs")
	c.Dir, c.Stderr = dir, os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	replies := bufio.NewScanner(out)
	says := func(kind, data string) {
		fmt.Fprintf(in, "say(%q, {sessionID: \"ses_1\", %s})\n", kind, data)
	}
	first := func() ask.Item {
		return testwait.For(t, "a permission", func() []ask.Item { return q.Pending().Items }, func(all []ask.Item) bool { return len(all) == 1 })[0]
	}
	row := func(want string) {
		t.Helper()
		got := ""
		if !testwait.Holds(func() bool {
			for _, x := range roster.Sessions() {
				got = fmt.Sprintf("%s %s %s in %s: %s", x.Version, x.State, x.Title, x.Folder, x.Note)
			}
			return got == want
		}) {
			t.Errorf("its row is %q, want %q", got, want)
		}
	}
	says("session.execution.started", "")
	row("2 working Mend the shop in /src/shop: untested with OpenCode 2")
	says("session.tool.called", `id: "call_1", input: {command: "make deploy"}`)
	for _, kind := range []string{"permission.asked", "permission.v2.asked"} { // twice, as to each folder's plugin
		says(kind, `id: "per_1", action: "shell", resources: ["make *"], save: ["make *"], source: {type: "tool", messageID: "m", id: "call_1"}`)
	}
	it := first()
	p := it.Request.Prompt
	labels := fmt.Sprint(slices.Collect(func(yield func(string) bool) {
		for _, o := range it.Request.Questions[0].Options {
			if !yield(o.Label) {
				return
			}
		}
	}))
	if p.Tool != "shell" || p.Command != "make deploy" || p.Session != "ses_1" || strings.Contains(labels, "Always") {
		t.Errorf("it asks %+v, with %s", p, labels)
	}
	if err := q.Answer(it.ID, []ask.Result{{ID: "permission", SelectedOptions: []string{"Allow once"}}}); err != nil {
		t.Fatal(err)
	}
	if replies.Scan(); replies.Text() != `{"sessionID":"ses_1","requestID":"per_1","decision":"once"}` {
		t.Errorf("the plugin replies %s", replies.Text())
	}
	testwait.Until(t, "that it was allowed", func() bool {
		h := q.Pending().History
		return len(h) == 1 && h[0].End() == ask.EndAllowed
	})
	says("permission.v2.asked", `id: "per_2", action: "edit", resources: ["shop.go"]`)
	q.Show(first().ID)
	says("permission.v2.replied", `requestID: "per_2", reply: "reject"`)
	testwait.Until(t, "that its terminal has denied", func() bool {
		h := q.Pending().History
		return len(h) == 2 && h[1].Words("") == "answered in its terminal: denied"
	})
	says("session.execution.succeeded", "")
	row("2 idle Mend the shop in /src/shop: untested with OpenCode 2")
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if replies.Scan() {
		t.Errorf("it also replies %s", replies.Text())
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if all := roster.Sessions(); len(all) != 1 || all[0].Cost != (snapshot.Cost{}) {
		t.Errorf("its sessions are %+v", all)
	}
}
