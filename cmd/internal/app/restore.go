package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/token"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// lookEvery is how often the deck looks for its files.
const lookEvery = 2 * time.Second

// watch makes again what is deleted of the deck's files while it runs, and says
// so, until ctx ends.
func (r *listeners) watch(ctx context.Context) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	told := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for _, c := range r.app.Servers.cards() { // one may have been tried
			c.Recount()
		}
		restored, err := r.restore()
		if len(restored) > 0 {
			r.app.Host.Warn("state", "was deleted while mcpdeck was running; recreated in "+r.app.Config.Paths.State+": "+strings.Join(restored, ", "))
		}
		switch {
		case err == nil:
			told = ""
		case err.Error() != told:
			told = err.Error()
			r.app.Host.Warn("state", "was deleted while mcpdeck was running and could not be recreated: "+told+"; restart mcpdeck")
		}
	}
}

// restore looks at the deck's files once and names those that it made again.
func (r *listeners) restore() (restored []string, err error) {
	paths := r.app.Config.Paths
	if missing(paths.State) {
		if err := paths.Make(); err != nil {
			return nil, err
		}
		if r.app.Queue != nil {
			r.app.Queue.Save()
		}
	}
	did := func(what string, ok bool, e error) {
		if ok {
			restored = append(restored, what)
		}
		err = errors.Join(err, e)
	}
	ok, e := r.socket.Restore()
	did("the socket of agents", ok, e)
	if r.questions != nil {
		ok, e = r.questions.Restore()
		did("the socket of questions", ok, e)
	}
	if r.prompts != nil {
		ok, e = r.prompts.Restore()
		did("the socket of prompts", ok, e)
	}
	if now := r.token.Load(); now != nil && missing(paths.Token) {
		e = token.Write(paths, *now)
		did("the token", e == nil, e)
	}
	if f := r.app.logFile; f != nil {
		ok, e = f.restore()
		did("the log", ok, e)
	}
	return restored, err
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// logFile is the deck's log.
type logFile struct {
	path string

	mu sync.Mutex // guards what follows
	f  *os.File
}

func openLogFile(path string) (*logFile, error) {
	f, err := file.Open(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	return &logFile{path: path, f: f}, nil
}

// Write appends to the file.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Write(b)
}

// restore begins a new file if there is none any more.
func (l *logFile) restore() (bool, error) {
	if !missing(l.path) {
		return false, nil
	}
	next, err := openLogFile(l.path)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.f.Close() // of a file that nobody sees any more
	l.f = next.f
	return true, nil
}

// Close closes the file; nothing can be written after.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}
