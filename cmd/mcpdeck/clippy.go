package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
)

// clippyOptions joins the configuration and what a user at a deck can do.
// Until a screen takes the bell over, it is the terminal's.
func (h *instance) clippyOptions(cfg *config.Config, person bool) clippy.Options {
	o := cfg.ClippyOptions()
	o.Bell = func() error {
		if b := h.bell.Load(); b != nil {
			return b.Ring()
		}
		return clippy.TerminalBell()
	}
	if person {
		o.Approve = h.approve
	}
	return o
}

// approve asks the user whether an agent may call a tool. No answer is a no.
func (h *instance) approve(ctx context.Context, a clippy.Approval) bool {
	const yes, wait = "Allow it", time.Minute
	defer router.WaitForUser(ctx)()
	back := router.Pause(ctx) // others may work meanwhile
	peer := ask.Peer{Key: a.AgentID}
	for _, known := range h.host.Snapshot().Agents {
		if known.Agent == a.AgentID {
			peer.PID, peer.Program, peer.Cwd = known.PID, known.Program, known.Folder()
		}
	}
	r, err := h.queue.Ask(ctx, ask.Request{
		Local: true, Title: "Clippy", From: ask.From{Client: a.Agent}, Peer: peer, Timeout: wait,
		Questions: []ask.Question{{
			// The name differs each time, so that no earlier answer is taken for this one.
			ID: "allow-" + rand.Text(), Header: "Allow", Kind: ask.Confirm, Required: true,
			Question:    fmt.Sprintf("May %s use %s?", a.Agent, a.Tool),
			Description: fenced(a.Detail),
			Options:     []ask.Option{{Label: yes}, {Label: "Refuse"}},
		}},
	})
	return back(ctx) == nil && err == nil && r.Status == ask.Answered && len(r.Results) == 1 && slices.Equal(r.Results[0].SelectedOptions, []string{yes})
}

// fenced is a line as Markdown that is drawn as it is written; "" stays.
func fenced(line string) string {
	fence := "```"
	switch {
	case line == "":
		return ""
	case strings.HasPrefix(line, fence): // which would end it
		fence = "~~~"
	}
	return fence + "\n" + line + "\n" + fence
}

// clippyFollows returns what takes over Clippy's settings when the configuration
// has changed. What the user did with the key for muting holds until the file
// says something else than it did.
func (h *instance) clippyFollows(cfg *config.Config) func(*config.Config) {
	muted := cfg.File.Clippy.Muted
	return func(now *config.Config) {
		next := now.ClippyOptions().Settings
		if next.Muted == muted {
			next.Muted = h.clippy.Muted()
		} else {
			muted = next.Muted
		}
		h.clippy.Apply(next)
	}
}
