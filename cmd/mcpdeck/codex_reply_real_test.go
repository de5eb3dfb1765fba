//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/reply"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// countingDoor counts what a program has answered of what it was sent.
type countingDoor struct {
	approvals.Sender
	sent atomic.Int32
}

func (d *countingDoor) Send(ctx context.Context, s snapshot.Session, text string) error {
	defer d.sent.Add(1)
	return d.Sender.Send(ctx, s, text)
}

// TestCodexTakesPromptsFromTheDeck has the real program take prompts while it is idle and while
// it works: each is the next message of the user once, in its terminal and for the model.
func TestCodexTakesPromptsFromTheDeck(t *testing.T) {
	t.Parallel()
	realtest.Agent(t, "codex") // or the test is skipped
	const idle, working = 20, 10
	hold := make(chan bool)
	var steps []mockmodel.Step
	for range 1 + idle {
		steps = append(steps, mockmodel.Step{Says: "done"})
	}
	for range working {
		steps = append(steps, mockmodel.Step{Before: func() { <-hold }, Says: "done"}, mockmodel.Step{Says: "done"})
	}
	c, m := newCodex(t, steps...)
	c.open()
	count := usage.New(usage.Options{Programs: map[string]usage.Program{"codex": {Folder: c.home(), Format: usage.Codex()}}})
	go c.roster.Run(t.Context(), sessions.Options{Usage: count})
	door := &countingDoor{Sender: c.adapter}
	outbox := reply.New(reply.Options{Roster: c.roster, Notice: func(s string) { t.Error(s) }})
	go outbox.Run(t.Context(), map[string]approvals.Sender{"codex": door}, redact.Rules{})
	c.say("go")
	session := func() snapshot.Session {
		for _, s := range c.roster.Sessions() {
			if s.Hidden == "" && s.Door.Open {
				return s
			}
		}
		return snapshot.Session{}
	}
	var took []time.Duration
	taken := func(text string, began time.Time) {
		t.Helper()
		c.until("the session takes "+text, func() bool {
			s := session()
			return s.Next == snapshot.Next{} && s.Record != nil && s.Record.Prompt == text
		})
		took = append(took, time.Since(began).Round(time.Millisecond))
	}
	send := func(text string) time.Time {
		t.Helper()
		if err := outbox.Send("codex", session().ID, text); err != nil {
			t.Fatal(err)
		}
		return time.Now()
	}
	at := func(state snapshot.SessionState) {
		t.Helper()
		c.until("the session is "+string(state), func() bool { return session().State == state })
	}
	c.until("the first turn", func() bool { s := session(); return s.Record != nil && s.Record.Said == "done" })
	at(snapshot.Idle)
	var all []string
	for i := range idle {
		all = append(all, fmt.Sprintf("idle prompt %d.", i+1))
		began := send(all[len(all)-1])
		taken(all[len(all)-1], began)
		c.until("its turn", func() bool { return strings.Contains(m.Last(), all[len(all)-1]) })
		at(snapshot.Idle)
	}
	c.until("the terminal shows it", func() bool { return strings.Contains(c.screen(), "› "+all[len(all)-1]) })
	for i := range working {
		all = append(all, fmt.Sprintf("first prompt %d.", i+1), fmt.Sprintf("prompt at work %d.", i+1))
		began := send(all[len(all)-2])
		taken(all[len(all)-2], began)
		at(snapshot.Working)
		began = send(all[len(all)-1])
		c.until("the daemon has it", func() bool { return door.sent.Load() == int32(len(all)) })
		hold <- true
		taken(all[len(all)-1], began)
		c.until("its turn", func() bool { return strings.Contains(m.Last(), all[len(all)-1]) })
		at(snapshot.Idle)
	}
	last := m.Last()
	for _, text := range all {
		if n := strings.Count(last, text); n != 1 {
			t.Errorf("the model reads %q %d times", text, n)
		}
	}
	t.Logf("taken within %v", took)
}
