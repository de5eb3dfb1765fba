package logicstamp

import (
	"cmp"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
)

// A baseline belongs to the session that made or adopted it, or to the user;
// nobody else's snapshot moves it.

// baselineKey names the baseline of a session, or of the user, in a project.
type baselineKey struct{ client, project string }

// baselines are the snapshots to compare with, by session and project.
type baselines struct {
	store *store.Store

	mu    sync.Mutex
	byKey map[baselineKey]string
}

// owns makes a snapshot the baseline of who calls.
func (b *baselines) owns(call Call, e *store.Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byKey[baselineKey{call.Client, e.Project}] = e.ID
}

// adopts makes a snapshot the baseline of who calls and has none.
func (b *baselines) adopts(call Call, e *store.Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := baselineKey{call.Client, e.Project}
	b.byKey[key] = cmp.Or(b.byKey[key], e.ID)
}

// own is the baseline of who calls: the snapshot they made or adopted, whatever
// happened to it since. One who has none gets the newest usable one, their own
// from an earlier session first; said is a warning where that is news to them.
// Without any, it is nil.
func (b *baselines) own(call Call, project string) (e *store.Entry, said *problem.Warning, err error) {
	b.mu.Lock()
	id := b.byKey[baselineKey{call.Client, project}]
	b.mu.Unlock()
	if id != "" {
		e, err := b.store.Get(id)
		if problem.CodeOf(err) == problem.SnapshotUnknown {
			// Another process cleaned it away with all that it knew of it.
			err = problem.New(problem.SnapshotLost, problem.Of(err).Next, "the snapshot %s, the baseline here, is gone", id)
		}
		return e, nil, err
	}
	list, past := b.store.Newest(project)
	for _, one := range list {
		if one.Owner == call.Identity {
			return one, nil, nil
		}
	}
	if len(list) == 0 {
		if past != nil && past.Owner == call.Identity {
			_, err := b.store.Get(past.ID)
			return nil, nil, err
		}
		return nil, nil, nil
	}
	e = list[0]
	why := "this session has made no snapshot of the project"
	if past != nil && past.Owner == call.Identity {
		why = "this client's last snapshot of the project, " + past.ID + ", can be used no more"
	}
	w := problem.Warn(problem.BaselineAdopted, "%s; the baseline is %s, which %s made at %s", why, e.ID, madeBy(e), e.CreatedAt.UTC().Format(time.RFC3339))
	return e, &w, nil
}

func madeBy(e *store.Entry) string {
	return cmp.Or(e.MadeBy, "the user")
}

// cleanStore removes what has expired. Baselines go last.
func (b *baselines) cleanStore() {
	b.mu.Lock()
	held := map[string]bool{}
	for _, id := range b.byKey {
		held[id] = true
	}
	b.mu.Unlock()
	b.store.Clean(func(id string) bool { return held[id] })
}

// forget drops those of a session that has ended.
func (b *baselines) forget(client string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.byKey {
		if key.client == client {
			delete(b.byKey, key)
		}
	}
}
