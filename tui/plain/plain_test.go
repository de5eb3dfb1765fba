package plain

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
)

// talk runs a plain deck in virtual time and says lines to it.
type talk struct {
	deck  *fake.Deck
	queue *ask.Queue
	in    *io.PipeWriter
	mu    sync.Mutex
	out   strings.Builder
	ended chan error
	says  chan Word
}

func (s *talk) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *talk) said() string {
	testwait.Pass(time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.out.String()
	s.out.Reset()
	return out
}

func (s *talk) type_(line string) string {
	_, _ = io.WriteString(s.in, line+"\n")
	return s.said()
}

func run(t *testing.T, o Options, test func(s *talk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &talk{deck: fake.NewDeck(time.Now()), queue: ask.New(ask.Options{Hold: -1}), ended: make(chan error, 1), says: make(chan Word)}
		r, w := io.Pipe()
		s.in = w
		o.Deck, o.Questions, o.In, o.Out, o.Says = s.deck, s.queue, r, s, s.says
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { s.ended <- Run(ctx, o) }()
		test(s)
		cancel(errors.New("the test is over"))
		w.Close()
		_ = s.queue.Close()
		testwait.Pass(time.Minute)
	})
}

func has(t *testing.T, said string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("lacks %q:\n%s", w, said)
		}
	}
}

func TestAWordComesAfterWhatItIsAbout(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		s.said()
		s.deck.Change(func(d *snapshot.Snapshot) { d.Servers[0].State.Reason = "it rains" })
		printed := make(chan struct{})
		s.says <- Word{"It rains.", printed}
		<-printed
		said := s.said()
		if about, word := strings.Index(said, "it rains"), strings.Index(said, "It rains."); about < 0 || word < about {
			t.Errorf("it is said that\n%s", said)
		}
	})
}

func TestEventsAreLines(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		first := s.said()
		has(t, first, "mcpdeck is running", "socket: /home/ana/", "server Pencil: ready, 14 tools.",
			"agent claude connected, folder /home/ana/src/menu",
			"codex: manage_memory failed: no memory named palette",
			"server LogicStamp: degraded, 8 tools. run `mcpdeck doctor --fix` to install it")
		for _, r := range first {
			if r > 0x7e || r == 0x1b {
				t.Errorf("%q is not ASCII", r)
			}
		}
		s.deck.Add(snapshot.Call{AgentName: "evil\x1b[2J", Tool: "echo", Status: snapshot.OK, Duration: 3 * time.Second})
		has(t, s.said(), "evil: echo ok, 3.0 s")
		s.deck.Change(func(n *snapshot.Snapshot) {
			n.Agents = slices.Clone(n.Agents)
			n.Agents[0].Gone = time.Now()
		})
		has(t, s.said(), "agent claude left")
	})
}

func TestAnAgentIsToldOfOnceItHasANameAndAServerOnce(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		s.said()
		s.deck.Change(func(n *snapshot.Snapshot) {
			n.Agents = append(slices.Clone(n.Agents), snapshot.Agent{Caller: snapshot.Caller{Agent: "new", Program: "node"}})
			n.Servers = slices.Clone(n.Servers)
			n.Servers[0].State.Detail = "another fact"
		})
		if said := s.said(); said != "" {
			t.Errorf("said %q", said)
		}
		s.deck.Change(func(n *snapshot.Snapshot) {
			n.Agents = slices.Clone(n.Agents)
			n.Agents[len(n.Agents)-1].Client = "zed"
		})
		has(t, s.said(), "agent zed connected")
	})
}

func TestAFloodIsCutShort(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		s.said()
		for range 1000 {
			s.deck.Add(snapshot.Call{AgentName: "a", Tool: "echo", Status: snapshot.OK})
		}
		if n := strings.Count(s.said(), "\n"); n > 450 {
			t.Errorf("%d lines", n)
		}
	})
}

func request(qs ...ask.Question) ask.Request {
	for i := range qs {
		qs[i].ID = string(rune('a' + i))
	}
	return ask.Request{Questions: qs, From: ask.From{Client: "codex"}}
}

func choice(q string, options ...string) ask.Question {
	out := ask.Question{Question: q, Kind: ask.Choice, AllowOther: true, Required: true, Recommended: []int{0}}
	for _, o := range options {
		out.Options = append(out.Options, ask.Option{Label: o})
	}
	return out
}

func TestQuestionsAreAnsweredByNumber(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		s.said()
		multi := choice("Which checks?", "lint", "race", "fuzz")
		multi.Multi = true
		call, err := s.queue.Open(request(choice("Which database?", "sqlite", "postgres"), multi))
		if err != nil {
			t.Fatal(err)
		}
		has(t, s.said(), "codex (unverified) asks 2 questions", "Question 1 of 2: Which database?", "1. sqlite (recommended)", "Type a number or your own words")
		has(t, s.type_("7"), "no option 7; type a number from 1 to 2")
		has(t, s.type_("1 2"), "choose one")
		has(t, s.type_("2"), "Question 2 of 2: Which checks?")
		has(t, s.type_("/back"), "Question 1 of 2")
		s.type_("2")
		has(t, s.type_("3,1"), "sent")
		<-call.Done()
		reply, err := call.Reply()
		if err != nil {
			t.Fatal(err)
		}
		if got := reply.Results[0].SelectedOptions; !slices.Equal(got, []string{"postgres"}) {
			t.Errorf("first: %v", got)
		}
		if got := reply.Results[1].SelectedOptions; !slices.Equal(got, []string{"lint", "fuzz"}) {
			t.Errorf("second: %v", got)
		}
	})
}

func TestOtherEndsOfAQuestion(t *testing.T) {
	tests := []struct {
		name, line string
		check      func(ask.Reply) bool
	}{
		{"own words", "mysql, please", func(r ask.Reply) bool { return r.Results[0].CustomInput == "mysql, please" }},
		{"asking back", "/clarify what for?", func(r ask.Reply) bool { return r.Results[0].Clarify == "what for?" }},
		{"skipping", "/skip", func(r ask.Reply) bool { return r.Results[0].Skipped }},
		{"declining", "/decline not now", func(r ask.Reply) bool { return r.Status == ask.Declined && r.Reason == "not now" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, Options{}, func(s *talk) {
				call, err := s.queue.Open(request(choice("Which database?", "sqlite", "postgres")))
				if err != nil {
					t.Fatal(err)
				}
				s.said()
				said := s.type_(tt.line)
				<-call.Done()
				if reply, err := call.Reply(); err != nil || !tt.check(reply) {
					t.Errorf("reply %+v, %v; said:\n%s", reply, err, said)
				}
			})
		})
	}
}

func TestAQuestionIsPutOffForTheMinutesThatAreGiven(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		call, err := s.queue.Open(request(choice("Which database?", "sqlite", "postgres")))
		if err != nil {
			t.Fatal(err)
		}
		s.said()
		for _, bad := range []string{"/later soon", "/later -1", "/later 1441"} {
			has(t, s.type_(bad), "type /later, or /later with a number of minutes")
		}
		has(t, s.type_("/help"), "/later 30 snoozes it for 30 minutes", "/quit closes the deck")
		has(t, s.type_("/later 30"), "snoozed")
		select {
		case <-call.Done():
			t.Error("a question that was put off has ended")
		default:
		}
		testwait.Pass(31 * time.Minute)
		has(t, s.said(), "Which database?")
	})
}

func TestAWithdrawnQuestionIsTold(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		call, err := s.queue.Open(request(choice("Which database?", "sqlite", "postgres")))
		if err != nil {
			t.Fatal(err)
		}
		s.said()
		call.Leave("the agent was stopped")
		has(t, s.said(), "is no longer open")
		has(t, s.type_("1"), "no open question")
	})
}

func TestWatchingAnswersNothing(t *testing.T) {
	run(t, Options{Watch: true}, func(s *talk) {
		if _, err := s.queue.Open(request(choice("Which database?", "sqlite"))); err != nil {
			t.Fatal(err)
		}
		has(t, s.said(), "This deck is watch-only")
		has(t, s.type_("1"), "this deck only watches")
		if s.queue.Pending().Waiting != 1 {
			t.Error("it was answered")
		}
	})
}

func TestQuitEndsIt(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		s.said()
		s.type_("/quit")
		if err := <-s.ended; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("1 3", true)
	q := choice("?", "a", "b", "c")
	f.Fuzz(func(t *testing.T, l string, multi bool) {
		q.Multi = multi
		r, err := parse(&q, l)
		if err == nil && len(r.SelectedOptions) == 0 && r.CustomInput != l {
			t.Fatalf("%q is %+v", l, r)
		}
	})
}
