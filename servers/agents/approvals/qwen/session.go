package qwen

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// process is what Qwen Code's file about one of its processes says.
type process struct {
	PID     int    `json:"pid"`
	ID      string `json:"sessionId"`
	Folder  string `json:"cwd"`
	Started string `json:"procStart"` // "BOOT:TICKS" on Linux
	Began   int64  `json:"startedAt"` // in ms
	Version string `json:"qwenVersion"`
	Kind    string `json:"kind"`
	Name    string `json:"name"` // made of the folder
}

// maxHead is how much of such a file is read, in bytes.
const maxHead = 16 << 10

// readProcess reads the file of a process: up to the members about its own socket, the last
// ones, of which one is a secret that has no business here.
func readProcess(folder string, id int) (p process, ok bool) {
	f, err := file.Open(filepath.Join(folder, "sessions", strconv.Itoa(id)+".json"), os.O_RDONLY)
	if err != nil {
		return p, false
	}
	defer func() { _ = f.Close() }()        // it was only read
	if json.Unmarshal(head(f), &p) != nil { // half of one that is being written
		return p, false
	}
	return p, p.PID == id && p.ID != ""
}

// head reads the members before "ipcPath", a byte at a time: what follows is never in memory.
func head(r io.Reader) (text []byte) {
	const end = `"ipc`
	for one := make([]byte, 1); len(text) < maxHead && !bytes.HasSuffix(text, []byte(end)); {
		if _, err := io.ReadFull(r, one); err != nil {
			return text
		}
		text = append(text, one[0])
	}
	return append(bytes.TrimRight(bytes.TrimSuffix(text, []byte(end)), ", \r\n\t"), '}')
}

// alive reports whether the process still runs.
func (p *process) alive() bool {
	born := p.Started[strings.LastIndexByte(p.Started, ':')+1:]
	if runtime.GOOS != "linux" { // how the file says it elsewhere is not known
		born = ""
	}
	return pid.Same(p.PID, born)
}

// headless reports whether nobody is at the process's terminal.
func (p *process) headless() bool { return p.Kind != "tui" }

// processBehind returns the nearest process above a hook that is Qwen Code.
func (a *Adapter) processBehind(hook int) (process, bool) {
	for _, id := range socket.Ancestors(hook) {
		if p, ok := readProcess(a.opt.Folder, id); ok && a.alive(&p) {
			return p, true
		}
	}
	return process{}, false
}

// Left implements [approvals.Finder].
func (a *Adapter) Left() bool { return len(a.listed()) > 0 }

// listed returns the IDs of the processes that have a file, whether they run or not.
func (a *Adapter) listed() (all []int) {
	entries, _ := os.ReadDir(filepath.Join(a.opt.Folder, "sessions")) // there may be none
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), ".json")
		if id, err := strconv.Atoi(digits); ok && err == nil {
			all = append(all, id)
		}
	}
	return all
}

// Run implements [approvals.Adapter]: it finds sessions of which no hook tells, and notices
// processes that have gone.
func (a *Adapter) Run(ctx context.Context) {
	t := time.NewTicker(lookAround)
	defer t.Stop()
	for {
		a.look()
		select {
		case <-ctx.Done():
			return
		case <-a.kick:
		case <-t.C:
		}
	}
}

// look reports the sessions of the processes that run.
func (a *Adapter) look() {
	running := map[string]bool{}
	a.mu.Lock() // a hook may tell of another session meanwhile, which this one must not replace
	defer a.mu.Unlock()
	for _, id := range a.listed() {
		if !pid.Alive(id) { // one that was killed leaves its file behind
			continue
		}
		p, ok := readProcess(a.opt.Folder, id)
		if !ok || !a.alive(&p) {
			continue
		}
		running[p.ID] = true
		if s := a.sessions[p.ID]; s == nil || s.State != snapshot.Ended { // it has said so, and its process is about to end
			a.opt.Roster.Report(a.session(p).Session)
		}
	}
	for id, s := range a.sessions {
		if !running[id] && !a.alive(&s.process) {
			a.end(s)
			delete(a.sessions, id)
		}
	}
}

// moved reports whether a process goes on with another session by now.
func (a *Adapter) moved(p *process) bool {
	now, ok := readProcess(a.opt.Folder, p.PID)
	return ok && now.ID != p.ID
}

// session returns that of a process, which has one at a time.
func (a *Adapter) session(p process) *session {
	s := a.sessions[p.ID]
	if s == nil {
		for id, o := range a.sessions {
			if o.process.PID == p.PID {
				o.settle(sessionEnded, every)
				delete(a.sessions, id)
				a.opt.Roster.Gone(agent, id)
			}
		}
		s = &session{items: map[*item]bool{}, claimed: map[string]bool{}}
		s.Agent, s.ID, s.Verified, s.State, s.Note = agent, p.ID, true, snapshot.StateUnknown, "no hook has told what it does"
		if state, since := a.doing(&p); state != "" {
			s.State, s.Since, s.Note = state, since, ""
		}
		a.sessions[p.ID] = s
	}
	s.process = p
	s.PID, s.Folder, s.Version, s.Headless, s.Started, s.Handle = p.PID, p.Folder, p.Version, p.headless(), time.UnixMilli(p.Began), p.Name
	return s
}

// end reports that a session is over.
func (a *Adapter) end(s *session) {
	s.settle(sessionEnded, every)
	a.twins.Forget(s.ID)
	s.To(snapshot.Ended)
	s.PID = 0
	a.opt.Roster.Report(s.Session)
}
