// Command demo shows the pages with invented data, to look at them before there
// is anything to show.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/drift"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

func main() {
	start := flag.String("page", "", "page to show first")
	background := flag.String("background", "", "dark, light or empty: ask")
	rate := flag.Int("rate", 0, "calls a second")
	empty := flag.Bool("empty", false, "no agents and no calls")
	ascii := flag.Bool("ascii", false, "ASCII glyphs")
	watch := flag.Bool("watch", false, "change nothing")
	warn := flag.Bool("warn", false, "with warnings")
	prompts := flag.Bool("prompts", false, "with prompts of agents' own programs")
	busy := flag.Bool("busy", false, "with those, and many sessions")
	front := flag.Bool("front", false, "with the sessions and prompts of the frames")
	many := flag.Int("changes", 5000, "changes of the largest comparison")
	flag.Parse()

	d := fake.NewDeck(time.Now())
	if *empty {
		d.Change(func(s *snapshot.Snapshot) { s.Agents, s.Calls, s.Total = nil, nil, 0 })
	}
	if *warn {
		d.Change(func(s *snapshot.Snapshot) {
			s.Warnings = []snapshot.Warning{
				{Time: time.Now().Add(-3 * time.Minute), From: "host", Text: "port 7337 is taken; HTTP is off. Set http.port to another one"},
				{Time: time.Now(), From: "journal", Text: "the disk is full; calls are kept in memory until there is room"},
			}
		})
	}
	if *rate > 0 {
		go flood(d, *rate)
	}
	q := ask.New(ask.Options{})
	defer func() { _ = q.Close() }() // it keeps nothing
	var feeds []tui.Feed
	if *busy {
		*prompts = true
		feeds = append(feeds, tui.SessionsFeed(fake.NewSessions(time.Now())))
	}
	switch {
	case *front:
		feeds = append(feeds, tui.SessionsFeed(fake.FrontSessions(time.Now())))
		for _, r := range []ask.Request{fake.FrontAllow(), fake.FrontQuestion(), fake.FrontLong(), fake.FrontParts()} {
			if _, err := q.Open(r); err != nil {
				fmt.Fprintln(os.Stderr, "demo:", err)
			}
		}
	case *prompts:
		for _, r := range fake.Prompts() {
			if _, err := q.Open(r); err != nil {
				fmt.Fprintln(os.Stderr, "demo:", err)
			}
		}
	default:
		form, err := ask.FormQuestions("Which journey shall I book?", json.RawMessage(fake.Form()))
		if err != nil {
			break
		}
		req := ask.Request{
			Questions: form, Local: true, From: ask.From{Client: "Trains", Agent: "for claude"}, Title: "claude has called trains_book",
			Peer: ask.Peer{PID: os.Getpid(), Program: "trains-mcp", Cwd: "/home/ann/shop"},
		}
		go func() {
			if _, call, err := q.Elicit(context.Background(), req); err == nil {
				call.Delivered(ask.Delivered) // nobody needs the answer
			}
		}()
	}
	err := tui.Run(context.Background(), tui.Options{
		Output: os.Stdout, Deck: d, Start: *start, Background: *background, Watch: *watch, Theme: theme.Options{ASCII: *ascii}, Feeds: feeds,
		Pages: []tui.Page{
			inbox.New(q, inbox.Options{CallsPage: calls.ID, Home: "/home/ana"}),
			agents.New(agents.Options{AskPage: inbox.ID, CallsPage: calls.ID, Questions: q}),
			calls.New(calls.Options{Bodies: d}),
			drift.New(drift.Options{Project: "/home/ann/shop", Source: fake.NewDrift(time.Now(), fake.DriftPass(time.Now()), fake.DriftMany(time.Now(), *many), fake.DriftStale(time.Now()), fake.DriftResult(time.Now()))}),
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// flood adds calls.
func flood(d *fake.Deck, rate int) {
	for range time.Tick(time.Second / 100) {
		for range max(rate/100, 1) {
			d.Add(snapshot.Call{
				Agent: "a1", AgentName: "claude", Server: "clippy", Tool: "read_project_context", Status: snapshot.OK,
				Started: time.Now(), Duration: time.Duration(rand.IntN(300)) * time.Millisecond, Args: `{"path":"README.md"}`,
			})
		}
	}
}
