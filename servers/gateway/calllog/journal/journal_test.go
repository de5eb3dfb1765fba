package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// warnings collects what the user is told.
type warnings struct {
	mu  sync.Mutex
	all []string
}

func (w *warnings) add(s string) { w.mu.Lock(); w.all = append(w.all, s); w.mu.Unlock() }

func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.all, "\n")
}

func testJournal(t *testing.T, opt Options) (*Journal, *warnings) {
	t.Helper()
	if opt.Path == "" {
		folder := "state of # things?"
		if runtime.GOOS == "windows" {
			folder = "state of # things%20" // no name there has a question mark
		}
		opt.Path = filepath.Join(t.TempDir(), folder, "journal.db")
	}
	if opt.MaxAge == 0 {
		opt.MaxAge = 1e6 * time.Hour // the calls here are of some fixed day
	}
	w := &warnings{}
	opt.Warn = w.add
	j := New(opt)
	t.Cleanup(func() { must(t, j.Close(context.Background())) })
	return j, w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func call(n int) (snapshot.Call, snapshot.CallBody) {
	c := snapshot.Call{
		ID: uint64(n), Agent: "a1", AgentName: "claude", Server: "clippy", Tool: "haunt_desktop", Status: snapshot.OK,
		Started: day.Add(time.Duration(n) * time.Minute), Duration: 1500 * time.Microsecond,
		Args: fmt.Sprintf("filename=%d.txt", n), Result: "File created", ArgsBytes: 20, ResultBytes: 40, Images: n % 2,
	}
	return c, snapshot.CallBody{
		Args:   json.RawMessage(fmt.Sprintf(`{"filename":"%d.txt"}`, n)),
		Result: json.RawMessage(`{"content":[{"type":"text","text":"File created"}]}`),
	}
}

func ids(entries []Entry) string {
	var s []string
	for _, e := range entries {
		s = append(s, fmt.Sprint(e.Call.ID))
	}
	return strings.Join(s, " ")
}

func TestKeepsCallsAcrossRuns(t *testing.T) {
	j, w := testJournal(t, Options{})
	for n := 1; n <= 3; n++ {
		j.Record(call(n)) // before Open
	}
	if _, err := j.Search(t.Context(), Query{}); err == nil {
		t.Error("searched a journal that is not open")
	}
	must(t, j.Open(t.Context()))
	j.Record(call(4))
	must(t, j.Sync(t.Context()))
	got, err := j.Search(t.Context(), Query{Bodies: true})
	if err != nil || ids(got) != "1 2 3 4" {
		t.Fatalf("got %s, %v", ids(got), err)
	}
	want, body := call(4)
	e := got[3]
	e.Started = e.Started.UTC()
	if e.Call != want || string(e.Body.Args) != string(body.Args) || string(e.Body.Result) != string(body.Result) || e.Run != j.Run() {
		t.Errorf("got %+v, want %+v", e, want)
	}
	if b, ok := j.Body(t.Context(), 2); !ok || !strings.Contains(string(b.Args), "2.txt") {
		t.Errorf("body of 2: %s, %v", b.Args, ok)
	}
	if b, ok := j.EntryBody(t.Context(), e.ID); !ok || !strings.Contains(string(b.Args), "4.txt") {
		t.Errorf("body of entry: %s, %v", b.Args, ok)
	}
	if _, ok := j.Body(t.Context(), 99); ok {
		t.Error("a body nobody recorded")
	}
	must(t, j.Close(t.Context()))
	path := j.opt.Path
	for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
		info, err := os.Stat(name)
		must(t, err)
		if runtime.GOOS != "windows" && info.Mode() != want {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
	second, _ := testJournal(t, Options{Path: path})
	second.run = j.run + 1 // the clock may stand still
	must(t, second.Open(t.Context()))
	second.Record(call(1))
	must(t, second.Sync(t.Context()))
	if got, err := second.Search(t.Context(), Query{}); err != nil || ids(got) != "1 2 3 4 1" {
		t.Errorf("second run: %s, %v", ids(got), err)
	}
	if w.String() != "" {
		t.Errorf("warned: %s", w)
	}
}

func TestSearch(t *testing.T) {
	const longest = time.Hour
	j, _ := testJournal(t, Options{})
	must(t, j.Open(t.Context()))
	for n := 1; n <= 6; n++ {
		c, b := call(n)
		switch n {
		case 2:
			c.Tool, c.Server, c.AgentName, c.Agent = "pencil_draw", "pencil", "Codex", "a2"
		case 3:
			c.Tool, c.Server = "pencil_export", "pencil"
		case 6:
			c.Duration = longest
		case 4:
			c.Status, b.Result = snapshot.ToolError, json.RawMessage(`{"error":"100% Over_limit"}`)
		}
		j.Record(c, b)
	}
	must(t, j.Sync(t.Context()))
	tests := []struct {
		name  string
		query Query
		want  string
	}{
		{"all", Query{}, "1 2 3 4 5 6"},
		{"newest two", Query{Limit: 2}, "5 6"},
		{"oldest two", Query{Limit: 2, Oldest: true}, "1 2"},
		{"no limit", Query{Limit: -1}, "1 2 3 4 5 6"},
		{"tool", Query{Tool: "pencil_draw"}, "2"},
		{"tool pattern", Query{Tool: "pencil_*"}, "2 3"},
		{"underscore is no pattern", Query{Tool: "pencil?draw"}, ""},
		{"server", Query{Server: "pencil"}, "2 3"},
		{"agent by part of the name", Query{Agent: "code"}, "2"},
		{"agent by id", Query{Agent: "a2"}, "2"},
		{"status", Query{Status: snapshot.ToolError}, "4"},
		{"text in arguments", Query{Text: "5.TXT"}, "5"},
		{"text in the result", Query{Text: "over_limit"}, "4"},
		{"percent is no pattern", Query{Text: "100% over"}, "4"},
		{"quote", Query{Text: "' OR 1=1 --"}, ""},
		{"time", Query{Since: day.Add(2 * time.Minute), Until: day.Add(4 * time.Minute)}, "2 3"},
		{"agent pattern", Query{Agent: "*dex"}, "2"},
		{"agent pattern of another", Query{Agent: "dex*"}, ""},
		{"longer", Query{Longer: longest - 1}, "6"},
		{"less", Query{Less: longest}, "1 2 3 4 5"},
		{"after", Query{After: 4}, "5 6"},
		{"several", Query{Server: "pencil", Text: "draw"}, "2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := j.Search(t.Context(), tt.query)
			if err != nil || ids(got) != tt.want {
				t.Errorf("got %q, %v, want %q", ids(got), err, tt.want)
			}
		})
	}
	t.Run("another process reads along", func(t *testing.T) {
		r, err := OpenReader(t.Context(), j.opt.Path)
		must(t, err)
		defer r.Close()
		c, b := call(7)
		j.Record(c, b)
		must(t, j.Sync(t.Context()))
		if got, err := r.Search(t.Context(), Query{After: 6}); err != nil || ids(got) != "7" {
			t.Errorf("got %q, %v", ids(got), err)
		}
	})
}

func TestExport(t *testing.T) {
	j, _ := testJournal(t, Options{})
	must(t, j.Open(t.Context()))
	const n = 250
	for i := 1; i <= n; i++ {
		j.Record(call(i))
	}
	must(t, j.Sync(t.Context()))
	r, err := OpenReader(t.Context(), j.opt.Path)
	must(t, err)
	defer r.Close()
	for name, tt := range map[string]struct {
		query       Query
		first, rows int
	}{
		"all":        {Query{Limit: -1}, 1, n},
		"newest 120": {Query{Limit: 120}, n - 119, 120},
		"newest 100": {Query{Limit: 100}, n - 99, 100},
		"oldest 3":   {Query{Limit: 3, Oldest: true}, 1, 3},
		"none":       {Query{Tool: "x", Limit: -1}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			must(t, r.Export(t.Context(), &b, tt.query))
			lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			if tt.rows == 0 {
				if b.Len() > 0 {
					t.Errorf("got %s", &b)
				}
				return
			}
			if len(lines) != tt.rows {
				t.Fatalf("%d lines, want %d", len(lines), tt.rows)
			}
			want := fmt.Sprintf(`"call":%d,"time":"%s","durationMs":1.5,"agent":"a1","agentName":"claude","server":"clippy","tool":"haunt_desktop","status":"ok"`,
				tt.first, day.Add(time.Duration(tt.first)*time.Minute).Format(time.RFC3339))
			if !strings.Contains(lines[0], want) || !strings.Contains(lines[0], `"args":{"filename":`) {
				t.Errorf("got %s\nwant %s", lines[0], want)
			}
		})
	}
}

func TestPrune(t *testing.T) {
	for name, tt := range map[string]struct {
		opt  Options
		want string
	}{
		"count": {Options{MaxCalls: 3, MaxAge: time.Hour, MaxBytes: 1 << 20}, "8 9 10"},
		"age":   {Options{MaxCalls: 100, MaxAge: 150 * time.Second, MaxBytes: 1 << 20}, "8 9 10"},
		"bytes": {Options{MaxCalls: 100, MaxAge: time.Hour, MaxBytes: 200}, "9 10"},
	} {
		t.Run(name, func(t *testing.T) {
			j, _ := testJournal(t, Options{})
			must(t, j.Open(t.Context()))
			for n := 1; n <= 10; n++ {
				j.Record(call(n))
			}
			must(t, j.Sync(t.Context()))
			j.store.aged = time.Time{}
			must(t, j.store.prune(t.Context(), day.Add(10*time.Minute), tt.opt))
			if got, err := j.Search(t.Context(), Query{}); err != nil || ids(got) != tt.want {
				t.Errorf("got %q, %v, want %q", ids(got), err, tt.want)
			}
		})
	}
}

func TestDamagedFile(t *testing.T) {
	t.Run("no database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal.db")
		must(t, os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600))
		j, w := testJournal(t, Options{Path: path})
		must(t, j.Open(t.Context()))
		j.Record(call(1))
		must(t, j.Sync(t.Context()))
		if got, err := j.Search(t.Context(), Query{}); err != nil || ids(got) != "1" || j.InMemory() {
			t.Errorf("got %q, %v, in memory %v", ids(got), err, j.InMemory())
		}
		if !strings.Contains(w.String(), "moved it to journal.db.damaged-") {
			t.Errorf("warned: %q", w)
		}
	})
	t.Run("pages overwritten while it is closed", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal.db")
		first, _ := testJournal(t, Options{Path: path})
		must(t, first.Open(t.Context()))
		for n := range 500 {
			first.Record(call(n))
		}
		must(t, first.Close(t.Context()))
		data, err := os.ReadFile(path)
		must(t, err)
		for i := 4096; i < len(data); i++ {
			data[i] = 0x55
		}
		must(t, os.WriteFile(path, data, 0o600))
		j, w := testJournal(t, Options{Path: path})
		must(t, j.Open(t.Context()))
		j.Record(call(1))
		must(t, j.Sync(t.Context()))
		if got, err := j.Search(t.Context(), Query{}); err != nil || ids(got) != "1" {
			t.Errorf("got %q, %v", ids(got), err)
		}
		if !strings.Contains(w.String(), "damaged") {
			t.Errorf("warned: %q", w)
		}
	})
	t.Run("written by a newer version", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal.db")
		d, err := openDisk(t.Context(), Options{Path: path})
		must(t, err)
		_, err = d.db.Exec("PRAGMA user_version = 99")
		must(t, err)
		must(t, d.close())
		j, w := testJournal(t, Options{Path: path})
		must(t, j.Open(t.Context()))
		if !j.InMemory() || !strings.Contains(w.String(), "newer version") {
			t.Errorf("in memory %v, warned %q", j.InMemory(), w)
		}
	})
}

func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	j, w := testJournal(t, Options{Path: filepath.Join(file, "journal.db")})
	must(t, j.Open(t.Context()))
	j.Record(call(1))
	must(t, j.Sync(t.Context()))
	if got, err := j.Search(t.Context(), Query{}); err != nil || ids(got) != "1" || !j.InMemory() || !strings.Contains(w.String(), "in memory only") {
		t.Errorf("got %q, %v, in memory %v, warned %q", ids(got), err, j.InMemory(), w)
	}
	must(t, os.Remove(file))
	j.returnToDisk()
	if got, err := j.Search(t.Context(), Query{}); err != nil || ids(got) != "1" || j.InMemory() || !strings.Contains(w.String(), "saved to disk again") {
		t.Errorf("later: %q, %v, in memory %v, warned %q", ids(got), err, j.InMemory(), w)
	}
}

func TestQueueIsBounded(t *testing.T) {
	j, w := testJournal(t, Options{})
	j.maxCalls, j.maxBytes = 600, 1<<20
	big := snapshot.CallBody{Args: bytes.Repeat([]byte(" "), 100<<10)}
	for n := range 20 {
		c, _ := call(n)
		j.Record(c, big)
	}
	if j.bytes > j.maxBytes+20*256 {
		t.Errorf("%d bytes wait", j.bytes)
	}
	for n := 20; n < 610; n++ {
		c, _ := call(n)
		j.Record(c, snapshot.CallBody{})
	}
	must(t, j.Open(t.Context()))
	must(t, j.Sync(t.Context()))
	if w.String() != "the call log could not keep up and lacks 10 calls" {
		t.Errorf("warned: %q", w)
	}
	got, err := j.Search(t.Context(), Query{Limit: -1, Bodies: true})
	if err != nil || len(got) != 600 || len(got[0].Body.Args) == 0 || !got[19].Body.Cut {
		t.Errorf("%d calls, %v", len(got), err)
	}
}

func TestOpenTwiceAndAfterClose(t *testing.T) {
	j, _ := testJournal(t, Options{})
	must(t, j.Open(t.Context()))
	if j.Open(t.Context()) == nil {
		t.Error("opened twice")
	}
	must(t, j.Close(t.Context()))
	j.Record(call(1)) // is no panic
	if err := j.Sync(t.Context()); err == nil {
		t.Error("synced a closed journal")
	}
	if _, err := OpenReader(t.Context(), filepath.Join(t.TempDir(), "none.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reader without a file: %v", err)
	}
}

func BenchmarkRecord(b *testing.B) {
	j := New(Options{Path: filepath.Join(b.TempDir(), "journal.db")})
	if err := j.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer j.Close(context.Background())
	c, body := call(1)
	for i := 0; b.Loop(); i++ {
		c.ID = uint64(i)
		j.Record(c, body)
	}
}
