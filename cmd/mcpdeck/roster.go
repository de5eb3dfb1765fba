package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/process"
	places "github.com/mcpdeck/mcpdeck/servers/prompts/place"
	"github.com/mcpdeck/mcpdeck/servers/prompts/roster"
	tokens "github.com/mcpdeck/mcpdeck/servers/prompts/usage"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// followSessions keeps the list of agents' sessions until ctx ends; the channel is closed
// when what was counted is kept.
func (h *instance) followSessions(ctx context.Context) (done <-chan struct{}) {
	ended := make(chan struct{})
	safe.Go("sessions", func() {
		defer close(ended)
		count := counter(h.cfg, filepath.Join(h.cfg.Paths.State, "usage"), func(sentence string) { h.host.Warn("prices", sentence) })
		count.Prune(time.Now())
		h.roster.Run(ctx, roster.Options{
			Queue: h.queue, Deck: h.host, Usage: count, Keep: time.Duration(h.cfg.File.Sessions.Keep), Running: process.All,
			Name: places.Finder{Environ: h.cfg.Environ}.Name,
		})
	})
	return ended
}

// counter counts the tokens of sessions, and keeps what it counted in a folder.
func counter(cfg *config.Config, state string, warn func(sentence string)) *tokens.Counter {
	list, err := prices(cfg)
	if err != nil {
		slog.Error("read the prices", "error", err)
		warn(err.Error())
	}
	folders, homes := cfg.ClientFolders(), map[string]string{}
	for _, agent := range []string{"claude", "codex", "gemini"} {
		homes[agent] = folders.Program(agent)
	}
	return tokens.New(tokens.Options{Homes: homes, Prices: list, State: state})
}

// sessionFiles lists the sessions without a deck, by what the files and sockets of the
// agents' programs say.
func sessionFiles(ctx context.Context, cfg *config.Config) (sessionList, error) {
	h := &instance{cfg: cfg, roster: &roster.Roster{}, queue: ask.New(ask.Options{})}
	if err := h.queue.Close(); err != nil { // nothing can be asked here
		return sessionList{}, err
	}
	const quiet, most = 400 * time.Millisecond, 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	hints, stop := h.roster.Hints()
	defer stop()
	for _, a := range h.adapters() {
		safe.Go("sessions of "+a.Agent(), func() { a.Run(ctx) })
	}
	done := make(chan struct{})
	safe.Go("sessions", func() {
		defer close(done)
		h.roster.Run(ctx, roster.Options{
			Usage: counter(cfg, filepath.Join(cfg.Paths.State, "usage"), func(string) {}), Keep: time.Duration(cfg.File.Sessions.Keep), Running: process.All,
		})
	})
	for settled := false; !settled; {
		select {
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
func (h *instance) jump(s deck.Session) (string, error) {
	return places.Finder{Environ: h.cfg.Environ}.Jump(context.Background(), s)
}

// jumpTo brings the terminal to the front in which an agent's program asks.
func (h *instance) jumpTo(r ask.Request) (string, error) {
	for _, s := range h.roster.Sessions() {
		if p := r.Prompt; p != nil && s.Agent == p.Agent && s.ID == p.Session {
			return h.jump(s)
		}
	}
	return "", errors.New("the terminal of this session is not known")
}
