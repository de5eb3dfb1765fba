package usage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// began is when the process of the session began of which these tests are.
var began = time.Date(2026, 8, 2, 9, 0, 0, 0, time.UTC)

const helperFile = "projects/-src-shop/s1/subagents/agent-a17b.jsonl"

// wrote is a line of a sub-agent, some seconds after its process began.
func wrote(second int, kind, message string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":true,"agentId":"a17b","type":%q,"message":%s,"uuid":"u","timestamp":%q,"sessionId":"s1"}`+"\n",
		kind, message, began.Add(time.Duration(second)*time.Second).Format(time.RFC3339Nano))
}

func task(second int) string { return wrote(second, "user", `{"role":"user","content":"look around"}`) }

// replied is a part of a reply.
func replied(second int, stop, part string) string {
	return wrote(second, "assistant", `{"id":"m`+fmt.Sprint(second)+`","role":"assistant","model":"m","content":[`+part+`],"stop_reason":`+stop+`,"usage":{"input_tokens":1,"output_tokens":1}}`)
}

func calls(second int) string {
	return replied(second, `"tool_use"`, `{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}`)
}

// resulted is what came of a call.
func resulted(text string) string {
	return wrote(3, "user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":%q}]}`, text))
}

func ends(second int) string {
	return replied(second, `"end_turn"`, `{"type":"text","text":"all is well"}`)
}

func interrupted(second int, by string) string {
	return wrote(second, "user", `{"role":"user","content":[{"type":"text","text":"[Request interrupted by user`+by+`]"}]}`)
}

func TestASubAgentIsAtWorkUntilItsFileSaysThatItEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		lines string
		want  int
	}{
		"has its task":                     {task(1), 1},
		"calls a tool":                     {task(1) + calls(2), 1},
		"has a result":                     {task(1) + calls(2) + resulted("done"), 1},
		"says something before a call":     {task(1) + replied(2, `"tool_use"`, `{"type":"text","text":"first"}`), 1},
		"is in the middle of a reply":      {task(1) + replied(2, "null", `{"type":"text","text":"first"}`), 1},
		"has ended":                        {task(1) + calls(2) + resulted("done") + ends(4), 0},
		"has ended, with notes behind":     {task(1) + ends(2) + `{"type":"attachment","isSidechain":true,"agentId":"a17b","timestamp":"2026-08-02T09:00:03Z"}` + "\n", 0},
		"was interrupted in a call":        {task(1) + calls(2) + resulted("rejected") + interrupted(3, " for tool use"), 0},
		"was interrupted in a reply":       {task(1) + interrupted(2, ""), 0},
		"ended with an error":              {task(1) + strings.Replace(replied(2, `"stop_sequence"`, `{"type":"text","text":"API Error: 400"}`), `"model":"m"`, `"model":"<synthetic>"`, 1), 0},
		"goes on after its end":            {task(1) + ends(2) + task(3), 1},
		"goes on after an interruption":    {task(1) + interrupted(2, "") + task(3) + calls(4), 1},
		"reads what a message looks like":  {task(1) + calls(2) + resulted(interrupted(1, "")), 1},
		"has written half of its last one": {task(1) + calls(2) + ends(3)[:80], 1},
		"is of a process before":           {task(-9) + calls(-8), 0},
		"is gone on with after a restart":  {task(-9) + calls(-8) + task(1), 1},
		"has a time that is none":          {strings.Replace(task(1), "2026", "year", 1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, "claude")
			h.add(conversation, task(1)+ends(2))
			h.add(helperFile, tt.lines)
			if n := h.working(snapshot.Working, 5); n != tt.want {
				t.Errorf("%d sub-agents are at work, want %d", n, tt.want)
			}
		})
	}
}

// working looks at a session that has been in a state since some seconds after its process
// began.
func (h *home) working(state snapshot.SessionState, since int) int {
	f, _ := h.count.Look(&snapshot.Session{Agent: "claude", ID: "s1", Folder: "/src/shop", State: state, Since: began.Add(time.Duration(since) * time.Second), Started: began})
	return f.Subagents
}

func TestOfSeveralSubAgentsThoseAtWorkCount(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, task(1))
	for i, lines := range []string{task(1), task(1) + calls(2), task(1) + ends(2)} {
		h.add(strings.Replace(helperFile, "a17b", fmt.Sprint("b", i), 1), lines)
	}
	if n := h.working(snapshot.WaitsForPermission, 3); n != 2 {
		t.Errorf("%d are at work", n)
	}
}

// A sub-agent that reached its limit of turns, or whose process was killed, does not say
// that it ended.
func TestASubAgentThatDidNotSayThatItEndedCountsUntilItsSessionIsIdleOrEnds(t *testing.T) {
	for _, state := range []snapshot.SessionState{snapshot.Idle, snapshot.Ended} {
		t.Run(string(state), func(t *testing.T) {
			h := newHome(t, "claude")
			h.add(conversation, task(1))
			h.add(helperFile, task(1)+calls(2)+resulted("done"))
			if n := h.working(snapshot.Working, 1); n != 1 {
				t.Fatalf("%d are at work", n)
			}
			if err := h.count.Save("claude", "s1"); err != nil {
				t.Fatal(err)
			}
			if n := h.working(state, 4); n != 0 {
				t.Errorf("then %d", n)
			}
			if err := h.count.Save("claude", "s1"); err != nil {
				t.Fatal(err)
			}
			h.count = New(h.opts)
			if n := h.working(snapshot.Working, 5); n != 0 {
				t.Errorf("in the next turn, and for the next deck, %d", n)
			}
			h.add(helperFile, task(6))
			if n := h.working(snapshot.Working, 5); n != 1 {
				t.Errorf("once it goes on, %d", n)
			}
		})
	}
}

func TestASubAgentThatWritesInAnIdleSessionIsAtWork(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, task(1))
	h.add(helperFile, task(1)+calls(5))
	h.working(snapshot.Idle, 4)
	if n := h.working(snapshot.Working, 6); n != 1 {
		t.Errorf("then %d are at work", n)
	}
}

func TestSubAgentsCountWithoutTheTimeAtWhichTheProcessBegan(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, task(1))
	h.add(helperFile, task(1))
	if n := h.look("claude", "s1").Subagents; n != 1 {
		t.Errorf("%d are at work", n)
	}
}

func TestTheBeginningOfALargeFileDoesNotRestartASubAgent(t *testing.T) {
	h := newHome(t, "claude")
	h.count.reading.first = 500
	h.add(conversation, task(1))
	h.add(helperFile, task(1)+calls(2)+resulted("done")+ends(4))
	for range 2 {
		if n := h.working(snapshot.Working, 1); n != 0 {
			t.Errorf("%d are at work", n)
		}
	}
}
