package app

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog/journal"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// earlierCalls is how many calls of earlier runs the screen shows.
const earlierCalls = 1000

// earlier is the calls of earlier runs; it implements calllog.Earlier.
type earlier struct {
	journal *journal.Journal
	hint    chan struct{}
	calls   atomic.Pointer[[]snapshot.Call]
}

func newEarlier(j *journal.Journal) *earlier {
	return &earlier{journal: j, hint: make(chan struct{}, 1)}
}

// Load reads them from the journal, which is open. It is called once.
func (e *earlier) Load(ctx context.Context) {
	list, err := earlierIn(ctx, e.journal, journal.Query{NotRun: e.journal.Run(), Limit: earlierCalls})
	if err != nil {
		slog.Warn("earlier calls are not shown", "error", err)
		return
	}
	e.calls.Store(&list)
	e.hint <- struct{}{}
}

// earlierIn are calls of a journal, with the IDs by which that knows them.
func earlierIn(ctx context.Context, j *journal.Journal, q journal.Query) ([]snapshot.Call, error) {
	entries, err := j.Search(ctx, q)
	list := make([]snapshot.Call, len(entries))
	for i, entry := range entries {
		list[i] = entry.Call
		list[i].ID = uint64(entry.ID)
	}
	return list, err
}

// Hint implements calllog.Earlier.
func (e *earlier) Hint() <-chan struct{} { return e.hint }

// Calls implements calllog.Earlier.
func (e *earlier) Calls() []snapshot.Call {
	if list := e.calls.Load(); list != nil {
		return *list
	}
	return nil
}

// Body implements calllog.Earlier.
func (e *earlier) Body(ctx context.Context, id uint64) (snapshot.CallBody, bool) {
	return e.journal.EntryBody(ctx, int64(id))
}
