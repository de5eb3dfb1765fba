//go:build linux

// Command perf measures the deck against a stock MCP server, in one run on one
// machine, and prints the tables of its README.
//
//	go run ./cmd/internal/perf
//	go run ./cmd/internal/perf -quick
//	go run ./cmd/internal/perf -part cards
//
// It builds the program, then plays the other processes itself: a stock stdio
// server, and a host that has one echo tool behind the production socket, relay
// and HTTP endpoint.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

func main() {
	role := flag.String("role", "", "which process to play: stock, host or memory (for perf's own use)")
	dir := flag.String("dir", "", "folder of the host's files (for perf's own use)")
	journal := flag.Bool("journal", false, "the host keeps a journal (for perf's own use)")
	child := flag.String("child", "", "the host proxies this program (for perf's own use)")
	card := flag.String("card", "", "the host has this program as a card (for perf's own use)")
	tools := flag.Int("tools", 1, "of the stock server (for perf's own use)")
	part := flag.String("part", "", "paths, deck, cards or prompts; all without")
	flag.String("app", "", "what a Pencil program is told; ignored")
	quick := flag.Bool("quick", false, "fewer calls: a look, not a measurement")
	flag.Parse()
	var err error
	switch *role {
	case "stock":
		err = playStock(*tools)
	case "host":
		err = playHost(hostOptions{*dir, *journal, *child, *card}, os.Stdin, os.Stdout)
	case "memory":
		err = playMemory(*dir, os.Stdout)
	default:
		err = measure(*quick, *part)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	self, program string // this program and mcpdeck
	dir           string
	rounds, calls int
	starts        int
	idle          time.Duration
	keys          int
	rest          time.Duration // of sessions, idle and at work
	asks          int           // of each agent
}

func measure(quick bool, part string) error {
	b := bench{rounds: 5, calls: 2000, starts: 40, idle: 10 * time.Second, keys: 60, rest: time.Minute, asks: 30}
	if quick {
		b = bench{rounds: 2, calls: 300, starts: 8, idle: 3 * time.Second, keys: 15, rest: 5 * time.Second, asks: 6}
	}
	var err error
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "mcpdeck-perf"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir) //nolint:errcheck // a temporary folder
	b.program = filepath.Join(b.dir, "mcpdeck")
	if err := b.build("-s -w", "mcpdeck", "github.com/mcpdeck/mcpdeck/cmd/mcpdeck"); err != nil {
		return err
	}
	fmt.Printf("%s, %d cores, %s\n\n", runtime.Version(), runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly))
	parts := []struct {
		name string
		run  func(context.Context) error
	}{{"paths", b.paths}, {"deck", b.deck}, {"cards", b.cards}, {"prompts", b.prompts}}
	known := part == ""
	for _, p := range parts {
		known = known || p.name == part
		if part != "" && p.name != part {
			continue
		}
		if err := p.run(context.Background()); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if !known {
		return fmt.Errorf("unknown part %q", part)
	}
	return nil
}

// build builds a program into the folder of the run.
func (b bench) build(flags, name, pkg string) error {
	build := exec.Command("go", "build", "-trimpath", "-ldflags", flags, "-o", filepath.Join(b.dir, name), pkg)
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", name, err, out)
	}
	return nil
}
