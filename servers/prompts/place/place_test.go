package place

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/process"
)

// server is a tmux server with two windows, of which the first is shown.
func server(t *testing.T) (socket string, tmux func(args ...string) string) {
	t.Helper()
	if _, err := process.Find("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "tmux") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket = filepath.Join(dir, "s")
	tmux = func(args ...string) string {
		t.Helper()
		out, err := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", socket}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	tmux("new-session", "-d", "-s", "my work", "-x", "80", "-y", "24", "sleep 600")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	tmux("new-window", "-d", "sleep 600")
	return socket, tmux
}

func TestATerminalInTmuxIsFoundAndSelected(t *testing.T) {
	socket, tmux := server(t)
	second := strings.Split(tmux("list-panes", "-a", "-F", "#{pane_pid} #{pane_id} #{pane_tty}"), "\n")[1]
	v := strings.Fields(second)
	pid, err := strconv.Atoi(v[0])
	if err != nil {
		t.Fatal(err)
	}
	at := Of(pid)
	for i := 0; at.TmuxPane == "" && i < 100; i++ { // until the shell has become the program
		time.Sleep(50 * time.Millisecond)
		at = Of(pid)
	}
	if at.TmuxSocket != socket || at.TmuxPane != v[1] {
		t.Skipf("this system does not tell where a process runs: %+v", at)
	}
	if at.TTY != v[2] {
		t.Errorf("its terminal is %q, not %q", at.TTY, v[2])
	}
	f := Finder{Environ: os.Environ()}
	if name := f.Name(t.Context(), at); name != "my work:1.0" {
		t.Errorf("it is called %q", name)
	}
	for name, p := range map[string]deck.Place{
		"by its process":  {},
		"by its pane":     {TmuxSocket: socket, TmuxPane: v[1]},
		"by its terminal": {TmuxSocket: socket, TTY: v[2]},
	} {
		t.Run(name, func(t *testing.T) {
			tmux("select-window", "-t", "my work:0")
			said, err := f.Jump(t.Context(), deck.Session{Agent: "claude", PID: pid, Place: p})
			if err != nil || !strings.Contains(said, `tmux attach -t "my work"`) {
				t.Errorf("%q, %v", said, err)
			}
			if at := tmux("display-message", "-p", "-t", "my work", "#{window_index}"); at != "1" {
				t.Errorf("window %s is shown", at)
			}
		})
	}
}

func TestAPlaceIsShownWhereSomebodyIsAttached(t *testing.T) {
	socket, tmux := server(t)
	panes := strings.Fields(tmux("list-panes", "-a", "-F", "#{pane_id}"))
	shown := func(i int) bool {
		return Finder{Environ: os.Environ()}.Shown(t.Context(), deck.Place{TmuxSocket: socket, TmuxPane: panes[i]})
	}
	if shown(0) {
		t.Error("it is shown to nobody")
	}
	client := exec.Command("tmux", "-S", socket, "attach")
	client.Env = append(os.Environ(), "TERM=xterm", "TMUX=")
	tty, err := pty.Start(client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Process.Kill(); _ = client.Wait(); _ = tty.Close() })
	go func() { _, _ = io.Copy(io.Discard, tty) }()
	for i := 0; !shown(0); i++ {
		if i == 600 {
			t.Fatal("it is not shown to the client that has attached")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if shown(1) {
		t.Error("the other window is shown")
	}
	tmux("select-window", "-t", "my work:1")
	if shown(0) || !shown(1) {
		t.Error("the window that was chosen is not shown")
	}
}

func TestNothingFromASessionBecomesACommand(t *testing.T) {
	socket, _ := server(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(socket, link); err != nil {
		t.Fatal(err)
	}
	f := Finder{Environ: os.Environ()}
	for name, p := range map[string]deck.Place{
		"a pane that is none":      {TmuxSocket: socket, TmuxPane: "%0 ; kill-server"},
		"a pane by another name":   {TmuxSocket: socket, TmuxPane: "my work:0"},
		"a socket behind a link":   {TmuxSocket: link, TmuxPane: "%0"},
		"a file that is no socket": {TmuxSocket: os.Args[0], TmuxPane: "%0"},
		"a window that is none":    {Other: "kitty 1 --match all"},
	} {
		t.Run(name, func(t *testing.T) {
			if said, err := f.Jump(t.Context(), deck.Session{Agent: "claude", Place: p}); err == nil {
				t.Errorf("it was taken: %q", said)
			}
		})
	}
}

func TestATerminalThatCannotBeShownIsNamed(t *testing.T) {
	_, err := Finder{}.Jump(t.Context(), deck.Session{Agent: "claude", Place: deck.Place{TTY: "/dev/pts/none"}})
	if err == nil || !strings.Contains(err.Error(), "it is pts/none") {
		t.Errorf("got %v", err)
	}
	if _, err := (Finder{}).Jump(t.Context(), deck.Session{Agent: "codex", Folder: t.TempDir()}); err == nil {
		t.Error("a terminal was found where none is")
	}
}
