package claude

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// maxSession is the longest session file that is read, in bytes.
const maxSession = 64 << 10

// fileOf is the name of the file about a process.
func fileOf(pid int) string { return strconv.Itoa(pid) + ".json" }

// session is what Claude Code's file about one of its processes says. The file is written
// in place: a reader may find half of it.
type session struct {
	PID     int    `json:"pid"`
	ID      string `json:"sessionId"`
	Folder  string `json:"cwd"`
	Started string `json:"procStart"` // of the process, as the system counts
	Began   int64  `json:"startedAt"` // of the process, in ms
	Domain  string `json:"pidDomain"` // of process ids
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Job     string `json:"jobId"`       // of a session in the background
	Spare   bool   `json:"spare"`       // it waits for a task
	Parked  string `json:"parkedJobId"` // of the session that the terminal shows in place of its own
	Agent   any    `json:"agent"`       // what the session was started for
	Entry   string `json:"entrypoint"`
	Name    string `json:"name"`
	Source  string `json:"nameSource"`
	Tmux    string `json:"tmux"` // "SESSION:@WINDOW.%PANE"
	Status  string `json:"status"`
	Waits   string `json:"waitingFor"`
	Stamp   int64  `json:"statusUpdatedAt"` // of Status, in ms

	config string // folder of Claude Code's files
	own    bool   // config is the one that the deck knows
}

// readSession reads the file of a process. A file that is being written is read again, a
// few times.
func readSession(config string, pid int) (session, bool) {
	const tries, wait = 5, 20 * time.Millisecond
	path := filepath.Join(config, "sessions", fileOf(pid))
	for i := range tries {
		if i > 0 {
			time.Sleep(wait)
		}
		b, err := file.Read(path, maxSession)
		if err != nil {
			return session{}, false
		}
		s := session{config: config}
		if json.Unmarshal(b, &s) == nil {
			return s, s.PID == pid && s.ID != ""
		}
	}
	return session{}, false
}

// alive reports whether the process that the file is about still runs.
func (s *session) alive() bool {
	born := s.Started
	if runtime.GOOS != "linux" { // how the file says it elsewhere is not known
		born = ""
	}
	return pid.Same(s.PID, born)
}

// identify returns the session of the process behind a connection: the nearest of its
// ancestors that is a living Claude Code process with this session.
func (a *Adapter) identify(c *hook.Conn, id string) (session, bool) {
	config, own := a.folderOf(c)
	if config, err := filepath.EvalSymlinks(config); err == nil {
		for _, pid := range socket.Ancestors(c.PID) {
			s, ok := readSession(config, pid)
			if !ok || !s.alive() {
				continue
			}
			s.own = own
			return s, s.ID == id && id != ""
		}
	}
	return session{}, false
}

// headless reports whether nobody is there to answer in the session's terminal. One in the
// background is not attended, and waits for who opens it.
func (s *session) headless(c *hook.Conn) bool {
	return c.Hello.Env["CLAUDE_CODE_SESSION_ATTENDED"] == "0" && s.Job == "" || unattended(c.Hello.Env["CLAUDE_CODE_ENTRYPOINT"]) || unattended(s.Entry)
}

func unattended(entry string) bool { return strings.HasPrefix(entry, "sdk") }

// silent reports whether the program does not say which session in the background its
// terminal shows: 2.1.330 does, 2.1.197 does not.
func (s *session) silent() bool {
	var major, minor, patch int
	n, _ := fmt.Sscanf(s.Version, "%d.%d.%d", &major, &minor, &patch)
	return n == 3 && major == 2 && minor == 1 && patch < 330
}

// row is the session as the list of all sessions has it.
func (s *session) row(open []*item) snapshot.Session {
	r := snapshot.Session{
		Agent: agent, ID: s.ID, Version: s.Version, PID: s.PID, Folder: s.Folder,
		Headless: unattended(s.Entry), Verified: true, Detached: s.Job != "", Silent: s.silent(), Door: s.door(),
	}
	switch {
	case s.Source == "user":
		r.Title, r.Named = s.Name, true
	case s.Source == "auto", s.Source == "" && s.Job != "" && s.Name != s.Job: // made of the conversation, of which one that went to the background has no record of its own yet
		r.Title = s.Name
	default: // "derived", "collision": made of the folder
		r.Handle = s.Name
	}
	r.State, r.WaitingFor, r.Note = stateOf(s.Status, s.Waits)
	if s.Stamp > 0 {
		r.Since = time.UnixMilli(s.Stamp)
	}
	if s.Began > 0 {
		r.Started = time.UnixMilli(s.Began)
	}
	if pane := s.Tmux[strings.LastIndexByte(s.Tmux, '.')+1:]; isPane(pane) {
		r.Place.TmuxPane = pane
	}
	asks := map[string]bool{} // sub-agents; of the others the session's conversation tells
	for _, it := range open { // a session with an open prompt waits, whatever its file says
		state, waits := snapshot.WaitsForPermission, "permission to use "+it.Request.Prompt.Tool
		switch it.Request.Prompt.Kind {
		case ask.OwnQuestion, ask.ServerForm:
			state, waits = snapshot.WaitsForAnswer, "an answer"
		case ask.Plan:
			waits = "a decision on its plan"
		case ask.Permission:
		}
		if !r.State.Waits() || it.arrived.Before(r.Since) {
			r.Since = it.arrived
		}
		r.State, r.WaitingFor, r.Mode = state, waits, it.Request.Prompt.Mode
		if it.agent != "" {
			asks[it.agent] = true
		}
	}
	r.Subagents = len(asks)
	return r
}

func stateOf(status, waits string) (state snapshot.SessionState, what, note string) {
	switch status {
	case "busy":
		return snapshot.Working, "", ""
	case "idle":
		return snapshot.Idle, "", ""
	case "shell":
		return snapshot.Background, "", ""
	case "waiting":
		switch waits {
		case "permission prompt":
			return snapshot.WaitsForPermission, waits, ""
		case "input needed":
			return snapshot.WaitsForAnswer, waits, ""
		}
		return snapshot.Waiting, waits, ""
	case "":
		return snapshot.StateUnknown, "", "this version of Claude Code does not say what it does"
	}
	return snapshot.StateUnknown, "", "unknown status " + strconv.Quote(status)
}

// isPane reports whether a word names a pane of tmux.
func isPane(s string) bool {
	if len(s) < 2 || s[0] != '%' {
		return false
	}
	_, err := strconv.ParseUint(s[1:], 10, 32)
	return err == nil
}
