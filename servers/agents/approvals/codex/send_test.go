//go:build unix

package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// prompted is what the daemon was sent for its sessions.
func (w *world) prompted() (all []string) {
	for _, m := range w.Calls() {
		var p struct {
			ThreadID, ExpectedTurnID string
			Input                    []struct{ Text string }
		}
		_ = json.Unmarshal(m.Params, &p) // some have none
		if m.Method == "turn/start" || m.Method == "turn/steer" {
			all = append(all, fmt.Sprintf("%s %s %q %s", m.Method, p.ThreadID, p.ExpectedTurnID, p.Input[0].Text))
		}
	}
	return all
}

func TestAPromptBeginsATurnOrSteersOne(t *testing.T) {
	w := newWorldWith(t, ask.New(ask.Options{Hold: -1}), 0)
	w.Runs("idle", standin.Idle(), nil)
	w.Runs("busy", standin.Working(), nil)
	started(t, w.Codex)
	testwait.Until(t, "both are listed", func() bool { return w.roster.of("idle").Door.Open && w.roster.of("busy").State == snapshot.Working })
	send := func(id string) error { return w.door.Send(t.Context(), snapshot.Session{ID: id}, "Then the till") }
	if err := send("idle"); err != nil {
		t.Error(err)
	}
	if err := send("busy"); !errors.Is(err, approvals.ErrQueued) {
		t.Error(err)
	}
	if err := send("other"); !errors.Is(err, approvals.ErrUnsent) {
		t.Error(err)
	}
	want := []string{`turn/start idle "" Then the till`, `turn/steer busy "turn of busy" Then the till`}
	if got := w.prompted(); !slices.Equal(got, want) {
		t.Errorf("the daemon was sent %q", got)
	}
	w.Refuses("turn/steer")
	if err := send("busy"); !errors.Is(err, approvals.ErrUnsent) || err.Error() != "not sent: refused" {
		t.Error(err)
	}
}

// TestNoPromptIsSentTwiceWhateverHappensToTheConnection cuts it fifty times, each before or after a
// message of a prompt or its answer, and lets the deck connect again.
func TestNoPromptIsSentTwiceWhateverHappensToTheConnection(t *testing.T) {
	for daemon := range 5 {
		t.Run(fmt.Sprint("daemon ", daemon), func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, ask.New(ask.Options{Hold: -1}), 0)
			w.Runs("idle", standin.Idle(), nil)
			w.Runs("busy", standin.Working(), nil)
			started(t, w.Codex)
			sent := map[string]error{}
			for i := range 10 {
				id, cut := "idle", "turn/start"
				if i%3 == 2 {
					id, cut = "busy", []string{"thread/turns/list", "turn/steer"}[rand.IntN(2)]
				}
				l := testwait.For(t, "the deck knows the session", func() *link { l, _ := w.door.runs(id); return l }, func(l *link) bool { return l != nil })
				w.HangsUp(cut, rand.IntN(2) == 0)
				text := fmt.Sprint("text ", i)
				sent[text] = w.door.Send(context.Background(), snapshot.Session{ID: id}, text)
				<-l.conn.Done()
				testwait.Until(t, "the deck connects again", func() bool { next, _ := w.door.runs(id); return next != l })
			}
			got := w.prompted()
			for text, err := range sent {
				n := 0
				for _, g := range got {
					if len(g) >= len(text) && g[len(g)-len(text):] == text {
						n++
					}
				}
				if n > 1 || n == 1 && errors.Is(err, approvals.ErrUnsent) || n == 0 && (err == nil || errors.Is(err, approvals.ErrQueued)) {
					t.Errorf("%q was sent %d times, and the deck says %v", text, n, err)
				}
			}
		})
	}
}
