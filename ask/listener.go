package ask

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

// ListenOptions configures a [Listener].
type ListenOptions struct {
	Path     string // of the socket; its folder also gets the session sockets
	Version  string // of the program, sent to clients
	Sessions string // file that remembers the session sockets; "" forgets them
	// Gate decides which connections act for the user; nil: none.
	Gate *userauth.Gate
	// Agents returns the IDs of processes that ask questions. Their descendants are refused
	// without being asked for a proof. It may be nil.
	Agents func() []int
	Log    *slog.Logger
	// Most is the maximum number of concurrent connections over all sockets, and MostOfOne
	// those of one process; 0: the defaults of a [socket.ConnLimit].
	Most, MostOfOne int
}

// Listener accepts requests on a main socket and on one socket per session.
type Listener struct {
	q     *Queue
	opt   ListenOptions
	log   *slog.Logger
	main  *socket.Listener
	wg    sync.WaitGroup
	stop  chan struct{} // closed by Close
	limit socket.ConnLimit

	mu       sync.Mutex
	closed   bool
	conns    map[*conn]bool
	sessions map[string]*session // by path
	foreign  int                 // connections of other users, refused
}

// session is the socket of one agent session.
type session struct {
	Path   string    `json:"path"`
	Label  string    `json:"label"`
	Used   time.Time `json:"used"` // when a client was last connected
	l      *socket.Listener
	active int
}

const (
	keepSession = 24 * time.Hour
	expireEvery = time.Hour
)

// Listen opens the main socket and those of earlier sessions. The error is a
// [*socket.InUseError] if a running process listens on the main socket.
func Listen(q *Queue, opt ListenOptions) (*Listener, error) {
	main, err := socket.Listen(opt.Path)
	if err != nil {
		return nil, err
	}
	l := &Listener{q: q, opt: opt, log: opt.Log, main: main, stop: make(chan struct{}), limit: socket.ConnLimit{Most: opt.Most, MostOfOne: opt.MostOfOne}, conns: map[*conn]bool{}, sessions: map[string]*session{}}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	l.reopen()
	l.sweep()
	l.accept(main, nil)
	recovery.Go("ask sessions", l.expire)
	return l, nil
}

// Path returns the path of the main socket.
func (l *Listener) Path() string { return l.main.Path() }

// accept serves the connections of a socket until that is closed. Close ends them.
func (l *Listener) accept(from *socket.Listener, s *session) {
	l.wg.Add(1)
	recovery.Go("ask socket", func() {
		defer l.wg.Done()
		socket.Serve(context.Background(), from, socket.Serving{
			Name: "ask socket", Limit: &l.limit, Log: l.log, Linger: true,
			Refused: func() { l.mu.Lock(); l.foreign++; l.mu.Unlock() },
			Handle: func(_ context.Context, c *net.UnixConn, who socket.Peer, limit int) {
				l.serve(c, s, who, limit)
			},
		})
	})
}

func (l *Listener) serve(nc *net.UnixConn, s *session, who socket.Peer, limit int) {
	c := &conn{Conn: nc, l: l, via: s, in: &lineReader{r: nc}, limit: limit, peer: peerOf(who.PID)}
	if s != nil {
		c.peer.Session = s.Label
	}
	if !l.enter(c, s, 1) {
		return
	}
	defer l.enter(c, s, -1)
	c.serve()
}

// peerOf returns what the operating system reports about the other end of a connection.
func peerOf(pid int) Peer {
	p := Peer{PID: pid, Machine: socket.Machine(pid)}
	if p.Machine == "" {
		p.Agent, p.Program = socket.AgentOf(pid)
		p.Cwd = socket.Folder(pid)
	}
	return p
}

// enter counts a connection in or out. It reports false if the listener is closed.
func (l *Listener) enter(c *conn, s *session, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 && l.closed {
		return false
	}
	if n > 0 {
		l.conns[c] = true
	} else {
		delete(l.conns, c)
	}
	if s != nil {
		s.active += n
		s.Used = time.Now()
		l.remember()
	}
	return true
}

func (l *Listener) closing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Close closes the listener. Close the queue first, so that each open request is
// answered; this takes at most half a second each.
func (l *Listener) Close() error {
	l.mu.Lock()
	if !l.closed {
		close(l.stop)
	}
	l.closed = true
	sessions := maps.Clone(l.sessions)
	conns := make([]*conn, 0, len(l.conns))
	for c := range l.conns {
		conns = append(conns, c)
	}
	l.mu.Unlock()
	err := l.main.Close()
	for _, s := range sessions {
		err = errors.Join(err, s.l.Close())
	}
	done := make(chan struct{})
	recovery.Go("ask listener close", func() { l.wg.Wait(); close(done) })
	select {
	case <-done:
		return err
	case <-time.After(closeWithin + 100*time.Millisecond):
	}
	for _, c := range conns {
		c.Close()
	}
	<-done
	return err
}

// Restore reopens sockets whose files were deleted, and reports whether there were any.
// Open connections are not affected.
func (l *Listener) Restore() (restored bool, err error) {
	restored, err = l.main.Restore()
	l.mu.Lock()
	sessions := maps.Clone(l.sessions)
	l.mu.Unlock()
	for _, s := range sessions {
		again, e := s.l.Restore()
		restored, err = restored || again, errors.Join(err, e)
	}
	if restored {
		l.mu.Lock()
		l.remember()
		l.mu.Unlock()
	}
	return restored, err
}

// Session opens a socket for an agent session and returns its path. The socket is
// removed a day after its last use.
func (l *Listener) Session(label string) (string, error) {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // crypto/rand never fails: it crashes the program first
	path := filepath.Join(filepath.Dir(l.opt.Path), "s-"+hex.EncodeToString(b)+".sock")
	return path, l.openSession(&session{Path: path, Label: label, Used: time.Now()})
}

// expire removes unused sessions until the listener is closed.
func (l *Listener) expire() {
	t := time.NewTicker(expireEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-l.stop:
			return
		}
		for _, s := range l.takeUnused() {
			if err := s.l.Close(); err != nil {
				l.log.Warn("end an unused session socket", "error", err)
			}
		}
	}
}

// takeUnused forgets the sessions that nobody has used for a day.
func (l *Listener) takeUnused() []*session {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*session
	for path, s := range l.sessions {
		if s.active == 0 && time.Since(s.Used) > keepSession {
			out = append(out, s)
			delete(l.sessions, path)
		}
	}
	if len(out) > 0 {
		l.remember()
	}
	return out
}

func (l *Listener) openSession(s *session) error {
	inner, err := socket.Listen(s.Path)
	if err != nil {
		return fmt.Errorf("open a session socket: %w", err)
	}
	s.l = inner
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errors.Join(ErrShutdown, inner.Close())
	}
	l.sessions[s.Path] = s
	l.remember()
	l.accept(inner, s)
	return nil
}

// remember saves the sessions. The caller holds the lock, which is acceptable since the
// file is small and rarely changes.
func (l *Listener) remember() {
	if l.opt.Sessions == "" {
		return
	}
	list := make([]*session, 0, len(l.sessions))
	for _, s := range l.sessions {
		list = append(list, s)
	}
	b, err := json.Marshal(list)
	if err == nil {
		err = replaceFile(l.opt.Sessions, b)
	}
	if err != nil {
		l.log.Warn("session sockets are not saved", "error", err)
	}
}

// reopen opens the sockets of sessions that were used in the last day.
func (l *Listener) reopen() {
	b, err := file.Read(l.opt.Sessions, maxState)
	if err != nil {
		return
	}
	var list []*session
	if err := json.Unmarshal(b, &list); err != nil {
		l.log.Warn("the list of session sockets is damaged; starting without it", "error", err)
		return
	}
	for _, s := range list {
		if s == nil || filepath.Dir(s.Path) != filepath.Dir(l.opt.Path) || time.Since(s.Used) > keepSession {
			continue
		}
		if err := l.openSession(s); err != nil {
			l.log.Warn("a session socket could not be opened again", "error", err)
		}
	}
}

// sweep removes the sockets of sessions that no process listens on.
func (l *Listener) sweep() {
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(l.opt.Path), "s-*.sock")) // the pattern is good
	for _, p := range paths {
		if l.sessions[p] != nil {
			continue
		}
		c, err := net.Dial("unix", p)
		if err == nil {
			c.Close()
			continue
		}
		if info, e := os.Lstat(p); e == nil && info.Mode().Type() == os.ModeSocket && refused(err) {
			_ = os.Remove(p) // another deck may have been faster
		}
	}
	locks, _ := filepath.Glob(filepath.Join(filepath.Dir(l.opt.Path), "s-*.sock.lock")) // the pattern is good
	for _, p := range locks {
		if _, err := os.Lstat(strings.TrimSuffix(p, ".lock")); errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(p) // names are random: nobody else will lock this
		}
	}
}

func refused(err error) bool { return strings.Contains(err.Error(), "refused") }

// EndSession closes a session's socket for good.
func (l *Listener) EndSession(path string) error {
	l.mu.Lock()
	s := l.sessions[path]
	delete(l.sessions, path)
	l.remember()
	var open []*conn
	for c := range l.conns {
		if s != nil && c.via == s {
			open = append(open, c)
		}
	}
	l.mu.Unlock()
	if s == nil {
		return fmt.Errorf("unknown session socket %s", path)
	}
	for _, c := range open {
		c.Close()
	}
	return s.l.Close()
}
