package opencode_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/opencode"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// world is a deck, and the plugin of one OpenCode process.
type world struct {
	t       *testing.T
	q       *ask.Queue
	roster  *sessions.Roster
	adapter hook.Handler
	deck    context.Context
	stop    context.CancelFunc
	ends    []func()
}

// inDeck runs a test with a clock of its own.
func inDeck(t *testing.T, o approvals.Deps, test func(*world)) {
	t.Helper()
	inDeckOf(t, opencode.Agent(), o, test)
}

// inDeckOf is inDeck of another agent than OpenCode.
func inDeckOf(t *testing.T, agent approvals.Agent, o approvals.Deps, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, q: ask.New(ask.Options{Hold: -1}), roster: &sessions.Roster{}}
		o.Queue, o.Roster = w.q, w.roster
		w.adapter = agent.New(o).(hook.Handler)
		w.deck, w.stop = context.WithCancel(t.Context())
		test(w)
		w.stop()
		for _, end := range w.ends {
			end()
		}
		w.q.Close()
	})
}

// plugin is the other end of a connection.
type plugin struct {
	w    *world
	conn *agenttest.Conn
}

func (w *world) plugin() *plugin { return w.pluginOf(0) }

// pluginOf is the plugin in a process, of which the system may tell.
func (w *world) pluginOf(pid int) *plugin {
	w.t.Helper()
	p := &plugin{w, agenttest.Connect(w.deck, w.adapter, pid)}
	p.say(`{"v":1,"hello":"opencode","mode":"stream","directory":"/p"}`)
	w.ends = append(w.ends, p.hangUp)
	return p
}

func (p *plugin) say(lines ...string) {
	p.w.t.Helper()
	for _, l := range lines {
		if _, err := p.conn.Write([]byte(l + "\n")); err != nil {
			p.w.t.Fatal(err)
		}
	}
	synctest.Wait()
}

func (p *plugin) hangUp() {
	p.conn.HangUp()
	synctest.Wait()
}

// post reads what the deck posts.
func (p *plugin) post() (path, body string) {
	p.w.t.Helper()
	for {
		line, more := <-p.conn.Lines
		if !more {
			p.w.t.Fatal("the deck hung up")
		}
		var m struct {
			Post string
			Body json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			p.w.t.Fatal(err)
		}
		if m.Post != "" {
			return m.Post, string(m.Body)
		}
	}
}

// items are the open requests, after those that are settled at once have gone.
func (w *world) items() []ask.Item {
	w.t.Helper()
	testwait.Pass(time.Second)
	return w.q.Pending().Items
}

func (w *world) item() ask.Item {
	w.t.Helper()
	items := w.items()
	if len(items) != 1 {
		w.t.Fatalf("%d requests are open", len(items))
	}
	return items[0]
}

// answer sends an answer to the only request.
func (w *world) answer(a ...ask.AnswerDraft) {
	w.t.Helper()
	id := w.item().ID
	w.q.SetDraft(id, ask.Draft{Answers: a})
	if err := w.q.Send(id); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

func (w *world) row() string {
	var out []string
	for _, s := range w.roster.Sessions() {
		out = append(out, fmt.Sprintf("%s %s %s", s.ID, s.State, s.WaitingFor))
	}
	return strings.Join(out, "; ")
}

const (
	bash     = `{"event":"permission.asked","properties":{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["echo hi","git status"],"metadata":{"command":"echo hi && git status"},"always":["echo *","git status *"],"tool":{"messageID":"m","callID":"c"}}}`
	edit     = `{"event":"permission.asked","properties":{"id":"per_2","sessionID":"ses_1","permission":"edit","patterns":["b.txt"],"metadata":{"filepath":"/q/b.txt","diff":"--- a\n+++ b\n@@ -0,0 +1 @@\n+one\n"},"always":["*"]}}`
	fetch    = `{"event":"permission.asked","properties":{"id":"per_3","sessionID":"ses_1","permission":"webfetch","patterns":["http://x"],"metadata":{"url":"http://x","format":"text"},"always":["*"]}}`
	question = `{"event":"question.asked","properties":{"id":"que_1","sessionID":"ses_1","questions":[{"question":"Which db?","header":"DB","options":[{"label":"SQLite","description":"small"},{"label":"Postgres","description":"big"}]},{"question":"Which files?","header":"F","multiple":true,"custom":false,"options":[{"label":"a"},{"label":"b"}]},{"question":"Why?","header":"W","options":[]}]}}`
)

func TestAPermissionIsShownExactly(t *testing.T) {
	for _, tt := range []struct{ name, event, want string }{
		{"a command", bash, `bash "echo hi && git status" "" "" null [] | Allow once, Always allow (bash: echo *, git status * (until OpenCode is restarted)), Deny, Deny with a message, Deny and stop the turn`},
		{"an edit", edit, `edit "" "/q/b.txt" "--- a\n+++ b\n@@ -0,0 +1 @@\n+one\n" null ["outside the project"] | Allow once, Always allow (edit, whatever it is about (until OpenCode is restarted)), Deny, Deny with a message, Deny and stop the turn`},
		{"anything else", fetch, `webfetch "" "" "" {"url":"http://x","format":"text","patterns":["http://x"]} [] | Allow once, Always allow (webfetch, whatever it is about (until OpenCode is restarted)), Deny, Deny with a message, Deny and stop the turn`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inDeck(t, approvals.Deps{}, func(w *world) {
				w.plugin().say(tt.event)
				r := w.item().Request
				var options []string
				for i, o := range r.Questions[0].Options {
					if e := r.Prompt.Grants[i].Effect; e != "" {
						o.Label += " (" + e + ")"
					}
					options = append(options, o.Label)
				}
				p := r.Prompt
				got := fmt.Sprintf("%s %q %q %q %s %q | %s", p.Tool, p.Command, p.Path, p.Diff, cmp.Or(string(p.Args), "null"), p.Marks, strings.Join(options, ", "))
				if got != tt.want || p.Kind != ask.Permission || p.Door != ask.Shared || p.Session != "ses_1" || len(p.Grants) != 5 || !p.Unconfirmed {
					t.Errorf("got %s\nof %+v", got, p)
				}
				if got := w.row(); got != "ses_1 permission permission: "+p.Tool {
					t.Errorf("session %s", got)
				}
			})
		})
	}
}

func TestADecisionIsPostedAndDeliveredWhenOpenCodeSaysSo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		option int
		note   string
		body   string
		reply  string // of the event
		want   ask.Delivery
	}{
		{"once", 0, "", `{"reply":"once"}`, "once", ask.Delivered},
		{"always", 1, "", `{"reply":"always"}`, "always", ask.Delivered},
		{"deny", 2, "", `{"message":"the user denied this","reply":"reject"}`, "reject", ask.Delivered},
		{"deny with a note", 3, "use make", `{"message":"use make","reply":"reject"}`, "reject", ask.Delivered},
		{"deny and stop", 4, "", `{"reply":"reject"}`, "reject", ask.Delivered},
		{"the terminal was faster", 0, "", `{"reply":"once"}`, "reject", ask.Elsewhere},
		{"no event", 0, "", `{"reply":"once"}`, "", ask.NotTaken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inDeck(t, approvals.Deps{}, func(w *world) {
				p := w.pluginOf(os.Getpid()) // this program's name has OpenCode's in it: else it allows once only
				p.say(bash)
				a := ask.AnswerDraft{Chosen: []int{tt.option}, Accepted: true}
				if tt.note != "" {
					a.Notes = map[int]string{tt.option: tt.note}
				}
				w.answer(a)
				if path, body := p.post(); path != "/permission/per_1/reply" || body != tt.body {
					t.Errorf("posted %s to %s", body, path)
				}
				p.say(`{"posted":1,"status":200}`)
				if h := w.q.Pending().History; h[0].Delivery == ask.Delivered {
					t.Error("the status of the request counts as delivery")
				}
				if tt.reply != "" {
					p.say(`{"event":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"` + tt.reply + `"}}`)
				}
				testwait.Pass(10 * time.Second)
				if h := w.q.Pending().History; h[0].Delivery != tt.want {
					t.Errorf("it is %s, want %s", h[0].Delivery, tt.want)
				}
			})
		})
	}
}

func TestQuestionsAreAnsweredByLabelsOrFreely(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(question)
		if got := w.row(); got != "ses_1 answer an answer" {
			t.Errorf("session %s", got)
		}
		qs := w.item().Request.Questions
		if len(qs) != 3 || !qs[0].AllowOther || qs[1].AllowOther || !qs[1].Multi || qs[2].Kind != ask.Text {
			t.Errorf("questions %+v", qs)
		}
		w.answer(
			ask.AnswerDraft{Chosen: []int{1}, Notes: map[int]string{1: "version 18"}, Accepted: true},
			ask.AnswerDraft{Chosen: []int{0, 1}, Accepted: true},
			ask.AnswerDraft{Other: "because", OtherOn: true, Accepted: true},
		)
		if path, body := p.post(); path != "/question/que_1/reply" || body != `{"answers":[["Postgres - version 18"],["a","b"],["because"]]}` {
			t.Errorf("posted %s to %s", body, path)
		}
		p.say(`{"event":"question.replied","properties":{"sessionID":"ses_1","requestID":"que_1","answers":[["Postgres - version 18"],["a","b"],["because"]]}}`)
		if h := w.q.Pending().History; h[0].Delivery != ask.Delivered {
			t.Errorf("it is %s", h[0].Delivery)
		}
	})
}

// TestAQuestionThatIsAnsweredTwiceHasTheAnswerThatCounts has the terminal answer in the same
// moment as the deck.
func TestAQuestionThatIsAnsweredTwiceHasTheAnswerThatCounts(t *testing.T) {
	for event, want := range map[string]string{
		`question.replied","properties":{"sessionID":"ses_1","requestID":"que_1","answers":[["SQLite"],["a"],["x"]]}`: "answered in its terminal: answered",
		`question.rejected","properties":{"sessionID":"ses_1","requestID":"que_1"}`:                                   "answered in its terminal: declined",
		`question.replied","properties":{"sessionID":"ses_1","requestID":"que_1"}`:                                    "answered",
	} {
		inDeck(t, approvals.Deps{}, func(w *world) {
			p := w.plugin()
			p.say(question)
			w.answer(
				ask.AnswerDraft{Chosen: []int{1}, Accepted: true}, ask.AnswerDraft{Chosen: []int{0}, Accepted: true}, ask.AnswerDraft{Other: "x", OtherOn: true, Accepted: true},
			)
			p.post()
			p.say(`{"event":"` + event + `}`)
			if h := w.q.Pending().History; h[0].Words("") != want {
				t.Errorf("it says %q, want %q", h[0].Words(""), want)
			}
		})
	}
}

// TestAnAnswerThatComesLateIsStillSaid once OpenCode says so, or has ended.
func TestAnAnswerThatComesLateIsStillSaid(t *testing.T) {
	for want, then := range map[string]func(p *plugin){
		"allowed": func(p *plugin) {
			p.say(`{"event":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"once"}}`)
		},
		"not taken: OpenCode has ended": func(p *plugin) { p.hangUp() },
	} {
		inDeck(t, approvals.Deps{}, func(w *world) {
			p := w.plugin()
			p.say(bash)
			w.answer(ask.AnswerDraft{Chosen: []int{0}, Accepted: true})
			p.post()
			says := func(want string) {
				t.Helper()
				synctest.Wait()
				if got := w.q.Pending().History[0].Words(""); got != want {
					t.Errorf("it says %q, want %q", got, want)
				}
			}
			says("sent")
			testwait.Pass(2 * time.Second)
			says("not taken yet: answer in its terminal")
			testwait.Pass(20 * time.Second)
			then(p)
			says(want)
		})
	}
}

func TestADeclinedQuestionIsRejected(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(question)
		if err := w.q.Decline(w.item().ID, "no"); err != nil {
			t.Fatal(err)
		}
		if path, _ := p.post(); path != "/question/que_1/reject" {
			t.Errorf("posted to %s", path)
		}
	})
}

func TestWhatTheTerminalAnswersLeaves(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(bash)
		w.q.Show(w.item().ID)
		p.say(`{"event":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"always"}}`)
		s := w.q.Pending()
		if len(s.Items) != 0 || s.History[0].Delivery != ask.Elsewhere || s.History[0].How != "answered in its terminal: always allowed" {
			t.Errorf("left is %+v, %+v", s.Items, s.History)
		}
		if got := w.row(); got != "ses_1 idle " {
			t.Errorf("session %s", got)
		}
	})
}

func TestWhatIsSettledAtOnceIsNeverShown(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(bash)
		testwait.Pass(200 * time.Millisecond)
		p.say(`{"event":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"reject"}}`)
		if len(w.items()) != 0 || len(w.q.Pending().History) != 0 {
			t.Error("it was shown")
		}
	})
}

func TestAPromptLeavesWithItsProcess(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(bash)
		w.item()
		p.hangUp()
		if n := len(w.items()); n != 0 {
			t.Errorf("%d are left", n)
		}
		if got := w.row(); got != "ses_1 ended " {
			t.Errorf("session %s", got)
		}
		w.plugin().say(bash) // the process connects again
		w.item()
	})
}

func TestAProcessCannotSettleAnothersPrompt(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		w.plugin().say(bash)
		other := w.plugin()
		other.say(
			`{"event":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"once"}}`,
			`{"event":"permission.replied","properties":{"sessionID":"ses_9","requestID":"per_1","reply":"once"}}`,
			`{"event":"session.deleted","properties":{"sessionID":"ses_1"}}`,
			strings.ReplaceAll(bash, "per_1", "per_7"),
		)
		if it := w.item(); it.Request.Prompt.ID != "per_1" {
			t.Errorf("open is %s", it.Request.Prompt.ID)
		}
		if got := w.row(); !strings.HasPrefix(got, "ses_1 permission") {
			t.Errorf("sessions %s", got)
		}
	})
}

func TestASessionMayNotAskWithoutEnd(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		for i := range 70 {
			p.say(strings.ReplaceAll(bash, "per_1", fmt.Sprintf("per_%d", i)))
			if i >= 10 {
				p.say(fmt.Sprintf(`{"event":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_%d","reply":"once"}}`, i))
			}
		}
		if n := len(w.items()); n != 10 {
			t.Errorf("%d are open", n)
		}
		for i := range 30 {
			p.say(strings.ReplaceAll(bash, "per_1", fmt.Sprintf("per_b%d", i)))
		}
		if n := len(w.items()); n != 10 {
			t.Errorf("%d are open, of more than 60 in a minute", n)
		}
		testwait.Pass(time.Minute)
		for i := range 30 {
			p.say(strings.ReplaceAll(bash, "per_1", fmt.Sprintf("per_c%d", i)))
		}
		if n := len(w.items()); n != 20 {
			t.Errorf("%d are open, want the limit", n)
		}
	})
}

func TestWhatCannotBeShownIsAnsweredInItsTerminal(t *testing.T) {
	for _, tt := range []struct{ name, event string }{
		{"too large for the plugin", `{"event":"permission.asked","properties":{"id":"per_1","sessionID":"ses_1","large":true}}`},
		{"too large to show", strings.ReplaceAll(bash, "echo hi &&", "echo "+strings.Repeat("x", 300<<10))},
		{"nested too deeply", strings.ReplaceAll(bash, `"c"}`, `"c","x":`+strings.Repeat("[", 50)+strings.Repeat("]", 50)+"}")},
		{"no permission", strings.ReplaceAll(bash, `"bash"`, `7`)},
		{"other patterns", strings.ReplaceAll(bash, `["echo hi","git status"]`, `{}`)},
		{"a question of another shape", `{"event":"question.asked","properties":{"id":"que_1","sessionID":"ses_1","questions":{}}}`},
		{"a question with equal labels", `{"event":"question.asked","properties":{"id":"que_1","sessionID":"ses_1","questions":[{"question":"?","options":[{"label":"a"},{"label":"a"}]}]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inDeck(t, approvals.Deps{}, func(w *world) {
				w.plugin().say(tt.event)
				it := w.item()
				if p := it.Request.Prompt; p.Door != ask.InTerminal || len(p.Command) > 1000 || p.Diff != "" {
					t.Errorf("it is %+v", p)
				}
				w.q.SetDraft(it.ID, ask.Draft{Answers: []ask.AnswerDraft{{Chosen: []int{0}, Accepted: true}}})
				if w.q.Send(it.ID) == nil {
					t.Error("it could be answered")
				}
			})
		})
	}
}

func TestOptionsThatLastCanBeLeftOut(t *testing.T) {
	inDeck(t, approvals.Deps{Rules: func() approvals.Rules { return approvals.Rules{OnceOnly: true} }}, func(w *world) {
		w.plugin().say(bash)
		for _, g := range w.item().Request.Prompt.Grants {
			if g.Scope != ask.Once {
				t.Errorf("offered: %+v", g)
			}
		}
	})
}

func TestADeckThatEndsLeavesPromptsOpen(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(question)
		w.item()
		w.stop()
		synctest.Wait()
		if it := w.item(); it.Absent != ask.Present {
			t.Errorf("it was withdrawn: %s", it.Why)
		}
		if got := w.row(); got != "ses_1 answer an answer" {
			t.Errorf("session %s", got)
		}
	})
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{bash, edit, fetch, question, `{"event":"session.created","properties":{"sessionID":"s","info":{"id":"s","parentID":"s"}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if strings.ContainsAny(string(line), "\n") {
			return
		}
		inDeck(t, approvals.Deps{}, func(w *world) {
			p := w.plugin()
			_, _ = p.conn.Write(append(line, '\n')) // it may be refused
			synctest.Wait()
			for _, it := range w.items() {
				r := it.Request
				if r.Prompt == nil || r.Prompt.Session == "" || len(r.Questions) == 0 || r.Prompt.Kind == ask.Permission && len(r.Prompt.Grants) != len(r.Questions[0].Options) {
					t.Errorf("%s became %+v", line, r)
				}
			}
		})
	})
}
