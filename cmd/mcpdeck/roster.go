package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	tokens "github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// followSessions keeps the list of agents' sessions until ctx ends; the channel is closed
// when what was counted is kept.
func (h *instance) followSessions(ctx context.Context) (done <-chan struct{}) {
	ended := make(chan struct{})
	recovery.Go("sessions", func() {
		defer close(ended)
		h.readPrices(h.now.Load())
		count := h.counter()
		count.Prune(time.Now())
		h.roster.Run(ctx, sessions.Options{
			Queue: h.queue, Deck: h.host, Usage: count, Keep: h.keeps, Running: h.running,
			Name: h.places.Name,
		})
	})
	return ended
}

// running are the processes that may be agents' programs.
func (h *instance) running() []process.Running {
	all := process.All()
	if h.alone {
		all = slices.DeleteFunc(all, func(p process.Running) bool { return p.Parent != os.Getpid() })
	}
	return all
}

// keeps is how long a session that has ended stays in the list.
func (h *instance) keeps() time.Duration { return time.Duration(h.now.Load().File.Sessions.Keep) }

// readPrices reads what tokens cost, and warns of what is wrong with the user's own table.
func (h *instance) readPrices(cfg *config.Config) {
	var wrong []string
	list, err := prices(cfg)
	if err != nil {
		slog.Error("read the prices", "error", err)
		wrong = []string{err.Error()}
	}
	if !reflect.DeepEqual(list, h.prices.Load()) { // with another table every session is priced again
		h.prices.Store(list)
	}
	if h.host != nil {
		h.host.SetWarnings("prices", false, wrong...)
	}
}

// counter counts the tokens of sessions.
func (h *instance) counter() *tokens.Counter {
	folders, programs := h.cfg.ClientFolders(), map[string]tokens.Program{}
	for _, a := range agents.All() {
		programs[a.ID] = tokens.Program{Folder: folders.Program(a.ID), Format: a.Usage}
	}
	return tokens.New(tokens.Options{Programs: programs, Prices: h.prices.Load, State: filepath.Join(h.cfg.Paths.State, "usage")})
}

// sessionFiles lists the sessions without a deck, by what the files and sockets of the
// agents' programs say.
func sessionFiles(ctx context.Context, cfg *config.Config) (sessionList, error) {
	h := &instance{cfg: cfg, roster: &sessions.Roster{}, queue: ask.New(ask.Options{})}
	h.now.Store(cfg)
	h.readPrices(cfg)
	if err := h.queue.Close(); err != nil { // nothing can be asked here
		return sessionList{}, err
	}
	const quiet, most = 400 * time.Millisecond, 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	hints, stop := h.roster.Hints()
	defer stop()
	found := false
	for agent, a := range h.adapters() {
		if f, ok := a.(approvals.Finder); !ok || !f.Left() { // without a deck, no other tells of any
			continue
		}
		found = true
		recovery.Go("sessions of "+agent, func() { a.Run(ctx) })
	}
	done, looked := make(chan struct{}), make(chan struct{}, 1)
	recovery.Go("sessions", func() {
		defer close(done)
		h.roster.Run(ctx, sessions.Options{
			Usage: h.counter(), Keep: h.keeps, Running: process.All, Looked: func() { notify.Poke(looked) },
		})
	})
	for settled := false; !settled; {
		select {
		case <-looked:
			settled = !found
		case <-hints:
		case <-time.After(quiet):
			settled = true
		case <-ctx.Done():
			settled = true
		}
	}
	all := newSessionList(h.roster.Sessions())
	cancel()
	<-done
	return all, nil
}

// jump brings the terminal of a session to the front.
func (h *instance) jump(s snapshot.Session) (string, error) {
	return h.places.Jump(context.Background(), s)
}

// jumpTo brings the terminal to the front in which an agent's program asks.
func (h *instance) jumpTo(r ask.Request) (string, error) {
	if s, ok := h.sessionThatAsks(r); ok {
		return h.jump(s)
	}
	return "", errors.New("the terminal of this session is not known")
}

// looksAt reports whether the user looks at the terminal in which an agent's program asks.
func (h *instance) looksAt(r ask.Request) bool {
	s, ok := h.sessionThatAsks(r)
	return ok && h.places.Shown(context.Background(), s)
}

func (h *instance) sessionThatAsks(r ask.Request) (snapshot.Session, bool) {
	for _, s := range h.roster.Sessions() {
		if p := r.Prompt; p != nil && s.Agent == p.Agent && s.ID == p.Session {
			return s, true
		}
	}
	return snapshot.Session{}, false
}
