package ask

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/socket"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestSessionSocketsGoWhileTheDeckRuns(t *testing.T) {
	dir, err := os.MkdirTemp("", "ask")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	synctest.Test(t, func(t *testing.T) {
		l := &Listener{stop: make(chan struct{}), sessions: map[string]*session{}, opt: ListenOptions{Sessions: filepath.Join(dir, "sessions.json")}}
		add := func(name string, active int) string {
			path := filepath.Join(dir, name)
			inner, err := socket.Listen(path)
			if err != nil {
				t.Fatal(err)
			}
			l.sessions[path] = &session{Path: path, Label: "claude", Used: time.Now(), l: inner, active: active}
			return path
		}
		there := func(path string) bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			_, err := os.Lstat(path)
			if (err == nil) != (l.sessions[path] != nil) {
				t.Errorf("%s: its file and its entry disagree: %v", filepath.Base(path), err)
			}
			return err == nil
		}
		left, used := add("s-1.sock", 0), add("s-2.sock", 1)
		var loop sync.WaitGroup
		loop.Go(l.expire)
		testwait.Pass(keepSession)
		if !there(left) {
			t.Error("it went before a day was over")
		}
		testwait.Pass(2 * expireEvery)
		if there(left) || !there(used) {
			t.Errorf("after a day: the one left %v, the one in use %v", there(left), there(used))
		}
		list, err := os.ReadFile(l.opt.Sessions)
		if err != nil || strings.Contains(string(list), "s-1") || !strings.Contains(string(list), "s-2") {
			t.Errorf("remembered: %s, %v", list, err)
		}
		close(l.stop)
		loop.Wait()
		l.sessions[used].l.Close()
	})
}

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

func TestSessionHasASocketOfItsOwn(t *testing.T) {
	dir, err := os.MkdirTemp("", "ask")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	opt := ListenOptions{Path: filepath.Join(dir, "ask.sock"), Sessions: filepath.Join(dir, "sessions.json")}
	d := newDeck(t, Options{}, opt)
	path, err := NewClient(ClientOptions{Path: opt.Path}).OpenSession("payments")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(d *deck) {
		t.Helper()
		p := d.dial(path)
		_, _ = io.WriteString(p, plainAsk)
		if it := d.pending(1).Items[0]; it.Request.Peer.Session != "payments" {
			t.Errorf("session %q", it.Request.Peer.Session)
		}
	}
	ask(d)
	d.stop()
	d = newDeck(t, Options{}, opt) // bound again under its old path
	ask(d)
	namesake, err := d.l.Session("payments")
	if err != nil {
		t.Fatal(err)
	}
	other := d.dial(namesake)
	_, _ = io.WriteString(other, plainAsk)
	d.pending(2)
	if err := d.l.EndSession(path); err != nil {
		t.Fatal(err)
	}
	absent := func(s *Snapshot, id int) Absence {
		return s.Items[slices.IndexFunc(s.Items, func(i Item) bool { return i.ID == id })].Absent
	}
	d.until("withdrawn", func(s *Snapshot) bool { return absent(s, 1) == Gone })
	if absent(d.q.Pending(), 2) == Gone {
		t.Error("another session of the same label ended, too")
	}
	if _, err := net.Dial("unix", path); err == nil {
		t.Error("the ended session's socket still answers")
	}
}
