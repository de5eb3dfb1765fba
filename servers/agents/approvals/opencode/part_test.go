package opencode_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

const (
	replied  = `{"event":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"once"}}`
	rejected = `{"event":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"reject"}}`
	runs     = `{"event":"tool.part","properties":{"sessionID":"ses_1","callID":"c","status":"running"}}`
	ends     = `{"event":"tool.part","properties":{"sessionID":"ses_1","callID":"c","status":"completed"}}`
	fails    = `{"event":"tool.part","properties":{"sessionID":"ses_1","callID":"c","status":"error"}}`
	idle     = `{"event":"session.status","properties":{"sessionID":"ses_1","status":{"type":"idle"}}}`
	titled   = `{"event":"session.updated","properties":{"sessionID":"ses_1","info":{"id":"ses_1","title":"t"}}}`
)

// withParts is a prompt of a plugin that says what becomes of its call.
var withParts = strings.Replace(bash, `"sessionID"`, `"parts":true,"sessionID"`, 1)

// TestAnAnswerIsTakenOnceItsToolCallGoesOn is about what the plugin reports after an answer
// was posted.
func TestAnAnswerIsTakenOnceItsToolCallGoesOn(t *testing.T) {
	const allow, deny = 0, 2
	for _, tt := range []struct {
		name   string
		prompt string
		option int
		says   []string
		want   string
	}{
		{"allowed and nothing else", withParts, allow, []string{replied}, "not taken yet: answer in its terminal"},
		{"allowed, and it runs", withParts, allow, []string{replied, runs}, "allowed"},
		{"allowed, and it has ended", withParts, allow, []string{replied, ends}, "allowed"},
		{"allowed, and it has failed", withParts, allow, []string{replied, fails}, "allowed"},
		{"it ran before", withParts, allow, []string{runs, replied}, "not taken yet: answer in its terminal"},
		{"another call runs", withParts, allow, []string{replied, strings.Replace(runs, `"c"`, `"d"`, 1)}, "not taken yet: answer in its terminal"},
		{"another session's call runs", withParts, allow, []string{replied, strings.Replace(runs, `ses_1`, `ses_2`, 1)}, "not taken yet: answer in its terminal"},
		{"the call asks for more", withParts, allow, []string{replied, strings.Replace(withParts, "per_1", "per_2", 1)}, "allowed"},
		{"the turn ends without", withParts, allow, []string{replied, idle}, "not taken: OpenCode's turn has ended"},
		{"a title is not an end", withParts, allow, []string{titled, replied, titled}, "not taken yet: answer in its terminal"},
		{"denied and nothing else", withParts, deny, []string{rejected}, "not taken yet: answer in its terminal"},
		{"denied, and it has failed", withParts, deny, []string{rejected, fails}, "denied"},
		{"denied, and it runs all the same", withParts, deny, []string{rejected, runs, ends}, "not taken yet: answer in its terminal"},
		{"no tool call", strings.Replace(withParts, `"callID":"c"`, `"callID":""`, 1), allow, []string{replied}, "allowed"},
		{"an older plugin", bash, allow, []string{replied}, "allowed"},
		{"an older plugin, denied", bash, deny, []string{rejected}, "denied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inDeck(t, approvals.Deps{}, func(w *world) {
				p := w.pluginOf(os.Getpid())
				p.say(tt.prompt)
				w.answer(ask.AnswerDraft{Chosen: []int{tt.option}, Accepted: true})
				p.post()
				p.say(`{"posted":1,"status":200}`)
				p.say(tt.says...)
				testwait.Pass(10 * time.Second)
				if got := w.q.Pending().History[0].Words(""); got != tt.want {
					t.Errorf("it says %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestAToolCallThatTakesLongIsStillSaid once it has begun.
func TestAToolCallThatTakesLongIsStillSaid(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(withParts)
		w.answer(ask.AnswerDraft{Chosen: []int{0}, Accepted: true})
		p.post()
		p.say(replied)
		says := func(want string) {
			t.Helper()
			if got := w.q.Pending().History[0].Words(""); got != want {
				t.Errorf("it says %q, want %q", got, want)
			}
		}
		says("sent")
		testwait.Pass(time.Minute)
		says("not taken yet: answer in its terminal")
		p.say(ends)
		says("allowed")
	})
}
