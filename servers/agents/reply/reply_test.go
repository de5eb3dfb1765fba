package reply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/reply"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// program plays the program of one session, and its adapter.
type program struct {
	t       *testing.T
	roster  sessions.Roster
	outbox  *reply.Outbox
	now     snapshot.Session
	took    []string
	notices []string
	off     bool
	lost    error         // what comes of sending, after the program has the text
	refuses bool          // it does not get the text
	after   time.Duration // until it records what it was sent
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{t: t, now: snapshot.Session{Agent: "codex", ID: "s", State: snapshot.Idle, Door: snapshot.Door{Open: true}}}
	p.roster.Report(p.now)
	p.outbox = reply.New(reply.Options{Roster: &p.roster, Off: func() bool { return p.off }, Notice: func(s string) { p.notices = append(p.notices, s) }})
	go p.outbox.Run(t.Context(), map[string]approvals.Sender{"codex": p}, redact.Rules{})
	synctest.Wait()
	return p
}

func (p *program) report(change func(*snapshot.Session)) {
	change(&p.now)
	p.roster.Report(p.now)
	synctest.Wait()
}

func (p *program) asked(text string) {
	p.now.Record = &snapshot.Record{Prompt: text, Asked: time.Now()}
	p.roster.Report(p.now)
}

func (p *program) Send(_ context.Context, s snapshot.Session, text string) error {
	if p.refuses {
		return fmt.Errorf("%w: the turn has ended", approvals.ErrUnsent)
	}
	p.took = append(p.took, text)
	time.AfterFunc(p.after, func() { p.asked(text) })
	return p.lost
}

func (p *program) next() snapshot.Next {
	synctest.Wait()
	return p.roster.Sessions()[0].Next
}

func (p *program) send(text string) {
	p.t.Helper()
	if err := p.outbox.Send("codex", "s", text); err != nil {
		p.t.Fatal(err)
	}
}

func TestAPromptIsSentOnceAndTakenWhenTheSessionRecordsIt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lost  error
		after time.Duration
		at5   snapshot.NextState
	}{
		{name: "at once"},
		{name: "after four seconds", after: 4 * time.Second},
		{name: "over a connection that was lost", lost: errors.New("hung up"), after: time.Second},
		{name: "too late, which is noticed", after: time.Minute, at5: snapshot.NextUntaken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProgram(t)
				p.lost, p.after = tt.lost, tt.after
				p.asked("Mend it")
				testwait.Pass(time.Hour)
				p.send("Mend it") // again
				if n := p.next(); tt.after > 0 && n.State != snapshot.NextSending {
					t.Errorf("at first %+v", n)
				}
				testwait.Pass(5 * time.Second)
				if n := p.next(); n.State != tt.at5 || (tt.at5 != "") != (n.Text == "Mend it") {
					t.Errorf("after 5 s %+v", n)
				}
				testwait.Pass(time.Minute)
				if n := p.next(); n != (snapshot.Next{}) || len(p.took) != 1 {
					t.Errorf("at last %+v, sent %q", n, p.took)
				}
			})
		})
	}
}

func TestAPromptThatWasNotTakenIsGivenBackAndNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t)
		p.refuses = true
		p.send("Mend it")
		if n := p.next(); n.State != snapshot.NextUntaken || n.Text != "Mend it" || n.Note != "not sent: the turn has ended" {
			t.Errorf("refused: %+v", n)
		}
		p.refuses, p.lost, p.after = false, errors.New("hung up"), 1000*time.Hour
		p.send("Mend it, please")
		testwait.Pass(time.Hour)
		if n := p.next(); n.State != snapshot.NextUntaken || len(p.took) != 1 {
			t.Errorf("lost: %+v, sent %q", n, p.took)
		}
		if text := p.outbox.TakeBack("codex", "s"); text != "Mend it, please" || p.next() != (snapshot.Next{}) {
			t.Errorf("taken back %q, left %+v", text, p.next())
		}
	})
}

func TestAPromptThatIsQueuedHasUntilTheEndOfTheTurn(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration
		want  snapshot.NextState
	}{
		{"read after a minute", time.Minute, ""},
		{"never read", 1000 * time.Hour, snapshot.NextUntaken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProgram(t)
				p.report(func(s *snapshot.Session) { s.State = snapshot.Working })
				p.lost, p.after = approvals.ErrQueued, tt.after
				p.send("Then the till")
				testwait.Pass(59 * time.Second)
				if n := p.next(); n.State != snapshot.NextSending {
					t.Errorf("at work: %+v", n)
				}
				testwait.Pass(time.Minute)
				p.report(func(s *snapshot.Session) { s.State = snapshot.Idle })
				testwait.Pass(11 * time.Second)
				if n := p.next(); n.State != tt.want || n.Note != "" || len(p.took) != 1 {
					t.Errorf("after the turn: %+v, sent %q", n, p.took)
				}
			})
		})
	}
}

func TestWhatIsKeptForAWorkingSessionIsSentOnlyIfNothingElseHappens(t *testing.T) {
	idle := func(s *snapshot.Session) { s.State = snapshot.Idle }
	for _, tt := range []struct {
		name  string
		steps []func(*snapshot.Session)
		sent  bool
		why   string
	}{
		{"its turn ends", []func(*snapshot.Session){idle}, true, ""},
		{"it says something", []func(*snapshot.Session){func(s *snapshot.Session) { s.Record = &snapshot.Record{Said: "So."} }, idle}, true, ""},
		{"it is asked elsewhere", []func(*snapshot.Session){func(s *snapshot.Session) { s.Record = &snapshot.Record{Prompt: "x", Asked: time.Now()} }, idle}, false, "it was asked something else meanwhile"},
		{"it waits", []func(*snapshot.Session){func(s *snapshot.Session) { s.State = snapshot.WaitsForPermission }, idle}, false, "it waits for an answer: give that first"},
		{"it ends", []func(*snapshot.Session){func(s *snapshot.Session) { s.State = snapshot.Ended }, idle}, false, "this session has ended"},
		{"its door closes", []func(*snapshot.Session){func(s *snapshot.Session) { s.Door.Open = false }, idle}, false, "codex takes messages in its own terminal: J"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProgram(t)
				p.report(func(s *snapshot.Session) { s.State, s.Door.AtRest = snapshot.Working, true })
				p.send("Then the till")
				if n := p.next(); n.State != snapshot.NextKept || len(p.took) != 0 {
					t.Fatalf("at work %+v, sent %q", n, p.took)
				}
				for _, step := range tt.steps {
					p.report(step)
				}
				n := p.next()
				if sent := len(p.took) == 1; sent != tt.sent || n.Note != tt.why {
					t.Errorf("sent %q, %+v", p.took, n)
				}
				if got := strings.Join(p.notices, ""); (got == "") != tt.sent || !strings.HasSuffix(got, tt.why) {
					t.Errorf("the user is told %q", got)
				}
			})
		})
	}
}

func TestWhatIsKeptCanBeTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t)
		p.report(func(s *snapshot.Session) { s.State, s.Door.AtRest = snapshot.Working, true })
		p.send("Then the till")
		if text := p.outbox.TakeBack("codex", "s"); text != "Then the till" {
			t.Errorf("taken back: %q", text)
		}
		p.report(func(s *snapshot.Session) { s.State = snapshot.Idle })
		if n := p.next(); n != (snapshot.Next{}) || len(p.took) != 0 {
			t.Errorf("left %+v, sent %q", n, p.took)
		}
	})
}

func TestWhyAPromptIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		now              func(*program)
	}{
		{name: "blank", text: " \n", want: "type something to send"},
		{name: "long", text: strings.Repeat("x", reply.Longest+1), want: "too long: 16.4 kB at most"},
		{name: "off", text: "x", want: "prompts from here are turned off: sessions.reply", now: func(p *program) { p.off = true }},
		{name: "ended", text: "x", want: "this session has ended", now: func(p *program) { p.now.State = snapshot.Ended }},
		{name: "gone", text: "x", want: "this session has ended", now: func(p *program) { p.roster.Gone("codex", "s"); p.now.ID = "t" }},
		{name: "unknown", text: "x", want: "what it does cannot be seen", now: func(p *program) { p.now.State = snapshot.StateUnknown }},
		{name: "waiting", text: "x", want: "it waits for an answer: give that first", now: func(p *program) { p.now.State = snapshot.Waiting }},
		{name: "without a door", text: "x", want: "codex takes messages in its own terminal: J", now: func(p *program) { p.now.Door.Open = false }},
		{name: "a second one", text: "x", want: "one prompt at a time: the last one is still under way", now: func(p *program) { p.after = time.Second; p.send("first") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProgram(t)
				if tt.now != nil {
					tt.now(p)
					p.report(func(*snapshot.Session) {})
				}
				sent := len(p.took)
				if err := p.outbox.Send("codex", "s", tt.text); err == nil || err.Error() != tt.want || len(p.took) != sent {
					t.Errorf("%v, sent %d", err, len(p.took))
				}
			})
		})
	}
}
