package clippy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func testMemory(t testing.TB, content ...string) *memory {
	t.Helper()
	m := newMemory(filepath.Join(t.TempDir(), "clippy_memory.json"), time.Now)
	if len(content) > 0 {
		if err := os.WriteFile(m.path, []byte(content[0]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestKeysAndValuesHaveLimits(t *testing.T) {
	long := strings.Repeat("k", maxKey)
	tests := []struct{ name, key, value, err string }{
		{"usual", "colour", "green", ""},
		{"empty value", "k", "", ""},
		{"prototype", "__proto__", "x", ""},
		{"constructor", "constructor", "x", ""},
		{"blanks stay", "  a ", "x", ""},
		{"signs stay", `<a href="&">`, "</script>\u2028", ""},
		{"longest key", long, "x", ""},
		{"longest value", "k", strings.Repeat("v", maxValue), ""},
		{"no key", "", "x", "key is required"},
		{"key too long", long + "k", "x", "key is too long (max 256 bytes)"},
		{"key not UTF-8", "a\xff", "x", "key is not valid UTF-8"},
		{"key with line break", "a\nb", "x", "key contains control characters"},
		{"key with C1", "a\u0085b", "x", "key contains control characters"},
		{"value too large", "k", strings.Repeat("v", maxValue+1), "value is too large (65537 bytes, max 65536)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := testMemory(t)
			if err := m.write(t.Context(), tt.key, tt.value); words(t, err) != tt.err {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
			if tt.err != "" {
				if _, err := os.Lstat(m.path); !errors.Is(err, fs.ErrNotExist) {
					t.Error("a refused write touched the file")
				}
				return
			}
			r, made, err := m.read(tt.key)
			if err != nil || made != nil || !r.Found || r.NonString || r.Value != tt.value {
				t.Errorf("read back %+v, %v, %v", r, made, err)
			}
			if r, _, err := m.read("toString"); err != nil || r.Found {
				t.Errorf("a key nobody wrote: %+v, %v", r, err)
			}
		})
	}
}

func TestMissingAndEmptyMemory(t *testing.T) {
	m := testMemory(t)
	if r, made, err := m.read("k"); r.Found || made != nil || err != nil || get(t, m.path) != "{}\n" {
		t.Errorf("missing: %+v, %v, %v, file %q", r, made, err, get(t, m.path))
	}
	if info, err := os.Stat(m.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, content := range []string{"", " \n\t", "\ufeff", "{}"} {
		m := testMemory(t, content)
		if r, made, err := m.read("k"); r.Found || made != nil || err != nil {
			t.Errorf("%q: %+v, %v, %v", content, r, made, err)
		}
		must(t, m.write(t.Context(), "k", "v"))
	}
	m = newMemory(filepath.Join(t.TempDir(), "none", "m.json"), time.Now)
	if r, made, err := m.read("k"); r.Found || made == nil || err != nil {
		t.Errorf("no folder: %+v, %v, %v", r, made, err)
	}
}

func TestWritingKeepsWhatOthersWroteInTheMemory(t *testing.T) {
	const before = "\ufeff{\"z\": {\"a\": [1, 1e400, null]},\r\n \"n\": 12345678901234567890, \"dup\":1, \"dup\":\"two\"}"
	m := testMemory(t, before)
	r, _, err := m.read("n")
	if err != nil || !r.NonString || r.Value != "12345678901234567890" {
		t.Errorf("number by hand: %+v, %v", r, err)
	}
	must(t, os.Chmod(m.path, 0o640))
	must(t, m.write(t.Context(), "a<b", "c&d"))
	want := `{
  "a<b": "c&d",
  "dup": "two",
  "n": 12345678901234567890,
  "z": {
    "a": [
      1,
      1e400,
      null
    ]
  }
}
`
	if got := get(t, m.path); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := get(t, m.path+".bak"); got != before {
		t.Errorf("copy is %q", got)
	}
	info, err := os.Stat(m.path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	must(t, m.write(t.Context(), "a<b", "c&d"))
	if now, _ := os.Stat(m.path); !os.SameFile(now, info) {
		t.Error("a write that changes nothing replaced the file")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(m.path), ".*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCorruptedMemoryIsNotTouched(t *testing.T) {
	tests := []struct{ name, content, bak, err string }{
		{"half", "{\n  \"a\": \"b", "", "the memory file is corrupted (line 2, column 9); nothing was changed"},
		{"no JSON", "hello", "", "the memory file is corrupted (line 1, column 1); nothing was changed"},
		{"array", "\n [1]", "", "the memory file is corrupted (line 2, column 2); nothing was changed"},
		{"null", "null", "", "the memory file is corrupted (line 1, column 1); nothing was changed"},
		{"trailing", "{} {}", "", "the memory file is corrupted (line 1, column 4); nothing was changed"},
		{"bad UTF-8", "{\"a\":\"\xff\"}", "", "the memory file is corrupted (line 1, column 7); nothing was changed"},
		{"good copy", "{", `{"a":"b"}`, "the memory file is corrupted (line 1, column 1); nothing was changed. Last good copy: clippy_memory.json.bak"},
		{"bad copy", "{", "{", "the memory file is corrupted (line 1, column 1); nothing was changed"},
		{"too large", "{" + strings.Repeat(" ", maxMemoryRead) + "}", "", "the memory file is too large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := testMemory(t, tt.content)
			if tt.bak != "" {
				put(t, m.path+".bak", tt.bak)
			}
			_, _, err := m.read("a")
			if words(t, err) != tt.err {
				t.Errorf("read: got %v, want %q", err, tt.err)
			}
			if err := m.write(t.Context(), "a", "b"); words(t, err) != tt.err {
				t.Errorf("write: got %v, want %q", err, tt.err)
			}
			if get(t, m.path) != tt.content {
				t.Error("the bytes on disk changed")
			}
			if strings.Contains(tt.err, "too large") {
				return
			}
			aside, err := m.repair(t.Context())
			if err != nil || get(t, aside) != tt.content || !strings.HasPrefix(filepath.Base(aside), "clippy_memory.json.corrupt-") {
				t.Fatalf("repair: %q, %v", aside, err)
			}
			r, _, err := m.read("a")
			if err != nil || r.Found != (tt.name == "good copy") {
				t.Errorf("after the repair: %+v, %v", r, err)
			}
			if _, err := m.repair(t.Context()); err == nil {
				t.Error("repaired what is not corrupted")
			}
		})
	}
}

func TestMemoryMustBeAPlainFile(t *testing.T) {
	const want = "the memory file is not a regular file"
	for name, prepare := range map[string]func(t *testing.T, path string){
		"link": func(t *testing.T, path string) {
			t.Helper()
			put(t, path+".real", "{}")
			must(t, os.Symlink(path+".real", path))
		},
		"dangling link": func(t *testing.T, path string) { t.Helper(); must(t, os.Symlink("nowhere", path)) },
		"directory":     func(t *testing.T, path string) { t.Helper(); mkdir(t, path) },
		"FIFO":          makeFIFO,
	} {
		t.Run(name, func(t *testing.T) {
			m := testMemory(t)
			prepare(t, m.path)
			if _, _, err := m.read("k"); words(t, err) != want {
				t.Errorf("read: %v", err)
			}
			if err := m.write(t.Context(), "k", "v"); words(t, err) != want {
				t.Errorf("write: %v", err)
			}
		})
	}
	t.Run("link as lock", func(t *testing.T) {
		m := testMemory(t)
		target := filepath.Join(t.TempDir(), "made")
		must(t, os.Symlink(target, m.path+".lock"))
		if err := m.write(t.Context(), "k", "v"); words(t, err) != want {
			t.Errorf("write: %v", err)
		}
		if _, err := os.Lstat(target); err == nil {
			t.Error("a file was made through the link")
		}
	})
}

func TestFullMemoryIsNotChanged(t *testing.T) {
	all := map[string]string{}
	for i := range maxKeys {
		all[fmt.Sprint(i)] = ""
	}
	content, _ := json.Marshal(all)
	m := testMemory(t, string(content))
	const want = "the memory is full (max 1000 keys and 1048576 bytes); nothing was changed"
	if err := m.write(t.Context(), "more", "x"); words(t, err) != want {
		t.Errorf("keys: %v", err)
	}
	if err := m.write(t.Context(), "7", "x"); err != nil {
		t.Errorf("a key that is there: %v", err)
	}
	m = testMemory(t)
	value := strings.Repeat("v", maxValue)
	var err error
	n := 0
	for ; err == nil; n++ {
		err = m.write(t.Context(), fmt.Sprint(n), value)
	}
	if words(t, err) != want || n != 16 {
		t.Errorf("bytes: %v after %d", err, n)
	}
}

func TestMemoryLockHeldElsewhere(t *testing.T) {
	t.Parallel()
	m := testMemory(t)
	other := newMemory(m.path, time.Now)
	held, free := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- other.locked(t.Context(), func() error { close(held); <-free; return nil })
	}()
	<-held
	err := m.write(t.Context(), "k", "v")
	if words(t, err) != "the memory is in use by another process" {
		t.Errorf("got %v", err)
	}
	if r, _, err := m.read("k"); err != nil || r.Found {
		t.Errorf("reading waits for nobody: %+v, %v", r, err)
	}
	close(free)
	must(t, <-done)
	must(t, m.write(t.Context(), "k", "v"))
}

func TestOldTemporaryFilesAreSwept(t *testing.T) {
	m := testMemory(t, "{}")
	dir := filepath.Dir(m.path)
	old, fresh, other := filepath.Join(dir, ".mcpdeck-a.tmp"), filepath.Join(dir, ".mcpdeck-b.tmp"), filepath.Join(dir, ".other.json.x.tmp")
	for _, p := range []string{old, fresh, other} {
		put(t, p, "")
	}
	past := time.Now().Add(-2 * time.Hour)
	must(t, os.Chtimes(old, past, past))
	must(t, os.Chtimes(other, past, past))
	m.sweep()
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Error("an old temporary stayed")
	}
	for _, p := range []string{fresh, other, m.path} {
		if _, err := os.Stat(p); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
}

func FuzzMParse(f *testing.F) {
	for _, s := range []string{"", "{}", "{\"a\":\"b\"}", "[", "{\"a\":1}x", "\xff", "{\"a\":\"\\ud800\"}", "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, at := parseMemory(data)
		if at > len(data) {
			t.Fatalf("offset %d of %d", at, len(data))
		}
		if at >= 0 {
			if line, column := position(data, at); line < 1 || column < 1 {
				t.Fatalf("position %d, %d", line, column)
			}
			return
		}
		again, err := encode(all, "  ")
		if err != nil {
			t.Fatalf("%q was read and cannot be written: %v", data, err)
		}
		back, at := parseMemory(again)
		if all != nil && (at >= 0 || len(back) != len(all)) {
			t.Fatalf("%q became %q", data, again)
		}
	})
}

func TestTheStateOfTheMemoryIsToldWhenItChanges(t *testing.T) {
	s := New(Options{Dir: testwait.TempDir(t), Home: testwait.TempDir(t)})
	told := make(chan string, 100)
	s.Begin(func(trouble string) { told <- trouble })
	defer s.End()
	for range 3 {
		if _, err := s.Recall("k"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(s.MemoryPath(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Recall("k"); err == nil {
			t.Fatal("read what is damaged")
		}
	}
	if _, err := s.RepairMemory(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(told); n != 3 {
		t.Fatalf("told %d times, want 3", n)
	}
	if well, broken, mended := <-told, <-told, <-told; well != "" || broken == "" || mended != "" {
		t.Errorf("told %q, then %q, then %q", well, broken, mended)
	}
}
