package plain

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
)

func ask1(t *testing.T, s *talk, q ask.Question) *ask.Call {
	t.Helper()
	call, err := s.queue.Open(request(q))
	if err != nil {
		t.Fatal(err)
	}
	return call
}

func waiting(t *testing.T, s *talk, want int) {
	t.Helper()
	if got := s.queue.Pending().Waiting; got != want {
		t.Errorf("%d requests wait, want %d", got, want)
	}
}

// A line answers only the question that its writer can have read.
func TestALineTypedForAWithdrawnQuestionDoesNotAnswerTheNext(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		first := ask1(t, s, choice("Which database?", "sqlite", "postgres"))
		s.said()
		second := ask1(t, s, choice("Delete what?", "nothing", "everything"))
		s.said()
		first.Leave("the agent was stopped")
		has(t, s.said(), "is no longer open", "Delete what?")
		has(t, s.type_("2"), "not accepted", "Delete what?")
		waiting(t, s, 1)
		has(t, s.type_("2"), "sent")
		<-second.Done()
	})
}

func TestAnEmptyLineShowsTheNextQuestionBeforeItIsAnswered(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		first := ask1(t, s, choice("Which database?", "sqlite", "postgres"))
		ask1(t, s, choice("Delete what?", "nothing", "everything"))
		s.said()
		first.Leave("the agent was stopped")
		s.said()
		has(t, s.type_(""), "Delete what?")
		has(t, s.type_("1"), "sent")
		waiting(t, s, 0)
	})
}

func TestPastedLinesAnswerNoQuestionThatCameAfterThem(t *testing.T) {
	for _, line := range []string{"2", "/skip", "/decline", "/later"} {
		t.Run(strings.TrimPrefix(line, "/"), func(t *testing.T) {
			run(t, Options{}, func(s *talk) {
				ask1(t, s, choice("Which database?", "sqlite", "postgres"))
				ask1(t, s, choice("Delete what?", "nothing", "everything"))
				s.said()
				_, _ = io.WriteString(s.in, "1\n"+line+"\n")
				has(t, s.said(), "sent", "Delete what?", "just appeared")
				waiting(t, s, 1)
				if it := s.queue.Pending().Items[0]; it.State == ask.Snoozed {
					t.Error("the second question was put off")
				}
			})
		})
	}
}

func TestAMistypedCommandIsNoAnswer(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		call := ask1(t, s, ask.Question{Question: "Which name?", Kind: ask.Text, AllowOther: true, Required: true})
		s.said()
		has(t, s.type_("/skp"), "unknown command /skp", "/text /skp")
		waiting(t, s, 1)
		has(t, s.type_("/text /skp"), "sent")
		<-call.Done()
		if r, err := call.Reply(); err != nil || r.Results[0].CustomInput != "/skp" {
			t.Errorf("reply %+v, %v", r, err)
		}
	})
}

func TestWhatIsTypedIsTheOptionItNames(t *testing.T) {
	tests := []struct {
		name, line, option, words string
	}{
		{"number with a full stop", "2.", "postgres", ""},
		{"number with a bracket", "2)", "postgres", ""},
		{"the option's words", "Postgres", "postgres", ""},
		{"a number as words", "/text 2", "", "2"},
		{"a path", "/etc/hosts", "", "/etc/hosts"},
		{"a fraction", "1.5", "", "1.5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, Options{}, func(s *talk) {
				call := ask1(t, s, choice("Which database?", "sqlite", "postgres"))
				s.said()
				said := s.type_(tt.line)
				waiting(t, s, 0)
				r, err := call.Reply()
				if err != nil || len(r.Results) != 1 {
					t.Fatalf("reply %+v, %v; said:\n%s", r, err, said)
				}
				got := r.Results[0]
				if got.CustomInput != tt.words || tt.option != "" && !slices.Equal(got.SelectedOptions, []string{tt.option}) {
					t.Errorf("answered %+v, want option %q or words %q", got, tt.option, tt.words)
				}
			})
		})
	}
}

func TestWhatIsAskedIsSaidInFull(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		q := choice("Which listener?", "mutual", "plain")
		q.Options[0].Preview = "tls mutual\nca internal.pem"
		r := request(q)
		r.From.Cwd = "/src/payments"
		if _, err := s.queue.Open(r); err != nil {
			t.Fatal(err)
		}
		has(t, s.said(), "codex (unverified) asks", "folder /src/payments", "| tls mutual", "| ca internal.pem")
	})
}

func TestAnAnswerThatNobodyWaitsForIsNotCalledSent(t *testing.T) {
	run(t, Options{}, func(s *talk) {
		r := request(choice("Which database?", "sqlite"))
		r.ResumeKey = "key"
		call, err := s.queue.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		s.said()
		call.HandOver()
		s.said()
		has(t, s.type_("1"), "saved; the agent gets it if it asks again")
	})
}
