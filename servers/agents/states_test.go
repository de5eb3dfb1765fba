//go:build unix

package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// move is something that happens in a session, and what its row then says.
type move struct {
	does, about string
	row         []string // word, prompt, said, changed; fewer if the rest is empty
}

// script reads what happens in a session, why some of it does not with an agent, and in which
// other word an agent's row says it.
func script(t *testing.T) (moves []move, lacks, words map[string]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/states.txt")
	if err != nil {
		t.Fatal(err)
	}
	lacks, words = map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if fields := strings.Split(line, " | "); len(fields) > 1 {
			does, about, _ := strings.Cut(fields[0], " ")
			moves = append(moves, move{does, about, fields[1:]})
			continue
		}
		who, why, ok := strings.Cut(line, ": ")
		names := strings.Fields(who)
		if !ok || len(names) < 2 {
			t.Fatalf("not understood: %s", line)
		}
		for agent := range strings.SplitSeq(names[0], ",") {
			if len(names) == 4 && names[2] == "says" {
				words[agent+" "+names[1]] = names[3]
				continue
			}
			for _, name := range names[1:] {
				lacks[agent+" "+name] = why
			}
		}
	}
	return moves, lacks, words
}

// says is what the row says after a move in a session that the user may have named.
func (m *move) says(named string) string {
	f := append(slices.Clone(m.row), "", "", "", "")
	if f[0] == "-" {
		return "-"
	}
	name := f[1]
	if named != "" {
		name = named
	}
	return strings.Join([]string{f[0], name, f[1], f[2], f[3]}, " | ")
}

// player plays an agent's program before a deck.
type player interface {
	// session is the ID of its session.
	session() string
	// plays does what a move says, by the program's own files, hooks and lines; not ok: it does
	// not know how.
	plays(does, about string) (ok bool)
}

// stage is a deck with one agent's program.
type stage struct {
	t      *testing.T
	agent  approvals.Agent
	home   string // of the program's own files
	state  string // of the deck
	folder string // in which the session works
	frames func(context.Context, net.Conn) (approvals.Frames, error)
	adapts func(approvals.Deps) approvals.Adapter // nil: as the agent does
	pause  time.Duration                          // after each move, in which the row must stay as it is

	q       *ask.Queue
	roster  *sessions.Roster
	adapter approvals.Adapter
	ctx     context.Context // of the deck
	stop    func()
}

func newStage(t *testing.T, agent string) *stage {
	t.Helper()
	dir, err := os.MkdirTemp("", agent) // short, for the paths of sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &stage{t: t, agent: agents.Of(agent), home: filepath.Join(dir, "home"), state: filepath.Join(dir, "state"), folder: "/src/shop"}
}

// opens starts the deck.
func (s *stage) opens() {
	s.q, s.roster = ask.New(ask.Options{Hold: -1}), &sessions.Roster{}
	adapts := s.adapts
	if adapts == nil {
		adapts = s.agent.New
	}
	s.adapter = adapts(approvals.Deps{
		Queue: s.q, Roster: s.roster, Folder: s.home, Alone: true, Home: "/home/u", Frames: s.frames,
		Rules: func() approvals.Rules { return approvals.Rules{Hold: time.Hour} },
	})
	ctx, cancel := context.WithCancel(s.t.Context())
	count := usage.New(usage.Options{Programs: map[string]usage.Program{s.agent.ID: {Folder: s.home, Format: s.agent.Usage}}, State: s.state})
	over := make(chan struct{}, 2)
	go func() { s.roster.Run(ctx, sessions.Options{Queue: s.q, Usage: count}); over <- struct{}{} }()
	go func() { s.adapter.Run(ctx); over <- struct{}{} }()
	s.ctx, s.stop = ctx, func() {
		cancel()
		<-over
		<-over
		_ = s.q.Close()
	}
}

// row is what the row of a session says.
func (s *stage) row(id string) string {
	row := "-"
	for _, x := range s.roster.Sessions() {
		switch {
		case x.Hidden != "" || x.ID != id && (x.State == snapshot.Ended || x.State == snapshot.Idle): // it may be gone on with
		case x.ID != id:
			return "another row: " + x.ID + " " + x.Word()
		case x.State == snapshot.Idle && x.Name() == snapshot.NoPrompt:
		default:
			row = shown(&x)
		}
	}
	return row
}

func shown(x *snapshot.Session) string {
	r := x.Record
	if r == nil {
		r = &snapshot.Record{}
	}
	word, changed := x.Word(), ""
	if x.Subagents > 0 {
		word += fmt.Sprintf(" +%d", x.Subagents)
	}
	if c := r.Changed; c.Added+c.Removed > 0 {
		changed = fmt.Sprintf("+%d −%d", c.Added, c.Removed)
	}
	return strings.Join([]string{word, x.Name(), r.Prompt, r.Said, changed}, " | ")
}

// first is what waits first.
func (s *stage) first() ask.Item {
	s.t.Helper()
	return testwait.For(s.t, "something to answer", func() []ask.Item { return s.q.Pending().Items }, func(all []ask.Item) bool { return len(all) > 0 })[0]
}

// answers has the user allow or deny in the deck what waits first, or fill in its form.
func (s *stage) answers(how string) {
	s.t.Helper()
	it := s.first()
	r := ask.Result{ID: it.Request.Questions[0].ID, SelectedOptions: []string{}}
	switch how {
	case "allow":
		r.SelectedOptions = []string{"Allow once"}
	case "deny":
		r.SelectedOptions = []string{"Deny"}
	case "fill":
		r.Content = json.RawMessage(`{"colour":"red"}`)
	}
	if err := s.q.Answer(it.ID, []ask.Result{r}); err != nil {
		s.t.Fatal(err)
	}
}

// does does a move, but for what the program does with it.
func (s *stage) does(m *move, p player) bool {
	switch m.does {
	case "look":
		s.roster.MarkRead(s.agent.ID, p.session())
		return true
	case "restart":
		s.stop()
		s.opens()
		_ = p.plays("restart", "") // most need do nothing
		return true
	case "answer":
		s.answers(m.about)
	case "fill":
		s.answers(m.does)
	case "suballow":
		s.answers("allow")
	}
	return p.plays(m.does, m.about)
}

// play plays the script, and reports how long each row took to be right.
func (s *stage) play(p player) {
	t := s.t
	t.Helper()
	moves, lacks, words := script(t)
	right, within, skipped, named := 0, 0, 0, ""
	var slowest time.Duration
	for i, m := range moves {
		if why := lacks[s.agent.ID+" "+m.does]; why != "" {
			t.Logf("%d %s %s: skipped: %s", i+1, m.does, m.about, why)
			skipped++
			continue
		}
		if word := words[s.agent.ID+" "+m.does]; word != "" {
			m.row = append([]string{word}, m.row[1:]...)
		}
		began := time.Now()
		if !s.does(&m, p) {
			t.Fatalf("%d: %s does not know how to %s", i+1, s.agent.ID, m.does)
		}
		testwait.Pass(time.Millisecond) // what it sent is read
		switch m.does {
		case "rename":
			named = m.about
		case "clear":
			named = ""
		}
		want, got := m.says(named), ""
		if !testwait.Holds(func() bool { got = s.row(p.session()); return got == want }) {
			t.Errorf("%d %s %s: the row says\n%s, want\n%s", i+1, m.does, m.about, got, want)
			continue
		}
		right++
		took := time.Since(began).Round(100 * time.Millisecond)
		if s.pause > 0 {
			testwait.Pass(s.pause)
			if now := s.row(p.session()); now != want {
				t.Errorf("%d %s %s: the row says later\n%s, not\n%s", i+1, m.does, m.about, now, want)
			}
		}
		if slowest = max(slowest, took); took <= time.Second {
			within++
		} else {
			t.Logf("%d %s %s: right after %v", i+1, m.does, m.about, took)
		}
	}
	if played := len(moves) - skipped; within < played-1 { // on the clock of a bubble
		t.Errorf("of %d rows, %d are right within a second", played, within)
	}
	t.Logf("%s: %d rows, %d skipped, %d right, %d of them within a second, the slowest after %v", s.agent.ID, len(moves), skipped, right, within, slowest)
}

// inBubble plays the script on the clock of a bubble.
func inBubble(t *testing.T, agent string, enter func(*stage) player) {
	t.Helper()
	for name, pause := range paces {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, agent)
			synctest.Test(t, func(t *testing.T) {
				s.t, s.pause = t, pause
				s.opens()
				s.play(enter(s))
				s.stop()
			})
		})
	}
}

// paces are the pauses between moves.
var paces = map[string]time.Duration{"one at once after the other": 0, "with pauses": 12 * time.Second}

// living starts a process that lives until it is ended.
func living(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.Command("/bin/sh", "-c", "read line")
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip("no process can be started:", err)
	}
	t.Cleanup(func() { ends(c) })
	return c
}

// ends ends a process, which may have ended.
func ends(c *exec.Cmd) {
	_ = c.Process.Kill()
	_ = c.Wait()
}

// connects is a connection from a process to what an adapter serves.
func (s *stage) connects(pid int) *agenttest.Conn {
	return agenttest.Connect(s.ctx, s.adapter.(hook.Handler), pid)
}

// writes adds a line of JSON to a file below the program's own folder.
func (s *stage) writes(name string, line any) {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = agenttest.Append(path, line)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// puts replaces such a file.
func (s *stage) puts(name string, v any) {
	s.t.Helper()
	_ = os.Remove(filepath.Join(s.home, name)) // it may not be there
	s.writes(name, v)
}

// fires runs a hook of a process for an event. The connection ends it.
func (s *stage) fires(pid int, payload object) *agenttest.Conn {
	c := s.connects(pid)
	go fmt.Fprintf(c, `{"v":1,"hello":%q,"mode":"hook","program":"/m"}`+"\n"+`{"event":"hook","payload":%s}`+"\n", s.agent.ID, encoded(payload))
	return c
}

// sees waits until the row of a program's session says a word.
func (s *stage) sees(p player, word string) {
	s.t.Helper()
	testwait.Until(s.t, word, func() bool { return strings.HasPrefix(s.row(p.session()), word) })
}

// form is a schema with one field.
var form = json.RawMessage(`{"type":"object","properties":{"colour":{"type":"string","enum":["red","blue"]}},"required":["colour"]}`)

// awaits waits until the deck has written a line with some text.
func (s *stage) awaits(c *agenttest.Conn, text string) {
	s.t.Helper()
	for line := range c.Lines {
		if strings.Contains(line, text) {
			return
		}
	}
	s.t.Fatalf("the deck hung up before %s", text)
}

// encoded is a value of ours as JSON, which it always can be.
func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }

type object = map[string]any
