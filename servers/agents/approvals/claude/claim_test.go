package claude

import (
	"encoding/json"
	"testing"
	"time"
)

// An agent that was denied may ask the very same at once, before its transcript has what
// became of the call.
func TestAPromptThatIsAskedAgainHasACallOfItsOwn(t *testing.T) {
	a := New(Options{})
	now := time.Now()
	ask := func(after time.Duration) *item {
		it := &item{a: a, session: session{ID: "s"}, asked: asked{tool: "ExitPlanMode", raw: json.RawMessage(`{"plan":"x"}`)}, log: &transcript{}, arrived: now.Add(after)}
		a.items[it] = true
		return it
	}
	claims := func(it *item, want string, ids ...string) {
		t.Helper()
		if got := a.claim(it, ids); got != want {
			t.Errorf("of %q it takes %q, want %q", ids, got, want)
		}
	}
	first := ask(0)
	second := ask(time.Second)
	claims(second, "", "call_1")                       // which is the first's, that has not looked yet
	claims(second, "call_2", "call_1", "call_2")       // as many as came before
	claims(first, "call_1", "call_1", "call_2")        // what is left
	claims(ask(2*time.Second), "", "call_1", "call_2") // both have prompts
	a.leave(first)
	a.leave(second)
	claims(ask(3*time.Second), "", "call_1") // it is known what became of it
}

// A prompt whose call is never recorded does not keep a later one from its own for ever.
func TestACallGoesToThePromptThatStillLooksForIt(t *testing.T) {
	a := New(Options{})
	old := &item{a: a, session: session{ID: "s"}, asked: asked{tool: "Bash", raw: json.RawMessage(`{}`)}, log: &transcript{}, ended: time.Now().Add(-time.Minute)}
	it := &item{a: a, session: session{ID: "s"}, asked: asked{tool: "Bash", raw: json.RawMessage(`{}`)}, log: &transcript{}, arrived: time.Now()}
	a.items[old], a.items[it] = true, true
	if got := a.claim(it, []string{"c"}); got != "c" {
		t.Errorf("it takes %q", got)
	}
}
