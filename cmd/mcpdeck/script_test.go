package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

var programs decktest.Shared

func TestMain(m *testing.M) {
	programs.M = m
	testscript.Main(&programs, map[string]func(){"mcpdeck": main, "stamp": stamp, "echo-server": decktest.EchoServer})
}

// stamp stands in for the command that analyses TypeScript.
func stamp() { os.Exit(stamptest.Play(standInDir(os.Getenv("HOME")), os.Args[1:])) }

// standInDir is where the stand-in for stamp in a home keeps how it behaves and
// what it was asked.
func standInDir(home string) string { return filepath.Join(home, ".stand-in") }

// TestScripts runs the binary as a user would, each script in a home of its
// own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			// Socket paths must be short, which a test's folder is not.
			home, err := testwait.MkdirTemp("md")
			if err != nil {
				return err
			}
			e.Defer(func() { os.RemoveAll(home) })
			e.Values[screenKey{}] = new(scriptValues)
			e.Vars = append(e.Vars, decktest.Hasty)
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home)
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
			e.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
			return os.MkdirAll(filepath.Join(home, "Desktop"), 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await": await, "passphrase": setPassphrase, "prove": prove, "screen": openScreen, "press": press, "shows": shows, "until": until,
		},
	})
}

// await FILE waits until a file is there, or a socket listens.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	path := ts.MkAbs(args[0])
	if !testwait.Holds(func() bool {
		if filepath.Ext(path) != ".sock" {
			_, err := os.Stat(path)
			return err == nil
		}
		c, err := net.Dial("unix", path)
		if err == nil {
			c.Close()
		}
		return err == nil
	}) {
		ts.Fatalf("%s does not appear", args[0])
	}
}

// scriptScreen is a terminal in which a script runs the deck.
type scriptScreen struct {
	tty *os.File
	mu  sync.Mutex
	em  *vt.Emulator
}

// screen COMMAND... runs a command in a terminal until the script ends.
func openScreen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: screen COMMAND...")
	}
	c := inScript(ts, args)
	c.Env = append(c.Env, "TERM=xterm-256color")
	s := &scriptScreen{em: vt.NewEmulator(110, 30)}
	go io.Copy(io.Discard, s.em) // what a terminal answers; its Close would race with this
	var err error
	s.tty, err = pty.StartWithSize(c, &pty.Winsize{Rows: 30, Cols: 110})
	ts.Check(err)
	ts.Value(screenKey{}).(*scriptValues).screen = s
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 64<<10); ; {
			n, err := s.tty.Read(buf)
			if err != nil {
				return
			}
			s.mu.Lock()
			_, _ = s.em.Write(buf[:n]) // it takes all
			s.mu.Unlock()
		}
	}()
	ts.Defer(func() {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
		s.tty.Close()
		<-done
	})
}

// press KEYS types on the screen.
func press(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: press KEYS")
	}
	_, err := io.WriteString(screenOf(ts).tty, args[0])
	ts.Check(err)
}

// shows TEXT waits until the screen has a text, or with ! until it has not.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] shows TEXT")
	}
	s, text := screenOf(ts), ""
	if !testwait.Holds(func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		text = s.em.String()
		return strings.Contains(text, args[0]) != neg
	}) {
		ts.Fatalf("the screen is still\n%s", text)
	}
}

// scriptValues are what a script's commands keep for one another.
type scriptValues struct{ screen *scriptScreen }

type screenKey struct{}

func screenOf(ts *testscript.TestScript) *scriptScreen {
	s := ts.Value(screenKey{}).(*scriptValues).screen
	if s == nil {
		ts.Fatalf("there is no screen; use: screen COMMAND...")
	}
	return s
}

// inScript is a command in the script's home.
func inScript(ts *testscript.TestScript, args []string) *exec.Cmd {
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Env = ts.MkAbs("."), []string{decktest.Hasty}
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "PATH"} {
		c.Env = append(c.Env, name+"="+ts.Getenv(name))
	}
	return c
}

// until PATTERN COMMAND... runs a command until a line of its output matches: what is shown
// of a call may be a moment behind its answer.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND...")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	var out []byte
	if !testwait.Holds(func() bool {
		out, err = inScript(ts, args[1:]).CombinedOutput()
		return err == nil && want.Match(out)
	}) {
		ts.Fatalf("never %q: %v\n%s", args[0], err, out)
	}
}

// passphrase is what proves in the scripts that the user is there.
const passphrase = "correct horse battery"

// setPassphrase makes the deck that is started next take the passphrase.
func setPassphrase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: passphrase")
	}
	dir := filepath.Join(ts.Getenv("HOME"), ".local/state/mcpdeck")
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(userauth.New(userauth.Options{Method: userauth.Passphrase, Path: filepath.Join(dir, "passphrase")}).SetPassphrase(passphrase))
}

// prove COMMAND... runs a command in a terminal and types the passphrase.
func prove(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: prove COMMAND...")
	}
	c := inScript(ts, args)
	tty, err := pty.Start(c)
	ts.Check(err)
	defer tty.Close()
	var out bytes.Buffer
	for buf := make([]byte, 4<<10); err == nil; {
		var n int
		n, err = tty.Read(buf) // it fails when the command has ended
		asked := bytes.Contains(out.Bytes(), []byte("assphrase"))
		if out.Write(buf[:n]); !asked && bytes.Contains(out.Bytes(), []byte("assphrase")) {
			_, _ = io.WriteString(tty, passphrase+"\n")
		}
	}
	_, _ = ts.Stdout().Write(bytes.ReplaceAll(out.Bytes(), []byte("\r\n"), []byte("\n")))
	ts.Check(c.Wait())
}
