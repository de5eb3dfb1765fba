package sessions

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// open is an item of the queue: what somebody waits for.
type open struct {
	key   key    // of the session, if its program asks
	conn  string // ID of the connection, if an agent asks over one
	state snapshot.SessionState
	what  string
	since time.Time
	asker snapshot.Session // what the item says of the session
}

// openOf returns what waits among the items of a queue.
func openOf(s *ask.Snapshot) []open {
	var out []open
	for i := range s.Items {
		it := &s.Items[i]
		if !it.Waits() {
			continue
		}
		o := open{state: snapshot.WaitsForAnswer, since: it.Arrived, conn: it.Request.Peer.Key}
		if qs := it.Request.Questions; len(qs) > 0 {
			o.what = qs[0].Question
		}
		if p := it.Request.Prompt; p != nil {
			o.key, o.conn = key{p.Agent, p.Session}, ""
			peer := &it.Request.Peer
			o.asker = snapshot.Session{
				Agent: p.Agent, ID: p.Session, PID: peer.Agent, State: snapshot.StateUnknown, Mode: p.Mode, Folder: peer.Cwd, Verified: it.Request.Verified(),
			}
			if p.Kind == ask.Permission {
				o.state = snapshot.WaitsForPermission
				o.what = strings.TrimSpace(p.Tool + " " + cmp.Or(p.Command, p.Path, p.Words))
			}
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b open) int { return a.since.Compare(b.since) })
	return out
}

// merge makes the list.
type merge struct {
	out []snapshot.Session
	at  map[key]int
}

func (m *merge) add(s snapshot.Session) int {
	m.at[key{s.Agent, s.ID}] = len(m.out)
	m.out = append(m.out, s)
	return len(m.out) - 1
}

// ask adds the sessions that have something open and that no adapter has reported.
func (m *merge) ask(items []open) {
	for i := range items {
		o := &items[i]
		if _, told := m.at[o.key]; o.key.id != "" && !told {
			m.add(o.asker)
		}
	}
}

// Why what is there has no row: a row is a conversation.
const (
	bareConnection = "a connection without a conversation that is known"
	bareProcess    = "a process without a conversation that is known"
)

// connect gives connections to the deck to their sessions. Those of programs without one
// are sessions themselves.
func (m *merge) connect(conns []snapshot.Agent) {
	reported := len(m.out)
	for i := range conns {
		a := &conns[i]
		agent := a.Name()
		at := m.shown(m.sessionOf(a, agent, reported))
		if at < 0 {
			at = m.add(snapshot.Session{
				Agent: agent, ID: a.Agent, Version: a.ClientVersion, PID: a.PID, Folder: a.Folder(), Title: a.Name(),
				State: snapshot.StateUnknown, Since: a.Since, Note: "connected", Verified: a.PID > 0, Hidden: bareConnection,
			})
		}
		s := &m.out[at]
		s.Connection = cmp.Or(s.Connection, a.Agent)
		m.at[key{"", a.Agent}] = at
		if at < reported && s.State != snapshot.StateUnknown {
			continue
		}
		s.LastTool = cmp.Or(a.LastTool, s.LastTool)
		if len(a.InFlight) > 0 { // all that is known is what it calls here
			s.State, s.LastTool = snapshot.Working, a.InFlight[0]
			s.Since = a.LastCall
		}
		if a.Waiting {
			s.State, s.Since = snapshot.WaitsForAnswer, a.LastCall
		}
	}
}

// shown is the session whose row stands for one: for that of a terminal that shows another
// one, which has its process.
func (m *merge) shown(at int) int {
	if at < 0 || at >= len(m.out) || m.out[at].Hidden == "" || m.out[at].PID == 0 {
		return at
	}
	s := &m.out[at]
	for i := range m.out {
		if o := &m.out[i]; o.Hidden == "" && o.Agent == s.Agent && o.PID == s.PID && o.State != snapshot.Ended {
			return i
		}
	}
	return at
}

// sessionOf finds the session of a connection: the one that its environment names, else
// the one of its process, of several the one in its folder, else, if the process of one of
// them is unknown, the one in its folder; -1 if there is none. Of programs without a
// session, the connections of one process are one.
func (m *merge) sessionOf(a *snapshot.Agent, agent string, reported int) int {
	if c, ok := clients.Find(agent); ok {
		for _, name := range c.Variables {
			if at, ok := m.at[key{agent, a.Hints[name]}]; ok {
				return at
			}
		}
	}
	process, folder := -1, -1
	for i := range m.out {
		s := &m.out[i]
		here := s.Folder == a.Folder()
		switch {
		case s.Agent != agent || s.State == snapshot.Ended:
		case a.PID > 0 && s.PID == a.PID:
			if here {
				return i
			}
			if process < 0 && i < reported {
				process = i
			}
		case (a.PID <= 0 || s.PID <= 0) && here && s.Folder != "" && folder < 0 && i < reported:
			folder = i
		}
	}
	if process >= 0 {
		return process
	}
	return folder
}

// wait makes the sessions wait that have something open, whatever else is known of them:
// for the oldest of it.
func (m *merge) wait(items []open) {
	did := map[int]bool{}
	for _, o := range items {
		k := o.key
		if o.conn != "" {
			k = key{"", o.conn}
		}
		at, ok := m.at[k]
		if at = m.shown(at); !ok || did[at] { // not ok: it comes from no session
			continue
		}
		did[at] = true
		s := &m.out[at]
		s.State, s.Since, s.WaitingFor, s.Unread = o.state, o.since, o.what, false
	}
}

// unreported adds programs that run and of which nothing else is known.
func (m *merge) unreported(found []process.Running) {
	for _, p := range found {
		agent, _ := agentBehind(p)
		if slices.ContainsFunc(m.out, func(s snapshot.Session) bool {
			return s.Agent == agent && (s.PID == p.PID || s.PID == p.Parent) && s.State != snapshot.Ended
		}) {
			continue
		}
		m.add(snapshot.Session{Agent: agent, ID: "process " + strconv.Itoa(p.PID), PID: p.PID, Folder: socket.Folder(p.PID), State: snapshot.StateUnknown, Note: "not set up", Verified: true, Hidden: bareProcess})
	}
}

// agentBehind returns the agent whose program a process is, of those whose sessions nothing
// but the program itself tells.
func agentBehind(p process.Running) (agent string, ok bool) {
	names := []string{p.Name}
	switch p.Name {
	case "node", "bun", "MainThread":
		names = append(names, socket.Program(p.PID))
	}
	for _, name := range names {
		if c, ok := clients.Find(name); ok && c.Silent && slices.Contains(c.Programs, name) {
			return c.ID, true
		}
	}
	return "", false
}
