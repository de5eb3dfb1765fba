//go:build linux

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
)

// hostProcess is a process that hosts servers.
type hostProcess struct {
	dir, url, token string
	cmd             *exec.Cmd
	stop            func()
}

func (b bench) host(name string, args ...string) (*hostProcess, error) {
	h := &hostProcess{dir: filepath.Join(b.dir, name)}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return nil, err
	}
	h.cmd = exec.Command(b.self, append([]string{"-role", "host", "-dir", h.dir}, args...)...)
	in, err := h.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.cmd.Stderr = os.Stderr
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	h.stop = func() {
		in.Close()
		_ = h.cmd.Wait()
	}
	if err := h.greet(out); err != nil {
		h.stop()
		return nil, err
	}
	return h, nil
}

// greet reads the line that the host prints once it is up.
func (h *hostProcess) greet(out io.Reader) error {
	if _, err := fmt.Fscan(bufio.NewReader(out), &h.url, &h.token); err != nil {
		return fmt.Errorf("start host: %w", err)
	}
	return nil
}

func (h *hostProcess) env() []string {
	return []string{"MCPDECK_SOCKET=" + filepath.Join(h.dir, "deck.sock")}
}

// way is a path from a client to the echo tool.
type way struct {
	name string
	tool string // "": echo
	open func() (client, error)

	small, large, start []time.Duration
	eight, largeEight   []time.Duration
	perSecond           []float64
	p50                 []time.Duration // of each round
}

// paths compares the ways to a tool. Rounds take turns, so that a busy moment of
// the machine meets all of them.
func (b bench) paths(context.Context) error {
	plain, err := b.host("plain")
	if err != nil {
		return err
	}
	defer plain.stop()
	logged, err := b.host("logged", "-journal")
	if err != nil {
		return err
	}
	defer logged.stop()
	proxy, err := b.host("proxy", "-child", b.self)
	if err != nil {
		return err
	}
	defer proxy.stop()
	ways := []*way{
		{name: "stock mcp-go, stdio", open: func() (client, error) { return startProcess(nil, b.self, "-role", "stock") }},
		{name: "`mcpdeck mcp` → socket → deck", open: func() (client, error) { return startProcess(plain.env(), b.program, "mcp") }},
		{name: "the same, journal on", open: func() (client, error) { return startProcess(logged.env(), b.program, "mcp") }},
		{name: "relay → deck → child over stdio (Pencil's path)", tool: "pencil_echo", open: func() (client, error) { return startProcess(proxy.env(), b.program, "mcp") }},
		{name: "HTTP with token", open: func() (client, error) { return newWeb(plain.url, plain.token), nil }},
	}
	if err := b.all(ways, false); err != nil {
		return err
	}
	for range b.starts {
		for _, w := range ways[:2] {
			if err := w.cold(); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	idle, err := idleConnections(plain, 50)
	if err != nil {
		return err
	}
	printWays(ways)
	fmt.Printf("\n50 idle connections: %.0f KB of memory each.\n\n", idle)
	return nil
}

// all runs the rounds; wide has large calls of eight callers count, too.
func (b bench) all(ways []*way, wide bool) error {
	for range b.rounds {
		for _, w := range ways {
			if err := b.round(w, wide); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return nil
}

func (b bench) round(w *way, wide bool) error {
	c, err := w.connect()
	if err != nil {
		return err
	}
	defer c.close()
	tool := cmp.Or(w.tool, "echo")
	if err := w.ready(c, tool); err != nil {
		return err
	}
	if _, _, err := echoes(c, tool, b.calls/10, 1, 64); err != nil { // warm up
		return err
	}
	small, _, err := echoes(c, tool, b.calls, 1, 64)
	if err != nil {
		return err
	}
	w.p50 = append(w.p50, at(small, .5))
	w.small = append(w.small, small...)
	eight, all, err := echoes(c, tool, b.calls, 8, 64)
	if err != nil {
		return err
	}
	w.eight = append(w.eight, eight...)
	w.perSecond = append(w.perSecond, float64(len(eight))/all.Seconds())
	large, _, err := echoes(c, tool, max(b.calls/100, 10), 1, 256<<10)
	w.large = append(w.large, large...)
	if err != nil || !wide {
		return err
	}
	large, _, err = echoes(c, tool, max(b.calls/50, 16), 8, 256<<10)
	w.largeEight = append(w.largeEight, large...)
	return err
}

// ready waits until the tool is listed: a proxied one needs its child.
func (w *way) ready(c client, tool string) error {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		b, err := c.request("tools/list", "{}")
		if err != nil || bytes.Contains(b, []byte(`"name":"`+tool+`"`)) {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("there is no tool %s in %.500s", tool, b)
		}
	}
}

// cold measures from the start of the process to the list of tools.
func (w *way) cold() error {
	t := time.Now()
	c, err := w.connect()
	if err != nil {
		return err
	}
	w.start = append(w.start, time.Since(t))
	c.close()
	return nil
}

// connect opens a client and has its handshake done.
func (w *way) connect() (client, error) {
	c, err := w.open()
	if err != nil {
		return nil, err
	}
	if err := shake(c); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// rate is how many calls of eight callers were answered in a second.
func (w *way) rate() (calls float64) {
	for _, r := range w.perSecond {
		calls += r / float64(len(w.perSecond))
	}
	return calls
}

func printWays(ways []*way) {
	fmt.Println("| path | one caller p50 / p99 | 8 callers p50 / p99 | 8 callers calls/s | 256 KiB p50 | start to tools p50 / p99 |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, w := range ways {
		start := "–"
		if len(w.start) > 0 {
			start = pair(w.start, time.Millisecond)
		}
		fmt.Printf("| %s | %s | %s | %.0f | %.1f ms | %s |\n", w.name, pair(w.small, time.Microsecond), pair(w.eight, time.Microsecond),
			w.rate(), float64(at(w.large, .5))/1e6, start)
	}
	stock, relay, logged := at(ways[0].p50, .5), at(ways[1].p50, .5), at(ways[2].p50, .5)
	journal := "nothing that shows there"
	if d := (logged - relay).Microseconds(); d > 0 {
		journal = fmt.Sprintf("%d µs", d)
	}
	fmt.Printf("\nThe relay adds %d µs at the median; the journal %s.\n", (relay - stock).Microseconds(), journal)
}

// pair is p50 / p99 in the unit.
func pair(d []time.Duration, unit time.Duration) string {
	if unit == time.Millisecond {
		return fmt.Sprintf("%.1f / %.1f ms", float64(at(d, .5))/1e6, float64(at(d, .99))/1e6)
	}
	return fmt.Sprintf("%d / %d µs", at(d, .5).Microseconds(), at(d, .99).Microseconds())
}

// idleConnections returns the memory in KB that a connection costs the host.
func idleConnections(h *hostProcess, n int) (float64, error) {
	before, err := usageOf(h.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	for range n {
		c, err := dial(filepath.Join(h.dir, "deck.sock"))
		if err != nil {
			return 0, err
		}
		defer c.close()
		if err := shake(c); err != nil {
			return 0, err
		}
	}
	time.Sleep(500 * time.Millisecond)
	after, err := usageOf(h.cmd.Process.Pid)
	return float64(after.rssKB-before.rssKB) / float64(n), err
}

// dial connects to a deck's socket.
func dial(path string) (*pipe, error) {
	c, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	welcome, r, err := transport.Greet(c, transport.Hello{Cwd: "/tmp"})
	if err == nil && welcome.Error != "" {
		err = fmt.Errorf("greet: %s", strings.TrimSpace(welcome.Error))
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return newPipe(c, r, func() {}), nil
}
