//go:build linux

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// crew is six sessions beside a deck: three of Claude Code, two of Codex and one of
// OpenCode.
type crew struct {
	*driver
	claude   []*agenttest.Claude
	codex    *standin.Codex
	opencode *standin.OpenCode
	rand     *rand.Rand

	state  []string // of each session
	prompt []string // that is open in it
	sums   []sessions.Tokens
	turns  int
}

const crewSize = 6

func (c *crew) id(i int) string { return "session-" + strconv.Itoa(i) }

func newCrew(t *testing.T) *crew {
	t.Helper()
	c := &crew{driver: newDriver(t), rand: rand.New(rand.NewPCG(1, 2)), prompt: make([]string, crewSize), sums: make([]sessions.Tokens, crewSize)}
	for range crewSize {
		c.state = append(c.state, "idle")
	}
	for i := range 3 {
		p, err := agenttest.NewClaude(agenttest.ClaudeOptions{ID: c.id(i), Folder: "/src/p" + strconv.Itoa(i), Home: c.home, Dir: filepath.Join(c.home, "hooks"), Hook: []string{smallHook(t), "claude"}})
		c.must(err)
		t.Cleanup(p.Close)
		c.must(p.Status("idle", ""))
		c.claude = append(c.claude, p)
	}
	var err error
	c.codex, err = standin.NewCodex(filepath.Join(c.home, ".codex"))
	c.must(err)
	c.must(os.Mkdir(filepath.Join(c.codex.Home, "sessions"), 0o700))
	for i := 3; i < 5; i++ {
		c.codex.Runs(c.id(i), standin.Idle(), map[string]any{"path": c.rollout(i)})
	}
	c.must(c.codex.Start())
	t.Cleanup(c.codex.Stop)
	return c
}

// meets connects OpenCode's plugin to the deck, which must run.
func (c *crew) meets() {
	c.t.Helper()
	socket := filepath.Join(c.home, ".local/state/mcpdeck/run/prompts.sock")
	// The file is there a moment before anybody listens.
	c.until("the prompt socket", func() bool {
		var err error
		c.opencode, err = standin.DialOpenCode(socket, "/src/p5")
		return err == nil
	})
	c.t.Cleanup(c.opencode.Close)
	c.use(5) // one that was never asked for anything is not listed
	c.must(c.opencode.Status(c.id(5), "idle"))
}

func (c *crew) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *crew) rollout(i int) string {
	return filepath.Join(c.codex.Home, "sessions", "rollout-"+c.id(i)+".jsonl")
}

// turn has a session do something else: what is open is answered in its terminal, and what
// is used counts.
func (c *crew) turn(i int) {
	c.t.Helper()
	c.turns++
	if c.prompt[i] != "" {
		c.answer(i)
	}
	states := []string{"working", "idle", "permission"}
	if i < len(c.claude) {
		states = append(states, "background")
	}
	states = slices.DeleteFunc(states, func(s string) bool { return s == c.state[i] })
	c.state[i] = states[c.rand.IntN(len(states))]
	switch {
	case c.state[i] == "permission":
		c.ask(i)
	case i < len(c.claude):
		c.must(c.claude[i].Status(map[string]string{"working": "busy", "idle": "idle", "background": "shell"}[c.state[i]], ""))
	case i < 5:
		c.codex.Set(c.id(i), map[string]standin.Status{"working": standin.Working(), "idle": standin.Idle()}[c.state[i]])
	default:
		c.must(c.opencode.Status(c.id(i), map[string]string{"working": "busy", "idle": "idle"}[c.state[i]]))
	}
	c.use(i)
}

// codexCommand is a permission that Codex asks for.
const codexCommand = `{"kind":"command","threadId":"THREAD","turnId":"turn","itemId":"call_%d","startedAtMs":1,"command":"make","cwd":"/home/ana/api","availableDecisions":["accept","cancel"]}`

// ask has a session ask for a permission.
func (c *crew) ask(i int) {
	c.t.Helper()
	id := "call" + strconv.Itoa(c.turns)
	switch {
	case i < len(c.claude):
		p := c.claude[i]
		c.must(p.Calls(id, "make "+id))
		_, err := p.Permission("make " + id)
		c.must(err)
		c.must(p.Status("waiting", "permission prompt"))
	case i < 5:
		id = c.codex.Asks(c.id(i), "item/commandExecution/requestApproval", fmt.Sprintf(codexCommand, c.turns))
	default:
		c.must(c.opencode.Permission(c.id(i), id, "make"))
	}
	c.prompt[i] = id
}

// answer answers in the session's terminal.
func (c *crew) answer(i int) {
	c.t.Helper()
	switch id := c.prompt[i]; {
	case i < len(c.claude):
		c.must(c.claude[i].Answered(id))
		c.must(c.claude[i].Status("busy", ""))
	case i < 5:
		c.codex.Terminal(id)
	default:
		c.must(c.opencode.Replied(c.id(i), id, "once"))
	}
	c.prompt[i] = ""
}

// use has a session's model reply, which its program writes down in its own way.
func (c *crew) use(i int) {
	c.t.Helper()
	in, out := c.rand.Int64N(5000), int64(0)
	switch {
	case i < len(c.claude): // a line for each part, with what was counted so far
		for range 1 + c.rand.IntN(4) {
			out += c.rand.Int64N(300)
			c.must(c.claude[i].Log(map[string]any{"requestId": fmt.Sprint("r", c.turns), "message": map[string]any{
				"id": fmt.Sprint("m", c.turns), "model": "claude-sonnet-5", "usage": map[string]any{"input_tokens": in, "cache_read_input_tokens": 7, "output_tokens": out},
			}}))
		}
	case i < 5: // the sum of all, of which some came from the cache
		out = c.rand.Int64N(300)
		s := &c.sums[i]
		s.In, s.Out, s.CacheRead = s.In+in, s.Out+out, s.CacheRead+7
		c.must(agenttest.Append(c.rollout(i), map[string]any{"type": "event_msg", "payload": map[string]any{"type": "token_count", "info": map[string]any{
			"total_token_usage": map[string]any{"input_tokens": s.In + s.CacheRead, "cached_input_tokens": s.CacheRead, "output_tokens": s.Out},
		}}}))
	default:
		s := &c.sums[i]
		s.In, s.Out = s.In+in, s.Out+7
		c.must(c.opencode.Say("session.updated", map[string]any{"sessionID": c.id(i), "info": map[string]any{
			"id": c.id(i), "directory": "/src/p5", "tokens": map[string]any{"input": s.In, "output": s.Out},
		}}))
	}
}

// counted is what a session has used, by its files or what its program has said.
func (c *crew) counted(i int) (sum sessions.Tokens) {
	c.t.Helper()
	if i >= len(c.claude) {
		return c.sums[i]
	}
	b, err := os.ReadFile(c.claude[i].Transcript())
	c.must(err)
	last := map[string]sessions.Tokens{}
	for line := range strings.Lines(string(b)) {
		var r struct {
			RequestID string
			Message   struct {
				ID    string
				Usage struct {
					In   int64 `json:"input_tokens"`
					Out  int64 `json:"output_tokens"`
					Read int64 `json:"cache_read_input_tokens"`
				}
			}
		}
		c.must(json.Unmarshal([]byte(line), &r))
		u := r.Message.Usage
		last[r.RequestID+" "+r.Message.ID] = sessions.Tokens{In: u.In, Out: u.Out, CacheRead: u.Read}
	}
	for _, u := range last {
		sum.In, sum.Out, sum.CacheRead = sum.In+u.In, sum.Out+u.Out, sum.CacheRead+u.CacheRead
	}
	return sum
}

// follows runs mcpdeck sessions --json --watch.
func (c *crew) follows() <-chan map[string]sessions.Session {
	c.t.Helper()
	cmd := c.command("sessions", "--json", "--watch")
	out, err := cmd.StdoutPipe()
	c.must(err)
	c.must(cmd.Start())
	c.t.Cleanup(func() { c.kill(cmd) })
	lists := make(chan map[string]sessions.Session)
	go func() {
		defer close(lists)
		for in := bufio.NewReader(out); ; {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var l sessions.List
			if json.Unmarshal(line, &l) != nil {
				return
			}
			all := map[string]sessions.Session{}
			for _, s := range l.Sessions {
				all[s.ID] = s
			}
			lists <- all
		}
	}()
	return lists
}

// wrong tells which sessions are not listed as they are.
func (c *crew) wrong(all map[string]sessions.Session) (wrong map[int]string) {
	wrong = map[int]string{}
	for i, want := range c.state {
		if got := all[c.id(i)].State; got != want {
			wrong[i] = cmp.Or(got, "not listed") + ", not " + want
		}
	}
	return wrong
}

// TestTheListFollowsSixSessionsThroughSixtyChanges bounds in how many lists a change is
// found, and reports how many were within a second.
func TestTheListFollowsSixSessionsThroughSixtyChanges(t *testing.T) {
	c := newCrew(t)
	c.serve()
	c.meets()
	lists := c.follows()
	next := func(what string) map[string]sessions.Session {
		t.Helper()
		select {
		case all, ok := <-lists:
			if !ok {
				t.Fatal(what, ": mcpdeck sessions has ended")
			}
			return all
		case <-time.After(testwait.Patience):
			t.Fatalf("%s: no list in %v; the sessions are %v", what, testwait.Patience, c.state)
			return nil
		}
	}
	for len(c.wrong(next("at the beginning"))) > 0 {
	}
	const changes, most = 60, 8
	var took []time.Duration
	for n := range changes {
		i := n % crewSize
		c.turn(i)
		begun := time.Now()
		for seen := 1; ; seen++ {
			all := next(fmt.Sprintf("change %d, of %s", n, c.id(i)))
			wrong := c.wrong(all)
			if len(wrong) == 0 {
				break
			}
			if delete(wrong, i); len(wrong) > 0 || seen == most {
				t.Fatalf("change %d, of %s to %s: %d lists later %v", n, c.id(i), c.state[i], seen, c.wrong(all))
			}
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	soon, _ := slices.BinarySearch(took, time.Second)
	t.Logf("%d of %d changes were listed within a second, half of them within %v, the last after %v", soon, changes, took[changes/2], took[changes-1])

	c.until("the tokens are counted", func() bool {
		out, err := c.command("sessions", "--json").Output()
		c.must(err)
		var l sessions.List
		c.must(json.Unmarshal(out, &l))
		found := 0
		for _, s := range l.Sessions {
			i, err := strconv.Atoi(strings.TrimPrefix(s.ID, "session-"))
			if err == nil && s.Tokens == c.counted(i) {
				found++
			}
		}
		return found == crewSize
	})
}

// TestCallsThatNeedNoUserGiveNoNotice has each program allow calls by itself, before one
// that the user is needed for.
func TestCallsThatNeedNoUserGiveNoNotice(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	notices := filepath.Join(c.home, "notices")
	script := filepath.Join(c.home, "notify")
	c.must(os.WriteFile(script, []byte("#!/bin/sh\necho \"$MCPDECK_SESSION $MCPDECK_QUESTION\" >>"+notices+"\n"), 0o700))
	c.configure("[notify]\ncommand = ['" + script + "']\n")
	w := c.window()
	w.wide()
	c.meets()
	c.until("the sessions", func() bool {
		out, _ := c.command("sessions").Output()
		return strings.Count(string(out), "idle") == crewSize
	})
	for n := range 20 {
		for i := range crewSize {
			if i < len(c.claude) { // whose mode allows it asks no hook
				c.must(c.claude[i].Calls(fmt.Sprint("auto", n), "make"))
				c.must(c.claude[i].Status("busy", ""))
				c.must(c.claude[i].Answered(fmt.Sprint("auto", n)))
				continue
			}
			c.turns++
			c.ask(i)
			c.answer(i)
		}
	}
	c.turns++
	c.ask(5)
	testwait.For(t, "a notice", w.screen, func(string) bool { b, _ := os.ReadFile(notices); return len(b) > 0 })
	b, err := os.ReadFile(notices)
	c.must(err)
	if got := string(b); got != c.id(5)+" bash  make\n" {
		t.Errorf("the user is told:\n%s", got)
	}
	w.key("q")
}
