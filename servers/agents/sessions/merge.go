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
	word  string
	since time.Time
	lacks string           // how the item is not as the deck reads such ones
	asker snapshot.Session // what the item says of the session
}

// openOf returns what waits among the items of a queue.
func openOf(s *ask.Snapshot) []open {
	var out []open
	for i := range s.Items {
		it := &s.Items[i]
		if !it.Waits() || it.Request.Peer.Host != "" {
			continue
		}
		o := open{state: snapshot.WaitsForAnswer, word: it.Request.WaitsFor(), since: it.Arrived, conn: it.Request.Peer.Key}
		if qs := it.Request.Questions; len(qs) > 0 {
			o.what = qs[0].Question
		}
		if p := it.Request.Prompt; p != nil {
			o.key, o.conn = key{p.Agent, p.Session}, ""
			peer := &it.Request.Peer
			o.asker = snapshot.Session{
				Agent: p.Agent, ID: p.Session, PID: peer.Agent, State: snapshot.StateUnknown, Mode: p.Mode, Folder: peer.Cwd, Verified: it.Request.Verified(),
			}
			if o.lacks = p.Misread; p.Kind == ask.Permission {
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

// movesWithin is how long a session that goes to the background may take to begin there.
const movesWithin = 30 * time.Second

// Why what is there has no row: a row is a conversation.
const (
	neverAsked     = "it has ended, and nothing was asked in it"
	bareConnection = "a connection without a conversation that is known"
	bareProcess    = "a process without a conversation that is known"
	inBackground   = "its conversation goes on in the background"
)

// park hides the sessions that go on in a detached one, which is then where they were and
// has what is recorded of them until it has a record of its own.
func (m *merge) park() {
	for i := range m.out {
		o := &m.out[i]
		if !o.Detached || o.Hidden != "" || o.State == snapshot.Ended {
			continue
		}
		at := slices.IndexFunc(m.out, func(s snapshot.Session) bool { return goesOn(&s, o) })
		if at < 0 {
			continue
		}
		s := &m.out[at]
		s.Hidden = inBackground
		if s.State != snapshot.Ended {
			o.PID, o.Place = s.PID, s.Place
		}
		o.Record = cmp.Or(o.Record, s.Record)
	}
}

// goesOn reports whether all of a session is in a detached one, and nothing happens in it:
// it has ended, or it rests and its program would not say that its terminal shows the other.
// Before the other has a record of its own, it is named after the last prompt of the session that
// ended when it began, or that rests as it does.
func goesOn(s, o *snapshot.Session) bool {
	if s.Agent != o.Agent || s.Folder != o.Folder || s.Detached || s.Hidden != "" {
		return false
	}
	named := o.Record == nil && s.Record != nil && o.Title != "" && strings.HasPrefix(s.Record.Prompt, strings.TrimSuffix(o.Title, "…"))
	if s.State != snapshot.Ended {
		return s.Silent && s.State == snapshot.Idle && o.Started.After(s.Since) && (o.Shared.All == s.ID || named && o.State == snapshot.Idle)
	}
	return o.Shared.All == s.ID || named && o.Started.Sub(s.Since).Abs() < movesWithin
}

// connect gives connections to the deck to their sessions. Those of programs without one
// are sessions themselves.
func (m *merge) connect(conns []snapshot.Agent) {
	reported := len(m.out)
	conns = slices.Clone(conns)
	slices.SortStableFunc(conns, func(a, b snapshot.Agent) int { return cmp.Compare(b.Session, "") - cmp.Compare(a.Session, "") })
	for i := range conns { // those that name their session first: it is none of another's
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

// sessionOf finds the session of a connection: the one that its calls or its environment
// name, else the one of its process, of several the one in its folder, of those one that has
// no connection yet, else, if the process of one of them is unknown, the one in its folder; -1
// if there is none. Of programs without a session, the connections of one process are one.
func (m *merge) sessionOf(a *snapshot.Agent, agent string, reported int) int {
	if at, ok := m.at[key{agent, a.Session}]; ok {
		return at
	}
	if c, ok := clients.Find(agent); ok {
		for _, name := range c.Variables {
			if at, ok := m.at[key{agent, a.Hints[name]}]; ok {
				return at
			}
		}
	}
	taken, process, folder := -1, -1, -1
	for i := range m.out {
		s := &m.out[i]
		here := s.Folder == a.Folder()
		switch {
		case s.Agent != agent || s.State == snapshot.Ended:
		case a.PID > 0 && s.PID == a.PID:
			if here && s.Connection == "" {
				return i
			}
			if taken < 0 && here {
				taken = i
			}
			if process < 0 && i < reported {
				process = i
			}
		case (a.PID <= 0 || s.PID <= 0) && here && s.Folder != "" && folder < 0 && i < reported:
			folder = i
		}
	}
	for _, at := range []int{taken, process} {
		if at >= 0 {
			return at
		}
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
		s.State, s.Since, s.WaitingFor, s.Asks, s.Unread = o.state, o.since, o.what, o.word, false
		if c, _ := clients.Find(s.Agent); o.lacks != "" {
			s.Note = strings.TrimSpace(cmp.Or(c.Title, s.Agent)+" "+s.Version) + ": " + snapshot.NotUnderstood + " (" + o.lacks + ")"
		}
	}
}

// unreported adds programs that run and of which nothing else is known.
func (m *merge) unreported(found []process.Running) {
	for _, p := range found {
		agent, _ := agentBehind(p)
		note := "not set up"
		if c, _ := clients.Find(agent); c.Prompts == nil {
			note = "only its process is known"
		}
		if slices.ContainsFunc(m.out, func(s snapshot.Session) bool {
			return s.Agent == agent && (s.PID == p.PID || s.PID == p.Parent) && s.State != snapshot.Ended
		}) {
			continue
		}
		m.add(snapshot.Session{Agent: agent, ID: "process " + strconv.Itoa(p.PID), PID: p.PID, Folder: socket.Folder(p.PID), State: snapshot.StateUnknown, Note: note, Verified: true, Hidden: bareProcess})
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
	all := clients.All()
	i := slices.IndexFunc(all, func(c clients.Client) bool {
		return c.Silent && slices.ContainsFunc(names, func(name string) bool { return slices.Contains(c.Programs, name) })
	})
	if i < 0 {
		return "", false
	}
	return all[i].ID, true
}
