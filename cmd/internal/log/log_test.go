package log

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog/journal"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

var now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func testJournal(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j := journal.New(journal.Options{Path: path, MaxAge: 1e6 * time.Hour})
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	if err := j.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	record(t, j,
		snapshot.Call{
			ID: 1, AgentName: "claude", Server: "clippy", Tool: "haunt_desktop", Status: snapshot.OK,
			Started: now.Add(-25 * time.Hour), Duration: 12 * time.Millisecond, Args: "filename=a.txt content=boo",
		},
		snapshot.Call{
			ID: 2, AgentName: "codex\x1b[31m", Server: "ask", Tool: "ask", Status: snapshot.ToolError,
			Started: now.Add(-time.Hour), Duration: 75 * time.Second, Args: "question=x", Result: "nobody answered",
		},
		snapshot.Call{
			ID: 3, AgentName: "claude", Server: "clippy", Tool: "manage_memory", Status: snapshot.OK,
			Started: now.Add(-time.Minute), Duration: 200 * time.Microsecond, Args: "action=read key=k",
		})
	return j
}

func record(t *testing.T, j *journal.Journal, calls ...snapshot.Call) {
	t.Helper()
	for _, c := range calls {
		j.Record(c, snapshot.CallBody{Args: json.RawMessage(`{"n":1}`)})
	}
	if err := j.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func run(ctx context.Context, out *bytes.Buffer, path string, args ...string) error {
	cmd := Command(Options{
		Path: func() (string, error) { return path, nil },
		Now:  func() time.Time { return now }, Poll: time.Millisecond,
	})
	cmd.SetOut(out)
	cmd.SetArgs(append([]string{}, args...)) // nil would be the arguments of the test
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	return cmd.ExecuteContext(ctx)
}

func TestLogPrintsMatchingCalls(t *testing.T) {
	const (
		one   = "2026-03-01 11:00:00  claude          haunt_desktop                 ok            12 ms  filename=a.txt content=boo\n"
		two   = "11:00:00  codex           ask                           error      1 m 15 s  nobody answered  question=x\n"
		three = "11:59:00  claude          manage_memory                 ok            <1 ms  action=read key=k\n"
	)
	path := filepath.Join(t.TempDir(), "journal.db")
	testJournal(t, path)
	tests := []struct {
		name string
		args []string
		want string
		err  string
	}{
		{"all", nil, one + two + three, ""},
		{"newest", []string{"-n", "1"}, three, ""},
		{"no limit", []string{"-n", "0"}, one + two + three, ""},
		{"tool", []string{"--tool", "ask"}, two, ""},
		{"tool pattern", []string{"--tool", "*_*"}, one + three, ""},
		{"server", []string{"--server", "clippy"}, one + three, ""},
		{"agent", []string{"--agent", "CLAU"}, one + three, ""},
		{"agent pattern", []string{"--agent", "cl*de*"}, one + three, ""},
		{"agent pattern of another's end", []string{"--agent", "*lau"}, "", ""},
		{"status", []string{"--status", "error"}, two, ""},
		{"text", []string{"-g", "boo"}, one, ""},
		{"since", []string{"--since", "2h"}, two + three, ""},
		{"since days", []string{"--since", "2d", "--until", "1d"}, one, ""},
		{"since time", []string{"--since", "11:30"}, three, ""},
		{"since day", []string{"--since", "2026-03-02"}, two + three, ""},
		{"until", []string{"--until", "2026-03-02T11:30:00Z"}, one + two, ""},
		{"a query", []string{"status:error", "agent:codex", "since:2h", ">1m"}, two, ""},
		{"a query of words", []string{"boo", "claude"}, one, ""},
		{"a query and a flag", []string{"server:clippy", "--since", "2h"}, three, ""},
		{"shorter than", []string{"<1ms"}, three, ""},
		{"a bad query", []string{"status:bad"}, "", "status:bad: use ok, error, refused, cancelled, lost or running"},
		{"nothing", []string{"--tool", "x"}, "", ""},
		{"bad status", []string{"--status", "bad"}, "", `--status "bad": use ok, error, refused, cancelled or lost`},
		{"bad time", []string{"--since", "soon"}, "", `--since "soon": use 90m, 2h, 3d, 15:04, 2006-01-02 or RFC 3339`},
		{"bad count", []string{"-n", "-1"}, "", "--lines must be 0 or more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			got := ""
			if err := run(t.Context(), &out, path, tt.args...); err != nil {
				got = err.Error()
			}
			if got != tt.err || out.String() != tt.want {
				t.Errorf("got error %q and\n%swant error %q and\n%s", got, &out, tt.err, tt.want)
			}
		})
	}
	t.Run("json", func(t *testing.T) {
		var out bytes.Buffer
		if err := run(t.Context(), &out, path, "--json", "-n", "1"); err != nil {
			t.Fatal(err)
		}
		var e struct {
			Tool string
			Args map[string]int
		}
		if err := json.Unmarshal(out.Bytes(), &e); err != nil || e.Tool != "manage_memory" || e.Args["n"] != 1 {
			t.Errorf("got %s, %v", &out, err)
		}
	})
	t.Run("no journal", func(t *testing.T) {
		var out bytes.Buffer
		err := run(t.Context(), &out, filepath.Join(t.TempDir(), "none"))
		if err == nil || !strings.Contains(err.Error(), "no call log yet") {
			t.Errorf("got %v", err)
		}
	})
}

// lockedBuffer may be read while a command writes to it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
	ch  chan struct{}
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.ch <- struct{}{} }()
	return b.buf.Write(p)
}

func TestALostCallHasNoDuration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	record(t, testJournal(t, path), snapshot.Call{ID: 4, AgentName: "claude", Tool: "lost_one", Status: snapshot.Lost, Started: now, Duration: time.Second})
	var out bytes.Buffer
	if err := run(t.Context(), &out, path, "-n", "1"); err != nil {
		t.Fatal(err)
	}
	if line := out.String(); !strings.Contains(line, "lost_one") || strings.Contains(line, "1 s") || strings.Contains(line, "1.0 s") {
		t.Errorf("got %q, want the call without a duration", line)
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestALogThatCannotBePrintedSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	testJournal(t, path)
	for _, args := range [][]string{{}, {"--json"}} {
		cmd := Command(Options{Path: func() (string, error) { return path, nil }, Now: func() time.Time { return now }})
		cmd.SetOut(fullDisk{})
		cmd.SetArgs(args)
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		if err := cmd.ExecuteContext(t.Context()); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%v: got %v, want the error of the writer", args, err)
		}
	}
}

func TestAnInterruptedLogEndsWithoutAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	testJournal(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := run(ctx, &out, path, "-f"); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	ctx, cancel := context.WithCancel(t.Context())
	out := &lockedBuffer{ch: make(chan struct{}, 100)}
	cmd := Command(Options{Path: func() (string, error) { return path, nil }, Now: func() time.Time { return now }, Poll: time.Millisecond})
	cmd.SetOut(out)
	cmd.SetArgs([]string{"-f", "-n", "1"})
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()
	next := func() {
		select {
		case <-out.ch:
		case err := <-done:
			t.Fatalf("it ended: %v", err)
		}
	}
	j := testJournal(t, path) // only now is there a file
	next()
	record(t, j, snapshot.Call{ID: 9, AgentName: "claude", Tool: "late", Status: snapshot.Cancelled, Started: now, Args: "n=9"})
	for {
		next()
		out.mu.Lock()
		text := out.buf.String()
		out.mu.Unlock()
		if strings.Contains(text, "late") {
			break
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
