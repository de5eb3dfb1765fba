package usage

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestWhatEndedSessionsSpentTodayIsKept(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, strings.Replace(said("a", "a", 0, 0, 100), "{", fmt.Sprintf("{\"timestamp\":%q,", time.Now().Format(time.RFC3339)), 1))
	h.look("claude", "s1")
	if err := h.count.Save("claude", "s1"); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]float64{time.Now(): 100 * 10e-6, time.Now().AddDate(0, 0, 1): 0} {
		got := 0.0
		New(h.opts).Spent(at, func(agent, id string, usd float64) {
			if agent != "claude" || id != "s1" {
				t.Errorf("told of %s %s", agent, id)
			}
			got += usd
		})
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%v spent on %s, want %v", got, at.Format(time.DateOnly), want)
		}
	}
}

func TestAReplyCountsWhateverItsLineSaysOfTheTime(t *testing.T) {
	const id = "019a9b1c-1111-7000-8000-000000000001"
	for agent, tt := range map[string]struct{ file, line string }{
		"claude": {conversation, said("a", "r1", 10, 0, 1)},
		"codex": {"sessions/2026/11/22/rollout-2026-11-22T10-00-00-" + id + ".jsonl", `{"type":"turn_context","payload":{"model":"m"}}` + "\n" +
			`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"output_tokens":1},"last_token_usage":{"input_tokens":10,"output_tokens":1}}}}` + "\n"},
	} {
		for _, at := range []string{`1795428000000`, `"yesterday"`, `""`, `null`, `{}`} {
			t.Run(agent+" "+at, func(t *testing.T) {
				session := id
				if agent == "claude" {
					session = "s1"
				}
				h := newHome(t, agent)
				h.add(tt.file, strings.ReplaceAll(tt.line, `"type":`, `"timestamp":`+at+`,"type":`))
				if f := h.look(agent, session); f.Usage.In != 10 || f.Usage.Out != 1 || !f.Cost.Undated {
					t.Errorf("counted %+v, undated %v", f.Usage, f.Cost.Undated)
				}
			})
		}
	}
}
