package inbox_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

func TestBellAndTitleTellOfAQuestion(t *testing.T) {
	setup{first: &home{}, page: page.Options{}}.run(t, func(d *driver) {
		d.askAs(pair, "codex", "/b")
		d.Wait(5 * time.Second)
		if !strings.Contains(d.Raw(), "(1) mcpdeck: codex asks: First?") {
			t.Errorf("no title")
		}
		d.Has("Inbox ◆1", "◆ codex b asks: First? · I")
	})
}

func TestNotificationSequences(t *testing.T) {
	tests := []struct {
		name   string
		notify page.Notify
		focus  tea.Msg
		want   string // "" for no notification
	}{
		{"OSC 9", page.Notify{}, nil, "\x1b]9;codex b asks: 1;2 or 3?\x1b\\"},
		{"unfocused", page.Notify{}, tea.BlurMsg{}, "\x1b]9;codex b asks: 1;2 or 3?\x1b\\"},
		{"focused", page.Notify{}, tea.FocusMsg{}, ""},
		{"OSC 777 without semicolons", page.Notify{Escape: page.OSC777}, nil, "\x1b]777;notify;mcpdeck;codex b asks: 1,2 or 3?\x1b\\"},
		{"OSC 99", page.Notify{Escape: page.OSC99}, nil, "p=body;codex b asks: 1;2 or 3?\x1b\\"},
		{"tmux", page.Notify{Tmux: true}, nil, "\x1bPtmux;\x1b\x1b]9;codex b asks: 1;2 or 3?\x1b\x1b\\\x1b\\"},
		{"private", page.Notify{Private: true}, nil, "\x1b]9;codex b asks something\x1b\\"},
		{"bell only", page.Notify{Mode: page.NotifyBell}, nil, ""},
		{"off", page.Notify{Mode: page.NotifyOff}, nil, ""},
		{"terminals that print it", page.Notify{Escape: page.NoEscape}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			setup{page: page.Options{Notify: tt.notify}}.run(t, func(d *driver) {
				if tt.focus != nil {
					d.Send(tt.focus)
				}
				d.askAs(`[{"question":"1;2 or 3?","options":["x"]}]`, "codex", "/b")
				d.Wait(time.Second)
				if tt.want != "" && strings.Contains(d.Raw(), tt.want) {
					t.Error("before the batch was over")
				}
				if shown := strings.Contains(d.Raw(), "(1) mcpdeck: codex asks: 1;2 or 3?"); shown == tt.notify.Private {
					t.Errorf("the title has the question: %v", shown)
				}
				d.Wait(4 * time.Second)
				raw := d.Raw()
				if tt.want == "" {
					if strings.Contains(raw, "\x1b]9;codex") || strings.Contains(raw, "\x1b]777") || strings.Contains(raw, "\x1b]99;") {
						t.Errorf("notified")
					}
					return
				}
				if !strings.Contains(raw, tt.want) {
					t.Errorf("no %q", tt.want)
				}
			})
		})
	}
}

func TestReminders(t *testing.T) {
	setup{}.run(t, func(d *driver) {
		d.askAs(abc, "codex", "/b")
		count := func() int { return strings.Count(d.Raw(), "\x1b]9;codex b asks") }
		d.Wait(time.Minute)
		same(t, count(), 1)
		d.Wait(2 * time.Minute)
		same(t, count(), 2)
		d.Wait(8 * time.Minute)
		same(t, count(), 3)
		d.Wait(time.Hour)
		same(t, count(), 3)
	})
}

func TestNotificationCommand(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("needs /bin/sh to write down what it is told:", err)
	}
	out := filepath.Join(t.TempDir(), "out")
	p := page.New(questions.New(questions.Options{}), page.Options{})
	cmd := page.Command(page.Notify{Command: process.Of([]string{"/bin/sh", "-c", `echo "$0|$MCPDECK_ASKER|$MCPDECK_CWD|$MCPDECK_QUESTION|$MCPDECK_PENDING" > "` + out + `"`}, process.Desktop, nil)}, questions.Request{
		From: questions.From{Client: "codex", Cwd: "/b"}, Questions: []questions.Question{{ID: "a", Question: "Which?"}},
	})
	if c := p.Update(cmd()); c != nil {
		t.Error("a command that worked is complained about")
	}
	b, err := os.ReadFile(out)
	if err != nil || string(b) != "codex b asks: Which?|codex|/b|Which?|1\n" {
		t.Errorf("got %q, %v", b, err)
	}
	words := process.Of([]string{"/bin/sh", "-c", `echo "$0" > "` + out + `"`}, process.Desktop, nil)
	for _, r := range []struct {
		n    page.Notify
		who  string
		want string
	}{
		{page.Notify{Command: words, Private: true}, "codex", "codex asks something"},
		{page.Notify{Command: words}, "--icon=x", "icon=x asks: Which?"},
	} {
		page.Command(r.n, questions.Request{From: questions.From{Client: r.who}, Questions: []questions.Question{{Question: "Which?"}}})()
		if b, err := os.ReadFile(out); err != nil || string(b) != r.want+"\n" {
			t.Errorf("%+v: got %q, %v", r, b, err)
		}
	}
	bad := page.Command(page.Notify{Command: process.Command{Program: "/nonexistent/notifier"}}, questions.Request{Questions: []questions.Question{{}}})
	if p.Update(bad()) == nil {
		t.Error("a failure is not told")
	}
	if p.Update(bad()) != nil {
		t.Error("a failure is told twice")
	}
}

func TestNothingIsAnnouncedThatTheUserLooksAt(t *testing.T) {
	here := func(r questions.Request) bool { return r.Prompt.Command == "make" }
	setup{first: &home{}, page: page.Options{LooksAt: here}}.run(t, func(d *driver) {
		d.Send(page.SettingsMsg{}) // the configuration was saved
		d.prompt(bash("1", "make"))
		d.Wait(15 * time.Minute)
		if raw := d.Raw(); strings.Contains(raw, "\x1b]9;") {
			t.Error("it was announced")
		}
		d.prompt(bash("2", "make install"))
		d.ask(abc) // of an agent without a terminal of its own
		d.Wait(5 * time.Second)
		if !strings.Contains(d.Raw(), "\x1b]9;2 questions from 2 agents\x1b\\") {
			t.Errorf("the others were not announced: %q", d.Raw())
		}
	})
}

func TestEscapeFor(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want page.Escape
	}{
		{map[string]string{"TERM": "xterm-kitty"}, page.OSC99},
		{map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "7600"}, page.OSC777},
		{map[string]string{"TERM": "dumb"}, page.NoEscape},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, page.NoEscape},
		{map[string]string{"TERM": "xterm-ghostty"}, page.OSC9},
	}
	for _, tt := range tests {
		if got := page.EscapeFor(func(k string) string { return tt.env[k] }); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.env, got, tt.want)
		}
	}
}

func TestAPermissionIsAnnouncedOnlyIfItStillWaits(t *testing.T) {
	setup{first: &home{}, page: page.Options{Notify: page.Notify{After: 1500 * time.Millisecond}}}.run(t, func(d *driver) {
		c := d.prompt(bash("1", "make"))
		d.Wait(time.Second)
		c.Settled("answered in its terminal: allowed")
		d.Wait(5 * time.Second)
		if raw := d.Raw(); strings.Contains(raw, "\x1b]9;") || strings.Contains(raw, "\a") && strings.Contains(raw, "claude api") {
			t.Error("it was announced")
		}
		d.prompt(bash("2", "make install"))
		d.Wait(5 * time.Second)
		if !strings.Contains(d.Raw(), "\x1b]9;claude api: Bash  make install\x1b\\") {
			t.Error("it was not announced")
		}
	})
	setup{first: &home{}, page: page.Options{Notify: page.Notify{Private: true}}}.run(t, func(d *driver) {
		d.prompt(bash("1", "make"))
		d.Wait(5 * time.Second)
		if raw := d.Raw(); !strings.Contains(raw, "\x1b]9;claude api: Bash\x1b\\") {
			t.Error("it was not announced")
		}
	})
}

func TestAMessageOfWhatNeedsTheUserNamesItsSession(t *testing.T) {
	sessions := []snapshot.Session{
		{Agent: "claude", ID: "s1", Folder: "/src/shop", Started: time.Unix(1, 0)}, {Agent: "claude", ID: "s2", Folder: "/src/shop", Started: time.Unix(2, 0)},
	}
	setup{first: &home{}}.run(t, func(d *driver) {
		d.Send(tui.SessionsMsg{Sessions: sessions})
		r := bash("1", "make install "+strings.Repeat("and more ", 20))
		r.Prompt.Session, r.Peer.Cwd = "s2", "/src/shop"
		d.prompt(r)
		d.Wait(5 * time.Second)
		if text := d.Text(); !regexp.MustCompile(`◆ claude shop#2: Bash +make install .*… · I`).MatchString(text) {
			t.Errorf("got\n%s", text)
		}
	})
}
