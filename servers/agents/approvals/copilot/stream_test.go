package copilot

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// extended is a world whose process has the extension.
type extended struct {
	*world
	conn *agenttest.Conn
}

func extend(w *world) *extended {
	x := &extended{world: w, conn: agenttest.Connect(w.t.Context(), w.a, 0)}
	x.says(`{"v":1,"hello":"copilot","mode":"stream"}`)
	return x
}

func (x *extended) says(line string) {
	x.t.Helper()
	if _, err := fmt.Fprintln(x.conn, line); err != nil {
		x.t.Fatal(err)
	}
	testwait.Pass(time.Second)
}

func (x *extended) happens(event, properties string) {
	x.t.Helper()
	x.says(fmt.Sprintf(`{"event":%q,"properties":{"sessionId":%q,%s}}`, event, id, properties))
}

func (x *extended) leaves() {
	x.conn.Close()
	synctest.Wait()
}

func (x *extended) posted() string {
	select {
	case line := <-x.conn.Lines:
		return line
	default:
		return "nothing"
	}
}

const shell = `"requestId":"r-1","permissionRequest":{"kind":"shell","toolCallId":"c","fullCommandText":"mkdir /x","intention":"make x","canOfferSessionApproval":true}`

func TestASharedPermissionIsAnsweredByWhoeverIsFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		result                ask.Result
		posts, settled, words string
	}{
		"allowed here":  {ask.Result{SelectedOptions: []string{"Allow once"}}, `{"post":"/permission/r-1","body":{"kind":"approve-once"},"n":1}`, `"result":{"kind":"approved"}`, "allowed"},
		"denied here":   {ask.Result{SelectedOptions: []string{"Deny with a message"}, Note: "not x"}, `{"post":"/permission/r-1","body":{"feedback":"not x","kind":"reject"},"n":1}`, `"result":{"kind":"denied-interactively-by-user"}`, "denied"},
		"allowed there": {ask.Result{}, "nothing", `"result":{"kind":"approved"},"decisionSource":"human_response"`, byTerminal + ": allowed"},
		"denied there":  {ask.Result{}, "nothing", `"result":{"kind":"denied-interactively-by-user"},"decisionSource":"human_response"`, byTerminal + ": denied"},
		"both, there first": {
			ask.Result{SelectedOptions: []string{"Allow once"}},
			`{"post":"/permission/r-1","body":{"kind":"approve-once"},"n":1}`,
			`"result":{"kind":"denied-interactively-by-user"},"decisionSource":"human_response"`, byTerminal + ": denied",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				x := extend(w)
				x.happens("permission.requested", shell)
				p := x.only().Request.Prompt
				if p.Door != ask.Shared || p.Command != "mkdir /x" || p.Words != "make x" || p.ID != "r-1" || len(p.Marks) != 1 || p.Args != nil {
					t.Fatalf("it asks %+v", p)
				}
				if tt.result.SelectedOptions != nil {
					tt.result.ID = "permission"
					if err := x.q.Answer(x.only().ID, []ask.Result{tt.result}); err != nil {
						t.Fatal(err)
					}
					testwait.Pass(time.Second)
				}
				if got := x.posted(); got != tt.posts {
					t.Errorf("posted is %s", got)
				}
				if all := x.q.Pending().History; len(all) > 0 && all[0].Delivery == ask.Delivered {
					t.Error("it is delivered before Copilot CLI says so")
				}
				x.happens("permission.completed", `"requestId":"r-1",`+tt.settled)
				if got := x.became(); !strings.Contains(got, tt.words) || len(x.q.Pending().Items) > 0 {
					t.Errorf("it became %q", got)
				}
				x.leaves()
			})
		})
	}
}

func TestASharedFormIsFilledIn(t *testing.T) {
	inDeck(t, func(w *world) {
		x := extend(w)
		x.happens("elicitation.requested", `"requestId":"r-2","message":"Which?","requestedSchema":{"type":"object","properties":{"colour":{"type":"string"}}}`)
		it := x.only()
		if it.Request.Prompt.Kind != ask.ServerForm || it.Request.Questions[0].Question != "Which?" {
			t.Fatalf("it asks %+v", it.Request)
		}
		if err := x.q.Answer(it.ID, []ask.Result{{ID: "form", Content: []byte(`{"colour":"teal"}`)}}); err != nil {
			t.Fatal(err)
		}
		testwait.Pass(time.Second)
		if got := x.posted(); got != `{"post":"/elicitation/r-2","body":{"action":"accept","content":{"colour":"teal"}},"n":1}` {
			t.Errorf("posted is %s", got)
		}
		x.happens("elicitation.completed", `"requestId":"r-2","action":"accept","content":{"colour":"teal"}`)
		if r := x.q.Pending().History[0]; r.Delivery != ask.Delivered {
			t.Errorf("it became %q", x.became())
		}
		x.happens("elicitation.requested", `"requestId":"r-3","message":"Which?","requestedSchema":{"type":"object","properties":{"colour":{"type":"string"}}}`)
		if err := x.q.Answer(x.only().ID, []ask.Result{{ID: "form", Content: []byte(`{"colour":"red"}`)}}); err != nil {
			t.Fatal(err)
		}
		testwait.Pass(time.Second)
		x.happens("elicitation.completed", `"requestId":"r-3","action":"accept","content":{"colour":"blue"}`)
		if got := x.became(); !strings.Contains(got, byTerminal) {
			t.Errorf("with another answer it became %q", got)
		}
		x.leaves()
	})
}

func TestAnExtensionAsksForItsOwnProcessAlone(t *testing.T) {
	inDeck(t, func(w *world) {
		x := extend(w)
		for _, line := range []string{
			`{"event":"permission.requested","properties":{"sessionId":"other",` + shell + `}}`,
			`{"event":"permission.requested","properties":{"sessionId":"../` + id + `",` + shell + `}}`,
			`{"event":"permission.requested","properties":{"sessionId":"` + id + `"}}`,
			`{"event":"permission.completed","properties":{"sessionId":"` + id + `","requestId":"none"}}`,
		} {
			if x.says(line); len(x.q.Pending().Items) > 0 {
				t.Errorf("%s asks", line)
			}
		}
		x.happens("permission.requested", `"requestId":"r-4","large":true`)
		if r := x.only().Request; !r.InTerminal() {
			t.Errorf("what was too large to send asks %+v", r)
		}
		x.leaves()
		if got := x.became(); len(x.q.Pending().Items) > 0 && x.only().Waits() {
			t.Errorf("without its process it waits, and became %q", got)
		}
	})
}

func TestAHookHoldsNothingThatTheExtensionShares(t *testing.T) {
	inDeck(t, func(w *world) {
		x := extend(w)
		x.happens("permission.requested", shell)
		prints, _ := w.asks("mkdir /x")
		if text := got(prints); text != "" || len(x.q.Pending().Items) != 1 {
			t.Errorf("it prints %s, and %d are open", text, len(x.q.Pending().Items))
		}
		x.leaves()
		if prints, _ := w.asks("mkdir /x"); got(prints) != "nothing yet" {
			t.Error("without the extension nothing is held")
		}
	})
}

func TestTheExtensionIsKnownAsMcpdecks(t *testing.T) {
	plugin := Agent().Plugin
	file := plugin.File("/run/a b.sock", "")
	if v, ours := plugin.Own(file); v != extension().Version || !ours || !strings.Contains(string(file), `|| "/run/a b.sock"`) {
		t.Errorf("it is not its own: %d, %v", v, ours)
	}
	if _, ours := plugin.Own(append(file, '\n')); ours || strings.Contains(string(plugin.File("", "")), "SOCKET\n") {
		t.Error("a changed one is its own")
	}
	const older = "let x\n" // of a version that has another text
	sum := sha256.Sum256([]byte(older))
	if v, ours := plugin.Own(fmt.Appendf(nil, "// mcpdeck extension 2 SHA-256 %x\n%s", sum, older)); v != 2 || !ours {
		t.Errorf("an older one is not its own: %d, %v", v, ours)
	}
}

func TestASessionTakesPromptsAsLongAsItsExtensionIsThere(t *testing.T) {
	inDeck(t, func(w *world) {
		w.happens("user.message", `{"content":"go"}`)
		row := func() snapshot.Session {
			testwait.Pass(lookEvery)
			return w.roster.Sessions()[0]
		}
		if row().Door.Open {
			t.Error("it takes prompts without an extension")
		}
		x := extend(w)
		if row().Door.Open {
			t.Error("an extension that does not send prompts has a door")
		}
		x.happens("session.joined", `"x":1`)
		s := row()
		if s.Door != (snapshot.Door{Open: true, AtRest: true, Commands: true}) {
			t.Errorf("its door is %+v", s.Door)
		}
		if err := w.a.Send(t.Context(), s, "Mend it"); err != nil {
			t.Error(err)
		}
		testwait.Pass(time.Second)
		if got, want := x.posted(), `{"post":"/session/`+id+`","body":{"text":"Mend it"},"n":1}`; got != want {
			t.Errorf("posted is %s, want %s", got, want)
		}
		x.leaves()
		if err := w.a.Send(t.Context(), s, "Mend it"); !errors.Is(err, approvals.ErrUnsent) {
			t.Errorf("without the extension: %v", err)
		}
		if row().Door.Open {
			t.Error("it takes prompts without its extension")
		}
		w.a.ancestors = func(int) []int { return []int{1} }
		other := extend(w)
		other.happens("session.joined", `"x":1`)
		if row().Door.Open {
			t.Error("a program that is none of the session's opens its door")
		}
		other.leaves()
	})
}
