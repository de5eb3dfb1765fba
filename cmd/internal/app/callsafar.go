package app

import (
	"context"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog/journal"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/machines/mirror"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
)

// heldCalls are the calls of this machine, as it tells others of them.
type heldCalls struct {
	host    func() *router.Host // which is made later
	journal func() *journal.Journal
	body    func(ctx context.Context, id uint64) (snapshot.CallBody, bool)
}

func (h heldCalls) Run() int64 { return h.host().Snapshot().Started.UnixMilli() }

func (h heldCalls) Calls(since uint64) ([]snapshot.Call, uint64) { return h.host().Calls(since) }

func (h heldCalls) Subscribe() (<-chan struct{}, func()) { return h.host().Subscribe() }

func (h heldCalls) Pictures() ([]snapshot.Picture, uint64) { return h.host().Pictures() }

func (h heldCalls) Project(agent string) string {
	for _, a := range h.host().Snapshot().Agents {
		if a.Agent == agent && a.Folder() != "" {
			return filepath.Base(a.Folder())
		}
	}
	return ""
}

func (h heldCalls) Earlier(ctx context.Context, before uint64, most int) ([]snapshot.Call, error) {
	j := h.journal()
	if j == nil {
		return nil, nil
	}
	return earlierIn(ctx, j, journal.Query{NotRun: j.Run(), Before: int64(before), Limit: most}) //nolint:gosec // none is so large
}

func (h heldCalls) Body(ctx context.Context, id uint64, earlier bool) (snapshot.CallBody, bool) {
	if !earlier {
		return h.body(ctx, id)
	}
	j := h.journal()
	if j == nil {
		return snapshot.CallBody{}, false
	}
	return j.EntryBody(ctx, int64(id)) //nolint:gosec // none is so large
}

// afar are the calls of other machines, as the page shows them.
type afar struct{ *mirror.Set }

func (a afar) Watch() calls.Watch { return a.Set.Watch() }
