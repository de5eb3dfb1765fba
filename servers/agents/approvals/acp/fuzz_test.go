package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// FuzzLines holds that whatever an agent and an editor write passes as it came, by however much
// is read at once. Only the editor's answers to what the deck has answered do not.
func FuzzLines(f *testing.F) {
	prompt := `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c"},` + options + `}}`
	f.Add("", "")
	f.Add("no JSON\r\n\n {\"a\":", "{}\n[1]\n\xff")
	f.Add(prompt+"\n"+strings.Replace(prompt, "0", `"x"`, 1)+"\n", `{"jsonrpc":"2.0","id":0,"result":null}`+"\n"+`{"id":"x","error":{}}`+"\n{\"id\":0}\n")
	f.Add(prompt+"\n"+`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}`+"\n", `{"jsonrpc":"2.0","id":0,"result":null}`+"\n")
	f.Add(prompt+"\n"+prompt+"\n", `{"jsonrpc":"2.0","id":0,"result":null}`+"\n{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}")
	f.Add(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"diff"}]}}}`+"\n", `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"text":"x"}]}}`+"\n")
	f.Fuzz(func(t *testing.T, agent, editor string) {
		var toAgent, toEditor bytes.Buffer
		p := &proxy{toAgent: lane{to: &toAgent}, toEditor: lane{to: &toEditor}, asked: map[string]*request{}}
		p.mirror = newMirror(Between{Folder: "/src"}, p.answer)
		look := func() {
			for _, n := range p.mirror.next() {
				p.mirror.take(&n)
			}
		}
		if err := p.toEditor.pump(iotest.OneByteReader(strings.NewReader(agent)), p.fromAgent, p.shown); err != nil || toEditor.String() != agent {
			t.Fatalf("%v: of %q the editor got %q", err, agent, &toEditor)
		}
		look()
		answered := map[string]bool{}
		for id, r := range p.asked {
			p.answer(r.id, json.RawMessage(`{"outcome":{"outcome":"cancelled"}}`))
			answered[id] = true
		}
		if n := strings.Count(toAgent.String(), "\n"); n != len(answered) || strings.Count(toEditor.String()[len(agent):], "\n") != n {
			t.Fatalf("%d answers and %q for %d requests", n, toEditor.String()[len(agent):], len(answered))
		}
		toAgent.Reset()
		if err := p.toAgent.pump(iotest.HalfReader(strings.NewReader(editor)), p.fromEditor, func([]byte) {}); err != nil {
			t.Fatal(err)
		}
		look()
		var want []string
		for line := range strings.SplitAfterSeq(editor, "\n") {
			m, ok := decode([]byte(line))
			if whole := ok && strings.HasSuffix(line, "\n"); whole && m.Method == "" && answered[string(m.ID)] {
				delete(answered, string(m.ID))
				continue
			}
			want = append(want, line)
		}
		if got := strings.SplitAfter(toAgent.String(), "\n"); !slices.Equal(got, want) {
			t.Fatalf("of %q the agent got %q", editor, got)
		}
	})
}

// FuzzEvents has the deck take whatever a proxy reports: it is any process of the user.
func FuzzEvents(f *testing.F) {
	f.Add(eventAgent, `{"name":"x","command":["a"],"pid":-1}`)
	f.Add(eventSession, `{"sessionId":"s1","mode":"#","since":-1,"cost":1e308}`)
	f.Add(eventSaid, `{"sessionId":"s1","prompt":"x","at":9223372036854775807}`)
	f.Add(eventTool, `{"sessionId":"s1","toolCall":{"toolCallId":"c","status":"completed","content":[{"type":"diff","path":"","newText":"x"}]}}`)
	f.Add(eventAsked, `{"sessionId":"s1","id":{},"method":"session/request_permission","params":{"toolCall":{"rawInput":{"command":["a",1]}},`+options+`}}`)
	f.Add(eventAsked, `{"sessionId":"s1","id":0,"method":"session/request_permission","params":{"toolCall":null,"options":[{"optionId":"","kind":"x"}]}}`)
	f.Add(eventAsked, `{"sessionId":"s1","id":0,"method":"elicitation/create","params":{"requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`)
	f.Add(eventSettled, `{"id":7,"by":"editor","result":{"outcome":{"outcome":"selected","optionId":"a"}}}`)
	f.Fuzz(func(t *testing.T, event, raw string) {
		o, err := rawjson.Parse([]byte(raw))
		if err != nil {
			t.Skip("the socket takes no such payload")
		}
		q := ask.New(ask.Options{Hold: -1})
		defer q.Close()
		ctx, stop := context.WithCancel(t.Context())
		s := &stream{a: New(approvals.Deps{Queue: q, Roster: &sessions.Roster{}}), c: &hook.Conn{}, ctx: ctx, deck: t.Context(), sessions: map[string]*session{}, open: map[string]*prompt{}}
		s.pace.Queue = q
		take := func(event, raw string, o rawjson.Object) {
			s.take(&hook.Message{Event: event, Payload: o, Raw: json.RawMessage(raw)})
		}
		own := func(event, raw string) {
			o, err := rawjson.SplitObject([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			take(event, raw, o)
		}
		own(eventAgent, `{"name":"fake"}`)
		own(eventAsked, `{"sessionId":"s1","id":7,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c"},`+options+`}}`)
		take(event, raw, o)
		own(eventTool, `{"sessionId":"s1","toolCall":{"toolCallId":"c","status":"failed"}}`)
		stop()
		s.wg.Wait()
		s.end()
	})
}
