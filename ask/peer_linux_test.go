package ask

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
	"golang.org/x/sys/unix"
)

// Another user who gets as far as the socket is hung up on without a word, and
// counted.
func TestOtherUsersAreTurnedAway(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can be somebody else for a moment")
	}
	dir := shortDir(t)
	path := filepath.Join(dir, "run", "ask.sock")
	q := New(Options{})
	defer q.Close()
	l, err := Listen(q, ListenOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for p, mode := range map[string]os.FileMode{dir: 0o711, filepath.Dir(path): 0o711, path: 0o666} {
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
	}
	type outcome struct {
		reply []byte
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread is somebody else's from here on
		const nobody = 65534
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, ^uintptr(0)); e != 0 {
			done <- outcome{err: e}
			return
		}
		c, err := net.Dial("unix", path)
		if err != nil {
			done <- outcome{err: err}
			return
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(testwait.Patience))
		_, _ = c.Write([]byte(`{"type":"ping"}` + "\n")) // it may be closed already
		reply, _ := io.ReadAll(c)                        // or reset
		done <- outcome{reply: reply}
	}()
	if o := <-done; o.err != nil {
		t.Skip("cannot be another user here:", o.err)
	} else if len(o.reply) > 0 {
		t.Errorf("they were told %s", o.reply)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.foreign != 1 {
		t.Errorf("%d counted", l.foreign)
	}
}
