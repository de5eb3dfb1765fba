package pencil

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil/internal/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestMain makes the test binary the child too: the deck starts its child with
// --app first, which no test run does.
// The child of most tests is the stand-in, in a process of its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "--app" {
		syscall.Exit(standin.Main(os.Args[1:])) // os.Exit would say that no coverage is written
	}
	if len(os.Args) > 1 && os.Args[1] == asDeck {
		beDeck()
	}
	os.Exit(m.Run())
}

// asDeck makes this program a deck with a child that does not go by itself; it
// prints the child's process id.
const asDeck = "--be-a-deck"

func beDeck() {
	exe, err := os.Executable()
	if err != nil {
		os.Exit(1)
	}
	p := New(Options{Command: exe, Args: []string{"--deaf", "--stubborn"}, Home: os.TempDir(), Root: os.TempDir(), Environ: os.Environ(), StartOn: true})
	p.Start(upstream.Events{})
	if err := p.Settle(context.Background()); err != nil {
		os.Exit(1)
	}
	fmt.Println(p.Status().PID)
	select {}
}

// options are for a child that is this test binary with the stand-in's flags.
func options(t testing.TB, flags ...string) Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Command: exe, Args: flags, Version: "test", Home: t.TempDir(), Root: t.TempDir(), StateDir: t.TempDir(),
		Environ: os.Environ(),
	}
}

// watched is a Pencil whose events are counted.
type watched struct {
	*Pencil
	mu     sync.Mutex
	listed int
	warned []string
	look   chan struct{}
	busy   atomic.Int64 // nanoseconds that the screen takes to look
}

func startWith(t testing.TB, o Options) *watched {
	t.Helper()
	w := &watched{Pencil: New(o), look: make(chan struct{}, 1)}
	w.Start(upstream.Events{
		Listed: func() { w.mu.Lock(); w.listed++; w.mu.Unlock() },
		Look: func() {
			select {
			case w.look <- struct{}{}:
			default:
			}
		},
		Warn: func(s string) { w.mu.Lock(); w.warned = append(w.warned, s); w.mu.Unlock() },
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Patience)
		defer cancel()
		if err := w.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return w
}

func start(t testing.TB, flags ...string) *watched {
	t.Helper()
	return startWith(t, options(t, flags...))
}

// settle waits for the mode to be what it will be.
func (w *watched) settle(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Patience)
	defer cancel()
	if err := w.Settle(ctx); err != nil {
		t.Fatal(err)
	}
}

func (w *watched) switchedOn(t testing.TB) {
	t.Helper()
	w.On()
	w.settle(t)
	if s := w.Status(); s.Mode != upstream.On {
		t.Fatalf("mode %s: %s\n%s", s.Mode, s.Error, s.Text(true))
	}
}

// until waits for a status that fits.
func (w *watched) until(t testing.TB, what string, fits func(Status) bool) Status {
	t.Helper()
	return testwait.For(t, what, w.Status, fits)
}

func (w *watched) lists() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.listed
}

func (w *watched) call(t testing.TB, tool, args string) upstream.Result {
	t.Helper()
	in := upstream.Call{Tool: tool, Agent: "tester"}
	if args != "" {
		in.Args = json.RawMessage(args)
	}
	r, err := w.Call(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func firstText(r upstream.Result) string {
	if len(r.Content()) == 0 {
		return ""
	}
	o, err := rawjson.SplitObject(r.Content()[0])
	if err != nil {
		return ""
	}
	return o.Str("text")
}

// joined is a result as JSON.
func joined(t *testing.T, r upstream.Result) []byte {
	t.Helper()
	o, err := rawjson.SplitObject(r.Raw)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{"content": append([]json.RawMessage{}, r.Content()...)}
	for _, m := range o.Only("structuredContent", "_meta", "isError") {
		all[m.Key] = m.Value
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func names(s Status) []string {
	var out []string
	for _, t := range s.Tools {
		out = append(out, t.Original)
	}
	return out
}

// Nothing runs before the mode is first switched on. The list is sorted.
func TestOnOffersWhatTheChildLists(t *testing.T) {
	tests := []struct {
		name, set string
		count     int
		entry     string
	}{
		{"the first generation", "A", 14, "get_editor_state"},
		{"the second generation", "B", 9, "get_editor_state"},
		{"the third generation", "C", 5, "get_app_state"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := start(t, "--tools", tt.set)
			if s := w.Status(); s.Mode != upstream.Off || s.Sign() != (upstream.Sign{}) || s.PID != 0 {
				t.Fatalf("before: %+v", s)
			}
			w.switchedOn(t)
			s := w.Status()
			if len(s.Tools) != tt.count || !s.Listed || s.Sign().Tone != upstream.Good || w.lists() != 1 {
				t.Fatalf("%d tools, listed %v, %+v, %d notifications", len(s.Tools), s.Listed, s.Sign(), w.lists())
			}
			if !slices.IsSorted(names(s)) {
				t.Errorf("not sorted: %v", names(s))
			}
			for _, tool := range s.Tools {
				if has := strings.Contains(tool.Description, "This is a stand-in"); has != (tool.Original == tt.entry) {
					t.Errorf("%s: instructions in its description: %v", tool.Original, has)
				}
				if tool.Name != "pencil_"+tool.Original {
					t.Errorf("%s is exposed as %s", tool.Original, tool.Name)
				}
			}
			w.Off()
			if s := w.Status(); s.Mode != upstream.Off || s.Listed || s.PID == 0 || w.lists() != 2 {
				t.Fatalf("after: mode %s, listed %v, child %d, %d notifications", s.Mode, s.Listed, s.PID, w.lists())
			}
			if got := firstText(w.call(t, "pencil_"+tt.entry, `{}`)); got != (Options{Key: "p"}).texts().Off {
				t.Errorf("a call while off: %q", got)
			}
		})
	}
}

// The definitions that agents get are the child's, but for names.
func TestDefinitionsArriveAsTheyAre(t *testing.T) {
	for _, set := range []string{"A", "B", "C"} {
		t.Run(set, func(t *testing.T) {
			w := start(t, "--tools", set, "--no-guide")
			w.switchedOn(t)
			tools := map[string]catalogue.Tool{}
			for _, tool := range w.Status().Tools {
				tools[tool.Original] = tool
			}
			for _, raw := range standin.Definitions(set, false) {
				o, err := rawjson.Parse([]byte(raw))
				if err != nil {
					t.Fatal(err)
				}
				tool := tools[o.Str("name")]
				want := catalogue.Canonical([]byte(raw))
				if got := asTheChildSaid(tool.JSON()); got != want {
					t.Errorf("%s:\n got %s\nwant %s", tool.Original, got, want)
				}
			}
		})
	}
}

func TestNoiseAndGarbageAreKeptAway(t *testing.T) {
	w := start(t, "--garbage", "--noise", "1000000", "--pages", "3", "--repeat")
	w.switchedOn(t)
	if s := w.Status(); len(s.Tools) != 14 {
		t.Fatalf("%d tools", len(s.Tools))
	}
	s := w.until(t, "the log", func(s Status) bool {
		return slices.ContainsFunc(s.Log, func(l child.Line) bool { return strings.HasPrefix(l.Text, "+") && strings.HasSuffix(l.Text, " lines") })
	})
	if got := firstText(w.call(t, "pencil_batch_get", `{"a":1}`)); got != `{"a":1}` {
		t.Errorf("answer %q", got)
	}
	if len(s.Log) > child.MaxLines {
		t.Errorf("%d lines", len(s.Log))
	}
	for _, l := range s.Log {
		if len(l.Text) > child.MaxRunes {
			t.Fatalf("line of %d bytes", len(l.Text))
		}
	}
}

func TestBadEntriesDoNotLoseTheRest(t *testing.T) {
	w := start(t, "--odd")
	w.switchedOn(t)
	s := w.Status()
	got := map[string]catalogue.Tool{}
	for _, tool := range s.Tools {
		got[tool.Original] = tool
	}
	if len(got) != 16 || string(got["no_schema"].Input) != `{"type":"object"}` || string(got["no_type"].Input) != `{"type":"object","properties":{}}` {
		t.Errorf("%d tools, %s, %s", len(got), got["no_schema"].Input, got["no_type"].Input)
	}
	reasons := ""
	for _, n := range s.Notes {
		reasons += n.Tool + ": " + n.Reason + "\n"
	}
	for _, want := range []string{"batch_design: skipped: duplicate name", "it has no name", "not a JSON object", "bad_schema: skipped: its schema is not an object"} {
		if !strings.Contains(reasons, want) {
			t.Errorf("notes lack %q:\n%s", want, reasons)
		}
	}
}

func TestResultsPassUntouched(t *testing.T) {
	tests := []struct {
		name, kind, want string
		images           int
	}{
		{"unknown kinds, numbers, order", "odd", standin.OddResult(), 1},
		{"image", "image", "", 1},
		{"no content", "empty", `{"content":[]}`, 0},
		{"structured", "structured", `{"content":[],"structuredContent":{"n":9007199254740993},"_meta":{"k":[1,2]}}`, 0},
		{"the child's own error", "error", `{"content":[{"type":"text","text":"filePath is missing"}],"isError":true}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := start(t, "--result", tt.kind)
			w.switchedOn(t)
			if got := catalogue.Canonical(joined(t, w.call(t, "pencil_batch_get", `{}`))); tt.want != "" && got != catalogue.Canonical([]byte(tt.want)) {
				t.Errorf("got  %s\nwant %s", got, catalogue.Canonical([]byte(tt.want)))
			}
			s := w.until(t, "the facts", func(s Status) bool { return s.OK+s.Failed == 1 })
			want := upstream.ImageFact{}
			if tt.images > 0 {
				want = upstream.ImageFact{Type: "image/png", Width: 96, Height: 64, Bytes: s.Picture.Bytes}
			}
			if s.Picture.ImageFact != want {
				t.Errorf("facts: %+v", s.Picture.ImageFact)
			}
		})
	}
}

// No socket of an app is anywhere near, and no call asks for one.
func TestArgumentsPassUntouched(t *testing.T) {
	w := start(t)
	w.switchedOn(t)
	for _, args := range []string{`{"n":9007199254740993,"Name":1,"name":2}`, `{}`, ""} {
		want := args
		if args == "" {
			want = "nothing"
		}
		if got := firstText(w.call(t, "pencil_batch_get", args)); got != want {
			t.Errorf("sent %q, the child got %q", args, got)
		}
	}
}

func TestPicturesAreSavedOnce(t *testing.T) {
	w := start(t)
	path := filepath.Join(t.TempDir(), "shot.png")
	if err := w.SavePicture(path); err == nil {
		t.Error("there is no picture yet")
	}
	w.switchedOn(t)
	w.call(t, "pencil_get_screenshot", `{}`)
	w.until(t, "a picture", func(s Status) bool { return s.Picture.Width == 96 })
	if err := w.SavePicture(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || info.Size() != int64(w.Status().Picture.Bytes) {
		t.Errorf("%v %v, want %d bytes", info, err, w.Status().Picture.Bytes)
	}
	if err := w.SavePicture(path); err == nil {
		t.Error("an existing file was overwritten")
	}
}
