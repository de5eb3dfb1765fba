package journal

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// slow is how long a call runs before it is written down without its end. Most
// calls are faster, and cost one write.
const slow = time.Second

// lostResult is what is said of a call whose end nobody has seen.
const lostResult = "mcpdeck closed before this call finished"

// begun is a call in flight.
type begun struct {
	item
	written bool
}

// Begin takes a call that has begun. If the deck ends before the call does, the
// next one to open the file finds it and says so.
func (j *Journal) Begin(call snapshot.Call, body snapshot.CallBody) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	j.calls[call.ID] = &begun{item: item{call: call, body: body}}
	j.lookLater()
}

// ended forgets a call in flight and reports whether it has been written, in a
// caller that holds mu.
func (j *Journal) ended(call uint64) bool {
	b := j.calls[call]
	delete(j.calls, call)
	return b != nil && b.written
}

// lookLater looks for slow calls in a moment, in a caller that holds mu.
func (j *Journal) lookLater() {
	if j.timed {
		return
	}
	j.timed = true
	time.AfterFunc(slow, func() {
		defer recovery.Recover("journal")
		j.mu.Lock()
		j.timed = false
		more := !j.closed && j.putBegun(slow)
		if more {
			j.lookLater()
		}
		j.mu.Unlock()
		j.nudge()
	})
}

// putBegun makes the calls that have run so long wait to be written, and tells
// whether there are younger ones, in a caller that holds mu.
func (j *Journal) putBegun(age time.Duration) (more bool) {
	for _, id := range slices.Sorted(maps.Keys(j.calls)) {
		b := j.calls[id]
		switch {
		case b.written:
		case time.Since(b.call.Started) < age:
			more = true
		case len(j.queue) < j.maxCalls:
			b.written = true
			j.put(b.item)
		}
	}
	return more
}

// loseEarlier marks the calls that earlier runs left running as lost.
func (j *Journal) loseEarlier(ctx context.Context, s *store) {
	if err := s.lose(ctx, j.run); err != nil {
		j.opt.Warn("calls that were running when an earlier deck closed are missing from the call log: " + reason(err))
	}
}

// lose makes the running calls of other runs than this one lost. They get new
// IDs, so that who follows the journal sees them.
func (s *store) lose(ctx context.Context, run int64) error {
	entries, err := s.search(ctx, Query{Status: snapshot.Running, NotRun: run, Limit: -1, running: true})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := s.db.ExecContext(
			ctx, "UPDATE calls SET status = ?, result_line = ?, id = (SELECT max(id) + 1 FROM calls) WHERE id = ?", string(snapshot.Lost), lostResult, e.ID,
		); err != nil {
			return err
		}
	}
	return nil
}

// forget removes a call that was written while it ran, and returns how many
// calls and bytes less there are.
func forget(ctx context.Context, tx *sql.Tx, run int64, call uint64) (calls int, bytes int64, err error) {
	err = tx.QueryRowContext(ctx, "DELETE FROM calls WHERE run = ? AND call = ? RETURNING kept", run, int64(call)).Scan(&bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, nil
	}
	return 1, bytes, err
}
