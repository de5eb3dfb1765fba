package ask

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// permissionRequest is what an agent asks before it runs a command.
func permissionRequest(id string, door Door) Request {
	return Request{
		Questions: []Question{{ID: "permission", Question: "Run it?", Kind: Choice, Required: true, Options: []Option{{Label: "Allow once"}, {Label: "Deny"}}}},
		From:      From{Client: "claude"}, Local: true,
		Prompt: &Prompt{Kind: Permission, ID: id, Agent: "claude", Session: "s", Command: "make", Door: door, Grants: []Grant{{Allow: true, Scope: Once}, {Scope: Once}}},
	}
}

func opened(t *testing.T, q *Queue, r Request) *Call {
	t.Helper()
	c, err := q.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func decide(t *testing.T, q *Queue, id, option int) {
	t.Helper()
	q.SetDraft(id, Draft{Answers: []AnswerDraft{{Chosen: []int{option}, Accepted: true}}})
	if err := q.Send(id); err != nil {
		t.Fatal(err)
	}
}

func TestAPermissionIsGivenAtOnceAndADenialCanBeUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		defer q.Close()
		allow, deny := opened(t, q, permissionRequest("1", Shared)), opened(t, q, permissionRequest("2", Shared))
		decide(t, q, 1, 0)
		<-allow.Done()
		decide(t, q, 2, 1)
		select {
		case <-deny.Done():
			t.Error("the denial could not be undone")
		default:
		}
		testwait.Pass(defaultHoldFor)
		<-deny.Done()
		for i, c := range []*Call{allow, deny} {
			r, err := c.Reply()
			req := permissionRequest("", Shared)
			if g, ok := req.Granted(r.Results); err != nil || !ok || g.Allow != (i == 0) {
				t.Errorf("reply %d: %+v, %v", i, r, err)
			}
		}
	})
}

func TestAPermissionIsNeverGivenLater(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	c := opened(t, q, permissionRequest("1", Shared))
	decide(t, q, 1, 0)
	c.Delivered(NotTaken)
	if s := q.Pending(); s.Parked != 0 || len(s.Kept) != 0 {
		t.Errorf("%d answers are kept", s.Parked)
	}
}

func TestANoteIsOfferedAgainWithoutItsDecision(t *testing.T) {
	other := permissionRequest("2", Shared)
	other.Prompt.Command = "make clean"
	for name, tt := range map[string]struct {
		again Request
		after time.Duration
		want  string
	}{
		"the same":             {permissionRequest("2", Shared), time.Hour, "use go build"},
		"something else":       {other, time.Hour, ""},
		"the same a day later": {permissionRequest("2", Shared), 25 * time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New(Options{Hold: -1})
				defer q.Close()
				c := opened(t, q, permissionRequest("1", Shared))
				q.SetDraft(1, Draft{Answers: []AnswerDraft{{Chosen: []int{1}, Notes: map[int]string{1: "use go build"}, Accepted: true}}})
				if err := q.Send(1); err != nil {
					t.Fatal(err)
				}
				<-c.Done()
				c.Delivered(NotTaken)
				testwait.Pass(tt.after)
				opened(t, q, tt.again)
				it := q.Pending().Items[0]
				if a := it.Draft.Answers[0]; a.Notes[1] != tt.want || len(a.Chosen) > 0 || a.Accepted {
					t.Errorf("its draft is %+v", a)
				}
			})
		})
	}
}

func TestAPermissionThatIsSettledElsewhereLeavesAlsoFromTheScreen(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	c := opened(t, q, permissionRequest("1", Shared))
	q.Show(1)
	q.SetDraft(1, Draft{Answers: []AnswerDraft{{Chosen: []int{0}}}})
	c.Settled("answered in its terminal")
	s := q.Pending()
	if len(s.Items) != 0 || len(s.History) != 1 || s.History[0].Delivery != Elsewhere || s.History[0].How != "answered in its terminal" {
		t.Errorf("left is %+v", s)
	}
	if q.Send(1) == nil {
		t.Error("it could still be answered")
	}
}

func TestAQuestionThatIsSettledElsewhereKeepsWhatWasTyped(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	r := permissionRequest("1", Shared)
	r.Prompt.Kind, r.Prompt.Grants = OwnQuestion, nil
	c := opened(t, q, r)
	q.SetDraft(1, Draft{Answers: []AnswerDraft{{Chosen: []int{0}}}})
	c.Settled("answered in its terminal")
	if s := q.Pending(); len(s.Items) != 1 || s.Items[0].Absent != Gone || len(s.Items[0].Draft.Answers[0].Chosen) != 1 {
		t.Errorf("left is %+v", s.Items)
	}
}

func TestAQuestionForWhichNothingWasEnteredLeavesAlsoFromTheScreen(t *testing.T) {
	for _, door := range []Door{Shared, Held, InTerminal} {
		q := New(Options{})
		r := permissionRequest("1", door)
		r.Prompt.Kind, r.Prompt.Grants = OwnQuestion, nil
		c := opened(t, q, r)
		q.Show(1)
		c.Settled("answered in its terminal")
		if s := q.Pending(); len(s.Items) != 0 {
			t.Errorf("%s: left is %+v", door, s.Items)
		}
		_ = q.Close()
	}
}

func TestEqualPromptsAtOneTimeAreTwo(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	opened(t, q, permissionRequest("1", Shared)).Leave("gone")
	opened(t, q, permissionRequest("2", Shared))
	if s := q.Pending(); s.Waiting != 1 {
		t.Errorf("%d wait, want only the second", s.Waiting)
	}
}

func TestAHeldPromptIsLetGoOnce(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	c := opened(t, q, permissionRequest("1", Held))
	before := q.Pending().Items[0].Request.Prompt
	if err := q.Release(1); err != nil {
		t.Fatal(err)
	}
	<-c.Released()
	if now := q.Pending().Items[0].Request.Prompt; now.Door != InTerminal || before.Door != Held {
		t.Errorf("it is %s, and was %s", now.Door, before.Door)
	}
	if q.Release(1) == nil {
		t.Error("it was let go twice")
	}
}

func TestNothingHereAnswersWhatOnlyTheTerminalCan(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	c := opened(t, q, permissionRequest("1", InTerminal))
	q.SetDraft(1, Draft{Answers: []AnswerDraft{{Chosen: []int{0}, Accepted: true}}})
	for name, err := range map[string]error{
		"send": q.Send(1), "decline": q.Decline(1, ""), "answer": q.Answer(1, []Result{{ID: "permission", SelectedOptions: []string{"Allow once"}}}),
	} {
		if !errors.Is(err, ErrInTerminal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	select {
	case <-c.Done():
		t.Error("the call has ended")
	default:
	}
}

func TestAPermissionWhoseAgentHasGoneLeavesAlsoFromTheScreen(t *testing.T) {
	for _, kind := range []PromptKind{Permission, Plan} {
		q := New(Options{})
		r := permissionRequest("1", Shared)
		r.Prompt.Kind = kind
		c := opened(t, q, r)
		q.Show(1)
		c.Leave("the agent ended")
		if s := q.Pending(); len(s.Items) != 0 || len(s.History) != 1 || s.History[0].Delivery != Withdrawn {
			t.Errorf("of the %s, left is %+v", kind, s)
		}
		_ = q.Close()
	}
}

func TestHeldPromptsComeFirstWhereDeadlinesDo(t *testing.T) {
	for _, first := range []bool{false, true} {
		q := New(Options{DeadlineFirst: first})
		opened(t, q, permissionRequest("1", Shared))
		opened(t, q, permissionRequest("2", Held))
		if got := q.Pending().Items[0].ID == 2; got != first {
			t.Errorf("with deadlines first %v, the held one is first: %v", first, got)
		}
		_ = q.Close()
	}
}

func TestAPermissionIsAnsweredWithOneOfItsOptionsAlone(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	c := opened(t, q, permissionRequest("1", Shared))
	for _, r := range []Result{{ID: "permission", Skipped: true}, {ID: "permission", Clarify: "why?"}, {ID: "permission", SelectedOptions: []string{"Always"}}} {
		if q.Answer(1, []Result{r}) == nil {
			t.Errorf("%+v was taken", r)
		}
	}
	if err := q.Answer(1, []Result{{ID: "permission", SelectedOptions: []string{"Deny"}}}); err != nil {
		t.Error(err)
	}
	<-c.Done()
}

func TestAPromptIsPlainData(t *testing.T) {
	was := permissionRequest("1", Held)
	raw, err := json.Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	var is Request
	if err := json.Unmarshal(raw, &is); err != nil || is.Prompt == nil || len(is.Prompt.Grants) != 2 || is.Fingerprint() != was.Fingerprint() {
		t.Errorf("%s became %+v, %v", raw, is, err)
	}
}

func TestAFileIsNamedFromTheFolderOfItsAgent(t *testing.T) {
	for _, tt := range []struct{ cwd, path, want string }{
		{"/home/ana/shop", "/home/ana/shop/src/a.go", "src/a.go"},
		{"/home/ana/shop/", "/home/ana/shop/a.go", "a.go"},
		{"/home/ana/shop", "/home/ana/shop2/a.go", "/home/ana/shop2/a.go"},
		{"/home/ana/shop", "/home/ana/shop/../.ssh/id", "/home/ana/shop/../.ssh/id"},
		{"", "/etc/hosts", "/etc/hosts"},
		{"/", "/etc/hosts", "/etc/hosts"},
	} {
		r := Request{From: From{Cwd: tt.cwd}, Prompt: &Prompt{Path: tt.path}}
		if got := r.Brief(); got != tt.want {
			t.Errorf("%s in %s is called %s, want %s", tt.path, tt.cwd, got, tt.want)
		}
	}
}
