//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/reply"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// desk is a deck without a screen, from which a test sends prompts as a user at its screen does.
type desk struct {
	d      *driver
	agent  string
	roster *sessions.Roster
	outbox *reply.Outbox
	told   sync.Once // that two sessions take prompts
}

// newDesk starts one in an environment, for an agent whose files are in a folder of the home.
func newDesk(d *driver, agent, folder string, env []string) *desk {
	d.t.Helper()
	k := &desk{d: d, agent: agent, roster: &sessions.Roster{}}
	q := ask.New(ask.Options{Hold: -1})
	dir := filepath.Join(d.home, folder)
	deps := approvals.Deps{Queue: q, Roster: k.roster, Folder: dir, Home: d.home, Environ: env}
	a := agents.Of(agent).New(deps)
	s, err := hook.Listen(hook.Options{Path: hook.Path(hook.State(d.home), ""), Handlers: map[string]hook.Handler{agent: a.(hook.Handler)}})
	if err != nil {
		d.t.Fatal(err)
	}
	k.outbox = reply.New(reply.Options{Roster: k.roster, Notice: func(said string) { d.t.Log(said) }})
	program := usage.Program{Folder: dir, Format: agents.Of(agent).Usage}
	count := usage.New(usage.Options{Programs: map[string]usage.Program{agent: program}})
	ctx, stop := context.WithCancel(context.Background())
	d.t.Cleanup(func() { stop(); s.Close(); q.Close() })
	go a.Run(ctx)
	go k.roster.Run(ctx, sessions.Options{Queue: q, Usage: count, Keep: func() time.Duration { return time.Minute }})
	go k.outbox.Run(ctx, map[string]approvals.Sender{agent: a.(approvals.Sender)}, redact.Rules{})
	return k
}

// taker is the one session that takes prompts; the zero session if there is none, or while there are
// two, as has been seen for a moment on a busy machine.
func (k *desk) taker() (only snapshot.Session) {
	k.d.t.Helper()
	for _, s := range k.roster.Sessions() {
		if !s.Door.Open || s.Hidden != "" {
			continue
		}
		if only.ID != "" {
			k.told.Do(func() { k.d.t.Logf("two sessions take prompts: %+v and %+v", only, s) })
			return snapshot.Session{}
		}
		only = s
	}
	return only
}

// rests waits until the session is idle and has taken all that was sent.
func (k *desk) rests() snapshot.Session {
	k.d.t.Helper()
	var s snapshot.Session
	k.d.until("a session that rests and takes prompts", func() bool {
		s = k.taker()
		return s.State == snapshot.Idle && s.Next == snapshot.Next{} && s.Record != nil
	})
	return s
}

// sends sends the session a prompt, and waits until it has taken it.
func (k *desk) sends(text string) {
	k.d.t.Helper()
	began := time.Now()
	var to snapshot.Session
	k.d.until("a session to send it to", func() bool { to = k.taker(); return to.ID != "" })
	if err := k.outbox.Send(k.agent, to.ID, text); err != nil {
		k.d.t.Fatal(err)
	}
	k.d.until("the session to take "+text, func() bool {
		s := k.taker()
		if s.Next.State == snapshot.NextUntaken {
			k.d.t.Fatalf("%q was not taken: %s", text, s.Next.Note)
		}
		return s.Next == snapshot.Next{} && s.Record != nil && s.Record.Prompt == text
	})
	k.d.t.Logf("%q is taken after %s", text, time.Since(began).Round(time.Millisecond))
}

// once checks that the model reads each text as one whole message of the user.
func (k *desk) once(model *mockmodel.Server, texts []string) {
	k.d.t.Helper()
	for _, text := range texts {
		quoted, _ := json.Marshal(text) // a string always encodes
		times := func() int { return strings.Count(model.Last(), strings.Trim(string(quoted), `"`)) }
		k.d.until("the model reads "+text, func() bool { return times() > 0 }) // its program may just be about to send it
		if n := times(); n != 1 {
			k.d.t.Errorf("the model reads %q %d times", text, n)
		}
	}
}

// TestTheRealCopilotTakesPromptsFromTheDeck sends its session prompts while it is idle and while it
// works: each is the user's next message once.
func TestTheRealCopilotTakesPromptsFromTheDeck(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	const idle, working = 20, 10
	d := newDriver(t)
	copilotHome(d)
	if out, err := d.command("setup", "copilot", "--prompts", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	hold := make(chan bool)
	steps := []mockmodel.Step{{Says: "done"}}
	for range idle {
		steps = append(steps, mockmodel.Step{Says: "done"})
	}
	for range working {
		steps = append(steps, mockmodel.Step{Before: func() { <-hold }, Says: "done"}, mockmodel.Step{Says: "done"})
	}
	model := mockmodel.New(t, "", steps...)
	k := newDesk(d, "copilot", ".copilot", nil)
	c := openCopilotExtended(d, model)
	c.asked("go", d)
	var texts []string
	for i := range idle {
		id := k.rests().ID
		texts = append(texts, fmt.Sprintf("idle prompt %d.", i+1))
		k.sends(texts[i])
		if s := k.rests(); s.ID != id {
			t.Errorf("another session goes on: %s", s.ID)
		}
	}
	for i := range working {
		k.rests()
		first, next := fmt.Sprintf("first prompt %d.", i+1), fmt.Sprintf("prompt at work %d.", i+1)
		texts = append(texts, first, next)
		k.sends(first)
		d.until("its turn", func() bool { return k.taker().State == snapshot.Working })
		if err := k.outbox.Send("copilot", k.taker().ID, next); err != nil {
			t.Fatal(err)
		}
		if s := k.taker(); s.Next.State != snapshot.NextKept {
			t.Errorf("at work %q is %s", next, s.Next.State)
		}
		select {
		case hold <- true:
		case <-time.After(testwait.Patience):
			t.Fatalf("the model is not asked for what %q is; it last read %s", first, model.Last())
		}
		d.until("the next turn", func() bool {
			s := k.taker()
			return s.Record != nil && s.Record.Prompt == next && s.Next == snapshot.Next{}
		})
	}
	k.rests()
	k.once(model, texts)
	c.shows(d, texts[len(texts)-1])
}

// TestTheRealClaudesBackgroundSessionTakesPromptsFromTheDeck restarts it with each prompt: it
// stays one session, and each prompt is the user's next message once.
func TestTheRealClaudesBackgroundSessionTakesPromptsFromTheDeck(t *testing.T) {
	realtest.On(t)
	const prompts = 10
	d := newDriver(t)
	claudeHome(d)
	defer unhooked(d)()
	t.Cleanup(func() { // the background is a process of its own
		for pid := range d.runs() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // or it has ended meanwhile
		}
	})
	model := mockmodel.New(t, "", slices.Repeat([]mockmodel.Step{{Says: "done"}}, prompts+1)...)
	begin := claudeCommand(d, model, "--bg", "--permission-mode", "acceptEdits", "begin")
	if out, err := begin.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("PATH", filepath.Dir(begin.Path)+":"+os.Getenv("PATH"))
	k := newDesk(d, "claude", ".claude", begin.Env)
	first := k.rests()
	var texts []string
	for i := range prompts {
		texts = append(texts, fmt.Sprintf("--idle prompt %d.\nIts second line", i+1))
		k.sends(texts[i])
		if s := k.rests(); s.ID != first.ID || s.PID == first.PID || s.Mode != first.Mode {
			t.Errorf("%+v goes on in place of %+v", s, first)
		}
	}
	k.once(model, texts)
	if all := conversations(d); len(all) != 1 {
		t.Errorf("there are the conversations %q", all)
	}
}
