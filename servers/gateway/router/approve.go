package router

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Wanted is a call that an agent wants to be made.
type Wanted struct {
	backend.Called
	Server string
	By     snapshot.Caller
	// Waits marks the call as waiting for the user until done is called.
	Waits func() (done func())
	// Still tells the agent that its call waits for the user; nil: it wants to hear nothing.
	Still func(waited time.Duration)
}

// Refusal is why a call does not go to its server, for the agent. Pending is one that may still.
type Refusal struct {
	Text    string
	Pending bool
}

func (r *Refusal) reply() backend.Reply {
	if r.Pending {
		return said(r.Text)
	}
	return refused(r.Text)
}

// approve waits until a call may be made, before it has a place among the deck's work: however long the user takes,
// nothing else waits for it, and no time of the call runs.
func (h *Host) approve(ctx context.Context, q *request, to route, r *backend.Request, who snapshot.Caller) *Refusal {
	if q.call == nil || to.module == h.own {
		return nil
	}
	w := Wanted{Called: backend.Called{Tool: r.Key, Args: r.Args}, Server: to.module.id.Name, By: who, Waits: q.WaitForUser}
	if n, ok := to.by.(backend.Namer); ok {
		w.Called = n.Called(r)
	}
	if h.opts.Approve == nil {
		if w.Ask {
			return &Refusal{Text: backend.NobodyAsked(r.Key)}
		}
		return nil
	}
	if token := r.Meta.Get("progressToken"); token != nil {
		w.Still = func(waited time.Duration) { r.Client.Notify(progressMessage, waitsForUser(token, waited)) }
	}
	return h.opts.Approve(ctx, w)
}

// waitsForUser are the params of progress of a call that waits: little, since that of its server follows, and has to
// be more.
func waitsForUser(token json.RawMessage, waited time.Duration) json.RawMessage {
	raw, _ := rpc.Raw(map[string]any{"progressToken": token, "progress": waited.Round(time.Millisecond).Seconds() / 1e6, "message": "waits for the user"}) // always encodes
	return raw
}
