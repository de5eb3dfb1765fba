//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

var rest = flag.Duration("rest", 0, "how long a deck beside idle agents is measured")

// processorTime is what a process has used of it.
func processorTime(t *testing.T, c *exec.Cmd) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(stat)[strings.LastIndex(string(stat), ")"):])
	user, err := strconv.Atoi(f[12])
	if err != nil {
		t.Fatal(err)
	}
	system, err := strconv.Atoi(f[13])
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * time.Second / 100 // which is how Linux counts
}

// TestIdleSessionsOfRealAgentsCostTheDeckLittle has ten of seven programs in their terminals, each
// after a first turn, and measures the deck without and with them.
func TestIdleSessionsOfRealAgentsCostTheDeckLittle(t *testing.T) {
	if *rest == 0 {
		t.Skip("measures for minutes: task perf:agents")
	}
	realtest.On(t)
	d := newDriver(t)
	d.program = programs.Program(t, "cmd/mcpdeck", "CGO_ENABLED=0")
	extended := asksCopilot(d)
	extended.setup, extended.opens = nil, openCopilotExtended
	team := []struct {
		asker
		times int
	}{{asksClaude(d), 2}, {asksCodex(d), 2}, {asksOpenCode(d, "opencode"), 2}, {asksOpenCode(d, "kilo"), 1}, {extended, 1}, {asksQwen(d), 1}, {asksGemini(d), 1}}
	var said []string
	sessions := 0
	for _, p := range team {
		d.setUp(append(p.setup, p.id)...)
		sessions += p.times
		said = append(said, fmt.Sprintf("%d of %s", p.times, p.id))
	}
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	measured := func() (percent float64, memory int) {
		time.Sleep(5 * time.Second) // what comes of the start is over
		before, begun := processorTime(t, deck.cmd), time.Now()
		time.Sleep(*rest) // it is what is measured
		return 100 * (processorTime(t, deck.cmd) - before).Seconds() / time.Since(begun).Seconds(), memoryOf(t, deck.cmd, "VmRSS")
	}
	without, small := measured()
	for _, p := range team {
		model := mockmodel.New(t, "")
		for range p.times {
			w := p.opens(d, model)
			p.says(w, "go")
			w.shows(d, "END")
		}
	}
	idle := func() (n int) {
		for _, s := range d.listed() {
			if s.State == string(snapshot.Idle) {
				n++
			}
		}
		return n
	}
	d.until("their rows", func() bool { return idle() == sessions })
	with, large := measured()
	if n := idle(); n != sessions {
		t.Fatalf("%d of %d are listed as idle", n, sessions)
	}
	if with > 0.5 || large-small > 8 {
		t.Error("it costs more than it may")
	}
	table := fmt.Sprintf(`| %d idle sessions of %d real agents' programs (%s), %s | measured | budget |
|---|---|---|
| CPU while idle, and without them | %.2f %%, %.2f %% | 0.5 %% |
| memory they add, and the deck without them | %d MiB, %d MiB | 8 MiB |
`, sessions, len(team), strings.Join(said, ", "), time.Now().UTC().Format(time.DateOnly), with, without, large-small, small)
	t.Log("\n" + table)
	written(t, "../internal/perf/README.md", "-run IdleSessions -rest 1m -update -->\n", "<!-- end of idle sessions -->", table)
}

// asksGemini is Gemini CLI, which answers in its terminal alone.
func asksGemini(d *driver) asker {
	d.t.Helper()
	geminiHome(d)
	return asker{
		id: "gemini",
		opens: func(d *driver, model *mockmodel.Server) *window {
			w := d.terminal(d.agentCommand(d.project, "gemini", []string{"GOOGLE_GEMINI_BASE_URL=" + model.URL, "GEMINI_API_KEY=x"}, "-m", "gemini-2.5-pro", "-i", "go"))
			w.tall(40, w.tty)
			return w
		},
		says: func(*window, string) {},
	}
}
