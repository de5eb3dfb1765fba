package approvals_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// agent is an agent's program that asks one thing.
type agent struct {
	*approvals.Item
	fate approvals.Fate // as it is seen next
	took []ask.Reply
	deaf bool
	over int
	let  int
	gone chan struct{}
}

func (a *agent) Look() approvals.Fate { return a.fate }

func (a *agent) Answer(r ask.Reply) bool {
	a.took = append(a.took, r)
	return !a.deaf
}

func (a *agent) LetGo()                { a.let++ }
func (a *agent) Over()                 { a.over++ }
func (a *agent) Gone() <-chan struct{} { return a.gone }

// becomes has the agent's record say what became of the prompt.
func (a *agent) becomes(is approvals.Standing, how string, last bool) {
	a.fate = approvals.Fate{Is: is, How: how, Last: last}
	a.Poke()
	synctest.Wait()
}

func TestAPromptIsFollowedUntilItIsKnownWhatBecameOfIt(t *testing.T) {
	type world struct {
		a    *agent
		q    *ask.Queue
		stop context.CancelFunc
	}
	answer := func(w *world) {
		it := w.q.Pending().Items[0]
		if err := w.q.Answer(it.ID, []ask.Result{{ID: "permission", SelectedOptions: []string{"Allow once"}}}); err != nil {
			panic(err)
		}
		synctest.Wait()
	}
	for name, tt := range map[string]struct {
		door  ask.Door
		steps func(*world)
		want  ask.End
		how   string
		took  int
		let   int
	}{
		"taken":                   {ask.Shared, func(w *world) { answer(w); w.a.becomes(approvals.Taken, "", true) }, ask.EndAllowed, "", 1, 0},
		"sent":                    {ask.Shared, answer, ask.EndSent, "", 1, 0},
		"not taken":               {ask.Shared, func(w *world) { w.a.deaf = true; answer(w) }, ask.EndNotTaken, "", 1, 0},
		"answered elsewhere":      {ask.Shared, func(w *world) { w.a.becomes(approvals.Elsewhere, "there", true) }, ask.EndElsewhere, "there", 0, 0},
		"the terminal was faster": {ask.Shared, func(w *world) { answer(w); w.a.becomes(approvals.Elsewhere, "there", true) }, ask.EndElsewhere, "there", 1, 0},
		"its record comes late": {ask.Shared, func(w *world) {
			w.a.becomes(approvals.Gone, "?", false)
			w.a.becomes(approvals.Elsewhere, "there", true)
		}, ask.EndElsewhere, "there", 0, 0},
		"nobody asks any more":         {ask.Shared, func(w *world) { w.a.becomes(approvals.Gone, "why", true) }, ask.EndGone, "why", 0, 0},
		"its agent is lost":            {ask.Shared, func(w *world) { w.a.becomes(approvals.Left, "why", true) }, ask.EndGone, "why", 0, 0},
		"its agent is lost after that": {ask.Shared, func(w *world) { answer(w); w.a.becomes(approvals.Left, "why", true) }, ask.EndNotTaken, "why", 1, 0},
		"the deck ends":                {ask.Shared, func(w *world) { w.stop(); synctest.Wait() }, ask.EndGone, "mcpdeck was closed", 0, 0},
		"held for as long": {ask.Held, func(w *world) {
			testwait.Pass(time.Minute)
			w.a.becomes(approvals.Elsewhere, "its terminal asks", true)
		}, ask.EndElsewhere, "its terminal asks", 0, 1},
		"let go by the user": {ask.Held, func(w *world) {
			if err := w.q.Release(w.q.Pending().Items[0].ID); err != nil {
				panic(err)
			}
			synctest.Wait()
			w.a.becomes(approvals.Elsewhere, "its terminal asks", true)
		}, ask.EndElsewhere, "its terminal asks", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := ask.New(ask.Options{Hold: -1})
				defer q.Close()
				r := approvals.Request(&snapshot.Session{Agent: "claude", ID: "s", PID: 1, Verified: true}, &ask.Prompt{Kind: ask.Permission, ID: "p", Tool: "Bash", Door: tt.door})
				r.Local = true
				approvals.Permit(&r, append([]approvals.Choice{approvals.AllowOnce(nil)}, approvals.Denials(nil)...))
				a := &agent{Item: approvals.NewItem(r, func() approvals.Rules { return approvals.Rules{Hold: time.Minute} }), gone: make(chan struct{})}
				if err := a.Open(q, a); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				ended := make(chan struct{})
				go func() {
					a.Follow(ctx)
					close(ended)
				}()
				synctest.Wait()
				tt.steps(&world{a, q, stop})
				history := q.Pending().History
				if len(history) != 1 {
					t.Fatalf("%d ended", len(history))
				}
				if h := history[0]; h.End() != tt.want || h.How+h.Reply.Reason != tt.how || len(a.took) != tt.took || a.let != tt.let || a.over != 1 {
					t.Errorf("%s, %q; %d answers, let go %d times, over %d times", h.End(), h.How+h.Reply.Reason, len(a.took), a.let, a.over)
				}
				stop()
				<-ended
			})
		})
	}
}

func TestAnAgentThatHangsUpIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := ask.New(ask.Options{Hold: -1})
		defer q.Close()
		r := approvals.Request(&snapshot.Session{Agent: "claude", ID: "s"}, &ask.Prompt{Kind: ask.Permission, ID: "p", Tool: "Bash", Door: ask.Shared})
		approvals.Permit(&r, []approvals.Choice{approvals.AllowOnce(nil)})
		a := &agent{Item: approvals.NewItem(r, nil), gone: make(chan struct{})}
		if err := a.Open(q, a); err != nil {
			t.Fatal(err)
		}
		go func() {
			a.fate = approvals.Fate{}
			a.Follow(t.Context())
		}()
		synctest.Wait()
		a.fate = approvals.Fate{Is: approvals.Gone, How: "its hook has ended", Last: true}
		close(a.gone)
		synctest.Wait()
		if h := q.Pending().History; len(h) != 1 || h[0].End() != ask.EndGone {
			t.Errorf("ended: %+v", h)
		}
	})
}

func TestQuestionsWhoseAnswersCouldBeMixedUpAreRefused(t *testing.T) {
	options := []ask.Option{{Label: "a"}, {Label: "b"}}
	for name, tt := range map[string]struct {
		all  []ask.Question
		want bool
	}{
		"none":         {nil, false},
		"one":          {[]ask.Question{{Question: "Which?", Options: options}}, true},
		"no text":      {[]ask.Question{{Options: options}}, false},
		"equal labels": {[]ask.Question{{Question: "Which?", Options: []ask.Option{{Label: "a"}, {Label: "a"}}}}, false},
		"too many":     {make([]ask.Question, ask.MaxQuestions+1), false},
	} {
		all, err := approvals.OwnQuestions(tt.all)
		if (err == nil) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (all[0].ID != "q1" || all[0].Kind != ask.Choice || !approvals.Offered(all, []ask.Result{{SelectedOptions: []string{"a"}}}) || approvals.Offered(all, []ask.Result{{SelectedOptions: []string{"c"}}})) {
			t.Errorf("%s: %+v", name, all)
		}
	}
	text, err := approvals.OwnQuestions([]ask.Question{{Question: "Why?", Multi: true, AllowOther: true}})
	if err != nil || text[0].Kind != ask.Text || text[0].Multi || text[0].AllowOther {
		t.Errorf("a text is %+v, %v", text, err)
	}
}

func TestAPageIsNamedAndNotOpened(t *testing.T) {
	if qs, err := approvals.ServerForm("files", "url", "", "https://example.com/in", nil); err != nil || qs[0].Question != "Open a page?" {
		t.Errorf("%+v, %v", qs, err)
	}
	if _, err := approvals.ServerForm("files", "url", "", "not a page", nil); err == nil {
		t.Error("a page without a host is shown")
	}
}
