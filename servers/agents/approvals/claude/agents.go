package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// Times of the list that Claude Code's own command prints. A run takes a third of a second
// of a core, and more than a hundred megabytes.
const (
	agentsEvery  = 10 * time.Second
	agentsWithin = 10 * time.Second
)

// ownList runs Claude Code's own list of its sessions. It is told its folder only if the
// user has chosen one: it looks for some of its files elsewhere then.
func ownList(d approvals.Deps) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		var out bytes.Buffer
		err := process.Run(ctx, ownCommand(d, d.Home, "agents", "--json"), process.Streams{Out: &out})
		return out.Bytes(), err
	}
}

// ownCommand is one of Claude Code's own, in a folder.
func ownCommand(d approvals.Deps, dir string, args ...string) process.Command {
	c := process.Command{Program: agent, Args: args, Dir: dir, Own: d.Environ}
	if d.Folder != filepath.Join(d.Home, ".claude") {
		c.Extra = []string{"CLAUDE_CONFIG_DIR=" + d.Folder}
	}
	return c
}

// agents is what "claude agents --json" last printed. The adapter's lock guards it.
type agents struct {
	running bool
	begun   time.Time       // the last run
	read    time.Time       // when the run had begun that all is from
	all     map[int]session // by process
}

// listed returns the session of a process as Claude Code's own command lists it, if its
// status is known. tried is false until the command has ended that was started after a
// time. It is only called while a prompt is open that no session file tells about.
func (a *Adapter) listed(pid int, after time.Time) (s session, ok, tried bool) {
	if a.opt.Agents == nil {
		return session{}, false, true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l := &a.agents
	if now := time.Now(); !l.running && now.Sub(l.begun) >= agentsEvery {
		l.running, l.begun = true, now
		recovery.Go("sessions of Claude Code", a.list)
	}
	s, ok = l.all[pid]
	tried = !l.read.Before(after)
	return s, tried && ok && s.Status != "", tried
}

// list runs the command.
func (a *Adapter) list() {
	ctx, cancel := context.WithTimeout(context.Background(), agentsWithin)
	defer cancel()
	out, err := a.opt.Agents(ctx)
	var all []session
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil {
		a.opt.Log.Info("list Claude Code's sessions", "error", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l := &a.agents
	l.running, l.read, l.all = false, l.begun, map[int]session{}
	for _, s := range all {
		s.Stamp = l.begun.UnixMilli() // it is not said when the status began
		l.all[s.PID] = s
	}
}

// now returns what the item's process does: as its file says, or else, while its terminal
// asks, as Claude Code's own command does. Where neither tells, nothing shows that the
// terminal was answered.
func (it *item) now() (s session, ok bool) {
	s, ok = readSession(it.session.config, it.session.PID)
	if it.held {
		return s, ok
	}
	told, known, tried := s, ok && s.Status != "", true
	if !known && it.session.own {
		told, known, tried = it.a.listed(it.session.PID, it.arrived)
	}
	if tried && it.unwatched == known {
		it.unwatched = !known
		it.Call().Watched(known)
	}
	if known {
		return told, true
	}
	return s, ok
}
