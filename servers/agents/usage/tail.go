package usage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

const (
	// firstRead is how much of a file is read at once when it is new; what is before
	// that is read a little at a time.
	firstRead = 64 << 20
	// olderRead is how much of that is read at a time, and olderReads how many times in all:
	// whatever there is, reading it ends after a few minutes.
	olderRead  = 16 << 20
	olderReads = 16
	// mostAgain is how much of a file is read once more for what is not kept.
	mostAgain = 16 << 20
	// longestLine is how long a line may be to be read.
	longestLine = 16 << 20
	// headSize is how much of a file tells it from another one in its place.
	headSize = 512
)

// reading bounds what a Counter reads.
type reading struct {
	first int64 // how much of a new file is read at once
	older int64 // how much of what is before that is read at a time
	times int   // how many more times, in this run
	done  bool  // in this round

	opened int   // how many times a file was opened, for tests
	bytes  int64 // how much was read, for tests
}

// past reports whether what is before the beginning of a file may be read now.
func (r *reading) past(t *tail) bool { return t.partial() && r.times > 0 && !r.done }

// tail is how far a file has been read. It is kept as JSON.
type tail struct {
	Name  string // below the program's folder
	Sub   bool   `json:",omitempty"` // a sub-agent's
	Head  uint64 // hash of the first HeadLen bytes
	HLen  int
	From  int64 `json:",omitempty"` // where the first look began
	Older int64 `json:",omitempty"` // how far what is before From has been read
	At    int64
	// Last is when a sub-agent wrote its last message, Over whether that is its final one.
	Last time.Time `json:",omitzero"`
	Over bool      `json:",omitempty"`

	size int64
	mod  time.Time
}

// partial tells whether something before what was read is not read yet.
func (t *tail) partial() bool { return t.Older < t.From }

// errReplaced says that another file is in a file's place, or that it was cut.
var errReplaced = errors.New("the file was replaced")

// read passes on the whole lines that are new, with where they begin. It reports whether the
// file had any.
func (t *tail) read(root *os.Root, r *reading, do func(text []byte, at int64)) (changed bool, err error) {
	info, err := root.Stat(t.Name)
	if err != nil {
		return false, err
	}
	if info.Size() == t.size && info.ModTime().Equal(t.mod) && !r.past(t) {
		return false, nil
	}
	r.opened++
	f, err := file.OpenInside(root, t.Name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return false, err
	}
	if err := t.same(f, info.Size()); err != nil {
		return false, err
	}
	if t.At == 0 && info.Size() > r.first {
		if err := t.skip(f, info.Size()-r.first); err != nil {
			return false, err
		}
	}
	n, err := lines(f, t.At, info.Size(), do)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", t.Name, err)
	}
	t.At += n
	r.bytes += n
	t.size, t.mod = info.Size(), info.ModTime()
	if !r.past(t) {
		return n > 0, nil
	}
	r.done = true
	r.times--
	m, err := lines(f, t.Older, min(t.Older+r.older, t.From), do)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", t.Name, err)
	}
	if m == 0 { // a line is longer than that; the rest of it will make no sense
		m = min(r.older, t.From-t.Older)
	}
	t.Older += m
	return true, nil
}

// again passes on the lines from a place to where the file has been read, of which there
// may be too many: then the last ones.
func (t *tail) again(root *os.Root, from int64, do func(text []byte, at int64)) error {
	f, err := file.OpenInside(root, t.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.same(f, t.At); err != nil {
		return err
	}
	_, err = lines(f, max(from, t.At-mostAgain), t.At, do) // half a line makes no sense, and does no harm
	return err
}

// same checks that the file is the one that was read before.
func (t *tail) same(f *os.File, size int64) error {
	if size < t.At {
		return errReplaced
	}
	head := make([]byte, headSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n < t.HLen || t.HLen > 0 && hashOf(head[:t.HLen]) != t.Head {
		return errReplaced
	}
	t.HLen, t.Head = n, hashOf(head[:n])
	return nil
}

func hashOf(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // never fails
	return h.Sum64()
}

// skip begins at the first line behind a place.
func (t *tail) skip(f *os.File, at int64) error {
	r := bufio.NewReader(io.NewSectionReader(f, at, longestLine))
	for {
		part, err := r.ReadSlice('\n')
		at += int64(len(part))
		switch {
		case err == nil:
			t.From, t.At = at, at
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// lines passes on the whole lines from a place to another, with where they begin, and returns
// how long they are together. Lines that are too long are left out.
func lines(f io.ReaderAt, from, to int64, do func(text []byte, at int64)) (n int64, err error) {
	b := bufio.NewReaderSize(io.NewSectionReader(f, from, to-from), 64<<10)
	var long []byte
	var length int64
	for {
		part, err := b.ReadSlice('\n')
		length += int64(len(part))
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if length <= longestLine {
				long = append(long, part...)
			}
			continue
		case errors.Is(err, io.EOF):
			return n, nil // the rest is no whole line yet
		case err != nil:
			return n, err
		}
		if length <= longestLine {
			if len(long) > 0 {
				part = append(long, part...)
			}
			do(bytes.TrimSpace(part), from+n)
		}
		n += length
		long, length = long[:0], 0
	}
}
