package clippy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

const (
	maxKey        = 256
	maxValue      = 64 << 10
	maxKeys       = 1000
	maxMemory     = 1 << 20 // of the file after a write
	maxMemoryRead = 4 << 20
	lockWait      = 2 * time.Second
	emptyMemory   = "{}\n"
)

// memory keeps named texts in one JSON file that other processes may use at
// the same time. Whoever reads sees a complete file, since writers replace it;
// writers take turns by a lock on a file beside it.
type memory struct {
	path string        // absolute
	turn chan struct{} // one slot: writers of this process
	now  func() time.Time
}

func newMemory(path string, now func() time.Time) *memory {
	return &memory{path: path, turn: make(chan struct{}, 1), now: now}
}

// Remembered is what is kept under a key. NonString means that somebody edited
// the file by hand and Value is JSON.
type Remembered struct {
	Found     bool
	Value     string
	NonString bool
}

func checkKey(key string) error {
	switch {
	case key == "":
		return say("key is required")
	case len(key) > maxKey:
		return say("key is too long (max %d bytes)", maxKey)
	case !utf8.ValidString(key):
		return say("key is not valid UTF-8")
	case strings.ContainsFunc(key, unicode.IsControl):
		return say("key contains control characters")
	}
	return nil
}

// read returns what is kept under key. A missing file is made; when that fails
// the error is in made and nothing is found.
func (m *memory) read(key string) (r Remembered, made error, err error) {
	if err := checkKey(key); err != nil {
		return r, nil, err
	}
	all, err := m.load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, m.create(), nil
	case err != nil:
		return r, nil, err
	}
	v, ok := all[key]
	if !ok {
		return r, nil, nil
	}
	if s, ok := text(v); ok {
		return Remembered{Found: true, Value: s}, nil, nil
	}
	return Remembered{Found: true, Value: string(v), NonString: true}, nil, nil
}

// write keeps value under key. It returns once the value is on the disk.
func (m *memory) write(ctx context.Context, key, value string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if len(value) > maxValue {
		return say("value is too large (%s, max %d)", humanize.Count(len(value), "byte"), maxValue)
	}
	return m.locked(ctx, func() error {
		all, err := m.load()
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return err
		}
		if all == nil {
			all = map[string]json.RawMessage{}
		}
		if s, ok := text(all[key]); ok && s == value {
			return nil
		}
		all[key], err = encode(value, "")
		if err != nil {
			return err
		}
		data, err := encode(all, "  ")
		if err != nil {
			return err
		}
		if len(all) > maxKeys || len(data) > maxMemory {
			return say("the memory is full (max %d keys and %d bytes); nothing was changed", maxKeys, maxMemory)
		}
		return m.save(data, !missing)
	})
}

// text returns the string that v holds, if it holds one.
func text(v json.RawMessage) (string, bool) {
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	var s string
	return s, json.Unmarshal(v, &s) == nil
}

// encode is JSON with keys sorted, signs like < as they are, and, with an
// indent, a final line break.
func encode(v any, indent string) ([]byte, error) {
	b, err := rawjson.Encode(v, indent)
	switch {
	case err != nil:
		return nil, system(err)
	case indent != "":
		b = append(b, '\n')
	}
	return b, nil
}

// locked runs fn while no other goroutine and no other process writes.
func (m *memory) locked(ctx context.Context, fn func() error) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	busy := func(err error) error { return blame(err, "the memory is in use by another process") }
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return busy(ctx.Err())
	}
	name := m.path + ".lock"
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return notPlain()
	}
	lock := file.Lock(name)
	switch ok, err := lock.TryLockContext(ctx, 5*time.Millisecond); {
	case ok:
	case err == nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return busy(err)
	default:
		return system(err)
	}
	defer lock.Unlock() //nolint:errcheck // closing the file gives the lock back in any case
	return fn()
}

func notPlain() error { return say("the memory file is not a regular file") }

// load reads and parses the file. The error wraps fs.ErrNotExist when there is
// none.
func (m *memory) load() (map[string]json.RawMessage, error) {
	data, err := m.bytes(m.path)
	if err != nil {
		return nil, err
	}
	all, at := parseMemory(data)
	if at >= 0 {
		line, column := position(data, at)
		text := fmt.Sprintf("the memory file is corrupted (line %d, column %d); nothing was changed", line, column)
		if m.goodCopy() != nil {
			text += ". Last good copy: " + filepath.Base(m.path) + ".bak"
		}
		return nil, &fault{text: text, cause: errCorrupted}
	}
	return all, nil
}

// errCorrupted is the cause of the fault that the user can repair.
var errCorrupted = errors.New("corrupted memory")

func isCorrupted(err error) bool { return errors.Is(err, errCorrupted) }

// bytes returns the file at path without a byte order mark.
func (m *memory) bytes(path string) ([]byte, error) {
	data, err := file.ReadPlain(path, false, maxMemoryRead)
	switch {
	case errors.Is(err, file.ErrNotPlain):
		return nil, notPlain()
	case errors.Is(err, file.ErrTooLarge):
		return nil, say("the memory file is too large")
	case err != nil:
		return nil, system(err)
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

// goodCopy returns the previous content if it is there and valid, else nil.
func (m *memory) goodCopy() []byte {
	data, err := m.bytes(m.path + ".bak")
	if err != nil {
		return nil
	}
	if _, at := parseMemory(data); at >= 0 {
		return nil
	}
	return data
}

// parseMemory returns the entries, or the offset of what is wrong with data; -1
// when nothing is.
func parseMemory(data []byte) (map[string]json.RawMessage, int) {
	start := bytes.IndexFunc(data, func(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) })
	switch {
	case start < 0:
		return nil, -1
	case data[start] != '{':
		return nil, start
	}
	if good := bytes.ToValidUTF8(data, nil); len(good) != len(data) {
		return nil, commonPrefix(good, data)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &all); err != nil {
		at := start
		if s := (*json.SyntaxError)(nil); errors.As(err, &s) {
			at = max(0, int(s.Offset)-1)
		}
		return nil, at
	}
	return all, -1
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// position counts lines and characters from 1.
func position(data []byte, at int) (line, column int) {
	before := data[:min(at, len(data))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// create makes an empty memory. It is no error when another process was faster.
func (m *memory) create() error {
	err := file.Write(m.path, []byte(emptyMemory), file.Options{New: true})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// save replaces the file by data in one step and keeps what it held as .bak.
// The caller holds the lock.
func (m *memory) save(data []byte, keep bool) error {
	if keep {
		before, err := file.ReadPlain(m.path, false, maxMemoryRead)
		if err == nil {
			err = file.Write(m.path+".bak", before, file.Options{})
		}
		if err != nil {
			return system(err)
		}
	}
	if err := file.Write(m.path, data, file.Options{Keep: true}); err != nil {
		return system(err)
	}
	return nil
}

// sweep removes temporaries that a killed process left more than an hour ago.
func (m *memory) sweep() { file.Sweep(filepath.Dir(m.path), m.now().Add(-time.Hour)) }

// repair sets a corrupted file aside and puts the last good copy, or an empty
// memory, in its place. It returns the new name of the bad file.
func (m *memory) repair(ctx context.Context) (aside string, err error) {
	err = m.locked(ctx, func() error {
		_, err := m.load()
		if !isCorrupted(err) {
			if err == nil {
				err = say("the memory file is not corrupted")
			}
			return err
		}
		good := m.goodCopy()
		if good == nil {
			good = []byte(emptyMemory)
		}
		bad := m.path + ".corrupt-" + m.now().UTC().Format("20060102T150405Z")
		if err := file.Move(m.path, bad); err != nil {
			return system(err)
		}
		if err := file.Write(m.path, good, file.Options{}); err != nil {
			return system(err)
		}
		aside = bad
		return nil
	})
	return aside, err
}
