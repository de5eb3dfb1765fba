//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// another opens one more session beside those that run, in front of them.
func (c *codexTerminal) another() {
	c.t.Helper()
	if err := c.tmux("new-window", "-c", c.project, "codex -a on-request -s read-only"); err != nil {
		c.t.Fatal(err)
	}
	c.ready()
}

func (c *codexTerminal) ready() {
	c.t.Helper()
	c.until("the terminal is ready", func() bool {
		return strings.Contains(c.screen(), "Ask Codex") || strings.Contains(c.screen(), "for shortcuts")
	})
}

// says has the user say something, and waits for the model's words.
func (c *codexTerminal) says(words, reply string) {
	c.t.Helper()
	c.say(words)
	c.until("the model says "+reply, func() bool { return strings.Contains(c.screen(), reply) })
}

// rollouts are the files that Codex keeps of its sessions, oldest first, without what
// differs from one run to the next: IDs, times and folders.
func (c *codexTerminal) rollouts() (all []string) {
	c.t.Helper()
	names, err := filepath.Glob(filepath.Join(c.home(), "sessions/*/*/*/rollout-*.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	slices.Sort(names)
	differs := regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d(T[\d:.]+Z)?|"(create_time|started_at|completed_at|duration_ms|time_to_first_token_ms|\w+_at_ms)":[\d.]+|` + regexp.QuoteMeta(c.dir))
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, differs.ReplaceAllString(string(b), "…"))
	}
	return all
}

// TestADeckNeitherHearsWhatCodexStreamsNorChangesWhatItKeeps has the real program work in
// one session while three others are idle, without a deck and with one.
func TestADeckNeitherHearsWhatCodexStreamsNorChangesWhatItKeeps(t *testing.T) {
	t.Parallel()
	realtest.Agent(t, "codex") // or the test is skipped
	var pieces []string
	for i := range 300 {
		pieces = append(pieces, fmt.Sprintf("word%d ", i))
	}
	run := func(t *testing.T, beside func(*codexTerminal)) []string {
		t.Helper()
		c, m := prepareCodex(t)
		c.start()
		c.ready()
		c.says("one", "END")
		for i := range 3 {
			c.another()
			if i < 2 {
				c.says("more", "END")
			}
		}
		if beside != nil {
			beside(c)
		}
		m.Ending(pieces...)
		c.says("go", "word299")
		c.until("Codex has written it down", func() bool {
			all := c.rollouts()
			return len(all) == 4 && !slices.ContainsFunc(all, func(text string) bool {
				return !strings.Contains(text[strings.LastIndex(text, `{"timestamp"`):], `"type":"task_complete"`)
			})
		})
		if beside == nil {
			return c.rollouts()
		}
		c.until("all sessions are idle", func() bool {
			all := c.roster.Sessions()
			return len(all) == 4 && !slices.ContainsFunc(all, func(s snapshot.Session) bool { return s.State != snapshot.Idle })
		})
		c.stop()
		heard := map[string]int{}
		for _, method := range c.heard {
			if heard[method]++; strings.Contains(strings.ToLower(method), "delta") {
				t.Errorf("the deck was sent %s", method)
			}
		}
		if heard["thread/status/changed"] == 0 {
			t.Errorf("the deck was sent nothing of a session at work: %v", heard)
		}
		t.Logf("the deck was sent %v", heard)
		return c.rollouts()
	}
	var without, with []string
	t.Run("without a deck", func(t *testing.T) { without = run(t, nil) })
	t.Run("with a deck", func(t *testing.T) {
		with = run(t, func(c *codexTerminal) {
			c.open()
			c.until("the sessions are listed", func() bool { return len(c.roster.Sessions()) >= 3 })
		})
	})
	if len(without) != len(with) || len(with) != 4 {
		t.Fatalf("%d files without a deck, %d with one", len(without), len(with))
	}
	for i := range with {
		a, b := strings.Split(without[i], "\n"), strings.Split(with[i], "\n")
		for n := range max(len(a), len(b)) {
			if n >= len(a) || n >= len(b) || a[n] != b[n] {
				one, other := apartFrom(line(a, n), line(b, n))
				t.Errorf("file %d differs in line %d:\n%s\n%s", i, n+1, one, other)
				break
			}
		}
	}
}

// apartFrom are two lines from shortly before where they differ.
func apartFrom(a, b string) (string, string) {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	n = max(n-60, 0)
	return a[n:min(len(a), n+200)], b[n:min(len(b), n+200)]
}

func line(all []string, n int) string {
	if n >= len(all) {
		return "there are only " + strconv.Itoa(len(all))
	}
	return all[n]
}

// TestADeckFindsCodexAgainAfterItsDaemonWasStartedAnew ends the daemon in the hardest way
// while it asks.
func TestADeckFindsCodexAgainAfterItsDaemonWasStartedAnew(t *testing.T) {
	t.Parallel()
	command := codexPrompts()[0]
	c, m := newCodex(t, command, command)
	c.open()
	c.say("go")
	it := c.item()
	session := it.Request.Prompt.Session
	if err := c.tmux("kill-server"); err != nil {
		t.Fatal(err)
	}
	c.endDaemon()
	c.until("the prompt is withdrawn", func() bool { return len(c.queue.Pending().Items) == 0 })
	c.start("resume", "--last")
	c.ready()
	c.say("again")
	again := c.item()
	if got := again.Request.Prompt.Session; got != session || again.ID == it.ID {
		t.Errorf("item %d of %s, after item %d of %s", again.ID, got, it.ID, session)
	}
	c.answer(again, chosen("Allow once"))
	c.until("the result", func() bool { return strings.Contains(m.Seen()[1].Result, "it worked") })
	testwait.For(t, "the one session", c.roster.Sessions, func(all []snapshot.Session) bool {
		return len(all) == 1 && all[0].ID == session && all[0].State != snapshot.StateUnknown
	})
}
