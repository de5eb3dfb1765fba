package acp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Limits of what is kept of a session.
const (
	mostTalks = 200      // sessions
	mostCalls = 64       // of tools, in a session
	mostSaid  = 8 << 10  // bytes of a prompt or a message
	mostShown = 64 << 10 // bytes of a call of a tool
)

// talk is what is known of a session.
type talk struct {
	state
	prompt, said said
	message      strings.Builder // that the agent is sending
	loading      bool            // what is sent was said before, and is told when all of it is there
	calls        []call          // the newest last
}

// call is what was said of a call of a tool.
type call struct {
	id     string
	of     rawjson.Object
	status string // that was last told
}

// ahead is a request of the editor that the agent has not answered.
type ahead struct {
	method, session, folder string
}

// take looks at a note.
func (m *mirror) take(n *note) {
	switch {
	case n.settled != nil:
		m.over(n.settled)
	case n.editor:
		m.takeEditor(n.line)
	default:
		m.takeAgent(n)
	}
}

func (m *mirror) takeEditor(line []byte) {
	if !bytes.Contains(line, []byte(`"initialize"`)) && !bytes.Contains(line, []byte(`session/`)) {
		return
	}
	in, ok := decode(line)
	if !ok || in.ID == nil {
		return
	}
	var p struct {
		Session string `json:"sessionId"`
		Cwd     string
		Client  struct{ Title, Name string } `json:"clientInfo"`
		Prompt  []struct{ Text, Name string }
	}
	if json.Unmarshal(in.Params, &p) != nil {
		return
	}
	a := ahead{in.Method, p.Session, p.Cwd}
	switch in.Method {
	case "initialize":
		m.about.Editor = p.Client.Name
	case "session/new", "session/resume":
	case "session/load":
		if t := m.talk(p.Session); t != nil {
			t.loading, t.Folder = true, p.Cwd
		}
	case "session/prompt":
		t := m.talk(p.Session)
		if t == nil {
			return
		}
		var text []string
		for _, part := range p.Prompt {
			if part.Text != "" {
				text = append(text, part.Text)
			}
		}
		t.loading = false
		m.prompted(t, strings.Join(text, "\n"))
		m.works(t, true)
	default:
		return
	}
	m.calls[string(in.ID)] = a
}

// talk returns a session; nil: there are too many, or it is none.
func (m *mirror) talk(id string) *talk {
	const mostID = 256
	if id == "" || len(id) > mostID {
		return nil
	}
	if m.talks[id] == nil && len(m.talks) < mostTalks {
		m.talks[id] = &talk{state: state{ID: id, Folder: m.folder, Since: now()}}
	}
	return m.talks[id]
}

func now() int64 { return time.Now().UnixMilli() }

func (m *mirror) works(t *talk, is bool) {
	if t.Working != is {
		t.Working, t.Since = is, now()
	}
	m.say(eventSession, t.state)
}

func (m *mirror) prompted(t *talk, text string) {
	if text == "" {
		return
	}
	t.prompt = said{Session: t.ID, At: now(), Prompt: text[:min(len(text), mostSaid)]}
	m.sayOf(t, t.prompt)
}

// sayOf reports what was said in a session.
func (m *mirror) sayOf(t *talk, s said) {
	if !t.loading {
		m.say(eventSaid, s)
	}
}

func (m *mirror) takeAgent(n *note) {
	switch {
	case n.request != nil:
	case bytes.Contains(n.line, []byte("session/update")):
	case len(m.calls) == 0:
		return
	}
	in, ok := decode(n.line)
	switch {
	case !ok:
	case n.request != nil:
		m.asks(n.request, in)
	case in.Method == "session/update":
		m.update(in.Params)
	case in.Method == "" && in.ID != nil:
		a, ours := m.calls[string(in.ID)]
		if delete(m.calls, string(in.ID)); ours {
			m.replied(a, in)
		}
	}
}

// replied notes the agent's answer to the editor.
func (m *mirror) replied(a ahead, in rpc.Message) {
	var r struct {
		Agent   struct{ Name, Version string } `json:"agentInfo"`
		Session string                         `json:"sessionId"`
		Modes   struct {
			Current string `json:"currentModeId"`
		}
		Models struct {
			Current string `json:"currentModelId"`
		}
	}
	if in.Result != nil && json.Unmarshal(in.Result, &r) != nil {
		return
	}
	if a.method == "initialize" {
		m.about.Name, m.about.Version = r.Agent.Name, r.Agent.Version
		m.say(eventAgent, m.about)
		return
	}
	a.session = cmp.Or(a.session, r.Session)
	if in.Result == nil && a.method != "session/prompt" { // there is no such session
		if t := m.talks[a.session]; t != nil && t.loading {
			delete(m.talks, a.session)
		}
		return
	}
	t := m.talk(a.session)
	if t == nil {
		return
	}
	m.spoken(t)
	loaded := t.loading
	t.loading = false
	if a.method == "session/prompt" {
		m.works(t, false)
		return
	}
	if a.folder != "" {
		t.Folder = a.folder
	}
	t.Mode, t.Model = r.Modes.Current, r.Models.Current
	if loaded {
		m.tell(t)
		return
	}
	m.works(t, t.Working)
}

// update notes what the agent says of a session.
func (m *mirror) update(params json.RawMessage) {
	var p struct {
		Session string `json:"sessionId"`
		Update  json.RawMessage
	}
	var u struct {
		Kind    string          `json:"sessionUpdate"`
		Content json.RawMessage // one, or of a call of a tool many
		Title   *string
		Mode    string `json:"currentModeId"`
		Used    int64
		Size    int64
		Cost    *struct {
			Amount   float64
			Currency string
		}
	}
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p.Update, &u) != nil {
		return
	}
	t := m.talk(p.Session)
	if t == nil {
		return
	}
	text := func() string {
		var c struct{ Text string }
		_ = json.Unmarshal(u.Content, &c) // what is no text is none
		return c.Text
	}
	switch u.Kind {
	case "agent_message_chunk":
		if part := text(); t.message.Len() < mostSaid {
			t.message.WriteString(part[:min(len(part), mostSaid)])
		}
		return
	case "user_message_chunk":
		m.spoken(t)
		if t.loading { // else the editor has sent it
			m.prompted(t, text())
		}
		return
	case "tool_call", "tool_call_update":
		m.spoken(t)
		m.called(t, p.Update)
		return
	case "session_info_update":
		if u.Title != nil {
			t.Title = *u.Title
		}
	case "current_mode_update":
		t.Mode = u.Mode
	case "usage_update":
		t.Used, t.Size = u.Used, u.Size
		if u.Cost != nil && u.Cost.Currency == "USD" {
			t.Cost = &u.Cost.Amount
		}
	default:
		return
	}
	m.works(t, t.Working)
}

// spoken notes that a message of the agent has ended.
func (m *mirror) spoken(t *talk) {
	text := strings.TrimSpace(t.message.String())
	t.message.Reset()
	if text != "" {
		t.said = said{Session: t.ID, At: now(), Said: text}
		m.sayOf(t, t.said)
	}
}

// called takes in what is said of a call of a tool, and tells when it gets on.
func (m *mirror) called(t *talk, raw json.RawMessage) {
	c := t.merge(raw)
	if c == nil || t.loading {
		return
	}
	status := c.of.Str("status")
	if status == c.status && status != "" {
		return
	}
	c.status = status
	shown := c.of
	if len(shown.JSON()) > mostShown {
		shown = shown.Without("content", "rawInput")
	}
	m.say(eventTool, called{Session: t.ID, At: now(), Call: shown.JSON()})
}

// merge adds what is said of a call of a tool to what was said before.
func (t *talk) merge(raw json.RawMessage) *call {
	o, err := rawjson.SplitObject(raw)
	id := o.Str("toolCallId")
	if err != nil || id == "" {
		return nil
	}
	i := slices.IndexFunc(t.calls, func(c call) bool { return c.id == id })
	if i < 0 {
		if len(t.calls) == mostCalls {
			t.calls = slices.Delete(t.calls, 0, 1)
		}
		i, t.calls = len(t.calls), append(t.calls, call{id: id})
	}
	c := &t.calls[i]
	for _, part := range o.Only("toolCallId", "name", "title", "kind", "status", "content", "locations", "rawInput") {
		if string(part.Value) != "null" {
			c.of = c.of.With(part.Key, part.Value)
		}
	}
	return c
}

// asks mirrors a request of the agent, unless it is settled already.
func (m *mirror) asks(r *request, in rpc.Message) {
	o, err := rawjson.SplitObject(in.Params)
	if err != nil || !r.isOpen() {
		return
	}
	a := asked{ID: r.id, Session: o.Str("sessionId"), Method: in.Method}
	if a.Session == "" && len(m.talks) == 1 { // asked outside of a session
		for id := range m.talks {
			a.Session = id
		}
	}
	t := m.talk(a.Session)
	if t == nil {
		return
	}
	m.spoken(t)
	if raw := o.Some("toolCall"); raw != nil {
		c := t.merge(raw)
		if c == nil {
			return
		}
		o = o.With("toolCall", c.of.JSON())
	}
	a.Params = o.JSON()
	m.open = append(m.open, a)
	if !m.say(eventAsked, a) {
		a.Large, a.Params = true, o.Only("options").JSON()
		m.open[len(m.open)-1] = a
		m.say(eventAsked, a)
	}
}

// over notes that a request is settled.
func (m *mirror) over(s *settled) {
	before := len(m.open)
	m.open = slices.DeleteFunc(m.open, func(a asked) bool { return string(a.ID) == string(s.ID) })
	if len(m.open) < before {
		m.say(eventSettled, *s)
	}
}
