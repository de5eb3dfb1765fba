package socket

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// connectAs makes this program connect to a socket as another user, and do no more.
const connectAs = "MCPDECK_TEST_CONNECT"

func TestMain(m *testing.M) {
	if path := os.Getenv(connectAs); path != "" {
		c, err := net.Dial("unix", path)
		if err != nil {
			os.Exit(3)
		}
		_, _ = c.Read(make([]byte, 1)) // until the other side closes it
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAnotherUsersProcessIsNotServed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process as another user")
	}
	dir, err := os.MkdirTemp("", "socket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "open.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{dir: 0o755, path: 0o666} { // as a mistake of the user could leave them
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "program")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	refused, served := make(chan struct{}, 1), make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		Serve(t.Context(), l, Serving{
			Name: "test", Limit: &ConnLimit{}, Refused: func() { refused <- struct{}{} },
			Handle: func(context.Context, *net.UnixConn, Peer, int) { served <- struct{}{} },
		})
	}()
	other := exec.Command(program)
	other.Env = []string{connectAs + "=" + path}
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := other.CombinedOutput(); err != nil {
		t.Fatalf("the other user's process: %v\n%s", err, out)
	}
	testwait.Until(t, "it is refused", func() bool { return len(refused) == 1 })
	if len(served) != 0 {
		t.Error("another user's process was served")
	}
	l.Close()
	<-done
}
