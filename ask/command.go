package ask

import (
	"encoding/json"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Listed is an open request as shown by the command line.
type Listed struct {
	ID        int        `json:"id"`
	Asker     string     `json:"asker"`
	Cwd       string     `json:"cwd,omitempty"`
	Verified  bool       `json:"verified"`
	Identity  Identity   `json:"identity"`
	Via       string     `json:"via,omitempty"`
	Machine   string     `json:"machine,omitempty"` // the name of another one, whose deck has the request
	State     State      `json:"state"`
	Absent    Absence    `json:"absent,omitempty"`
	Arrived   time.Time  `json:"arrived"`
	Deadline  *time.Time `json:"deadline,omitempty"`
	Questions []Question `json:"questions"`
	Prompt    *Prompt    `json:"prompt,omitempty"` // if an agent's own program asks
}

// list sends the open requests. A client on another machine or in a container gets only
// the requests from there, since others may contain what must not leave this machine.
func (c *conn) list(m *message) {
	items := []Listed{}
	for _, it := range c.l.q.Pending().Items {
		if elsewhere := c.peer.Machine; elsewhere != "" && it.Request.Peer.Machine != elsewhere {
			continue
		}
		v := Listed{
			ID: it.ID, Asker: it.Request.Client(), Cwd: it.Request.Cwd(), Verified: it.Request.Verified(),
			Identity: it.Request.Identity(), Via: it.Request.Via(), Machine: it.Request.Peer.Host,
			State: it.State, Absent: it.Absent, Arrived: it.Arrived, Questions: it.Request.Questions, Prompt: it.Request.Prompt,
		}
		if !it.Deadline.IsZero() {
			v.Deadline = &it.Deadline
		}
		items = append(items, v)
	}
	_ = c.send(line{ID: m.id, Type: "list", V: 1, Items: items}) // a client that left needs no list
}

// session opens a session socket, or ends the one named.
func (c *conn) session(m *message) {
	var label, end string
	_ = json.Unmarshal(m.fields["label"], &label) // without one the session is just unnamed
	_ = json.Unmarshal(m.fields["end"], &end)     // not a string: none to end
	m.v = true
	if end != "" {
		if c.peer.Machine != "" {
			_ = c.send(m.fail("refused", "only a shell on the deck's own machine may end a session", "", false)) // as below
			return
		}
		if err := c.l.EndSession(end); err != nil {
			_ = c.send(m.failure(invalid("%s", err)))
			return
		}
		_ = c.send(line{ID: m.id, Type: "ok", V: 1}) // ended either way
		return
	}
	path, err := c.l.Session(sanitize.Cut(sanitize.Line(label), maxHeader))
	if err != nil {
		c.l.log.Error("open a session socket", "error", err)
		_ = c.send(m.fail("internal", sanitize.Line(err.Error()), "", false))
		return
	}
	_ = c.send(line{ID: m.id, Type: "session", V: 1, Socket: path}) // unused, it goes after a day
}
