// Package plain is the deck without a screen: it prints one line per event, and
// questions are answered by number. It is for screen readers, logs and terminals
// that support nothing else, so it writes ASCII lines and never rewrites one.
package plain

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	text "github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Deck is what is told of.
type Deck interface {
	Snapshot() *snapshot.Snapshot
	Subscribe() (hint <-chan struct{}, cancel func())
	Calls(since uint64) ([]snapshot.Call, uint64)
}

// Questions is where the questions wait; *ask.Queue is one.
type Questions interface {
	Pending() *ask.Snapshot
	Hints() (<-chan struct{}, func())
	Answer(id int, results []ask.Result) error
	Decline(id int, reason string) error
	Snooze(id int, d time.Duration) error // 0: as long as is configured
}

// Options are what Run needs. Without Questions none are asked; without In none
// can be answered.
type Options struct {
	Deck      Deck
	Questions Questions
	In        io.Reader
	Out       io.Writer
	Bell      func() // rings for a question; nil: nothing rings
	Watch     bool   // nothing can be answered
	// Says brings lines to write among the events, each after what has happened before;
	// nil: none.
	Says <-chan Word
}

// Word is a line that somebody else has written.
type Word struct {
	Text    string
	Printed chan<- struct{} // is closed once it is
}

const (
	// every is the least time between two looks at what is new.
	every = 100 * time.Millisecond
	// most is how many calls are told of at once; the rest is a number.
	most = 200
	// lineMost is how long a typed line may be.
	lineMost = 1 << 20
)

// Run writes what happens until ctx ends or the user types /quit. It returns
// context.Cause(ctx) or nil, or why it cannot write.
func Run(ctx context.Context, o Options) error {
	hint, cancel := o.Deck.Subscribe()
	defer cancel()
	var asked <-chan struct{}
	if o.Questions != nil {
		var stop func()
		asked, stop = o.Questions.Hints()
		defer stop()
	}
	lines := make(chan string)
	if o.In != nil {
		recovery.Go("plain input", func() { read(ctx, o.In, lines) })
	}
	t := &teller{opts: o, out: o.Out, agents: map[string]bool{}, states: map[string]string{}, told: map[int]bool{}}
	t.start()
	t.look()
	for t.err == nil && !t.quit {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-hint:
			t.look()
			_ = process.Pause(ctx, every) // the loop sees that it ended
		case <-asked:
			t.questions()
		case s := <-o.Says:
			t.look()
			t.say("%s", s.Text)
			close(s.Printed)
		case l := <-lines:
			t.line(l)
		}
	}
	return t.err
}

func read(ctx context.Context, in io.Reader, lines chan<- string) {
	s := bufio.NewScanner(in)
	s.Buffer(nil, lineMost)
	for s.Scan() {
		select {
		case lines <- s.Text():
		case <-ctx.Done():
			return
		}
	}
}

// teller writes what differs from what it has told.
type teller struct {
	opts Options
	out  io.Writer
	err  error
	quit bool

	agents map[string]bool
	states map[string]string // the line that told of a server last
	warned uint64            // the last warning that was told
	since  uint64

	told    map[int]bool // requests
	current *open
}

// say writes one line.
func (t *teller) say(format string, args ...any) {
	if t.err != nil {
		return
	}
	if _, err := fmt.Fprintln(t.out, text.Line(fmt.Sprintf(format, args...))); err != nil {
		t.err = fmt.Errorf("write a line: %w", err)
	}
}

func (t *teller) start() {
	s := t.opts.Deck.Snapshot()
	t.say("mcpdeck is running. Type /help for the commands.")
	if s.Endpoints.Socket != "" {
		t.say("socket: %s", s.Endpoints.Socket)
	}
	switch {
	case s.Endpoints.HTTP != "":
		t.say("http: %s", s.Endpoints.HTTP)
	case s.Endpoints.HTTPNote != "":
		t.say("http: %s", s.Endpoints.HTTPNote)
	}
}

// look tells what the deck has new.
func (t *teller) look() {
	s := t.opts.Deck.Snapshot()
	for _, w := range s.WarningsAfter(t.warned) {
		t.say("%s warning, %s: %s", stamp(w.Time), w.From, w.Text)
		t.warned = w.ID
	}
	for _, m := range s.Servers {
		line := strings.TrimRight(fmt.Sprintf("server %s: %s, %s. %s", m.Title, cmp.Or(m.Missing(), string(m.State.Status)), humanize.Count(m.Tools, "tool"), m.State.Reason), " ")
		if t.states[m.Name] != line {
			t.states[m.Name] = line
			t.say("%s", line)
		}
	}
	t.who(s)
	t.calls()
	t.questions()
}

func (t *teller) who(s *snapshot.Snapshot) {
	here := map[string]bool{}
	for _, a := range s.Agents {
		if !a.Gone.IsZero() || a.Client == "" && !t.agents[a.Agent] { // gone, or it has not said yet who it is
			continue
		}
		here[a.Agent] = true
		if !t.agents[a.Agent] {
			t.say("%s agent %s connected, folder %s", stamp(a.Since), a.Name(), a.Folder())
		}
	}
	for _, a := range s.Agents {
		if t.agents[a.Agent] && !here[a.Agent] {
			t.say("%s agent %s left", stamp(a.Gone), a.Name())
		}
	}
	t.agents = here
}

func (t *teller) calls() {
	var changed []snapshot.Call
	changed, t.since = t.opts.Deck.Calls(t.since)
	if n := len(changed) - most; n > 0 {
		t.say("%s not listed here; see mcpdeck log", humanize.Count(n, "call"))
		changed = changed[n:]
	}
	for i := range changed {
		c := &changed[i]
		switch c.Status {
		case snapshot.Running:
			if !c.Waiting {
				continue // it is told of when it ends
			}
		case snapshot.OK:
			t.say("%s %s: %s ok, %s", stamp(c.Started), c.AgentName, c.Tool, humanize.Took(c.Duration))
		case snapshot.Cancelled:
			t.say("%s %s: %s cancelled by the agent", stamp(c.Started), c.AgentName, c.Tool)
		default:
			t.say("%s %s: %s failed: %s", stamp(c.Started), c.AgentName, c.Tool, c.Result)
		}
	}
}

func stamp(t time.Time) string { return t.Format(time.TimeOnly) }
