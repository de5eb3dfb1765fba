package ask

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSessionSocketsGoADayAfterTheirLastClient(t *testing.T) {
	dir, err := os.MkdirTemp("", "ask")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	opt := ListenOptions{Path: filepath.Join(dir, "ask.sock"), Sessions: filepath.Join(dir, "sessions.json")}
	d := newDeck(t, Options{}, opt)
	open := func(name string) string {
		t.Helper()
		path, err := NewClient(ClientOptions{Path: opt.Path}).OpenSession(name)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	kept, old := open("kept"), open("old")
	d.l.mu.Lock()
	d.l.sessions[kept].Used = time.Now().Add(-keepSession + time.Hour)
	d.l.sessions[old].Used = time.Now().Add(-keepSession - time.Hour)
	d.l.remember()
	d.l.mu.Unlock()
	if got := d.l.unused(); len(got) != 1 || got[0] != old {
		t.Errorf("unused while it runs: %v", got)
	}
	d.stop()
	newDeck(t, Options{}, opt)
	for path, want := range map[string]bool{kept: true, old: false} {
		c, err := net.Dial("unix", path)
		if err == nil {
			c.Close()
		}
		if (err == nil) != want {
			t.Errorf("%s after a restart: %v", filepath.Base(path), err)
		}
	}
	if _, err := os.Lstat(old); !os.IsNotExist(err) {
		t.Errorf("the old socket's file is still there: %v", err)
	}
}
