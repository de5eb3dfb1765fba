package ask

import (
	"testing"
	"time"
)

func refusal(session, command string) Request {
	r := permissionRequest("d", Shared)
	p := *r.Prompt
	p.Session, p.Command = session, command
	r.Prompt = &p
	return r
}

func TestWhatAutoModeDeniedIsListedOncePerSession(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	for _, r := range []Request{refusal("s1", "curl x"), refusal("s1", "curl x"), refusal("s2", "curl x"), refusal("s1", "rm -r y")} {
		q.Refused(r, Refusal{Reason: "reaches an\nunknown host"})
	}
	q.Refused(refusal("s3", "ls"), Refusal{Reason: "Classifier unavailable", Unjudged: true})
	s := q.Pending()
	if len(s.Items) != 0 || len(s.History) != 4 {
		t.Fatalf("%d are open, %d have ended", len(s.Items), len(s.History))
	}
	all := Denials(s.History, time.Now())
	if len(all) != 4 || all[0].Judged || all[0].Reason != "Classifier unavailable" || all[3].Times != 2 || all[3].Subject != "curl x" || all[3].By != "auto mode" || !all[3].Judged {
		t.Errorf("listed: %+v", all)
	}
	if w := s.History[0].Words(""); w != "denied by auto mode: reaches an unknown host" {
		t.Errorf("it is said to be %q", w)
	}
	if w := s.History[3].Words(""); w != "not judged: Classifier unavailable" {
		t.Errorf("it is said to be %q", w)
	}
	if late := Denials(s.History, time.Now().Add(keepDenied+time.Hour)); len(late) != 0 {
		t.Errorf("after a month, %+v are listed", late)
	}
}

func TestWhatTheUserAndRulesDeniedIsListed(t *testing.T) {
	denied := refusal("s1", "git push -f")
	at := time.Now()
	rec := func(rule *ByRule, d Delivery) Record {
		return Record{Ended: at, Request: denied, Delivery: d, Rule: rule, Reply: Reply{Status: Declined, Reason: "not today"}}
	}
	all := Denials([]Record{rec(nil, Sent), rec(nil, Delivered), rec(&ByRule{ID: "k4", Say: "no pushes"}, Delivered), rec(nil, Withdrawn)}, at)
	if len(all) != 2 || all[0].By != "rule k4" || all[1].By != "you" || all[1].Reason != "not today" {
		t.Errorf("listed: %+v", all)
	}
}

func TestDenialsAreKept(t *testing.T) {
	path := t.TempDir() + "/history"
	q := New(Options{HistoryFile: path})
	q.Refused(refusal("s1", "curl x"), Refusal{Reason: "why"})
	q.Refused(refusal("s1", "curl x"), Refusal{Reason: "why"})
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	if all := Denials(ReadHistory(path), time.Now()); len(all) != 1 || all[0].Times != 2 || all[0].Reason != "why" {
		t.Errorf("kept: %+v", all)
	}
}

// offered opens what auto mode has denied, so that the user can have it tried again.
func offered(t *testing.T, q *Queue, command string) *Call {
	t.Helper()
	r := refusal("s1", command)
	p := *r.Prompt
	p.Refused, p.Grants = &Refusal{Reason: "an unknown host"}, []Grant{{Scope: Once, Again: true}, {Scope: Once}}
	r.Prompt, r.Questions = &p, []Question{{ID: "permission", Question: "Let Bash be tried again?", Kind: Choice, Required: true, Options: []Option{{Label: "Let it try again"}, {Label: "Leave it denied"}}}}
	c, err := q.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWhatCanBeTriedAgainIsListedAsDeniedAtOnceAndOnlyOnce(t *testing.T) {
	path := t.TempDir() + "/history"
	q := New(Options{HistoryFile: path})
	q.Refused(refusal("s1", "curl x"), Refusal{Reason: "an unknown host"})
	c := offered(t, q, "curl x")
	s := q.Pending()
	if w := s.Items[0].Request.WaitsFor(); w != "again?" || len(s.History) != 1 || s.History[0].Refused.Times != 2 {
		t.Errorf("it waits for %q, the history is %+v", w, s.History)
	}
	c.Gone("nobody answered in time")
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	for _, all := range [][]Record{q.Pending().History, ReadHistory(path)} {
		if d := Denials(all, time.Now()); len(d) != 1 || d[0].Times != 2 || d[0].By != "auto mode" || all[len(all)-1].Words("") != "denied by auto mode: an unknown host" {
			t.Errorf("unanswered, it is %+v", d)
		}
	}
}

// It is said to be done only once the agent was seen to know it, and stays a denial.
func TestThatAnAgentMayTryAgainIsSaidOnceItWasTold(t *testing.T) {
	for answer, want := range map[string][3]string{
		"Let it try again": {"sent", "told that it may try again", "told that it may try again"},
		"Leave it denied":  {"denied by auto mode: an unknown host", "denied by auto mode: an unknown host", "denied by auto mode: an unknown host"},
	} {
		q := New(Options{})
		c := offered(t, q, "curl x")
		answers := func() error {
			return q.Answer(q.Pending().Items[0].ID, []Result{{ID: "permission", SelectedOptions: []string{answer}}})
		}
		if err := answers(); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		for i, d := range []Delivery{Sent, Delivered, Withdrawn} {
			c.Delivered(d)
			s := q.Pending()
			if w := s.History[0].Words(""); len(s.Items) != 0 || len(s.History) != 1 || w != want[i] || len(Denials(s.History, time.Now())) != 1 {
				t.Errorf("%s, %s: it is said to be %q", answer, d, w)
			}
		}
		_ = q.Close()
	}
	q := New(Options{})
	defer q.Close()
	c := offered(t, q, "curl x")
	_ = q.Answer(q.Pending().Items[0].ID, []Result{{ID: "permission", SelectedOptions: []string{"Let it try again"}}})
	c.Delivered(NotTaken)
	if w := q.Pending().History[0].Words("J"); w != "not taken yet: tell it in its terminal (J)" {
		t.Errorf("untaken, it is said to be %q", w)
	}
}
