//go:build unix

package setup

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/reply"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestRealOpenCodeTakesPromptsFromTheDeck(t *testing.T) { takesPrompts(t, "opencode") }

func TestRealKiloTakesPromptsFromTheDeck(t *testing.T) { takesPrompts(t, "kilo") }

// takesPrompts sends a session prompts while it is idle and while it works: each is the next
// message of the user once, and the model reads it.
func takesPrompts(t *testing.T, id string) {
	t.Helper()
	realtest.Agent(t, id) // or the test is skipped
	const idle, working = 20, 10
	hold := make(chan bool)
	var steps []mockmodel.Step
	for range 1 + idle {
		steps = append(steps, mockmodel.Step{Says: "done"})
	}
	for range working {
		steps = append(steps, mockmodel.Step{Before: func() { <-hold }, Says: "done"}, mockmodel.Step{Says: "done"})
	}
	b := newInbox(t, id)
	model := mockmodel.New(t, "deck", steps...)
	b.opencode(model.URL)
	outbox := reply.New(reply.Options{Roster: b.roster, Notice: func(s string) { t.Error(s) }})
	go outbox.Run(t.Context(), map[string]approvals.Sender{id: b.adapter.(approvals.Sender)}, redact.Rules{})
	b.terminal(nil, "--agent", "plan", "--prompt", "go")

	session := func() snapshot.Session {
		for _, s := range b.roster.Sessions() {
			if s.Hidden == "" && s.Door.Open {
				return s
			}
		}
		return snapshot.Session{}
	}
	at := func(state snapshot.SessionState) {
		t.Helper()
		b.until("the session to be "+string(state), func() bool { return session().State == state && session().Next == snapshot.Next{} })
	}
	var took []time.Duration
	send := func(text string) {
		t.Helper()
		began := time.Now()
		if err := outbox.Send(id, session().ID, text); err != nil {
			t.Fatal(err)
		}
		b.until("the session to take "+text, func() bool { return session().Next == snapshot.Next{} && session().Record.Prompt == text })
		took = append(took, time.Since(began))
	}
	b.until("the first turn", func() bool { return session().Record != nil && session().Record.Said == "done" })
	at(snapshot.Idle)
	var all []string
	for i := range idle {
		all = append(all, fmt.Sprintf("idle prompt %d\nof two lines", i+1))
		send(all[len(all)-1])
		b.until("its turn", func() bool { return strings.Contains(model.Last(), fmt.Sprintf("idle prompt %d\\n", i+1)) })
		at(snapshot.Idle)
	}
	for i := range working {
		all = append(all, fmt.Sprintf("first prompt %d", i+1), fmt.Sprintf("prompt at work %d", i+1))
		send(all[len(all)-2])
		at(snapshot.Working)
		send(all[len(all)-1])
		hold <- true
		b.until("its turn", func() bool { return strings.Contains(model.Last(), all[len(all)-1]) })
		at(snapshot.Idle)
	}
	last := model.Last()
	for _, text := range all {
		quoted, _ := json.Marshal(text) // a string always encodes
		if n := strings.Count(last, strings.Trim(string(quoted), `"`)+`"`); n != 1 {
			t.Errorf("the model reads %q %d times", text, n)
		}
	}
	if s := session(); s.Mode != "plan" {
		t.Errorf("the mode is %q", s.Mode)
	}
	t.Logf("taken within %v", took)
}
