package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/prompts/claude"
	"github.com/mcpdeck/mcpdeck/servers/prompts/roster"
	tokens "github.com/mcpdeck/mcpdeck/servers/prompts/usage"
	"github.com/mcpdeck/mcpdeck/servers/wire"
)

// crew is six sessions of Claude Code, each a process with its files, as the deck's list
// has them.
type crew struct {
	t    *testing.T
	home string
	h    *instance
	pids []int
	sums []tokensJSON // counted by the test: each reply once, as it was last written
}

func newCrew(t *testing.T) *crew {
	t.Helper()
	c := &crew{t: t, home: t.TempDir(), sums: make([]tokensJSON, 6)}
	if err := os.MkdirAll(filepath.Join(c.home, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range c.sums {
		p := exec.Command("sleep", "600")
		if err := p.Start(); err != nil {
			t.Skip("there is no process to stand for a session:", err)
		}
		t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
		c.pids = append(c.pids, p.Process.Pid)
	}
	c.h = &instance{queue: ask.New(ask.Options{Hold: -1}), roster: &roster.Roster{}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{}, 2)
	go func() {
		claude.New(claude.Options{Queue: c.h.queue, Roster: c.h.roster, Folder: c.home}).Run(ctx)
		done <- struct{}{}
	}()
	go func() {
		count := tokens.New(tokens.Options{Homes: map[string]string{"claude": c.home}})
		c.h.roster.Run(ctx, roster.Options{Queue: c.h.queue, Usage: count})
		done <- struct{}{}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		<-done
		_ = c.h.queue.Close() // it keeps nothing
	})
	return c
}

func (c *crew) id(i int) string { return "session-" + strconv.Itoa(i) }

func (c *crew) write(path, text string, flag int) {
	c.t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flag, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *crew) status(i int, status string) {
	c.write(filepath.Join(c.home, "sessions", strconv.Itoa(c.pids[i])+".json"),
		fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/src/p%d","status":%q,"waitingFor":"permission prompt","statusUpdatedAt":%d}`, c.pids[i], c.id(i), i, status, time.Now().UnixMilli()), os.O_TRUNC)
}

// reply writes a reply in several lines, as it grows.
func (c *crew) reply(i, n int, r *rand.Rand) {
	dir := filepath.Join(c.home, "projects", "-src-p"+strconv.Itoa(i))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	in, out := r.Int64N(5000), int64(0)
	for range 1 + r.IntN(4) {
		out += r.Int64N(300)
		c.write(filepath.Join(dir, c.id(i)+".jsonl"), fmt.Sprintf(`{"requestId":"r%d","message":{"id":"m%d","model":"claude-sonnet-5","usage":{"input_tokens":%d,"cache_read_input_tokens":7,"output_tokens":%d}}}`+"\n", n, n, in, out), os.O_APPEND)
	}
	c.sums[i].In += in
	c.sums[i].Out += out
	c.sums[i].CacheRead += 7
}

// now is what mcpdeck sessions --json says of each session.
func (c *crew) now() map[string]sessionJSON {
	c.t.Helper()
	var list sessionsReply
	out, err := c.h.sessionsControl(c.t.Context(), wire.Requester{}, json.RawMessage(`{}`))
	if err != nil {
		c.t.Fatal(err)
	}
	list = out.(sessionsReply)
	all := map[string]sessionJSON{}
	for _, s := range list.List.Sessions {
		all[s.ID] = s
	}
	return all
}

func TestTheListFollowsSixSessionsThroughSixtyChanges(t *testing.T) {
	c := newCrew(t)
	r := rand.New(rand.NewPCG(1, 2))
	words := map[string]string{"busy": "working", "idle": "idle", "shell": "background", "waiting": "permission"}
	statuses := []string{"busy", "idle", "shell", "waiting"}
	open := map[int]*ask.Call{}
	for round := range 10 {
		want := map[string]string{}
		for i := range c.pids {
			status := statuses[r.IntN(len(statuses))]
			want[c.id(i)] = words[status]
			c.status(i, status)
			c.reply(i, round, r)
			switch call := open[i]; {
			case call != nil:
				call.Settled("answered in its terminal")
				delete(open, i)
			case r.IntN(3) == 0:
				call, err := c.h.queue.Open(ask.Request{
					Questions: []ask.Question{{ID: "q", Question: "Which?", Kind: ask.Text, AllowOther: true, Required: true}},
					Prompt:    &ask.Prompt{Kind: ask.OwnQuestion, ID: strconv.Itoa(round), Agent: "claude", Session: c.id(i)},
				})
				if err != nil {
					t.Fatal(err)
				}
				open[i] = call
			}
			if open[i] != nil {
				want[c.id(i)] = "answer"
			}
		}
		var late map[string]string
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			late = map[string]string{}
			all := c.now()
			for id, state := range want {
				if s := all[id]; s.State != state {
					late[id] = s.State + ", not " + state
				}
			}
			if len(late) == 0 || time.Now().After(deadline) {
				break
			}
		}
		if len(late) > 0 {
			t.Fatalf("after change %d: %v", round*6, late)
		}
		for i := range open { // from here on the prompt is known
			if s := c.now()[c.id(i)]; s.State != "answer" {
				t.Errorf("%s is %s with an open prompt", s.ID, s.State)
			}
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		wrong := ""
		for i, sum := range c.sums {
			if got := c.now()[c.id(i)].Tokens; got != sum {
				wrong += fmt.Sprintf("%s has %+v, not %+v; ", c.id(i), got, sum)
			}
		}
		if wrong == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(wrong)
		}
	}
}
