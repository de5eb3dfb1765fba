//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

const (
	peerPackage = "mcp-proxy"
	peerVersion = "6.7.19"
	// cardTools and their texts make a card about as large as most servers do.
	cardTools = 20
	someCards = 20
)

// newCard makes a card of a program.
func newCard(name, dir, program string) *upstream.Card {
	return upstream.New(upstream.Options{
		Name: name, Version: "perf", OnDemand: true, Pins: filepath.Join(dir, name, "pins.json"),
		Hooks: upstream.Hooks{Find: func(upstream.From) (upstream.Found, error) {
			line := []string{program, "-role", "stock", "-tools", fmt.Sprint(cardTools)}
			return upstream.Found{Command: process.Of(line, process.Install, os.Environ())}, nil
		}},
	})
}

// cards compares a call through a card with a direct one and with one through a proxy
// from npm, and measures the memory of cards.
func (b bench) cards(ctx context.Context) error {
	deck, err := b.host("card", "-card", b.self)
	if err != nil {
		return err
	}
	defer deck.stop()
	stock := []string{b.self, "-role", "stock", "-tools", fmt.Sprint(cardTools)}
	ways := []*way{
		{name: "the server alone, stdio", open: func() (client, error) { return startProcess(nil, stock...) }},
		{name: "added: `mcpdeck mcp` → deck → server", tool: "card_echo", open: func() (client, error) { return startProcess(deck.env(), b.program, "mcp") }},
		{name: "added: HTTP → deck → server", tool: "card_echo", open: func() (client, error) { return newWeb(deck.url, deck.token), nil }},
	}
	for _, p := range []peer{{peerPackage + " " + peerVersion + " (npm)", b.npmPeer}, {"TBXark's mcp-proxy", b.goPeer}} {
		url, stop, err := p.start(ctx, stock)
		if err != nil {
			fmt.Printf("without %s: %v\n\n", p.name, err)
			continue
		}
		defer stop()
		ways = append(ways, &way{name: p.name + ": HTTP → server", open: func() (client, error) { return newWeb(url, ""), nil }})
	}
	if err := b.all(ways, true); err != nil {
		return err
	}
	printCards(ways)
	out, err := exec.Command(b.self, "-role", "memory", "-dir", filepath.Join(b.dir, "memory")).Output()
	if err != nil {
		return fmt.Errorf("measure memory: %w", err)
	}
	fmt.Printf("\n%s\n", out)
	return nil
}

func printCards(ways []*way) {
	fmt.Println("| a call of a server's tool | 64 B, one caller p50 / p99 | 64 B, 8 callers | calls/s | 256 KiB, one caller | 256 KiB, 8 callers | adds, p50 |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, w := range ways {
		adds := "–"
		if w != ways[0] {
			adds = fmt.Sprintf("%d µs; of 256 KiB %.1f ms", (at(w.small, .5) - at(ways[0].small, .5)).Microseconds(), float64(at(w.large, .5)-at(ways[0].large, .5))/1e6)
		}
		fmt.Printf("| %s | %s | %s | %.0f | %s | %s | %s |\n", w.name, pair(w.small, time.Microsecond), pair(w.eight, time.Microsecond), w.rate(),
			pair(w.large, time.Millisecond), pair(w.largeEight, time.Millisecond), adds)
	}
}

// peer is another program that stands between a client and a server.
type peer struct {
	name  string
	start func(ctx context.Context, server []string) (url string, stop func(), err error)
}

// npmPeer starts the proxy from npm before a server.
func (b bench) npmPeer(ctx context.Context, server []string) (url string, stop func(), err error) {
	dir := filepath.Join(b.dir, "peer")
	limited, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	install := exec.CommandContext(limited, "npm", "install", "--no-audit", "--no-fund", "--prefix", dir, peerPackage+"@"+peerVersion)
	if out, err := install.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("%w: %.300s", err, out)
	}
	address, err := freeAddress()
	if err != nil {
		return "", nil, err
	}
	args := []string{"--host", "127.0.0.1", "--port", fmt.Sprint(address.Port), "--server", "stream", "--"}
	stop, err = listening(ctx, exec.Command(filepath.Join(dir, "node_modules", ".bin", peerPackage), append(args, server...)...), address)
	return "http://" + address.String() + "/mcp", stop, err
}

// checkout is the variable that names a folder with the source of a peer that no registry has.
const checkout = "MCPDECK_PERF_TBXARK"

// goPeer builds the proxy whose source the user has, and starts it before a server.
func (b bench) goPeer(ctx context.Context, server []string) (url string, stop func(), err error) {
	source := os.Getenv(checkout)
	if source == "" {
		return "", nil, fmt.Errorf("%s names no checkout of it", checkout)
	}
	program, settings := filepath.Join(b.dir, "tbxark"), filepath.Join(b.dir, "tbxark.json")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("build it: %w: %.300s", err, out)
	}
	address, err := freeAddress()
	if err != nil {
		return "", nil, err
	}
	const name = "stock"
	text, err := json.Marshal(map[string]any{
		"mcpProxy": map[string]any{
			"baseURL": "http://" + address.String(), "addr": address.String(), "name": "perf", "version": "1", "type": "streamable-http",
		},
		"mcpServers": map[string]any{name: map[string]any{"command": server[0], "args": server[1:]}},
	})
	if err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(settings, text, 0o600); err != nil {
		return "", nil, err
	}
	stop, err = listening(ctx, exec.Command(program, "--config", settings), address)
	return "http://" + address.String() + "/" + name + "/", stop, err
}

// freeAddress is an address on loopback at which nothing listens.
func freeAddress() (*net.TCPAddr, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr), nil
}

// listening starts a program and waits until it listens at an address.
func listening(ctx context.Context, cmd *exec.Cmd, address *net.TCPAddr) (stop func(), err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt) // it ends the server, too
		t := time.AfterFunc(8*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		t.Stop()
	}
	for range 200 {
		if c, err := net.Dial("tcp", address.String()); err == nil {
			c.Close()
			return stop, nil
		}
		if ctx.Err() != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return nil, fmt.Errorf("%s does not listen", filepath.Base(cmd.Path))
}

// playMemory prints what cards cost a host that are off, on and used. A first host has
// accepted their definitions, as it is after the first day.
func playMemory(dir string, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx := context.Background()
	some := func() (all []*upstream.Card) {
		for i := range someCards {
			all = append(all, newCard(fmt.Sprintf("card%d", i+1), dir, self))
		}
		return all
	}
	for _, c := range some() {
		c.Start(upstream.Events{})
		if _, err := c.Control(ctx, upstream.Request{Verb: "on"}); err != nil {
			return err
		}
		if err := c.Stop(ctx); err != nil {
			return err
		}
	}
	h, err := router.New(router.Options{Version: "perf", Servers: []backend.Server{echoServer()}, Root: dir})
	if err != nil {
		return err
	}
	h.Start()
	if _, err := h.View(router.ViewSpec{}); err != nil { // whose lists count
		return err
	}
	all := some()
	rss := []int64{settledRSS()}
	for _, c := range all {
		if err := h.Add(upstream.NewAdapter(c, upstream.AdapterOptions{})); err != nil {
			return err
		}
	}
	rss = append(rss, settledRSS())
	for _, c := range all {
		if _, err := c.Control(ctx, upstream.Request{Verb: "on"}); err != nil {
			return err
		}
	}
	rss = append(rss, settledRSS())
	var children int64
	for _, c := range all {
		r, err := c.Call(ctx, upstream.Call{Tool: c.Name() + "_echo", Args: json.RawMessage(`{"text":"hi"}`)})
		if err != nil || r.IsError {
			return fmt.Errorf("call %s: %w %s", c.Name(), cmp.Or(err, io.ErrUnexpectedEOF), r.Raw)
		}
		u, err := usageOf(c.Status().PID)
		if err != nil {
			return err
		}
		children += u.rssKB
	}
	rss = append(rss, settledRSS())
	fmt.Fprintln(out, "| memory of an added server with "+fmt.Sprint(cardTools)+" tools | off | on, not running | running |\n|---|---|---|---|")
	row := []string{"in the deck"}
	for i := range rss[1:] {
		row = append(row, fmt.Sprintf("%d KB", (rss[i+1]-rss[0])/someCards))
	}
	fmt.Fprintf(out, "| %s |\n", strings.Join(row, " | "))
	fmt.Fprintf(out, "| in the server's process | – | – | %.1f MB |\n", float64(children)/someCards/1024)
	return h.Stop(ctx)
}

// settledRSS is the memory of this process, without what it would give back.
func settledRSS() int64 {
	time.Sleep(500 * time.Millisecond)
	debug.FreeOSMemory()
	u, err := usageOf(os.Getpid())
	if err != nil {
		return 0
	}
	return u.rssKB
}
