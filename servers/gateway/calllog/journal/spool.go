package journal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const (
	spoolBytes = 8 << 20 // of the file; the one before it is kept, too
	spoolLine  = 1 << 20 // of one call; a larger one leaves its bodies
	spoolWait  = 2 * time.Second
)

// spool is a file in which calls wait for a deck, written by the processes that
// host servers while none runs. Each line is a call. Writers and the deck take
// turns by a lock beside it; a full file becomes the older one, whose calls go.
type spool struct {
	path string
	most int64
}

type spooled struct {
	Run  int64
	Call snapshot.Call
	Body snapshot.CallBody
}

// locked runs f while no other process uses the files.
func (s spool) locked(ctx context.Context, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, spoolWait)
	defer cancel()
	return file.Alone(ctx, s.path, f)
}

// add appends calls of a run.
func (s spool) add(ctx context.Context, run int64, items []item) error {
	var b bytes.Buffer
	b.WriteByte('\n') // ends a line that a killed process has left
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, it := range items {
		from := b.Len()
		if err := enc.Encode(spooled{run, it.call, it.body}); err != nil || b.Len()-from > spoolLine {
			b.Truncate(from)
			_ = enc.Encode(spooled{run, it.call, snapshot.CallBody{Cut: true}}) // words and numbers
		}
	}
	return s.locked(ctx, func() error {
		f, err := file.Open(s.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if info.Size() > 0 && info.Size()+int64(b.Len()) > s.most {
			f.Close()
			if err := file.Move(s.path, s.older()); err != nil {
				return err
			}
			if f, err = file.Open(s.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE); err != nil {
				return err
			}
			defer f.Close()
		}
		_, err = f.Write(b.Bytes())
		return errors.Join(err, f.Close())
	})
}

func (s spool) older() string { return s.path + ".old" }

// take moves what waits into a store. A call that is in it already, as one that
// had not ended, is replaced.
func (s spool) take(ctx context.Context, to *store) error {
	if !there(s.path) && !there(s.older()) {
		return nil
	}
	return s.locked(ctx, func() error {
		for _, path := range []string{s.older(), s.path} {
			if err := takeFile(ctx, path, to); err != nil {
				return err
			}
		}
		return nil
	})
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func takeFile(ctx context.Context, path string, to *store) error {
	f, err := file.Open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	byRun := map[int64][]item{}
	var order []int64
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		var s spooled
		// A line that is cut was being written when its process was killed.
		if json.Unmarshal(line, &s) == nil && s.Run > 0 && s.Call.ID > 0 {
			if byRun[s.Run] == nil {
				order = append(order, s.Run)
			}
			byRun[s.Run] = append(byRun[s.Run], item{call: s.Call, body: s.Body, again: true})
		}
		if err != nil {
			break
		}
	}
	for _, run := range order {
		if err := to.insert(ctx, run, byRun[run]); err != nil {
			return err
		}
	}
	f.Close()
	return os.Remove(path)
}

// OpenSpool starts writing to the spool, in a process that hosts servers while
// no deck runs. It takes the place of [Journal.Open].
func (j *Journal) OpenSpool() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.opened || j.closed || j.opt.Spool == "" {
		return errors.New("open spool: already open, or no path")
	}
	j.opened, j.spools = true, true
	recovery.Go("journal", func() {
		defer close(j.done)
		j.write()
	})
	return nil
}

func (j *Journal) spool() spool { return spool{j.opt.Spool, spoolBytes} }

// keepSpooled writes a batch to the spool.
func (j *Journal) keepSpooled(batch []item) {
	if err := j.spool().add(context.Background(), j.run, batch); err != nil {
		j.opt.Warn(humanize.Count(len(batch), "call") + " will be missing from the call log: " + reason(err))
	}
}

// takeSpooled moves what other processes have spooled into the store.
func (j *Journal) takeSpooled(ctx context.Context, s *store) {
	if j.opt.Spool == "" || s == nil || s.memory {
		return
	}
	if err := j.spool().take(ctx, s); err != nil {
		j.opt.Warn("calls made without a deck are not yet in the call log: " + reason(err))
	}
}
