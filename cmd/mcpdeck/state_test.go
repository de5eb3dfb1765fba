//go:build unix

package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/token"
)

// stateFolder is the deck's folder in a home, with a file that links may lead to.
func stateFolder(d *driver) (dir, precious string) {
	d.t.Helper()
	dir, precious = filepath.Join(d.home, ".local/state/mcpdeck"), filepath.Join(d.home, "precious")
	if err := os.MkdirAll(filepath.Join(dir, "run"), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return dir, precious
}

// refusal is what a command says that has to end by itself, and its error. A deck
// that serves instead is ended, which is no error.
func refusal(d *driver, args ...string) (said string, err error) {
	d.t.Helper()
	var out lines
	c := d.command(args...)
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = c.Process.Kill() }) // it may have ended
	over := make(chan error, 1)
	go func() { over <- c.Wait() }()
	d.until("an end, or a deck", func() bool {
		select {
		case err = <-over:
			return true
		default:
		}
		if !strings.Contains(out.String(), "serving") {
			return false
		}
		_ = c.Process.Kill()
		<-over
		return true
	})
	return out.String(), err
}

// TestAStateFolderThatOthersReachIsRefused starts decks in folders that are not
// the user's alone.
func TestAStateFolderThatOthersReachIsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		prepare func(d *driver, dir string) error
		want    string
	}{
		{"others may write", func(_ *driver, dir string) error { return os.Chmod(dir, 0o777) }, "chmod 700"},
		{"others may look", func(_ *driver, dir string) error { return os.Chmod(dir, 0o755) }, "chmod 700"},
		{"others may look at the sockets", func(_ *driver, dir string) error { return os.Chmod(filepath.Join(dir, "run"), 0o711) }, "chmod 700"},
		{"it is a link", func(d *driver, dir string) error {
			if err := os.Rename(dir, dir+".moved"); err != nil {
				return err
			}
			return os.Symlink(dir+".moved", dir)
		}, "link"},
		{"it is another user's", func(d *driver, dir string) error {
			if os.Geteuid() != 0 {
				d.t.Skip("only the superuser can give a folder away")
			}
			return os.Chown(dir, 65534, -1)
		}, "another user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			dir, _ := stateFolder(d)
			if err := tt.prepare(d, dir); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"serve", "--port", "0"}, {"token"}, {"call", "manage_memory", "action=read", "key=a"}} {
				out, err := refusal(d, args...)
				if err == nil || !strings.Contains(out, tt.want) || !strings.Contains(out, "--state DIR") {
					t.Errorf("%v: %v: %s", args, err, out)
				}
			}
		})
	}
}

// TestATokenThatIsNotOursIsRefused plants tokens, and asks the deck to use them.
func TestATokenThatIsNotOursIsRefused(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("0123456789abcdef", 4) + "\n"
	plant := func(text string, mode os.FileMode) func(*driver, string) error {
		return func(_ *driver, token string) error {
			if err := os.WriteFile(token, []byte(text), 0o600); err != nil {
				return err
			}
			return os.Chmod(token, mode)
		}
	}
	tests := []struct {
		name string
		put  func(d *driver, token string) error
		want string // "": it is taken
	}{
		{"one of ours", plant(good, 0o600), ""},
		{"a short one", plant("a\n", 0o600), "does not contain an mcpdeck token"},
		{"an empty one", plant("", 0o600), "does not contain an mcpdeck token"},
		{"a long word", plant(strings.Repeat("x", 64), 0o600), "does not contain an mcpdeck token"},
		{"one that others can read", plant(good, 0o644), "is readable by others"},
		{"a link", func(d *driver, token string) error {
			if err := os.WriteFile(d.home+"/planted", []byte(good), 0o600); err != nil {
				return err
			}
			return os.Symlink(d.home+"/planted", token)
		}, "not a plain file"},
		{"another user's", func(d *driver, token string) error {
			if os.Geteuid() != 0 {
				d.t.Skip("only the superuser can give a file away")
			}
			if err := plant(good, 0o600)(d, token); err != nil {
				return err
			}
			return os.Chown(token, 65534, -1)
		}, "another user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			dir, _ := stateFolder(d)
			if err := tt.put(d, filepath.Join(dir, "run", "token")); err != nil {
				t.Fatal(err)
			}
			out, err := d.command("token").CombinedOutput()
			if (err == nil) != (tt.want == "") || !bytes.Contains(out, []byte(tt.want)) {
				t.Errorf("token: %v: %s", err, out)
			}
			if tt.want == "" {
				return
			}
			if out, err := refusal(d, "serve", "--port", "0"); err == nil || !strings.Contains(out, "mcpdeck token rotate") {
				t.Errorf("serve: %v: %s", err, out)
			}
			if out, err := d.command("token", "rotate").CombinedOutput(); err != nil {
				t.Errorf("rotate: %v: %s", err, out)
			}
			if b, err := os.ReadFile(d.home + "/planted"); err == nil && string(b) != good {
				t.Error("the link was followed")
			}
			if _, err := token.Stored(filepath.Join(dir, "run", "token")); err != nil {
				t.Errorf("after the rotation: %v", err)
			}
		})
	}
}

// TestLinksInTheStateFolderAreNotFollowed puts a link in the place of every file
// the deck writes.
func TestLinksInTheStateFolderAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"journal.db", "journal.db-wal", "drafts.json", "history.jsonl", "prompts.jsonl", "sessions.json", "run/deck.sock.lock",
		"run/ask.sock.lock", "run/token", "run/deck.sock", "logicstamp", "pencil",
	} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			dir, precious := stateFolder(d)
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(d.home, "folder")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			target := precious
			if name == "logicstamp" || name == "pencil" {
				target = folder
			}
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			deck := d.command("serve", "--port", "0")
			deck.Stderr = &d.log
			if err := deck.Start(); err != nil {
				t.Fatal(err)
			}
			over := make(chan struct{})
			go func() { defer close(over); _ = deck.Wait() }() // how it ends does not matter
			defer func() { _ = deck.Process.Kill(); <-over }()
			d.until("a deck, or its end", func() bool {
				select {
				case <-over:
					return true
				default:
					return strings.Contains(d.log.String(), "serving")
				}
			})
			if strings.Contains(d.log.String(), "serving") {
				a := d.relay()
				a.Handshake("claude")
				a.note(d, "a.txt", "")
				d.ends(a)
			}
			if b, err := os.ReadFile(precious); err != nil || string(b) != "precious" {
				t.Errorf("what the link leads to is %q, %v; log: %s", b, err, d.log.String())
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("the folder that the link leads to holds %v, %v", left, err)
			}
		})
	}
}

// TestADeletedStateFolderIsMadeAgain deletes the deck's folder under it.
func TestADeletedStateFolderIsMadeAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" {
		t.Skip("not tried here")
	}
	d := newDriver(t)
	dir, _ := stateFolder(d)
	d.serve()
	before := d.relay()
	before.Handshake("before")
	before.note(d, "one.txt", "")
	address := d.http()
	kept, err := token.Stored(filepath.Join(dir, "run", "token"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	d.until("the sockets", func() bool {
		for _, name := range []string{"deck.sock", "ask.sock", "token"} {
			if _, err := os.Lstat(filepath.Join(dir, "run", name)); err != nil {
				return false
			}
		}
		return true
	})
	d.until("a word about it", func() bool {
		return strings.Contains(d.log.String(), "deleted while mcpdeck was running; recreated")
	})
	before.note(d, "two.txt", "") // the connection stayed
	after := d.relay()
	after.Handshake("after")
	after.note(d, "three.txt", "")
	d.logged("after", "haunt_desktop", "three.txt")
	if out, err := d.command("ask", "list").CombinedOutput(); err != nil {
		t.Errorf("ask list: %v: %s", err, out)
	}
	if again, err := token.Stored(filepath.Join(dir, "run", "token")); err != nil || again != kept {
		t.Errorf("the token is another one: %v", err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+kept)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("HTTP says %s", res.Status)
	}
	info, err := os.Lstat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info, err)
	}
}
