package usage

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

const (
	// firstRead is how much of a file's end is read when it is new; what is before that is
	// read a little at a time, latest first.
	firstRead = 4 << 20
	// mostGrowth is how much a file may have grown to be read on from where reading ended.
	mostGrowth = 4 * firstRead
	// pastRead is how much of what is before the end is read in a round, and pastRun in all, in
	// a run: whatever there is, reading it ends after a few minutes.
	pastRead = 4 << 20
	pastRun  = 64 << 20
	// longestLine is how long a line may be to be read. No model's reply is longer.
	longestLine = pastRead
	// headSize is how much of a file tells it from another one in its place.
	headSize = 512
)

// reading bounds what a Counter reads.
type reading struct {
	first  int64     // how much of a new file is read at once
	growth int64     // how much a file may have grown to be read on
	past   int64     // how much of what is before is read at a time, once a round
	run    int64     // how much more of that, in this run
	left   int64     // of past, in this round
	began  time.Time // what was written since is no past

	opened int   // how many times a file was opened, for tests
	bytes  int64 // how much was read, for tests
}

// spend notes that something of the past was read.
func (r *reading) spend(n int64) { r.left, r.run = r.left-n, r.run-n }

// tail is how far a file has been read: from From to At, and what is before Done. It is kept
// as JSON.
type tail struct {
	Name string // below the program's folder
	Sub  bool   `json:",omitempty"` // a sub-agent's
	Head uint64 // hash of the first HeadLen bytes
	HLen int
	From int64 `json:",omitempty"`
	Done int64 `json:",omitempty"`
	Lost bool  `json:",omitempty"` // something before Done was not read either
	At   int64
	// Last is when a sub-agent wrote its last message, Over whether that is its final one.
	Last time.Time `json:",omitzero"`
	Over bool      `json:",omitempty"`

	size  int64
	mod   time.Time
	later bool // nothing is read yet, since it is not its turn
}

// partial reports whether something of what was there is not read.
func (t *tail) partial() bool { return t.From > t.Done || t.Lost || t.later }

// errReplaced says that another file is in a file's place, or that it was cut.
var errReplaced = errors.New("the file was replaced")

// read passes on the whole lines that are new, with where they begin; of a file that was not
// read yet, or has grown by much, only the end. Text is nil for a line that is too long. It
// reports whether the file had any.
func (t *tail) read(root *os.Root, r *reading, do func(text []byte, at int64)) (changed bool, err error) {
	info, err := root.Stat(t.Name)
	if err != nil || info.Size() == t.size && info.ModTime().Equal(t.mod) {
		return false, err
	}
	past := t.Sub && t.At == 0 && info.ModTime().Before(r.began)
	if t.later = past && r.left <= 0; t.later {
		return false, nil
	}
	f, size, err := t.open(root, r)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if grown := size - t.At; t.At == 0 && grown > r.first || grown > r.growth {
		t.Lost, t.Done = t.partial(), t.At
		if t.From, err = lineAfter(f, size-r.first, size); err != nil {
			return false, fmt.Errorf("read %s: %w", t.Name, err)
		}
		t.At = t.From
	}
	n, err := file.Lines(f, t.At, size, longestLine, do)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", t.Name, err)
	}
	t.At += n
	r.bytes += n
	if past {
		r.spend(n)
	}
	t.size, t.mod = size, info.ModTime()
	return n > 0, nil
}

// readPast passes on the latest whole lines before From that are not read, if there are any
// and some may be read now.
func (t *tail) readPast(root *os.Root, r *reading, do func(text []byte, at int64)) (changed bool, err error) {
	if t.From <= t.Done || r.left <= 0 {
		return false, nil
	}
	f, _, err := t.open(root, r)
	if err != nil {
		return false, err
	}
	defer f.Close()
	from := max(t.From-r.past, t.Done)
	start := from
	if from > t.Done {
		start, err = lineAfter(f, from, t.From)
	}
	if err == nil && start < t.From {
		_, err = file.Lines(f, start, t.From, longestLine, do)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", t.Name, err)
	}
	r.bytes += t.From - from
	r.spend(t.From - from)
	if start == t.From { // within a line that is too long
		start = from
	}
	t.From = start
	return true, nil
}

// open opens the file, if it is the one that was read before, and returns its size.
func (t *tail) open(root *os.Root, r *reading) (*os.File, int64, error) {
	r.opened++
	f, err := file.OpenInside(root, t.Name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		err = t.same(f, info.Size())
	}
	if err != nil {
		_ = f.Close() // it was only read
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// again passes on the line that begins at asked and those since said, up to where the file
// has been read, of which there may be too many: then the last ones.
func (t *tail) again(root *os.Root, asked, said int64, do func(text []byte)) error {
	f, err := file.OpenInside(root, t.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.same(f, t.At); err != nil {
		return err
	}
	from := max(min(asked, said), t.At-firstRead) // half a line makes no sense, and does no harm
	if asked < from && (asked > 0 || t.From == 0) {
		_, err = file.Lines(f, asked, min(asked+longestLine, from), longestLine, func(text []byte, at int64) {
			if at == asked {
				do(text)
			}
		})
	}
	if err == nil {
		_, err = file.Lines(f, from, t.At, longestLine, func(text []byte, _ int64) { do(text) })
	}
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

// lineAfter returns where the first line begins behind a place; to if none does before that.
func lineAfter(f io.ReaderAt, at, to int64) (int64, error) {
	r := bufio.NewReader(io.NewSectionReader(f, at, to-at))
	for {
		part, err := r.ReadSlice('\n')
		switch at += int64(len(part)); {
		case err == nil, errors.Is(err, io.EOF):
			return at, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return 0, err
		}
	}
}
