package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// side is an editor or an agent: what it writes, and the lines that it gets.
type side struct {
	t   *testing.T
	out io.WriteCloser
	in  chan string // closed at the end
}

func (s *side) says(lines ...string) {
	s.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(s.out, l+"\n"); err != nil {
			s.t.Fatal(err)
		}
	}
}

// hears returns the next line that the other side, or the proxy, has written.
func (s *side) hears(want string) string {
	s.t.Helper()
	line, more := <-s.in
	if !more || !strings.Contains(line, want) {
		s.t.Fatalf("got %q, %v, want %q", line, more, want)
	}
	return line
}

// world is an editor and an agent with a proxy between them, and perhaps a deck.
type world struct {
	t             *testing.T
	dir           string
	q             *ask.Queue
	roster        *sessions.Roster
	adapter       *Adapter
	editor, agent *side
	over          chan struct{}
}

// newWorld starts a proxy, which finds no deck yet.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "acp") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w := &world{t: t, dir: dir, q: ask.New(ask.Options{Hold: -1}), roster: &sessions.Roster{}, over: make(chan struct{})}
	t.Cleanup(func() { _ = w.q.Close() })
	pipe := func() (*side, io.Reader, io.WriteCloser) {
		out, fromSide := io.Pipe()
		in, toSide := io.Pipe()
		s := &side{t: t, out: fromSide, in: make(chan string, 1000)}
		go func() {
			defer close(s.in)
			lines := bufio.NewReader(in)
			for {
				line, err := lines.ReadString('\n')
				if line != "" {
					s.in <- strings.TrimSuffix(line, "\n")
				}
				if err != nil {
					return
				}
			}
		}()
		return s, out, toSide
	}
	b := Between{Command: []string{"/bin/fake-agent", "acp"}, PID: os.Getpid(), Folder: "/src/shop", Socket: w.socket()}
	var toEditor io.WriteCloser
	w.editor, b.EditorIn, toEditor = pipe()
	b.Editor = toEditor
	w.agent, b.AgentOut, b.Agent = pipe()
	go func() {
		defer close(w.over)
		Run(t.Context(), b)
		_ = toEditor.Close()
	}()
	t.Cleanup(func() {
		_ = w.agent.out.Close()
		<-w.over
	})
	return w
}

func (w *world) socket() string { return filepath.Join(w.dir, "prompts.sock") }

// deck starts a deck.
func (w *world) deck() *world {
	w.t.Helper()
	w.adapter = New(approvals.Deps{Queue: w.q, Roster: w.roster})
	s, err := hook.Listen(hook.Options{Path: w.socket(), Handlers: map[string]hook.Handler{Name: w.adapter}})
	if err != nil {
		w.t.Skip("no socket can be opened here:", err)
	}
	w.t.Cleanup(s.Close)
	return w
}

// begin opens a session and has the user ask something.
func (w *world) begin() *world {
	w.t.Helper()
	w.turn(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"zed","version":"1"}}}`, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"fake","version":"1.2"}}}`)
	w.turn(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/src/shop","mcpServers":[]}}`, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`)
	w.turn(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"Build it"}]}}`, "")
	return w
}

// turn has the editor send a request, and the agent reply to it.
func (w *world) turn(request, reply string) {
	w.t.Helper()
	w.editor.says(request)
	w.agent.hears(request)
	if reply != "" {
		w.agent.says(reply)
		w.editor.hears(reply)
	}
}

const options = `"options":[{"optionId":"a","name":"Yes, once","kind":"allow_once"},{"optionId":"b","name":"Always","kind":"allow_always"},{"optionId":"r","name":"No","kind":"reject_once"}]`

// asks has the agent ask whether it may run make.
func (w *world) asks(id string) {
	w.t.Helper()
	w.agent.says(
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c`+id+`","title":"make it","kind":"execute","status":"pending","rawInput":{"command":"make all"}}}}`,
		`{"jsonrpc":"2.0","id":`+id+`,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c`+id+`"},`+options+`}}`,
	)
	w.editor.hears(`"tool_call"`)
	w.editor.hears("request_permission")
}

// item returns the one that waits in the deck.
func (w *world) item() ask.Item {
	w.t.Helper()
	return testwait.For(w.t, "an item", w.q.Pending, func(s *ask.Snapshot) bool { return len(s.Items) == 1 }).Items[0]
}

func (w *world) answers(label string) {
	w.t.Helper()
	it := w.item()
	if err := w.q.Answer(it.ID, []ask.Result{{ID: "permission", SelectedOptions: []string{label}}}); err != nil {
		w.t.Fatal(err)
	}
}

// ended waits for the end of what was asked.
func (w *world) ended(end ask.End, how string) {
	w.t.Helper()
	s := testwait.For(w.t, "the end "+string(end), w.q.Pending, func(s *ask.Snapshot) bool {
		return len(s.Items) == 0 && len(s.History) > 0 && s.History[len(s.History)-1].End() == end
	})
	if got := s.History[len(s.History)-1].How; got != how {
		w.t.Errorf("it ended: %q, want %q", got, how)
	}
}

func TestTheDeckAnswersFirst(t *testing.T) {
	w := newWorld(t).deck().begin()
	w.asks("0")
	p := w.item().Request.Prompt
	if p.Agent != "fake" || p.Session != "s1" || p.Command != "make all" || p.Words != "make it" || p.Tool != "execute" || len(p.Grants) != 3 || p.Grants[1].Scope != ask.Always {
		t.Errorf("asked: %+v", p)
	}
	w.answers("Yes, once")
	w.agent.hears(`{"jsonrpc":"2.0","id":0,"result":{"outcome":{"optionId":"a","outcome":"selected"}}}`)
	w.editor.hears(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}`)
	w.editor.says(`{"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"cancelled"}}`, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	w.agent.hears("session/cancel") // and not the editor's late reply
	w.agent.says(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c0","status":"completed"}}}`)
	w.editor.hears("completed")
	w.ended(ask.EndAllowed, "")

	w.asks("0") // with the same ID, and now the editor is first
	w.item()
	w.editor.says(`{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"r"}}}`)
	w.agent.hears(`"optionId":"r"`)
	w.ended(ask.EndElsewhere, "answered in Zed: No")
}

func TestTheEditorAnswersFirst(t *testing.T) {
	for name, tt := range map[string]struct{ reply, how string }{
		"allowed":   {`"result":{"outcome":{"outcome":"selected","optionId":"a"}}`, "answered in Zed: Yes, once"},
		"cancelled": {`"result":{"outcome":{"outcome":"cancelled"}}`, "answered in Zed: cancelled"},
		"failed":    {`"error":{"code":-32603,"message":"no"}`, "answered in Zed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).deck().begin()
			w.asks("0")
			w.item()
			cancel := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`
			w.editor.says(cancel)
			w.agent.hears(cancel)
			w.item() // it stays until the editor has answered
			w.editor.says(`{"jsonrpc":"2.0","id":0,` + tt.reply + `}`)
			w.agent.hears(tt.reply)
			w.ended(ask.EndElsewhere, tt.how)
		})
	}
}

func TestAnAgentThatAsksNoMoreIsNotAnswered(t *testing.T) {
	w := newWorld(t).deck().begin()
	w.asks("0")
	w.item()
	cancel := `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}`
	w.agent.says(cancel)
	w.editor.hears(cancel)
	w.ended(ask.EndGone, "it asks no more")
	w.editor.says(`{"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"cancelled"}}`)
	w.agent.hears("-32800")

	w.asks("1")
	w.item()
	_ = w.agent.out.Close()
	<-w.over
	w.ended(ask.EndGone, "its agent has ended")
	testwait.For(t, "the end of the session", w.roster.Sessions, func(all []snapshot.Session) bool { return len(all) == 1 && all[0].State == snapshot.Ended })
}

// TestOneAnswerReachesTheAgent has the deck and the editor answer at the same time.
func TestOneAnswerReachesTheAgent(t *testing.T) {
	var agent, editor bytes.Buffer
	p := &proxy{toAgent: lane{to: &agent}, toEditor: lane{to: &editor}, asked: map[string]*request{}}
	p.mirror = newMirror(Between{}, p.answer)
	const races = 10_000
	first := 0
	for n := range races {
		id := json.RawMessage(fmt.Sprint(n % 7))
		p.fromAgent(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{}}`, id))
		_ = p.mirror.next()
		reply := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"by":"editor"}}`+"\n", id)
		agent.Reset()
		editor.Reset()
		var both sync.WaitGroup
		both.Add(2)
		go func() {
			defer both.Done()
			p.answer(id, json.RawMessage(`{"by":"deck"}`))
		}()
		go func() {
			defer both.Done()
			if p.fromEditor(reply) {
				_ = p.toAgent.send(reply)
			}
		}()
		both.Wait()
		got := agent.String()
		deck := strings.Contains(got, `"deck"`)
		notes := p.mirror.next()
		if strings.Count(got, "\n") != 1 || deck != strings.Contains(editor.String(), "cancel_request") || len(notes) != 1 || (notes[0].settled.By == byDeck) != deck || len(p.asked) != 0 {
			t.Fatalf("race %d: the agent got %q, the editor %q, %d notes, %d open", n, got, editor.String(), len(notes), len(p.asked))
		}
		if deck {
			first++
		}
	}
	t.Logf("the deck was first in %d of %d", first, races)
}

func TestWithoutADeckAllPassesUnchanged(t *testing.T) {
	hung := func(w *world) { // a deck that accepts and never reads
		l, err := net.Listen("unix", w.socket())
		if err != nil {
			w.t.Skip("no socket can be opened here:", err)
		}
		w.t.Cleanup(func() { _ = l.Close() })
	}
	for name, deck := range map[string]func(*world){"no deck": func(*world) {}, "a hung deck": hung, "a deck": func(w *world) { w.deck() }} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			deck(w)
			w.begin()
			text := strings.Repeat("x", 200_000)
			lines := []string{
				`no JSON`, ``, "{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\r", ` { "id" : 1 , "result" : null }`, `[{"id":1}]`, "\xff\xfe", `{"broken":`, `{"jsonrpc":"2.0","id":9,"id":9,"method":"session/request_permission"}`,
				`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}}`,
				`{"jsonrpc":"2.0","id":3,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"x","rawInput":{"command":"` + strings.Repeat("y", 5<<20) + `"}},` + options + `}}`,
				`{"jsonrpc":"2.0","id":4,"method":"craft/drainMidTurnQueue","params":{}}`,
			}
			for i := range 200 {
				lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t%d","rawInput":{"command":"%s"}},%s}}`, i, i, text[:rand.IntN(1000)], options))
			}
			for _, way := range [][2]*side{{w.agent, w.editor}, {w.editor, w.agent}} {
				sent := make(chan error, 1)
				go func() {
					_, err := io.WriteString(way[0].out, strings.Join(lines, "\n")+"\n")
					sent <- err
				}()
				for i, want := range lines {
					if got := <-way[1].in; got != want {
						t.Fatalf("line %d is %.100q, want %.100q", i, got, want)
					}
				}
				if err := <-sent; err != nil {
					t.Fatal(err)
				}
			}
			if _, err := io.WriteString(w.editor.out, `{"cut`); err != nil {
				t.Fatal(err)
			}
			_ = w.editor.out.Close()
			w.agent.hears(`{"cut`)
			if line, more := <-w.agent.in; more {
				t.Errorf("after the end of its input the agent got %q", line)
			}
			_, _ = io.WriteString(w.agent.out, "bye") // no line, but its last words
			_ = w.agent.out.Close()
			w.editor.hears("bye")
		})
	}
}

// TestADeckThatComesLaterIsToldWhatIsOpen restarts nothing but the deck.
func TestADeckThatComesLaterIsToldWhatIsOpen(t *testing.T) {
	w := newWorld(t).begin()
	w.asks("0")
	w.agent.says(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c1"},` + options + `}}`)
	w.editor.hears("request_permission")
	w.editor.says(`{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled"}}}`)
	w.agent.hears("cancelled")
	w.deck()
	w.answers("No")
	w.agent.hears(`"optionId":"r"`)
	w.editor.hears("cancel_request")
	all := testwait.For(t, "the session", w.roster.Sessions, func(all []snapshot.Session) bool { return len(all) == 1 && all[0].Record != nil })
	if s := all[0]; s.Agent != "fake" || s.Version != "1.2" || s.Folder != "/src/shop" || s.State != snapshot.Working || s.Record.Prompt != "Build it" {
		t.Errorf("the session is %+v", s)
	}
}

func TestAnAgentIsCalledAsItIsEverywhere(t *testing.T) {
	for name, want := range map[string]string{"Copilot": "copilot", "@agentclientprotocol/claude-agent-acp": "claude", "OpenCode": "opencode", "": "qwen", "fake": "qwen"} {
		s := &stream{a: New(approvals.Deps{}), c: &hook.Conn{}}
		raw, err := json.Marshal(about{Name: name, Command: []string{"node", "--flag", "qwen"}})
		if err != nil {
			t.Fatal(err)
		}
		if s.introduced(raw); s.agent != want {
			t.Errorf("%q is %q, want %q", name, s.agent, want)
		}
	}
}
