package app

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
)

// forms are those of servers that are not ours.
type forms struct {
	queue *ask.Queue
	dir   string // of the deck
}

// ask puts a form of a card's server among the questions of the agents.
func (f forms) ask(ctx context.Context, e upstream.Elicitation, title, program string) (upstream.Elicited, error) {
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
		Peer: ask.Peer{PID: e.PID, Program: filepath.Base(program), Cwd: f.dir},
	}
	if len(e.Calls) == 1 {
		req.From.Agent = "for " + e.Calls[0].Agent
		req.Title = title + " asks, for " + e.Calls[0].Agent + "'s call of " + e.Calls[0].Tool
	}
	// An error is the end of the wait: nobody answers any more.
	r, call, err := f.queue.Elicit(ctx, req)
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
