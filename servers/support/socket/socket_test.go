package socket

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// folder is short enough for a socket path, which a test's own may not be.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestListenMakesPrivateSockets(t *testing.T) {
	path := filepath.Join(folder(t), "run", "deck.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v %v, want %v", p, info.Mode(), err, want)
		}
	}
	var used *InUseError
	if _, err := Listen(path); !errors.As(err, &used) || used.PID != os.Getpid() {
		t.Errorf("second listener: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestWhatIsInTheWayOfASocket(t *testing.T) {
	tests := []struct {
		name  string
		place func(path string) error
		want  string
	}{
		{"a dead socket is replaced", func(p string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p, Net: "unix"})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			return l.Close()
		}, ""},
		{"a file is not", func(p string) error { return os.WriteFile(p, nil, 0o600) }, "not a socket"},
		{"a link is not", func(p string) error { return os.Symlink("elsewhere", p) }, "not a socket"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(folder(t), "deck.sock")
			if err := tt.place(path); err != nil {
				t.Fatal(err)
			}
			l, err := Listen(path)
			if err == nil {
				l.Close()
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestFolderThatIsALinkIsRefused(t *testing.T) {
	dir := folder(t)
	if err := os.Symlink(folder(t), filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(filepath.Join(dir, "run", "deck.sock")); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("got %v", err)
	}
}

// What is not closed to others is refused with the path and the reason, and
// left as it is.
func TestFolderOpenToOthersIsRefused(t *testing.T) {
	if !file.OpenToOthers(mode(0o755)) {
		t.Skip("the system does not say who may reach into a folder")
	}
	for _, perm := range []os.FileMode{0o755, 0o710, 0o701, 0o777 | os.ModeSticky} {
		t.Run(perm.String(), func(t *testing.T) {
			dir := filepath.Join(folder(t), "run")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, perm); err != nil {
				t.Fatal(err)
			}
			l, err := Listen(filepath.Join(dir, "deck.sock"))
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "chmod 700") {
				t.Errorf("got %v", err)
			}
			info, err := os.Stat(dir)
			if err != nil || info.Mode()&(os.ModePerm|os.ModeSticky) != perm {
				t.Errorf("the folder has become %v, %v", info.Mode(), err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// mode is a file of which nothing but the permissions is known.
type mode os.FileMode

func (m mode) Mode() os.FileMode { return os.FileMode(m) }
func (mode) Name() string        { return "" }
func (mode) Size() int64         { return 0 }
func (mode) ModTime() time.Time  { return time.Time{} }
func (mode) IsDir() bool         { return true }
func (mode) Sys() any            { return nil }

func TestDialToWhatIsNotOurs(t *testing.T) {
	dir := folder(t)
	real := filepath.Join(dir, "real.sock")
	l, err := Listen(real)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tests := []struct {
		name   string
		place  func(path string) error
		unsafe bool
		ok     bool
	}{
		{"our own", func(p string) error { return os.Link(real, p) }, false, true},
		{"a planted link", func(p string) error { return os.Symlink(real, p) }, true, false},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, true, false},
		{"nothing", func(string) error { return nil }, false, false},
		{"a file", func(p string) error { return os.WriteFile(p, nil, 0o600) }, false, false},
		{"another user's", func(p string) error {
			other, err := net.Listen("unix", p)
			if err != nil {
				return err
			}
			t.Cleanup(func() { other.Close() })
			return os.Chown(p, 12345, -1)
		}, true, false},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(dir, strconv.Itoa(i))
			if err := tt.place(path); errors.Is(err, os.ErrPermission) {
				t.Skip("only the superuser can give a file away")
			} else if err != nil {
				t.Fatal(err)
			}
			c, err := Dial(t.Context(), path)
			if err == nil {
				c.Close()
			}
			if (err == nil) != tt.ok || errors.Is(err, ErrUnsafe) != tt.unsafe {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPathLength(t *testing.T) {
	path := "/" + strings.Repeat("x", maxPath)
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "104 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestClosePutsNothingAway(t *testing.T) {
	path := filepath.Join(folder(t), "deck.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("Close removed what it did not bind: %v", err)
	}
}

func TestPeerOf(t *testing.T) {
	path := filepath.Join(folder(t), "deck.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, err := PeerOf(in)
	if err != nil || p.UID != os.Getuid() || !p.Trusted() {
		t.Fatalf("got %+v %v", p, err)
	}
	if p.PID != 0 && (p.PID != os.Getpid() || Parent(p.PID) != os.Getppid() || Program(p.PID) == "") {
		t.Errorf("pid %d, parent %d, program %q", p.PID, Parent(p.PID), Program(p.PID))
	}
}

func TestALockThatIsALinkIsNotFollowed(t *testing.T) {
	dir := folder(t)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path, other := filepath.Join(dir, "deck.sock"), filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{other, filepath.Join(dir, "missing")} {
		if err := os.Symlink(target, path+".lock"); err != nil {
			t.Skipf("no links here: %v", err)
		}
		if l, err := Listen(path); err == nil {
			l.Close()
			t.Errorf("a lock that leads to %s was taken", target)
		}
		if err := os.Remove(path + ".lock"); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(other); err != nil || string(b) != "precious" {
		t.Errorf("what the link led to is %q, %v", b, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "missing")); err == nil {
		t.Error("a file was made at the end of the link")
	}
}

func TestASocketThatWasDeletedIsBoundAgain(t *testing.T) {
	tests := []struct {
		name   string
		remove func(path string) error
	}{
		{"the socket", os.Remove},
		{"the socket and its lock", func(path string) error { return errors.Join(os.Remove(path), os.Remove(path+".lock")) }},
		{"the folder", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(folder(t), "run", "deck.sock")
			l, err := Listen(path)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			accepted := make(chan net.Conn, 2)
			ended := make(chan error, 1)
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						ended <- err
						return
					}
					accepted <- c
				}
			}()
			ctx := t.Context()
			before, err := Dial(ctx, path)
			if err != nil {
				t.Fatal(err)
			}
			defer before.Close()
			kept := <-accepted
			defer kept.Close()
			if restored, err := l.Restore(); restored || err != nil {
				t.Errorf("nothing was wrong: %v, %v", restored, err)
			}
			if err := tt.remove(path); err != nil {
				t.Skipf("it cannot be deleted here: %v", err)
			}
			if restored, err := l.Restore(); !restored || err != nil {
				t.Fatalf("not restored: %v, %v", restored, err)
			}
			after, err := Dial(ctx, path)
			if err != nil {
				t.Fatal(err)
			}
			defer after.Close()
			(<-accepted).Close()
			if _, err := kept.Write([]byte("x")); err != nil {
				t.Errorf("the connection of before has ended: %v", err)
			}
			var used *InUseError
			if _, err := Listen(path); !errors.As(err, &used) || used.PID != os.Getpid() {
				t.Errorf("a second listener: %v", err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
			if _, err := os.Lstat(path); err == nil {
				t.Error("the socket stayed")
			}
		})
	}
}

func TestADeletedSocketThatAnotherDeckHasIsLeftToIt(t *testing.T) {
	path := filepath.Join(folder(t), "run", "deck.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Skipf("it cannot be deleted here: %v", err)
	}
	other, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if restored, err := l.Restore(); restored || !errors.As(err, new(*InUseError)) {
		t.Errorf("got %v, %v", restored, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the other's socket is gone: %v", err)
	}
}
