package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/pencil"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	server "github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
)

// pencilCommand switches Pencil mode of the running deck.
func pencilCommand(a *app) *cobra.Command {
	var wait keyWait
	c := pencil.Command(func(ctx context.Context, r upstream.Request) (reply upstream.Reply, err error) {
		cfg, err := a.load()
		if err != nil {
			return reply, err
		}
		err = wait.ask(ctx, cfg.Paths.Socket, "pencil", r, &reply)
		return reply, err
	})
	if accept, _, err := c.Find([]string{"accept"}); err == nil {
		wait.flag(accept)
	}
	return c
}

// proveIfAsked is prompt.Proof, and shows nothing where nobody can be asked: the
// deck then asks on its screen.
func proveIfAsked(method string) (string, error) {
	secret, err := prompt.Proof(method)
	if errors.Is(err, prompt.ErrNoTerminal) {
		return "", nil
	}
	return secret, err
}

// pencilOptions joins the configuration and what a user at a deck can do.
func (h *instance) pencilOptions(cfg *config.Config, person bool) server.Options {
	o := cfg.PencilOptions(version())
	o.Start = h.starter(func(text string) { h.pencil.Note(text) })
	o.Off = func(tool string) string { return h.denied.whyDenied("pencil", tool) }
	if person {
		o.Elicit = h.fillIn
	}
	return o
}

// fillIn puts a form of Pencil's server among the questions of the agents.
func (h *instance) fillIn(ctx context.Context, e upstream.Elicitation) (upstream.Elicited, error) {
	return h.form(ctx, e, "Pencil", h.pencil.Status().Program)
}

// form puts a form of a card's server among the questions of the agents.
func (h *instance) form(ctx context.Context, e upstream.Elicitation, title, program string) (upstream.Elicited, error) {
	if e.URL != "" { // which is shown, and never opened for the user
		e.Message = "Open this page in your browser and follow it. Then choose Yes.\n\n" + e.URL + "\n\n" + e.Message
		e.Schema = json.RawMessage(`{"type":"object"}`)
	}
	questions, err := ask.FormQuestions(e.Message, e.Schema)
	if err != nil {
		return upstream.Elicited{}, err
	}
	req := ask.Request{
		Questions: questions, Local: true, From: ask.From{Client: title},
		Peer: ask.Peer{PID: e.PID, Program: filepath.Base(program), Cwd: h.cfg.Dir},
	}
	if len(e.Calls) == 1 {
		req.From.Agent = "for " + e.Calls[0].Agent
		req.Title = title + " asks, for " + e.Calls[0].Agent + "'s call of " + e.Calls[0].Tool
	}
	// An error is the end of the wait: nobody answers any more.
	r, call, err := h.queue.Elicit(ctx, req)
	got := upstream.Elicited{Action: r.Action, Content: r.Content}
	if err == nil {
		got.Told = func(reached bool) {
			if reached {
				call.Delivered(ask.Delivered)
			} else {
				call.Gone("its server has ended")
			}
		}
	}
	return got, nil
}
