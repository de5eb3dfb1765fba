package clippy

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPermissionDenied runs as an ordinary user on one thread, since root may
// do everything.
func TestPermissionDenied(t *testing.T) {
	d := newDesktop(t)
	closed := filepath.Join(d.home, "closed")
	mkdir(t, closed)
	for path, mode := range map[string]os.FileMode{d.home: 0o755, d.dir: 0o555, closed: 0} {
		must(t, os.Chmod(path, mode))
	}
	m := testMemory(t, "{}")
	must(t, os.Chmod(m.path, 0))
	for _, dir := range []string{filepath.Dir(d.home), filepath.Dir(m.path), filepath.Dir(filepath.Dir(m.path))} {
		must(t, os.Chmod(dir, 0o755))
	}
	asOrdinaryUser(t, func() {
		if _, err := d.write(Note{Name: "a.txt"}, Settings{}); words(t, err) != "permission denied" {
			t.Errorf("desktop: %v", err)
		}
		d.system = "darwin"
		if _, err := d.write(Note{Name: "a.txt"}, Settings{}); words(t, err) != "permission denied; the user can allow the terminal to access the Desktop in System Settings" {
			t.Errorf("mac: %v", err)
		}
		p := &projects{}
		if _, err := p.list(t.Context(), d.home, false, "closed"); words(t, err) != "permission denied: closed" {
			t.Errorf("project: %v", err)
		}
		if _, err := m.load(); words(t, err) != "permission denied" {
			t.Errorf("memory: %v", err)
		}
		if err := m.write(t.Context(), "k", "v"); words(t, err) != "permission denied" {
			t.Errorf("memory lock: %v", err)
		}
		if r, made, err := newMemory(filepath.Join(d.dir, "m.json"), m.now).read("k"); r.Found || made == nil || err != nil {
			t.Errorf("read-only folder: %+v, %v, %v", r, made, err)
		}
	})
}

// asOrdinaryUser runs fn on a thread that may touch files only as nobody does.
func asOrdinaryUser(t *testing.T, fn func()) {
	t.Helper()
	if os.Getuid() != 0 {
		fn()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
		if err := unix.Setfsuid(65534); err != nil {
			t.Errorf("become nobody: %v", err)
			return
		}
		fn()
	}()
	<-done
}

func TestMemoryOnAFullFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	m := testMemory(t)
	m.path = filepath.Join(dir, "m.json")
	must(t, m.write(t.Context(), "a", "b"))
	big := make([]byte, 60<<10)
	for i := range big {
		big[i] = 'x'
	}
	must(t, os.WriteFile(filepath.Join(dir, "ballast"), big[:40<<10], 0o600))
	if err := m.write(t.Context(), "big", string(big)); words(t, err) != "the disk is full" {
		t.Errorf("memory: %v", err)
	}
	if r, _, err := m.read("a"); err != nil || r.Value != "b" {
		t.Errorf("after: %+v, %v", r, err)
	}
	d := newDesktop(t)
	if _, err := d.write(Note{Name: "a.txt", Content: string(big)}, Settings{DesktopDir: dir}); words(t, err) != "the disk is full" {
		t.Errorf("desktop: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a note stayed: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
