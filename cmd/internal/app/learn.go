package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

// learnControl has this deck take the answers of another machine's, once the user agrees here: on
// the screen, or in a deck that may answer already. Without either the first deck is taken as it
// comes, since nobody can be asked.
func (m machines) learnControl(gate *userauth.Gate) transport.Control {
	return func(ctx context.Context, from transport.Requester, args json.RawMessage) (any, error) {
		var d book.Deck
		if err := json.Unmarshal(args, &d); err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
		if err := book.Named(d.Name); err != nil {
			return nil, err
		}
		if from.Agent != "" {
			err := fmt.Errorf("only the user may let a deck answer, and this request came from %s", from.Agent)
			gate.Refused(behind(from), err)
			return nil, err
		}
		if _, known := m.trust.Find(d.Key); !known && (gate.Screen() || len(m.trust.Decks()) > 0) {
			if err := m.agreed(ctx, from, &d, gate.Screen()); err != nil {
				return nil, err
			}
		}
		if _, err := m.trust.Learn(d); err != nil {
			return nil, err
		}
		m.tellDecks()
		m.sayUntold()
		return nil, nil
	}
}

// agreed asks the user whether a deck may answer.
func (m machines) agreed(ctx context.Context, from transport.Requester, d *book.Deck, screen bool) error {
	var where []string
	if screen {
		where = append(where, "in the deck on "+machineName())
	}
	for _, o := range m.trust.Decks() {
		where = append(where, "in the deck "+o.Name)
	}
	if err := from.Wait("Waiting for you: agree " + strings.Join(where, ", or ") + ". Ctrl+C gives up."); err != nil {
		return err
	}
	return m.consent(ctx, d, "mcpdeck remote add", "It was brought by "+behind(from).String())
}

// consent asks the user whether a deck may answer. printer is what prints the deck's key where that runs, to compare, and
// from says where it comes from.
func (m machines) consent(ctx context.Context, d *book.Deck, printer, from string) error {
	r, err := m.queue.Ask(ctx, ask.Request{
		Local: true, Own: true, From: ask.From{Client: "mcpdeck"}, Title: "Another deck wants to answer here",
		Questions: []ask.Question{{
			ID: "deck", Kind: ask.Confirm, Required: true,
			Question:    "Let the deck " + d.Name + " answer what agents ask on " + machineName() + "?",
			Description: "Its key is " + wire.Fingerprint(d.Key) + ". Compare that with what " + printer + " prints where the deck " + d.Name + " runs. " + from + ".",
			Options:     []ask.Option{{Label: letAnswer}, {Label: "Refuse"}},
		}},
	})
	if err != nil {
		return err
	}
	if r.Status != ask.Answered && r.Status != ask.Declined {
		return errors.New("the user there has not answered")
	}
	if r.Status == ask.Answered && len(r.Results) == 1 && len(r.Results[0].SelectedOptions) == 1 && r.Results[0].SelectedOptions[0] == letAnswer {
		return nil
	}
	return errRefused
}

// machineName is what this machine is called. Whoever is asked may be at another.
func machineName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "this machine"
	}
	return sanitize.Line(name)
}

const letAnswer = "Let it answer"

var errRefused = errors.New("refused by the user there")

// sayUntold warns of decks that something else than this one has put in the book.
func (m machines) sayUntold() {
	var all []string
	for _, d := range m.trust.Untold() {
		all = append(all, fmt.Sprintf("something has added the deck %s (%s) to those that may answer; its answers are not taken while this deck runs. If it was not you: mcpdeck remote revoke %s", d.Name, wire.Fingerprint(d.Key), d.Name))
	}
	m.warn(all...)
}
