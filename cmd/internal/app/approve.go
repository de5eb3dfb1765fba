package app

import (
	"context"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// approve is what has the user, or their rules, decide which calls reach their servers; nil where there is no user.
func (h *App) approve(person bool) func(context.Context, router.Wanted) *router.Refusal {
	if !person {
		return nil
	}
	calls := approvals.NewCalls(h.Agents.Ruled, snapshot.Caller.Patience)
	return func(ctx context.Context, w router.Wanted) *router.Refusal {
		r := calls.Approve(ctx, approvals.ToolCall{Server: w.Server, Tool: w.Tool, Args: w.Args, Ask: w.Ask, By: w.By, Waits: w.Waits, Still: w.Still})
		if r == nil {
			return nil
		}
		return &router.Refusal{Text: r.Text, Pending: r.Pending}
	}
}
