package pencil

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil/internal/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestFileNamesOfTheProgram(t *testing.T) {
	tests := []struct {
		p    platform
		want string
	}{
		{platform{"linux", "amd64"}, "mcp-server-linux-x64"},
		{platform{"linux", "arm64"}, "mcp-server-linux-arm64"},
		{platform{"darwin", "arm64"}, "mcp-server-darwin-arm64 mcp-server-darwin-x64"},
		{platform{"darwin", "amd64"}, "mcp-server-darwin-x64"},
		{platform{"windows", "amd64"}, "mcp-server-windows-x64.exe mcp-server-win32-x64.exe"},
		{platform{"windows", "arm64"}, "mcp-server-windows-arm64.exe mcp-server-win32-arm64.exe mcp-server-windows-x64.exe mcp-server-win32-x64.exe"},
	}
	for _, tt := range tests {
		if got := strings.Join(tt.p.fileNames(), " "); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.p, got, tt.want)
		}
	}
}

func TestArgumentsOfTheProgram(t *testing.T) {
	for want, o := range map[string]Options{
		"--app|desktop": {},
		"--app|desktop|--enable_spawn_agents|a b|$(x)": {SpawnAgents: true, Args: []string{"a b", "$(x)"}},
	} {
		if got := strings.Join(childCommand(o, Found{App: "desktop"}).Args, "|"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// However often a user asks, there is one child in the end, and what an older
// attempt comes to is nobody's.
func TestOneAttemptAtATime(t *testing.T) {
	virtual(t, func(t *testing.T, w *watched, o *program) {
		t.Helper()
		var mu sync.Mutex
		var all []*process.Child
		o.becomes(func(c process.Command) (*process.Child, error) {
			p, err := standin.Pipes()(c)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, p)
			return p, err
		})
		w.On()
		for range 5 {
			w.Reconnect()
			w.Toggle()
			w.Toggle()
		}
		w.settle(t)
		testwait.Pass(time.Second)
		living := 0
		for _, p := range all {
			select {
			case <-p.Exited:
			default:
				living++
			}
		}
		if s := w.Status(); living != 1 || s.Link != upstream.LinkReady || s.Mode != upstream.On {
			t.Errorf("%d of %d children live; %s, %s", living, len(all), s.Mode, s.Link)
		}
	})
}

// What a user can look up.
func TestStatusSaysEverything(t *testing.T) {
	w := start(t, "--noise", "3000")
	w.switchedOn(t)
	w.call(t, "pencil_get_editor_state", `{}`)
	s := w.until(t, "the call", func(s Status) bool { return s.OK == 1 })
	reaches := len(s.Instructions)
	for _, tool := range s.Tools {
		reaches += tool.Context()
	}
	if s.Tokens() != s.Context/4 || s.Context != reaches {
		t.Errorf("%d bytes, %d tokens, want %d bytes", s.Context, s.Tokens(), reaches)
	}
	s.Error, s.ErrorAt, s.Restarts = "it ended", time.Now().Add(-time.Minute), 2
	got := s.Text(true)
	for _, want := range []string{
		"mode       on", fmt.Sprintf("link       ready, process %d, for ", s.PID), "(pencil.command)", "app        desktop, reachable", "file       /designs/menu.pen",
		"server     standin 0.1, protocol 2025-11-25", "tools      14, offered; " + snapshot.ContextCost(s.Context),
		"calls      1 ok, 0 failed, 0 running, 0 waiting", "restarts   2", "last error it ended (1 m ago)", "instructions\n" + guidePreface, "pencil: nnnn",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "pencil: "); n > 20 {
		t.Errorf("%d lines of the log", n)
	}
}

func TestOnlyChangesAreAnnounced(t *testing.T) {
	w := start(t)
	w.switchedOn(t)
	if w.lists() != 1 {
		t.Fatalf("%d notifications", w.lists())
	}
	w.Reconnect()
	w.settle(t)
	w.On()
	if w.lists() != 1 {
		t.Errorf("%d notifications of the same list", w.lists())
	}
	for range 9 {
		w.Toggle()
	}
	w.settle(t)
	if n, listed := w.lists(), w.Published().Catalogue() != nil; n > 10 || listed || w.Status().Mode != upstream.Off {
		t.Errorf("%d notifications, listed %v", n, listed)
	}
}

func TestCallsAreCountedWithoutTheirBodies(t *testing.T) {
	w := start(t)
	w.switchedOn(t)
	w.call(t, "pencil_batch_get", `{"secret":"s3cr3t"}`)
	w.call(t, "pencil_get_screenshot", `{}`)
	s := w.until(t, "both calls", func(s Status) bool { return s.OK == 2 })
	if s.Picture.Tool != "get_screenshot" || s.Picture.Type != "image/png" || s.Picture.Width != 96 || s.Picture.Bytes == 0 {
		t.Errorf("kept %+v", s.Picture.ImageFact)
	}
	if strings.Contains(s.Text(true), "s3cr3t") {
		t.Error("a body is kept")
	}
}

// What an agent is told never says that nothing has happened, and shows
// neither control characters nor without end what the child says.
func TestTextsForAgentsPromiseNothing(t *testing.T) {
	for _, text := range []string{lostText, failedText, absentText, doubtText, Options{}.texts().Off, Options{}.texts().Deadline, pairText("a")} {
		for _, bad := range []string{"nothing", "unchanged", "not changed", "no change"} {
			if strings.Contains(strings.ToLower(text), bad) {
				t.Errorf("%q in %q", bad, text)
			}
		}
		if strings.Contains(text, "/home/") || strings.Contains(text, "goroutine") {
			t.Errorf("inner matters in %q", text)
		}
	}
	got := explain(upstream.Outcome{Err: errors.New("a\x1b[31mb\x00\u009bc\td\ne" + strings.Repeat("é", 5000))})
	if !strings.HasPrefix(got, "Pencil tool error: a[31mbc\td\ne") || len([]rune(got)) != len("Pencil tool error: ")+maxSentence {
		t.Errorf("%d characters: %.60q", len([]rune(got)), got)
	}
}

func TestTheGatewayKeepsItsName(t *testing.T) {
	list, _ := rawjson.SplitArray([]byte(`[{"name":"call"},{"name":"x"}]`))
	for setting, hidden := range map[string]bool{"auto": true, "always": true, "never": false} {
		tools, notes := catalogue.Read(list)
		c := catalogue.New(catalogue.Listing{Tools: tools, Notes: notes}, catalogue.Verdict{}, Options{Gateway: setting}.catalogue())
		if (c.Exposed(CallTool) == nil) != hidden {
			t.Errorf("%s: hidden %v", setting, !hidden)
		}
	}
}

func TestDamagedPinsAreNotGuessedAt(t *testing.T) {
	o := options(t)
	if err := os.WriteFile(filepath.Join(o.StateDir, "pencil-tools.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := startWith(t, o)
	w.On()
	w.settle(t)
	if s := w.Status(); s.Mode != upstream.Off || !strings.Contains(s.Error, "delete it") {
		t.Errorf("mode %s, %q", s.Mode, s.Error)
	}
}

// asTheChildSaid takes from a definition what the deck put into its texts.
func asTheChildSaid(definition []byte) string {
	s := catalogue.Canonical(definition)
	if i := strings.Index(s, `\n\nPencil's tools carry`); i >= 0 { // the entry tool
		s = s[:i] + s[i+strings.Index(s[i:], `","`):]
	}
	return strings.ReplaceAll(s, prefix, "")
}
