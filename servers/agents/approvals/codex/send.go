package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// sendWithin is how soon the daemon answers that it has a prompt.
const sendWithin = 4 * time.Second

// Send implements [approvals.Sender]: a prompt begins a turn, or steers the one that works.
func (a *Adapter) Send(_ context.Context, s snapshot.Session, text string) error {
	l, works := a.runs(s.ID)
	if l == nil {
		return unsent(errors.New(connectionLost))
	}
	params, method := map[string]any{"threadId": s.ID, "input": input(text)}, "turn/start"
	if works {
		turn, err := l.turn(s.ID)
		if err != nil {
			return unsent(err)
		}
		params["expectedTurnId"], method = turn, "turn/steer"
	}
	_, err := l.call(method, params, sendWithin)
	switch refusal := (*rpc.Error)(nil); {
	case errors.As(err, &refusal):
		return unsent(err)
	case err == nil && works:
		return approvals.ErrQueued
	}
	return err
}

func unsent(why error) error { return fmt.Errorf("%w: %w", approvals.ErrUnsent, why) }

// runs returns the connection to the daemon of a session, nil if there is none, and whether the
// session works.
func (a *Adapter) runs(id string) (_ *link, works bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.links {
		l.mu.Lock()
		t := l.threads[id]
		has := t != nil && t.known && !l.over
		works = has && t.status.Type == "active"
		l.mu.Unlock()
		if has {
			return l, works
		}
	}
	return nil, false
}

// turn returns the ID of a session's last turn.
func (l *link) turn(session string) (string, error) {
	raw, err := l.call("thread/turns/list", map[string]any{"threadId": session, "limit": 1}, sendWithin/2)
	var page struct{ Data []struct{ ID string } }
	if err == nil && (json.Unmarshal(raw, &page) != nil || len(page.Data) != 1) {
		err = errFormat
	}
	if err != nil {
		return "", err
	}
	return page.Data[0].ID, nil
}

// input is a text as Codex takes it.
func input(text string) []any {
	return []any{map[string]any{"type": "text", "text": text, "text_elements": []any{}}}
}
