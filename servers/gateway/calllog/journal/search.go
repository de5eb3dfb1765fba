package journal

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Entry is one call of the journal.
type Entry struct {
	ID  int64 // in the journal, rising
	Run int64 // the deck's run that the call belongs to
	snapshot.Call
	Body snapshot.CallBody // only if the query asked for bodies
}

// Query says which calls are wanted. The zero value wants the newest 1000.
type Query struct {
	Tool   string // exact, or with * for any text
	Server string // the same
	Agent  string // part of the agent's name, or its id; any case. With * the whole name, * for any text
	Status snapshot.CallStatus
	Text   string        // in tool, agent, arguments or result; any case
	Words  []string      // each as Text
	Longer time.Duration // took more
	Less   time.Duration // took less; 0: any time
	Since  time.Time
	Until  time.Time
	After  int64 // only entries with a greater ID
	Before int64 // only entries with a lower ID; 0: any
	Limit  int   // 0: 1000; negative: none
	Oldest bool  // the first ones instead of the last ones
	Bodies bool  // fill Entry.Body
	NotRun int64 // leave the calls of this run out; 0: of none

	running bool // also those that have not ended
}

// Search returns the calls in the order in which they ended. It is an error
// before Open.
func (j *Journal) Search(ctx context.Context, q Query) ([]Entry, error) {
	var err error
	for range 2 { // the store may be replaced under a query
		s := j.current()
		if s == nil {
			return nil, errors.New("search journal: not open yet")
		}
		var entries []Entry
		if entries, err = s.search(ctx, q); err == nil {
			return entries, nil
		}
		if ctx.Err() != nil || j.current() == s {
			break
		}
	}
	return nil, fmt.Errorf("search journal: %w", err)
}

// Body returns what the call of that number in this run carried; false if the
// journal does not have it.
func (j *Journal) Body(ctx context.Context, call uint64) (snapshot.CallBody, bool) {
	return j.bodyWhere(ctx, "run = ? AND call = ?", j.run, int64(call))
}

// EntryBody returns what the entry carried; false if the journal does not have
// it any more.
func (j *Journal) EntryBody(ctx context.Context, id int64) (snapshot.CallBody, bool) {
	return j.bodyWhere(ctx, "id = ?", id)
}

func (j *Journal) bodyWhere(ctx context.Context, where string, args ...any) (snapshot.CallBody, bool) {
	s := j.current()
	if s == nil {
		return snapshot.CallBody{}, false
	}
	var a, r sql.NullString
	var b snapshot.CallBody
	err := s.reader.QueryRowContext(ctx, "SELECT args, result, cut FROM calls WHERE "+where, args...).Scan(&a, &r, &b.Cut)
	b.Args, b.Result = raw(a), raw(r)
	return b, err == nil
}

func raw(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

// line is an entry as exported.
type line struct {
	ID          int64               `json:"id"`
	Run         int64               `json:"run"`
	Call        uint64              `json:"call"`
	Time        time.Time           `json:"time"`
	DurationMS  float64             `json:"durationMs"`
	Agent       string              `json:"agent"`
	AgentName   string              `json:"agentName"`
	Server      string              `json:"server"`
	Tool        string              `json:"tool"`
	Status      snapshot.CallStatus `json:"status"`
	ArgsBytes   int                 `json:"argsBytes"`
	ResultBytes int                 `json:"resultBytes"`
	Images      int                 `json:"images,omitempty"`
	Cut         bool                `json:"cut,omitempty"`
	Args        json.RawMessage     `json:"args,omitempty"`
	Result      json.RawMessage     `json:"result,omitempty"`
}

// WriteJSONL writes entries as JSON, one a line.
func WriteJSONL(w io.Writer, entries []Entry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(line{
			ID: e.ID, Run: e.Run, Call: e.Call.ID, Time: e.Started.UTC(), DurationMS: float64(e.Duration.Microseconds()) / 1000,
			Agent: e.Agent, AgentName: e.AgentName, Server: e.Server, Tool: e.Tool, Status: e.Status,
			ArgsBytes: e.ArgsBytes, ResultBytes: e.ResultBytes, Images: e.Images, Cut: e.Body.Cut, Args: e.Body.Args, Result: e.Body.Result,
		}); err != nil {
			return err
		}
	}
	return nil
}

// export reads in pieces, so that a large journal needs little memory.
func (s *store) export(ctx context.Context, w io.Writer, q Query) error {
	left := q.Limit
	if !q.Oldest && left > 0 { // the last ones: find out where they begin
		q.Bodies = false
		entries, err := s.search(ctx, q)
		if err != nil || len(entries) == 0 {
			return err
		}
		q.After = entries[0].ID - 1
	}
	q.Bodies, q.Oldest = true, true
	for {
		q.Limit = 100
		if left > 0 {
			q.Limit = min(left, 100)
		}
		entries, err := s.search(ctx, q)
		if err != nil {
			return fmt.Errorf("export journal: %w", err)
		}
		if err := WriteJSONL(w, entries); err != nil {
			return fmt.Errorf("export journal: %w", err)
		}
		if left > 0 {
			left -= len(entries)
		}
		if len(entries) < q.Limit || left == 0 && q.Limit < 100 {
			return nil
		}
		q.After = entries[len(entries)-1].ID
	}
}

const columns = `id, run, call, started, duration, agent, agent_name, server, tool, status, args_line, result_line, args_bytes, result_bytes, images`

func (s *store) search(ctx context.Context, q Query) ([]Entry, error) {
	where, args := q.where()
	list := columns
	if q.Bodies {
		list += ", args, result, cut"
	}
	order, limit := "DESC", q.Limit
	if q.Oldest {
		order = "ASC"
	}
	limit = cmp.Or(limit, 1000)
	rows, err := s.reader.QueryContext(ctx, "SELECT "+list+" FROM calls"+where+" ORDER BY id "+order+" LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it
	var out []Entry
	for rows.Next() {
		e, err := scan(rows, q.Bodies)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	if !q.Oldest {
		slices.Reverse(out)
	}
	return out, rows.Err()
}

func scan(rows *sql.Rows, bodies bool) (Entry, error) {
	var e Entry
	var call, started, duration int64
	var args, result sql.NullString
	to := []any{
		&e.ID, &e.Run, &call, &started, &duration, &e.Agent, &e.AgentName, &e.Server, &e.Tool, &e.Status,
		&e.Args, &e.Result, &e.ArgsBytes, &e.ResultBytes, &e.Images,
	}
	if bodies {
		to = append(to, &args, &result, &e.Body.Cut)
	}
	err := rows.Scan(to...)
	e.Call.ID = uint64(call)
	e.Started = time.UnixMicro(started)
	e.Duration = time.Duration(duration) * time.Microsecond
	e.Body.Args, e.Body.Result = raw(args), raw(result)
	return e, err
}

// where turns the query into a condition.
func (q Query) where() (string, []any) {
	var conds []string
	var args []any
	add := func(cond string, values ...any) {
		conds = append(conds, cond)
		args = append(args, values...)
	}
	for _, f := range []struct{ column, value string }{{"tool", q.Tool}, {"server", q.Server}} {
		switch {
		case f.value == "":
		case strings.Contains(f.value, "*"):
			add(f.column+` LIKE ? ESCAPE '\'`, strings.ReplaceAll(likeText(f.value), "*", "%"))
		default:
			add(f.column+" = ?", f.value)
		}
	}
	switch {
	case q.Agent == "":
	case strings.Contains(q.Agent, "*"):
		add(`agent_name LIKE ? ESCAPE '\'`, strings.ReplaceAll(likeText(q.Agent), "*", "%"))
	default:
		add(`(agent = ? OR agent_name LIKE ? ESCAPE '\')`, q.Agent, "%"+likeText(q.Agent)+"%")
	}
	if q.Status != "" {
		add("status = ?", string(q.Status))
	}
	for _, text := range append([]string{q.Text}, q.Words...) {
		if text == "" {
			continue
		}
		part := "%" + likeText(text) + "%"
		add(`(tool LIKE ? ESCAPE '\' OR agent_name LIKE ? ESCAPE '\' OR args LIKE ? ESCAPE '\' OR result LIKE ? ESCAPE '\' OR args_line LIKE ? ESCAPE '\' OR result_line LIKE ? ESCAPE '\')`,
			part, part, part, part, part, part)
	}
	if !q.Since.IsZero() {
		add("started >= ?", q.Since.UnixMicro())
	}
	if !q.Until.IsZero() {
		add("started < ?", q.Until.UnixMicro())
	}
	if q.Longer > 0 {
		add("duration > ?", q.Longer.Microseconds())
	}
	if q.Less > 0 {
		add("duration < ?", q.Less.Microseconds())
	}
	if q.After > 0 {
		add("id > ?", q.After)
	}
	if q.Before > 0 {
		add("id < ?", q.Before)
	}
	if q.NotRun != 0 {
		add("run <> ?", q.NotRun)
	}
	if !q.running {
		add("status <> ?", string(snapshot.Running))
	}
	if len(conds) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(conds, " AND "), args
}

func likeText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(s)
}

// Reader reads the journal of a deck from another process.
type Reader struct{ store *store }

// OpenReader opens the file for reading. The error wraps fs.ErrNotExist when
// there is no journal yet.
func OpenReader(ctx context.Context, path string) (*Reader, error) {
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		f, err := file.Open(name, os.O_RDONLY)
		if err == nil {
			f.Close()
		} else if name == path || !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open journal: %w", err)
		}
	}
	db, err := open(ctx, fileDSN(path, "query_only(1)"), 1)
	if err != nil {
		return nil, fmt.Errorf("open journal: %s", reason(err))
	}
	var have int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open journal: %s", reason(err))
	}
	if have == 0 { // the deck has only just made the file
		_ = db.Close()
		return nil, fmt.Errorf("open journal: %w", fs.ErrNotExist)
	}
	return &Reader{&store{db: db, reader: db}}, nil
}

// Search is like [Journal.Search].
func (r *Reader) Search(ctx context.Context, q Query) ([]Entry, error) {
	entries, err := r.store.search(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search journal: %s", reason(err))
	}
	return entries, nil
}

// Export writes the calls as JSON, one a line.
func (r *Reader) Export(ctx context.Context, w io.Writer, q Query) error {
	return r.store.export(ctx, w, q)
}

// Close closes the file.
func (r *Reader) Close() error { return r.store.close() }
