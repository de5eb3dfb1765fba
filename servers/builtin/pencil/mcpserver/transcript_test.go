package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil/internal/standin"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

var update = flag.Bool("update", false, "take the transcripts anew")

// A scene is something that agents do with Pencil, or that befalls them. What they
// read meanwhile is the same in every carrier of messages that has the same form.
type scene struct {
	name string
	slow bool // it needs a clock that can be put forward, so it is played over stdio alone
	// listens opens the stream of a session over HTTP for what belongs to no request;
	// what belongs to one may come there too, then, in any order.
	listens bool
	play    func(p *play)
}

func scenes() []scene {
	return []scene{
		{"switch", false, true, switched},
		{"results", false, false, results},
		{"errors", false, false, failures},
		{"progress", false, false, progress},
		{"cancel", false, false, cancelled},
		{"pins", false, true, pinned},
		{"gateway", false, true, gateway},
		{"elicitation", false, false, elicited},
		{"reconnect", false, true, reconnected},
		{"lost", true, false, lost},
		{"slow", true, false, slow},
		{"confused", true, false, confused},
	}
}

// What agents read of Pencil is, byte for byte, what it was: in both eras of the
// protocol, over stdio, the deck's socket and HTTP. Run with -update to take the
// transcripts anew.
func TestTranscripts(t *testing.T) {
	for _, s := range scenes() {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(s.name+" "+era, func(t *testing.T) {
				path := filepath.Join("testdata", "transcripts", s.name+"."+era+".%s.txt")
				t.Run("stdio", func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p := newPlay(t, s, era, "stdio")
						s.play(p)
						p.end()
						testwait.Pass(3 * time.Hour) // calls that the stand-in is still at
						p.compare(fmt.Sprintf(path, "stream"), *update)
					})
				})
				if s.slow {
					return
				}
				t.Run("socket", func(t *testing.T) {
					p := newPlay(t, s, era, "socket")
					s.play(p)
					p.end()
					p.compare(fmt.Sprintf(path, "stream"), false)
				})
				t.Run("http", func(t *testing.T) {
					p := newPlay(t, s, era, "http")
					s.play(p)
					p.end()
					p.compare(fmt.Sprintf(path, "http"), *update)
				})
			})
		}
	}
}

// play is one scene over one carrier, and what was said so far.
type play struct {
	t            *testing.T
	listens      bool
	era, carrier string
	said         bytes.Buffer
	ends         []func()

	home string
	mode *pencil.Pencil
	host *router.Host
	look <-chan struct{}
}

func newPlay(t *testing.T, s scene, era, carrier string) *play {
	t.Helper()
	return &play{t: t, listens: s.listens, era: era, carrier: carrier, home: t.TempDir()}
}

// note writes a line into the transcript.
func (p *play) note(format string, args ...any) { fmt.Fprintf(&p.said, format+"\n", args...) }

// deck opens a deck whose child is the stand-in with flags; set may change the
// options. The one before is closed.
func (p *play) deck(set func(*pencil.Options), flags ...string) {
	p.t.Helper()
	p.end()
	program, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	o := pencil.Options{Command: program, Args: flags, Version: "test", Home: p.home, Root: p.home, Start: standin.Pipes()}
	if set != nil {
		set(&o)
	}
	p.mode = pencil.New(o)
	p.host, err = router.New(router.Options{Version: "test", Servers: []backend.Server{New(p.mode), other()}, Root: "/deck"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.host.Start()
	hint, forget := p.mode.Subscribe()
	p.look = hint
	running := p.host
	p.ends = append(p.ends, func() {
		forget()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := running.Stop(ctx); err != nil {
			p.t.Error(err)
		}
	})
	p.note("# a deck, its child started with %q", flags)
}

// end closes what is open, the last first.
func (p *play) end() {
	for i := len(p.ends) - 1; i >= 0; i-- {
		p.ends[i]()
	}
	p.ends = nil
}

// on switches on, and off; agents were told when they return.
func (p *play) on() { p.t.Helper(); p.control("on") }

func (p *play) off() { p.t.Helper(); p.control("off") }

func (p *play) control(verb string) {
	p.t.Helper()
	reply, err := p.mode.Control(context.Background(), upstream.Request{Verb: verb})
	if err != nil {
		p.note("# mcpdeck pencil %s: error: %v", verb, err)
		return
	}
	p.note("# mcpdeck pencil %s: %s", verb, reply.Text)
}

// until waits for the status to be as it must be.
func (p *play) until(what string, is func(pencil.Status) bool) pencil.Status {
	p.t.Helper()
	return testwait.For(p.t, what, p.mode.Status, is)
}

// compare holds the transcript against the one that is kept.
func (p *play) compare(path string, take bool) {
	p.t.Helper()
	got := p.said.Bytes()
	if take {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, got, 0o644)); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			p.t.Fatalf("%s differs first at line %d of %d\n got %s\nwant %s", path, i+1, len(w), at(g, i), at(w, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}

const (
	batchGet = `{"name":"pencil_batch_get","arguments":{"b":9007199254740993,"a":"é\u00e9"}}`
	design   = `{"name":"pencil_batch_design","arguments":{"filePath":"x.pen"}}`
)
