package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil/internal/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func switched(p *play) {
	p.deck(nil)
	all, alone, codex := p.connect("tester", ""), p.connect("tester", "pencil"), p.connect("codex-mcp-client", "")
	everyone := []*client{all, alone, codex}
	look := func() {
		for _, c := range everyone {
			c.request("tools/list", `{}`)
			c.request("tools/call", batchGet)
		}
		alone.request("tools/call", `{"name":"pencil_status"}`)
	}
	look()
	p.on()
	for _, c := range everyone {
		c.hears("notifications/tools/list_changed")
	}
	look()
	alone.introduce() // with the instructions
	all.request("prompts/list", `{}`)
	all.request("resources/list", `{}`)
	p.off()
	for _, c := range everyone {
		c.hears("notifications/tools/list_changed")
	}
	look()
	p.control("off")
}

func results(p *play) {
	for _, kind := range []string{"", "image", "odd", "empty", "structured", "error"} {
		p.deck(nil, "--tools", "A", "--result", kind)
		p.on()
		c := p.connect("tester", "")
		c.request("tools/call", batchGet)
		if kind == "" {
			c.request("tools/call", `{"name":"pencil_batch_get"}`)
			c.request("tools/call", `{"name":"pencil_batch_get","arguments":{}}`)
			c.request("tools/call", `{"name":"pencil_get_screenshot","arguments":{"filePath":"x.pen","nodeId":"n"}}`)
			c.request("tools/call", `{"name":"pencil_get_editor_state","arguments":{}}`)
		}
	}
}

func failures(p *play) {
	p.deck(nil, "--tools", "C", "--odd", "--pages", "3", "--no-guide")
	p.on()
	c := p.connect("tester", "pencil")
	c.request("tools/list", `{}`)
	c.request("tools/call", `{"name":"pencil_nonsense","arguments":{}}`)
	c.request("tools/call", `{"name":"nonsense","arguments":{}}`)
	c.request("tools/call", `{"name":"pencil_execute","arguments":[1]}`)
	for _, flags := range [][]string{{"--absent", "1ms"}, {"--confused", "1"}, {"--no-file"}} {
		p.deck(nil, flags...)
		p.on()
		p.connect("tester", "").request("tools/call", design)
	}
	for _, flags := range [][]string{{"--exit-early"}, {"--tools", "none"}} {
		p.deck(nil, flags...)
		c := p.connect("tester", "pencil")
		p.on()
		c.request("tools/list", `{}`)
		c.request("tools/call", design)
	}
}

func progress(p *play) {
	p.deck(nil, "--progress", "3")
	p.on()
	c := p.connect("tester", "")
	for _, token := range []string{`7`, `"t"`, `"a/b"`} {
		c.request("tools/call", `{"name":"pencil_batch_get","_meta":{"progressToken":`+token+`,"traceparent":"t"},"arguments":{"a":1}}`)
	}
	c.request("tools/call", batchGet)
}

func cancelled(p *play) {
	p.deck(nil, "--absent", "1h")
	p.on()
	c := p.connect("tester", "")
	withdraw := c.begin("tools/call", design)
	p.until("a call at work", func(s pencil.Status) bool { return s.Running == 1 })
	withdraw()
	s := p.until("its end", func(s pencil.Status) bool { return s.OK+s.Failed == 1 })
	p.note("# of %d calls, %d failed", s.OK+s.Failed, s.Failed)
	c.request("tools/list", `{}`)
}

func pinned(p *play) {
	state := p.t.TempDir()
	in := func(o *pencil.Options) { o.StateDir = state }
	p.deck(in)
	p.on()
	p.pins(state)
	p.deck(in, "--tools", "B", "--reword")
	p.on()
	c := p.connect("tester", "")
	s := p.mode.Status()
	p.note("# to accept: %s", s.Holding())
	for _, h := range s.Held {
		p.note("# %s: %s", h.Name(), h.What())
		for _, l := range h.Diff {
			p.note("# %c %s", l.Mark, l.Text)
		}
	}
	for _, n := range s.Notes {
		p.note("# %s: %s", n.Tool, n.Reason)
	}
	c.request("tools/list", `{}`)
	c.request("tools/call", design)
	accept := func(names ...string) {
		shown, err := p.mode.Status().HeldBy(names)
		if err != nil {
			p.note("# mcpdeck pencil accept %s: error: %v", strings.Join(names, " "), err)
			return
		}
		reply, err := p.mode.AcceptShown(shown)
		if err != nil {
			p.t.Fatal(err)
		}
		p.note("# mcpdeck pencil accept %s: %s", strings.Join(names, " "), reply.Text)
		c.hears("notifications/tools/list_changed")
	}
	accept("pencil_nonsense")
	accept("pencil_batch_design")
	c.request("tools/call", design)
	accept()
	c.request("tools/list", `{}`)
	p.pins(state)
}

// pins notes what is kept of the definitions. The program is not the same anywhere.
func (p *play) pins(state string) {
	p.t.Helper()
	raw, err := os.ReadFile(filepath.Join(state, "pencil-tools.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	var kept struct {
		Program struct {
			Path, SHA256 string
			Size, Time   json.Number
		}
	}
	if err := json.Unmarshal(raw, &kept); err != nil {
		p.t.Fatal(err)
	}
	for name, value := range map[string]string{"path": kept.Program.Path, "sha256": kept.Program.SHA256, "size": kept.Program.Size.String(), "time": kept.Program.Time.String()} {
		if value == "" {
			p.t.Errorf("%s of the program is not kept", name)
		}
		raw = bytes.Replace(raw, []byte(value), []byte("("+name+" of the program)"), 1)
	}
	p.note("# pencil-tools.json\n%s", raw)
}

func gateway(p *play) {
	p.deck(nil, "--tools", "C")
	c := p.connect("codex-mcp-client", "")
	call := func(args string) {
		c.request("tools/call", `{"name":"pencil_call","arguments":`+args+`}`)
	}
	c.request("tools/list", `{}`)
	call(`{"action":"tools"}`)
	p.on()
	c.hears("notifications/tools/list_changed")
	for _, args := range []string{
		`{"action":"tools"}`, `{}`, `{"action":"describe","tool":"execute"}`, `{"tool":"execute","arguments":{"n":9007199254740993}}`,
		`{"tool":"pencil_execute","arguments_json":"{\"a\":\n1}"}`, `{"tool":"execute","arguments":{"a":1},"arguments_json":"{}"}`, `{"tool":"execute","arguments_json":"{"}`,
		`{"tool":"execute","arguments":"x"}`, `{"tool":"nope"}`, `{"action":"on","tool":"execute"}`,
	} {
		call(args)
	}
	if p.carrier == "http" {
		return // has no view with the gateway alone
	}
	c = p.connect("tester", "", "gateway")
	c.request("tools/list", `{}`)
	c.request("tools/call", `{"name":"pencil_execute","arguments":{}}`)
	p.deck(func(o *pencil.Options) { o.Gateway = "never" }, "--tools", "C")
	c = p.connect("codex-mcp-client", "")
	c.request("tools/list", `{}`)
	c.request("tools/call", `{"name":"pencil_call","arguments":{"action":"tools"}}`)
}

func elicited(p *play) {
	const form = `{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}}}`
	answers := map[string]struct {
		answer upstream.Elicited
		err    error
	}{
		"accept":  {answer: upstream.Elicited{Action: "accept", Content: []byte(`{"n":9007199254740993}`)}},
		"decline": {answer: upstream.Elicited{Action: "decline"}},
		"cancel":  {answer: upstream.Elicited{Action: "cancel"}},
		"error":   {err: errors.New(`21 "fields" are too many`)},
	}
	for _, tt := range []struct{ answer, mode string }{{"accept", "form"}, {"decline", ""}, {"cancel", "form"}, {"error", "form"}, {"accept", "url"}, {"", "form"}} {
		p.deck(func(o *pencil.Options) {
			if a, ok := answers[tt.answer]; ok {
				o.Elicit = func(_ context.Context, e upstream.Elicitation) (upstream.Elicited, error) {
					p.note("# the user is asked %q, %s, of %s by %s", e.Message, e.Schema, e.Calls[0].Tool, e.Calls[0].Agent)
					return a.answer, a.err
				}
			}
		}, "--form", form, "--mode", tt.mode)
		p.on()
		p.connect("tester", "").request("tools/call", design)
	}
}

// children are programs that start one after the other; the last stays.
func children(flags ...[]string) func(*pencil.Options) {
	var mu sync.Mutex
	return func(o *pencil.Options) {
		o.Start = func(c process.Command) (*process.Child, error) {
			mu.Lock()
			defer mu.Unlock()
			next := flags[0]
			flags = flags[min(1, len(flags)-1):]
			return standin.Pipes(next...)(c)
		}
	}
}

func reconnected(p *play) {
	p.deck(children([]string{"--exit-on-call"}, nil, []string{"--tools", "C"}))
	p.on()
	c := p.connect("tester", "")
	c.request("tools/call", design) // may have taken effect
	p.until("the loss", func(s pencil.Status) bool { return s.Link != upstream.LinkReady })
	c.request("tools/call", design) // waits for the next child
	c.request("tools/list", `{}`)
	p.control("reconnect")
	c.hears("notifications/tools/list_changed")
	c.request("tools/list", `{}`) // those of the third, which are new, are held
	c.request("tools/call", design)
	p.control("toggle")
	p.control("dance")
}

// lost withdraws the tools, and gives up.
func lost(p *play) {
	early := []string{"--exit-early"}
	p.deck(children([]string{"--exit-on-call"}, early, early, early, nil, early))
	c := p.connect("tester", "pencil")
	p.on()
	c.hears("notifications/tools/list_changed")
	c.request("tools/call", design)
	p.until("the loss", func(s pencil.Status) bool { return s.Link != upstream.LinkReady })
	c.hears("notifications/tools/list_changed") // withdrawn
	c.request("tools/list", `{}`)
	c.request("tools/call", design)
	c.hears("notifications/tools/list_changed") // it is back
	c.request("tools/call", design)
	p.status(2)
	p.control("reconnect")
	c.hears("notifications/tools/list_changed")
	c.request("tools/list", `{}`)
	c.request("tools/call", design)
	p.status(2)
}

// status notes the whole status once so many calls are over, which may be a moment
// after they are answered.
func (p *play) status(calls int) {
	p.t.Helper()
	s := p.until("the calls' end", func(s pencil.Status) bool { return s.OK+s.Failed == calls && s.Running == 0 })
	program, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	text := strings.ReplaceAll(s.Text(true), program, "(the program)")
	text = regexp.MustCompile(`(?m)^  \d\d:\d\d:\d\d (link|pencil): `).ReplaceAllString(text, "  (time) $1: ") // of the zone
	p.note("# mcpdeck pencil status --long\n%s", text)
}

// slow calls show signs of life, and end.
func slow(p *play) {
	p.deck(func(o *pencil.Options) { o.CallTimeout = 70 * time.Second }, "--silent", "2h")
	p.on()
	c := p.connect("tester", "")
	c.request("tools/call", `{"name":"pencil_batch_design","_meta":{"progressToken":"t"},"arguments":{}}`)
	c.request("tools/call", design)
	p.status(2)
}

// confused is a fresh child that blames a file, which is asked once more if the
// tool only reads.
func confused(p *play) {
	p.deck(nil, "--confused", "1")
	p.on()
	c := p.connect("tester", "")
	c.request("tools/call", `{"name":"pencil_batch_get","_meta":{"progressToken":"t"},"arguments":{}}`)
	p.status(1)
	p.off()
	testwait.Pass(2 * time.Minute) // longer than the child is kept
	p.status(1)
}
