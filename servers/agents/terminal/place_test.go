package terminal

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/creack/pty"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// deskOf is a user's tmux in a folder of its own, with two windows of which the first is
// shown, and the deck's finder. start begins the tmux server.
type deskOf struct {
	*testing.T
	*Finder
	dir, socket string
}

func desk(t *testing.T, start ...string) *deskOf {
	t.Helper()
	if _, err := process.Find("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "tmux") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("TMUX", "")
	t.Setenv("TMUX_TMPDIR", dir)
	d := &deskOf{T: t, Finder: &Finder{Environ: os.Environ()}, dir: dir, socket: filepath.Join(dir, "tmux-"+strconv.Itoa(os.Getuid()), "work")}
	line := append(start, "tmux", "-f", "/dev/null", "-L", "work", "new-session", "-d", "-s", "my work", "-x", "80", "-y", "24", "sleep 600")
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
		if len(start) > 0 {
			t.Skipf("%s: %v: %s", strings.Join(line, " "), err, out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-L", "work", "kill-server").Run() })
	d.tmux("new-window", "-d", "sleep 600")
	return d
}

func (d *deskOf) tmux(args ...string) string {
	d.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", "work"}, args...)...).CombinedOutput()
	if err != nil {
		d.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// session is what runs in a pane, once its shell has become the program.
func (d *deskOf) session(pane int) snapshot.Session {
	d.Helper()
	line := strings.Split(d.tmux("list-panes", "-a", "-F", "#{pane_pid} #{pane_id} #{pane_tty}"), "\n")[pane]
	v := strings.Fields(line)
	id, err := strconv.Atoi(v[0])
	if err != nil {
		d.Fatal(err)
	}
	var at snapshot.Place
	testwait.Holds(func() bool { at = Of(id); return at.TmuxPane != "" })
	if at.TmuxSocket != d.socket || at.TmuxPane != v[1] {
		d.Skipf("this system does not tell where a process runs: %+v", at)
	}
	if at.TTY != v[2] {
		d.Errorf("its terminal is %q, not %q", at.TTY, v[2])
	}
	return snapshot.Session{Agent: "claude", ID: "s", PID: id, Place: at, Verified: true}
}

// goes reports whether J brings the session's window to the front.
func (d *deskOf) goes(s snapshot.Session) (bool, error) {
	d.Helper()
	d.tmux("select-window", "-t", "my work:0")
	_, err := d.Jump(d.Context(), s)
	return d.tmux("display-message", "-p", "-t", "my work", "#{window_index}") == "1", err
}

func TestATerminalInTmuxIsFoundAndSelected(t *testing.T) {
	d := desk(t)
	s := d.session(1)
	if name := d.Name(t.Context(), s); name != "my work:1.0" {
		t.Errorf("it is called %q", name)
	}
	for name, p := range map[string]snapshot.Place{
		"by its process":            {},
		"by its pane":               {TmuxSocket: d.socket, TmuxPane: s.Place.TmuxPane},
		"whatever its file says":    {TmuxSocket: d.socket, TmuxPane: d.session(0).Place.TmuxPane},
		"whatever it says it is in": {TmuxSocket: d.socket, TTY: d.session(0).Place.TTY},
	} {
		t.Run(name, func(t *testing.T) {
			d.tmux("select-window", "-t", "my work:0")
			s := s
			s.Place = p
			said, err := d.Jump(t.Context(), s)
			if err != nil || !strings.Contains(said, `tmux attach -t "my work"`) {
				t.Errorf("%q, %v", said, err)
			}
			if at := d.tmux("display-message", "-p", "-t", "my work", "#{window_index}"); at != "1" {
				t.Errorf("window %s is shown", at)
			}
		})
	}
}

func TestAPlaceIsShownWhereSomebodyIsAttached(t *testing.T) {
	d := desk(t)
	all := []snapshot.Session{d.session(0), d.session(1)}
	shown := func(i int) bool { return d.Shown(t.Context(), all[i]) }
	if shown(0) {
		t.Error("it is shown to nobody")
	}
	client := exec.Command("tmux", "-L", "work", "attach")
	client.Env = append(os.Environ(), "TERM=xterm", "TMUX=")
	tty, err := pty.Start(client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Process.Kill(); _ = client.Wait(); _ = tty.Close() })
	go func() { _, _ = io.Copy(io.Discard, tty) }()
	testwait.Until(t, "it is shown to the client that has attached", func() bool { return shown(0) })
	if shown(1) {
		t.Error("the other window is shown")
	}
	d.tmux("select-window", "-t", "my work:1")
	if shown(0) || !shown(1) {
		t.Error("the window that was chosen is not shown")
	}
	all[1].Verified = false
	if shown(1) {
		t.Error("tmux was asked by itself about a session that nothing confirms")
	}
}

// TestNothingAtASocketThatASessionNamesIsAsked has a program at a socket that is not the
// user's tmux: a server of tmux can have its clients read and write any file.
func TestNothingAtASocketThatASessionNamesIsAsked(t *testing.T) {
	d := desk(t)
	usual := filepath.Dir(d.socket)
	elsewhere := filepath.Join(d.dir, "elsewhere")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	var heard atomic.Int64
	rogue := func(dir string) string {
		path := filepath.Join(dir, "rogue")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				n, _ := io.Copy(io.Discard, c)
				heard.Add(n)
			}
		}()
		return path
	}
	link := filepath.Join(usual, "link")
	if err := os.Symlink(rogue(elsewhere), link); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(elsewhere, "tmux")
	if out, err := exec.Command("tmux", "-f", "/dev/null", "-S", other, "new-session", "-d", "sleep 600").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", other, "kill-server").Run() })

	// What the deck starts in the place of tmux is written down.
	bin, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(filepath.Join(bin, "tmux"), []byte("#!/bin/sh\necho \"$*\" >> "+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for name, row := range map[string]struct{ socket, why string }{
		"in another folder":                       {filepath.Join(elsewhere, "rogue"), "not in tmux's own folder"},
		"a tmux in another folder":                {other, "not in tmux's own folder"},
		"in the folder, and not tmux":             {rogue(usual), "is not tmux"},
		"in the folder, a link":                   {link, "no socket"},
		"in the folder, no socket":                {os.Args[0], "not in tmux's own folder"},
		"below the folder":                        {usual + "/../elsewhere/rogue", "not in tmux's own folder"},
		"the user's tmux, of another's session":   {d.socket, "does not run in it"},
		"nothing at all":                          {filepath.Join(usual, "none"), "no socket"},
		"a name that reaches the folder's parent": {filepath.Join(usual, "..", "rogue"), "not in tmux's own folder"},
	} {
		t.Run(name, func(t *testing.T) {
			session := exec.Command("sleep", "600")
			session.Env = append(os.Environ(), "TMUX="+row.socket+",1,0", "TMUX_PANE=%0")
			if err := session.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = session.Process.Kill(); _ = session.Wait() }()
			s := snapshot.Session{Agent: "claude", PID: session.Process.Pid, Verified: true, Place: snapshot.Place{TmuxSocket: row.socket, TmuxPane: "%0"}}
			if name := d.Name(t.Context(), s); name != "" {
				t.Errorf("it is called %q", name)
			}
			if d.Shown(t.Context(), s) {
				t.Error("it is shown")
			}
			if _, err := d.Jump(t.Context(), s); err == nil || !strings.Contains(err.Error(), row.why) {
				t.Errorf("said %v, want %q", err, row.why)
			}
		})
	}
	if b, err := os.ReadFile(ran); err == nil {
		t.Errorf("tmux was run: %s", b)
	}
	if n := heard.Load(); n > 0 {
		t.Errorf("%d bytes were sent", n)
	}
}

func TestNothingOfASessionBecomesACommand(t *testing.T) {
	f := &Finder{Environ: os.Environ()}
	s := snapshot.Session{Agent: "claude", Place: snapshot.Place{Other: "kitty 1 --match all"}}
	if said, err := f.Jump(t.Context(), s); err == nil {
		t.Errorf("it was taken: %q", said)
	}
}

func TestASessionOfAnotherHomeIsGoneToWhenAskedTwice(t *testing.T) {
	d := desk(t)
	d.tmux("new-window", "-d", "-t", "my work:2", "-e", "CLAUDE_CONFIG_DIR=/another", "sleep 600")
	d.tmux("move-window", "-k", "-d", "-s", "my work:2", "-t", "my work:1")
	s := d.session(1)
	if name := d.Name(t.Context(), s); name != "" {
		t.Errorf("tmux was asked by itself: it is called %q", name)
	}
	other := s
	other.ID = "other"
	for i, row := range []struct {
		s    snapshot.Session
		goes bool
	}{{s, false}, {other, false}, {s, false}, {s, true}, {s, false}} {
		went, err := d.goes(row.s)
		if went != row.goes || !row.goes && (err == nil || !strings.Contains(err.Error(), "another CLAUDE_CONFIG_DIR")) {
			t.Errorf("request %d: went %v, %v", i, went, err)
		}
	}
}

func TestATmuxInAContainerIsNeverAsked(t *testing.T) {
	d := desk(t, "unshare", "--mount") // needs a system and a user that may do so
	s := d.session(1)
	for _, want := range []string{"ask once more", "runs in a container"} {
		if went, err := d.goes(s); went || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("went %v, %v; want %q", went, err, want)
		}
	}
}

func TestATerminalThatCannotBeShownIsNamed(t *testing.T) {
	f := &Finder{Environ: os.Environ()}
	_, err := f.Jump(t.Context(), snapshot.Session{Agent: "claude", Place: snapshot.Place{TTY: "/dev/pts/none"}})
	if err == nil || !strings.Contains(err.Error(), "it is pts/none") {
		t.Errorf("got %v", err)
	}
	if _, err := f.Jump(t.Context(), snapshot.Session{Agent: "codex", Folder: t.TempDir()}); err == nil {
		t.Error("a terminal was found where none is")
	}
}
