//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
)

// crew is ten sessions of agents beside a deck: four of Claude Code, three of Codex and
// three of OpenCode.
type crew struct {
	claude   []*agenttest.Claude
	codex    *standin.Codex
	threads  []string
	opencode []*standin.OpenCode
	n        int // of events and prompts so far
}

func (b bench) crew(home string) (*crew, error) {
	c := &crew{}
	for i := range 4 {
		id := "claude" + strconv.Itoa(i)
		p, err := agenttest.NewClaude(agenttest.ClaudeOptions{ID: id, Folder: "/src/" + id, Home: home, Dir: filepath.Join(home, "hooks"), Hook: []string{filepath.Join(b.dir, "mcpdeck-hook"), "claude"}})
		if err != nil {
			return nil, err
		}
		c.claude = append(c.claude, p)
		if err := p.Status("idle", ""); err != nil {
			return nil, err
		}
	}
	var err error
	if c.codex, err = standin.NewCodex(filepath.Join(home, ".codex")); err != nil {
		return nil, err
	}
	for i := range 3 {
		id := "codex" + strconv.Itoa(i)
		c.threads = append(c.threads, id)
		c.codex.Runs(id, standin.Idle(), map[string]any{"cwd": "/src/" + id, "path": filepath.Join(c.codex.Home, id+".jsonl")})
	}
	if err := c.codex.Start(); err != nil {
		return nil, err
	}
	for i := range 3 {
		o, err := standin.DialOpenCode(filepath.Join(home, ".local/state/mcpdeck/run/prompts.sock"), "/src/"+openID(i))
		if err != nil {
			return nil, err
		}
		c.opencode = append(c.opencode, o)
		if err := o.Status(openID(i), "idle"); err != nil {
			return nil, err
		}
		// One that was never asked for anything is not listed.
		if err := o.Say("session.updated", map[string]any{"sessionID": openID(i), "info": map[string]any{
			"id": openID(i), "directory": "/src/" + openID(i), "tokens": map[string]any{"input": 1, "output": 1},
		}}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func openID(i int) string { return "opencode" + strconv.Itoa(i) }

func (c *crew) close() {
	for _, p := range c.claude {
		p.Close()
	}
	for _, o := range c.opencode {
		o.Close()
	}
	if c.codex != nil {
		c.codex.Stop()
	}
}

// event has one session do something: its state changes, and its program writes it down.
func (c *crew) event() error {
	i, busy := c.n%10, c.n/10%2 == 0
	c.n++
	switch {
	case i < 4:
		p, status := c.claude[i], "idle"
		if busy {
			status = "busy"
		}
		err := p.Log(map[string]any{"requestId": c.n, "message": map[string]any{
			"id": fmt.Sprint("m", c.n), "model": "claude-sonnet-5", "usage": map[string]any{"input_tokens": 900, "output_tokens": 90},
			"content": strings.Repeat("what the model says. ", 100),
		}})
		if err != nil {
			return err
		}
		return p.Status(status, "")
	case i < 7:
		status := standin.Idle()
		if busy {
			status = standin.Working()
		}
		c.codex.Set(c.threads[i-4], status)
		return agenttest.Append(filepath.Join(c.codex.Home, c.threads[i-4]+".jsonl"), map[string]any{"type": "event_msg", "payload": map[string]any{
			"type": "token_count", "info": map[string]any{"total_token_usage": map[string]any{"input_tokens": 900 * c.n, "output_tokens": c.n}},
		}})
	}
	status := "idle"
	if busy {
		status = "busy"
	}
	return c.opencode[i-7].Status(openID(i-7), status)
}

// events has ten happen a second, for a while.
func (c *crew) events(d time.Duration) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(d); time.Now().Before(end); <-tick.C {
		if err := c.event(); err != nil {
			return err
		}
	}
	return nil
}

// asked is a prompt that waits.
type asked struct {
	answered func(ctx context.Context) error // waits for the deck's answer
	terminal func() error                    // answers it where it was asked
}

// ask has the agent ask whether a command may be run.
func (c *crew) ask(agent, command string) (asked, error) {
	c.n++
	id := strconv.Itoa(c.n)
	switch agent {
	case "Claude Code":
		p := c.claude[0]
		if err := p.Calls(id, command); err != nil {
			return asked{}, err
		}
		printed, err := p.Permission(command)
		return asked{
			func(ctx context.Context) error {
				select {
				case <-printed:
					_ = p.Answered(id) // what comes next does not count
					return p.Status("busy", "")
				case <-ctx.Done():
					return ctx.Err()
				}
			},
			func() error { return p.Answered(id) },
		}, err
	case "Codex":
		request := c.codex.Asks(c.threads[0], "item/commandExecution/requestApproval", `{"kind":"command","threadId":"THREAD","turnId":"turn","itemId":"`+id+
			`","startedAtMs":1,"command":"`+command+`","cwd":"/src/codex0","availableDecisions":["accept","cancel"]}`)
		return asked{
			func(ctx context.Context) error { _, err := c.codex.Await(ctx, request); return err },
			func() error { c.codex.Terminal(request); return nil },
		}, nil
	}
	o := c.opencode[0]
	return asked{
		func(ctx context.Context) error {
			select {
			case <-o.Posts():
				return o.Replied(openID(0), "per_"+id, "once")
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		func() error { return o.Replied(openID(0), "per_"+id, "once") },
	}, o.Permission(openID(0), "per_"+id, command)
}

// times are how long an agent's prompts took.
type times struct{ visible, effective, withdrawn []time.Duration }

// prompt has an agent ask, and answers in the deck or in its terminal.
func (s *screen) prompt(c *crew, agent string, here bool, t *times) error {
	command := "make part" + strconv.Itoa(c.n)
	begun := time.Now()
	a, err := c.ask(agent, command)
	if err != nil {
		return err
	}
	shown, err := s.until(func(text string) bool { return strings.Contains(text, command) })
	if err != nil {
		return err
	}
	t.visible = append(t.visible, shown.Sub(begun))
	time.Sleep(3500 * time.Millisecond) // a key right after it came, or soon after the same key, is not meant for it
	begun = time.Now()
	if here {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Type("y"); err != nil {
			return err
		}
		if err := a.answered(ctx); err != nil {
			return fmt.Errorf("%w:\n%s", err, s.Text())
		}
		t.effective = append(t.effective, time.Since(begun))
	} else {
		if err := a.terminal(); err != nil {
			return err
		}
		gone, err := s.until(func(text string) bool { return strings.Contains(text, "Nothing needs you") })
		if err != nil {
			return err
		}
		t.withdrawn = append(t.withdrawn, gone.Sub(begun))
	}
	_, err = s.until(func(text string) bool { return strings.Contains(text, "Nothing needs you") })
	return err
}

// prompts measures what agents' own prompts and sessions cost.
func (b bench) prompts(context.Context) error {
	home := filepath.Join(b.dir, "p")
	if err := b.build("-s -w", "mcpdeck-hook", "github.com/mcpdeck/mcpdeck/cmd/mcpdeck-hook"); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(home, ".config/mcpdeck"), 0o700); err != nil {
		return err
	}
	without, err := b.without(home)
	if err != nil {
		return err
	}
	s, err := b.open(home, "--page", "inbox")
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.until(func(text string) bool { return strings.Contains(text, "Inbox") }); err != nil {
		return err
	}
	c, err := b.crew(home)
	if err != nil {
		return err
	}
	defer c.close()
	if err := b.listed(home, 10); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	quiet, err := sample(s.PID(), b.rest)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- c.events(b.rest) }()
	busy, err := sample(s.PID(), b.rest)
	if err == nil {
		err = <-failed
	}
	if err != nil {
		return err
	}
	all := map[string]*times{}
	for _, agent := range agents {
		all[agent] = &times{}
	}
	for i := range b.asks {
		for _, agent := range agents {
			here := i >= b.asks/3
			if i == b.asks/3 && agent == agents[0] {
				time.Sleep(6 * time.Second) // the cursor stays with what was answered elsewhere
			}
			if err := s.prompt(c, agent, here, all[agent]); err != nil {
				return fmt.Errorf("%s: %w", agent, err)
			}
		}
	}
	return b.printPrompts(without, quiet, busy, all)
}

func (b bench) printPrompts(without, quiet, busy usage, all map[string]*times) error {
	hook, empty, err := b.hooks()
	if err != nil {
		return err
	}
	size, err := b.linked()
	if err != nil {
		return err
	}
	fmt.Println("| agents' prompts and sessions: 4 of Claude Code, 3 of Codex, 3 of OpenCode | measured | budget |\n|---|---|---|")
	row := func(what, value, budget string) { fmt.Printf("| %s | %s | %s |\n", what, value, budget) }
	row("CPU while idle, and without them", fmt.Sprintf("%.2f %%, %.2f %%", quiet.cpuPercent, without.cpuPercent), "0.5 %")
	row("wake-ups while idle, and without them", fmt.Sprintf("%.1f /s, %.1f /s", quiet.wakeups, without.wakeups), "–")
	row("CPU at 10 events/s", fmt.Sprintf("%.2f %%", busy.cpuPercent), "2 %")
	row("memory they add, idle / after the events", fmt.Sprintf("%.1f / %.1f MiB", float64(quiet.rssKB-without.rssKB)/1024, float64(busy.rssKB-without.rssKB)/1024), "8 MiB")
	row("their packages in the program", fmt.Sprintf("%.2f MiB", size), "1 MiB")
	for _, agent := range agents {
		t := all[agent]
		effective, withdrawn := "300 ms", "100 ms"
		if agent == "Claude Code" {
			effective, withdrawn = "1000 ms", "1000 ms"
		}
		row(agent+": asked to shown, p50 / p95", pair95(t.visible), "150 ms")
		row(agent+": key to answered, p50 / p95", pair95(t.effective), effective)
		row(agent+": answered there to gone here, p50 / p95", pair95(t.withdrawn), withdrawn)
	}
	row("`mcpdeck-hook` without a deck, p50 / p99", pair(hook, time.Millisecond), "10 ms p99")
	row("an empty Go program, p50 / p99", pair(empty, time.Millisecond), "–")
	fmt.Printf("\nThe hook takes %.1f times as long as an empty program, of 2 at most.\n\n", float64(at(hook, .5))/float64(at(empty, .5)))
	return nil
}

var agents = [...]string{"Claude Code", "Codex", "OpenCode"}

func pair95(d []time.Duration) string {
	return fmt.Sprintf("%d / %d ms", at(d, .5).Milliseconds(), at(d, .95).Milliseconds())
}

// without measures an idle deck that leaves agents' prompts alone.
func (b bench) without(home string) (usage, error) {
	file := filepath.Join(home, ".config/mcpdeck/config.toml")
	if err := os.WriteFile(file, []byte("[prompts]\nenabled = false\n"), 0o600); err != nil {
		return usage{}, err
	}
	defer os.Remove(file)
	s, err := b.open(home, "--page", "inbox")
	if err != nil {
		return usage{}, err
	}
	defer s.close()
	if _, err := s.until(func(text string) bool { return strings.Contains(text, "Inbox") }); err != nil {
		return usage{}, err
	}
	time.Sleep(2 * time.Second)
	return sample(s.PID(), b.rest)
}

// listed waits until the deck lists so many sessions of the crew.
func (b bench) listed(home string, n int) error {
	for range 100 {
		cmd := exec.Command(b.program, "sessions", "--json")
		cmd.Env = []string{"HOME=" + home}
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("list the sessions: %w", err)
		}
		var l struct{ Sessions []struct{ State string } }
		if err := json.Unmarshal(out, &l); err != nil {
			return err
		}
		idle := 0
		for _, s := range l.Sessions {
			if s.State == "idle" {
				idle++
			}
		}
		if idle == n {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("the deck does not list %d sessions", n)
}

// hooks compares a hook without a deck with a program that does nothing.
func (b bench) hooks() (hook, empty []time.Duration, err error) {
	file := filepath.Join(b.dir, "empty", "main.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(file, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return nil, nil, err
	}
	if err := b.build("-s -w", "nothing", file); err != nil {
		return nil, nil, err
	}
	run := func(program string, args ...string) (time.Duration, error) {
		cmd := exec.Command(filepath.Join(b.dir, program), args...)
		cmd.Env = []string{"HOME=" + filepath.Join(b.dir, "nobody")}
		cmd.Stdin = strings.NewReader(`{"hook_event_name":"PermissionRequest","session_id":"s","tool_name":"Bash","tool_input":{"command":"make"}}`)
		begun := time.Now()
		err := cmd.Run()
		return time.Since(begun), err
	}
	for range 5 * b.starts {
		d, err := run("mcpdeck-hook", "claude")
		if err != nil {
			return nil, nil, err
		}
		hook = append(hook, d)
		if d, err = run("nothing"); err != nil {
			return nil, nil, err
		}
		empty = append(empty, d)
	}
	return hook, empty, nil
}

// linked is how many MiB of the program are of the packages that prompts alone need.
func (b bench) linked() (float64, error) {
	if err := b.build("", "whole", "github.com/mcpdeck/mcpdeck/cmd/mcpdeck"); err != nil {
		return 0, err
	}
	out, err := exec.Command("go", "tool", "nm", "-size", filepath.Join(b.dir, "whole")).Output()
	if err != nil {
		return 0, fmt.Errorf("read the sizes of symbols: %w", err)
	}
	var sum float64
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[2] == "b" || f[2] == "B" || !ours(strings.Join(f[3:], " ")) {
			continue
		}
		n, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum / (1 << 20), nil
}

// ours reports whether a symbol is of a package that prompts alone need.
func ours(symbol string) bool {
	for _, p := range []string{"mcpdeck/servers/agents/approvals", "mcpdeck/servers/support/rpc/frames", "coder/websocket", "mcpdeck/tui/page/agents"} {
		if strings.Contains(symbol, p) {
			return true
		}
	}
	return false
}
