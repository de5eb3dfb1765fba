package journal

import (
	"context"
	"database/sql"
	"errors"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// lostResult is what is said of a call whose end nobody has seen.
const lostResult = "mcpdeck closed before this call finished"

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
