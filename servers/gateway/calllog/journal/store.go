package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// store is one database: the file, or one in memory with the same tables.
type store struct {
	db     *sql.DB // writes; also reads when in memory
	reader *sql.DB
	memory bool
	file   os.FileInfo // what is open; nil when in memory

	// For the writer: how much there is, and when old calls were looked for.
	calls int
	bytes int64
	aged  time.Time
}

const schema = `
CREATE TABLE IF NOT EXISTS calls (
	id INTEGER PRIMARY KEY,
	run INTEGER NOT NULL, call INTEGER NOT NULL,
	started INTEGER NOT NULL, duration INTEGER NOT NULL,
	agent TEXT NOT NULL, agent_name TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL, status TEXT NOT NULL,
	args_line TEXT NOT NULL, result_line TEXT NOT NULL,
	args_bytes INTEGER NOT NULL, result_bytes INTEGER NOT NULL, images INTEGER NOT NULL,
	cut INTEGER NOT NULL, kept INTEGER NOT NULL, args TEXT, result TEXT
);
CREATE INDEX IF NOT EXISTS calls_started ON calls (started);
CREATE UNIQUE INDEX IF NOT EXISTS calls_run ON calls (run, call);
PRAGMA user_version = 1;`

const (
	version     = 1
	memoryCalls = 10_000 // kept when there is no file
	memoryBytes = 32 << 20
	ageEvery    = 10 * time.Minute
)

// open opens the database at dsn with at most n connections.
func open(ctx context.Context, dsn string, n int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

func fileDSN(path string, pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{"busy_timeout(2000)"}, pragmas...)}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// openDisk opens the file, making it and its folder as needed. Nobody else may
// read it.
func openDisk(ctx context.Context, opt Options) (*store, error) {
	if err := os.MkdirAll(filepath.Dir(opt.Path), 0o700); err != nil {
		return nil, err
	}
	info, err := claim(opt.Path)
	if err != nil {
		return nil, err
	}
	// NORMAL in WAL mode survives the death of the process; only a power cut may
	// take the last transactions, never the file.
	db, err := open(ctx, fileDSN(opt.Path, "journal_mode(WAL)", "synchronous(NORMAL)", "journal_size_limit(8388608)"), 1)
	if err != nil {
		return nil, err
	}
	s := &store{db: db, file: info}
	if err := s.prepare(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	if s.reader, err = open(ctx, fileDSN(opt.Path, "query_only(1)"), 2); err != nil {
		_ = db.Close()
		return nil, err
	}
	return s, nil
}

// claim makes the file if it is missing, and makes sure that the database will
// open no link and nobody else's file.
func claim(path string) (os.FileInfo, error) {
	extra := []string{path + "-wal", path + "-shm"}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		for _, name := range extra { // of a file that was deleted
			_ = os.Remove(name)
		}
	}
	for _, name := range extra {
		f, err := file.Open(name, os.O_RDONLY)
		if err == nil {
			f.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	f, err := file.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// gone reports whether the file that is open is no longer the one at path.
func (s *store) gone(path string) bool {
	if s.memory || s.file == nil {
		return false
	}
	now, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.file)
}

func (s *store) prepare(ctx context.Context) error {
	var have int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have > version {
		return fmt.Errorf("%w (%d)", errNewer, have)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return s.count(ctx)
}

func (s *store) count(ctx context.Context) error {
	return s.db.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(kept), 0) FROM calls").Scan(&s.calls, &s.bytes)
}

var errNewer = errors.New("the file is from a newer version of mcpdeck")

func openMemory(ctx context.Context) (*store, error) {
	db, err := open(ctx, "file::memory:", 1)
	if err != nil {
		return nil, err
	}
	s := &store{db: db, reader: db, memory: true}
	if err := s.prepare(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return s, nil
}

// openBest opens the file. A damaged one is set aside; one that cannot be used
// at all makes room for memory. The warning says so.
func openBest(ctx context.Context, opt Options) (s *store, warning string, err error) {
	if opt.Path == "" {
		s, err = openMemory(ctx)
		return s, "", err
	}
	s, err = openDisk(ctx, opt)
	if err == nil {
		return s, "", nil
	}
	return openNext(ctx, opt, err)
}

// openNext opens what comes after a store that failed with cause: a new file if
// the old one is damaged, else memory.
func openNext(ctx context.Context, opt Options, cause error) (s *store, warning string, err error) {
	if isDamage(cause) {
		if aside, err := setAside(opt.Path); err == nil {
			if s, err := openDisk(ctx, opt); err == nil {
				return s, fmt.Sprintf("the call log was damaged; moved it to %s and started a new one", filepath.Base(aside)), nil
			}
		}
	}
	s, err = openMemory(ctx)
	return s, "the call log is kept in memory only: " + reason(cause), err
}

// setAside renames a damaged file and what belongs to it.
func setAside(path string) (string, error) {
	aside := path + ".damaged-" + time.Now().UTC().Format("20060102T150405Z")
	if err := file.Move(path, aside); err != nil {
		return "", err
	}
	for _, end := range []string{"-wal", "-shm"} {
		_ = file.Move(path+end, aside+end) // there may be none
	}
	return aside, nil
}

func code(err error) int {
	var se *sqlite.Error
	if errors.As(err, &se) {
		return se.Code() & 0xff
	}
	return 0
}

func isDamage(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB
}

// reason puts an error into words for the user.
func reason(err error) string {
	switch code(err) {
	case sqlite3.SQLITE_FULL:
		return "the disk is full"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return "the file is damaged"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return "the file cannot be written"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "the file is locked by another program"
	case sqlite3.SQLITE_IOERR:
		return "disk I/O error"
	}
	return err.Error()
}

func (s *store) close() error {
	err := s.db.Close()
	if s.reader != s.db {
		err = errors.Join(s.reader.Close(), err)
	}
	return err
}

const insertCall = `INSERT OR IGNORE INTO calls (run, call, started, duration, agent, agent_name, server, tool, status,
	args_line, result_line, args_bytes, result_bytes, images, cut, kept, args, result)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

// insert writes the items in one transaction.
func (s *store) insert(ctx context.Context, run int64, items []item) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	stmt, err := tx.PrepareContext(ctx, insertCall)
	if err != nil {
		return err
	}
	defer stmt.Close() //nolint:errcheck // ends with the transaction
	calls, bytes := len(items), int64(0)
	for _, it := range items {
		c := it.call
		if it.again {
			n, b, err := forget(ctx, tx, run, c.ID)
			if err != nil {
				return err
			}
			calls, bytes = calls-n, bytes-b
		}
		kept := len(it.body.Args) + len(it.body.Result)
		bytes += int64(kept)
		if _, err := stmt.ExecContext(
			ctx, run, int64(c.ID), c.Started.UnixMicro(), c.Duration.Microseconds(), c.Agent, c.AgentName, c.Server, c.Tool, string(c.Status),
			c.Args, c.Result, c.ArgsBytes, c.ResultBytes, c.Images, it.body.Cut, kept, text(it.body.Args), text(it.body.Result),
		); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.calls += calls
	s.bytes += bytes
	return nil
}

// text is JSON as it is stored.
func text(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}

// moveTo copies everything to another store.
func (s *store) moveTo(ctx context.Context, to *store) error {
	var after int64
	for {
		entries, err := s.search(ctx, Query{After: after, Limit: batchCalls, Bodies: true, Oldest: true, running: true})
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return to.count(ctx) // some may have been there already
		}
		after = entries[len(entries)-1].ID
		for len(entries) > 0 {
			run := entries[0].Run
			var items []item
			for len(entries) > 0 && entries[0].Run == run {
				items = append(items, item{call: entries[0].Call, body: entries[0].Body, again: true})
				entries = entries[1:]
			}
			if err := to.insert(ctx, run, items); err != nil {
				return err
			}
		}
	}
}

// prune removes what is too old or too much, oldest first.
func (s *store) prune(ctx context.Context, now time.Time, opt Options) error {
	if s.memory {
		opt.MaxCalls, opt.MaxBytes = min(opt.MaxCalls, memoryCalls), min(opt.MaxBytes, memoryBytes)
	}
	if now.Sub(s.aged) > ageEvery {
		s.aged = now
		r, err := s.db.ExecContext(ctx, "DELETE FROM calls WHERE started < ?", now.Add(-opt.MaxAge).UnixMicro())
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n > 0 {
			if err := s.count(ctx); err != nil {
				return err
			}
		}
	}
	if s.calls <= opt.MaxCalls && s.bytes <= opt.MaxBytes {
		return nil
	}
	last, err := s.surplus(ctx, opt)
	if err != nil {
		return err
	}
	if _, err := s.db.ExecContext(ctx, "DELETE FROM calls WHERE id <= ?", last); err != nil {
		return err
	}
	return nil
}

// surplus returns the newest of the calls that are too many, and takes them off
// the count.
func (s *store) surplus(ctx context.Context, opt Options) (last int64, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, kept FROM calls ORDER BY id")
	if err != nil {
		return 0, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it
	for (s.calls > opt.MaxCalls || s.bytes > opt.MaxBytes) && rows.Next() {
		var kept int64
		if err := rows.Scan(&last, &kept); err != nil {
			return 0, err
		}
		s.calls--
		s.bytes -= kept
	}
	return last, rows.Err()
}
