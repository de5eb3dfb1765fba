//go:build unix

package codex

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

const quotaResponse = `{"rateLimits":{"limitId":"codex","primary":{"usedPercent":62,"windowDurationMins":300,"resetsAt":4600},"secondary":{"usedPercent":8,"windowDurationMins":10080,"resetsAt":400000},"planType":"plus"}}`

// quotas keeps what the deck is told that accounts have used.
type quotas struct {
	mu  sync.Mutex
	all []snapshot.Quota
}

func (q *quotas) take(one snapshot.Quota) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = append(q.all, one)
}

func (q *quotas) told() []snapshot.Quota {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.all)
}

func TestWhatTheAccountHasUsedIsAskedOnceAndThenTold(t *testing.T) {
	d, own := newDaemon(t), newDaemon(t)
	window := func(used, minutes, resets any) map[string]any {
		return map[string]any{"usedPercent": used, "windowDurationMins": minutes, "resetsAt": resets}
	}
	d.Limits(map[string]any{"limitId": "codex", "primary": window(62, 300, 4600), "secondary": window(8, 10080, 400000)})
	started(t, d)
	var all quotas
	q := ask.New(ask.Options{Hold: -1})
	a := New(Options{
		Deps: approvals.Deps{
			Queue: q, Roster: &sessions{}, Folder: own.Home, Quota: all.take,
			Frames: func(ctx context.Context, c net.Conn) (approvals.Frames, error) { return frames.Dial(ctx, c) },
		},
		Homes: func() []string { return []string{d.Home} },
	})
	a.now = func() time.Time { return time.Unix(1000, 0) }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Run(ctx)
	}()
	defer func() { cancel(); <-done; _ = q.Close() }()
	of := func(used float64, window time.Duration, resets int64) snapshot.Quota {
		return snapshot.Quota{Agent: agent, Account: filepath.Base(d.Home), Used: used, Window: window, Resets: time.Unix(resets, 0), At: time.Unix(1000, 0)}
	}
	const week = 7 * 24 * time.Hour
	want := []snapshot.Quota{of(62, 5*time.Hour, 4600), of(8, week, 400000)}
	wait := func() {
		t.Helper()
		testwait.Until(t, "what is used", func() bool { return len(all.told()) >= len(want) })
		if got := all.told(); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	wait()
	d.Push(quotaChanged, map[string]any{"rateLimits": map[string]any{"limitId": "another", "primary": window(99, 60, 5000)}})
	d.Push(quotaChanged, map[string]any{"rateLimits": map[string]any{"primary": window(63, nil, nil), "secondary": nil}})
	want = append(want, of(63, 5*time.Hour, 4600), of(8, week, 400000))
	wait()
	if n := len(slices.DeleteFunc(d.Called(), func(m string) bool { return m != readQuota })); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
}

func TestAnAccountWithoutLimitsSaysNothing(t *testing.T) {
	var all quotas
	l := &link{a: New(Options{Deps: approvals.Deps{Quota: all.take}})}
	l.takeQuota([]byte(`{"rateLimits":{"primary":null,"secondary":null}}`), limits{})
	l.takeQuota([]byte(`null`), limits{})
	l.takeQuota([]byte(`[]`), limits{})
	if got := all.told(); len(got) > 0 {
		t.Errorf("it is told %v", got)
	}
}
