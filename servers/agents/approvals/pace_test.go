package approvals_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
)

func TestEachSessionHasItsOwnPromptsAMinute(t *testing.T) {
	var q told
	p := approvals.Pace{Queue: &q}
	start := time.Unix(1000, 0)
	for i := range approvals.PerMinute {
		if !p.Admit("a", "", 0, start.Add(time.Duration(i)*time.Second/2)) {
			t.Fatalf("number %d is refused", i)
		}
	}
	for _, tt := range []struct {
		session string
		after   time.Duration
		want    bool
	}{
		{"a", 30 * time.Second, false},
		{"b", 30 * time.Second, true},
		{"a", time.Minute - 1, false},
		{"a", time.Minute, true}, // the first is a minute ago
		{"a", time.Minute, false},
		{"a", 2 * time.Minute, true},
	} {
		if got := p.Admit(tt.session, "", 0, start.Add(tt.after)); got != tt.want {
			t.Errorf("%s after %v: %v", tt.session, tt.after, got)
		}
	}
}

// told are the notices of a queue.
type told []string

func (q *told) Open(ask.Request) (*ask.Call, error) { return nil, errors.New("full") }
func (q *told) Refused(ask.Request, ask.Refusal)    {}
func (q *told) Notice(sentence string)              { *q = append(*q, sentence) }

func TestASessionThatAsksTooMuchIsToldOfOnce(t *testing.T) {
	var q told
	p := approvals.Pace{Queue: &q, Agent: "claude"}
	now := time.Now()
	full := func(session, folder string) {
		t.Helper()
		if p.Admit(session, folder, approvals.MostOpen, now) {
			t.Fatalf("%s brings one more prompt than may be open", session)
		}
	}
	if !p.Admit("s", "/src/shop", approvals.MostOpen-1, now) {
		t.Error("it may not bring as many as may be open")
	}
	for range 300 {
		now = now.Add(200 * time.Millisecond)
		full("s", "/src/shop")
	}
	full("other", "")
	if len(q) != 2 || q[0] != "claude in shop asks too much at once; the rest of its prompts stay in its terminal" || !strings.HasPrefix(q[1], "claude asks") {
		t.Errorf("told %q", q)
	}
	now = now.Add(time.Minute)
	if full("s", "/src/shop"); len(q) != 3 {
		t.Errorf("after a minute, told %q", q)
	}
}
