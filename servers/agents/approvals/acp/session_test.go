package acp

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// session waits until the one session is as it is to be.
func (w *world) session(what string, is func(*snapshot.Session) bool) snapshot.Session {
	w.t.Helper()
	return testwait.For(w.t, what, w.roster.Sessions, func(all []snapshot.Session) bool { return len(all) == 1 && is(&all[0]) })[0]
}

// tells has the agent report something of the session.
func (w *world) tells(update string) {
	w.t.Helper()
	line := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` + update + `}}`
	w.agent.says(line)
	w.editor.hears(line)
}

func TestASessionIsWhatItsAgentSaysOfIt(t *testing.T) {
	w := newWorld(t).deck().begin()
	w.session("the session", func(s *snapshot.Session) bool { return s.State == snapshot.Working })
	for _, update := range []string{
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I edit "}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"the file."}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"e","title":"Edit a.go","kind":"edit","status":"pending","rawInput":{"path":"/src/shop/a.go"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"e","status":"completed","content":[{"type":"diff","path":"/src/shop/a.go","oldText":"one\ntwo\n","newText":"one\n2\nthree\n"}]}`,
		`{"sessionUpdate":"session_info_update","title":"A tidy shop"}`,
		`{"sessionUpdate":"current_mode_update","currentModeId":"https://example.org/modes#plan"}`,
		`{"sessionUpdate":"usage_update","used":1200,"size":200000,"cost":{"amount":0.25,"currency":"USD"}}`,
		`{"sessionUpdate":"usage_update","used":1300,"size":200000,"cost":{"amount":9,"currency":"EUR"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Done."}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"x"}}`,
		`{"sessionUpdate":"plan","entries":[]}`,
	} {
		w.tells(update)
	}
	end := `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`
	w.agent.says(end)
	w.editor.hears(end)
	s := w.session("the end of its turn", func(s *snapshot.Session) bool {
		return s.State == snapshot.Idle && s.Record != nil && s.Record.Said == "Done."
	})
	if s.Title != "A tidy shop" || s.Mode != "plan" || s.Context.Used != 1300 || s.Context.Window != 200_000 || s.Cost.USD != 0.25 || s.LastTool != "edit" {
		t.Errorf("the session is %+v", s)
	}
	if c := s.Record.Changed; s.Record.Prompt != "Build it" || len(c.Files) != 1 || c.Added != 2 || c.Removed != 1 {
		t.Errorf("its record is %+v", s.Record)
	}
	if s.Note != "" || !w.mirrors("s1") || w.mirrors("s2") {
		t.Errorf("note %q, mirrored %v and %v", s.Note, w.mirrors("s1"), w.mirrors("s2"))
	}
	_ = w.agent.out.Close()
	w.session("its end", func(s *snapshot.Session) bool { return s.State == snapshot.Ended })
	if w.mirrors("s1") {
		t.Error("it is mirrored after its end")
	}
}

func (w *world) mirrors(id string) bool { return w.adapter.Mirrors("fake", id) }

// TestWhatALoadedSessionSaidBeforeIsNotNew has an editor load a session, whose agent sends all
// that was said before, and once more one that is not there.
func TestWhatALoadedSessionSaidBeforeIsNotNew(t *testing.T) {
	w := newWorld(t).deck()
	w.turn(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"fake","version":"1.2"}}}`)
	w.turn(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"gone","cwd":"/src","mcpServers":[]}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no"}}`)
	w.turn(`{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s1","cwd":"/src/inn","mcpServers":[]}}`, "")
	for _, update := range []string{
		`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Tile the roof"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Tiled."}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"e","title":"Edit","kind":"edit","status":"completed","content":[{"type":"diff","path":"/src/inn/a","oldText":"","newText":"x\n"}]}`,
	} {
		w.tells(update)
	}
	loaded := `{"jsonrpc":"2.0","id":2,"result":{"modes":{"currentModeId":"ask"},"models":{"currentModelId":"large"}}}`
	w.agent.says(loaded)
	w.editor.hears(loaded)
	s := w.session("the session", func(s *snapshot.Session) bool { return s.Record != nil && s.Record.Said != "" })
	if s.ID != "s1" || s.Folder != "/src/inn" || s.Mode != "ask" || s.Model != "large" || s.State != snapshot.Idle || s.Record.Prompt != "Tile the roof" || s.Record.Said != "Tiled." || len(s.Record.Changed.Files) != 0 {
		t.Errorf("the session is %+v with %+v", s, s.Record)
	}
	w.turn(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"And the"},{"type":"resource_link","name":"a","uri":"file:///a"},{"type":"text","text":"gutter"}]}}`, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`)
	w.session("what is asked then", func(s *snapshot.Session) bool { return s.Record.Prompt == "And the\ngutter" })
}

// TestADeckThatComesWhileASessionIsLoadedIsToldWhatWasSaid starts the deck between what was said
// before and the end of it.
func TestADeckThatComesWhileASessionIsLoadedIsToldWhatWasSaid(t *testing.T) {
	w := newWorld(t).begin()
	w.turn(`{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"sessionId":"s2","cwd":"/src/inn","mcpServers":[]}}`, "")
	for _, kind := range []string{"user", "agent"} {
		line := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"` + kind + `_message_chunk","content":{"type":"text","text":"By the ` + kind + `"}}}}`
		w.agent.says(line)
		w.editor.hears(line)
	}
	w.deck()
	w.session("the deck knows of the first session", func(s *snapshot.Session) bool { return s.ID == "s1" })
	loaded := `{"jsonrpc":"2.0","id":3,"result":{}}`
	w.agent.says(loaded)
	w.editor.hears(loaded)
	testwait.For(t, "what was said", w.roster.Sessions, func(all []snapshot.Session) bool {
		return slices.ContainsFunc(all, func(s snapshot.Session) bool {
			return s.ID == "s2" && s.Record != nil && s.Record.Prompt == "By the user" && s.Record.Said == "By the agent"
		})
	})
}

// TestAFormIsAnsweredInTheDeckOrTheEditor has the agent ask the user by a form, outside of a call.
func TestAFormIsAnsweredInTheDeckOrTheEditor(t *testing.T) {
	w := newWorld(t).deck().begin()
	form := func(id, more string) {
		w.agent.says(`{"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":{"sessionId":"s1",` + more + `"message":"Which port?","requestedSchema":{"type":"object","properties":{"port":{"type":"integer"}},"required":["port"]}}}`)
		w.editor.hears("elicitation/create")
	}
	form("0", `"mode":"form",`)
	it := w.item()
	if it.Request.Prompt.Kind != ask.ServerForm || it.Request.InTerminal() || it.Request.Questions[0].Description != "Which port?" && !strings.Contains(it.Request.Questions[0].Question, "Which port?") {
		t.Errorf("asked: %+v", it.Request)
	}
	if err := w.q.Answer(it.ID, []ask.Result{{ID: it.Request.Questions[0].ID, Content: []byte(`{"port":8080}`)}}); err != nil {
		t.Fatal(err)
	}
	w.agent.hears(`{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{"port":8080}}}`)
	w.editor.hears(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}`)

	form("1", "")
	it = w.item()
	w.editor.says(`{"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"cancelled"}}`, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"port":1}}}`)
	w.agent.hears(`"id":1,"result":{"action":"accept"`) // and not the late reply
	w.ended(ask.EndElsewhere, "answered in Zed: accept")

	w.agent.says(`{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"sessionId":"s1","mode":"url","url":"https://example.org/in","message":"Sign in"}}`)
	w.editor.hears("example.org")
	if it = w.item(); !strings.Contains(it.Request.Questions[0].Description, "mcpdeck does not open it") {
		t.Errorf("asked: %+v", it.Request)
	}
	w.editor.says(`{"jsonrpc":"2.0","id":2,"result":{"action":"decline"}}`)
	w.agent.hears("decline")
	w.ended(ask.EndElsewhere, "answered in Zed: decline")
}

// TestWithoutAnInputTheWordsOfTheAgentAreWhatIsAsked is how Gemini CLI and Kimi Code ask.
func TestWithoutAnInputTheWordsOfTheAgentAreWhatIsAsked(t *testing.T) {
	w := newWorld(t).deck().begin()
	w.agent.says(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c","kind":"execute","title":"rm -r /etc","content":[{"type":"content","content":{"type":"text","text":"[current working directory /src/shop] (tidy up)"}}]},` + options + `}}`)
	w.editor.hears("request_permission")
	p := w.item().Request.Prompt
	if p.Command != "" || string(p.Args) != `{"title":"rm -r /etc","content":"[current working directory /src/shop] (tidy up)"}` || p.Words != "rm -r /etc" || len(p.Marks) != 1 {
		t.Errorf("asked: %+v, %s", p, p.Args)
	}
	w.answers("No")
	w.agent.hears(`"optionId":"r"`)
	w.editor.hears("cancel_request")

	w.agent.says(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"d","kind":"edit","title":"Edit","content":[{"type":"diff","path":"/src/shop/a.go","oldText":"one\n","newText":"two\n"}]},` + options + `}}`)
	w.editor.hears("request_permission")
	p = testwait.For(t, "the edit", w.q.Pending, func(s *ask.Snapshot) bool { return len(s.Items) == 1 && s.Items[0].Request.Prompt.Path != "" }).Items[0].Request.Prompt
	if p.Path != "/src/shop/a.go" || !strings.Contains(p.Diff, "-one\n+two\n") || p.Args != nil || len(p.Marks) > 0 {
		t.Errorf("asked: %+v, %s", p, p.Args)
	}
}
