package cards

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Machine is the environment in which a card is tried.
type Machine struct {
	Environ []string // mcpdeck's environment, each "NAME=value"
	Dir     string   // working directory, unless the card sets one
	Root    string   // value of ${root}; "" if no project is allowed
	Home    string
	Version string // of mcpdeck
	// Run is the folder in which decks keep what they have started, so that what a trial
	// leaves when it is killed ends with the next deck; "" keeps nothing.
	Run string
}

// Tried is what a server reported when it was started, or connected to, once.
type Tried struct {
	Server, Version string // as reported by the server
	Protocol        string
	Tools           []string
	// Context is what the server costs in an agent's context, in bytes: names, descriptions,
	// input schemas and the instructions.
	Context int
	Took    time.Duration
}

// Try starts the card's program or connects to its URL, requests its tools, and ends it with
// everything that it has started: it was only tried.
func Try(ctx context.Context, card settings.Card, m Machine) (Tried, error) {
	o := child.Options{Name: card.Name, Limit: time.Duration(card.StartTimeout), Version: m.Version, Log: &child.Log{}, Settle: true, Era: EraOf(card.Era)}
	if card.URL != "" {
		open, err := Connection(card, m)
		if err != nil {
			return Tried{}, err
		}
		o.Open = func() (child.Link, error) { return open(o.Log) }
	} else {
		c, err := Program(card, m)
		if err != nil {
			return Tried{}, err
		}
		marks, _, err := child.OpenMarks(m.Run)
		if err != nil {
			return Tried{}, err
		}
		defer marks.Close()
		var mark string
		o.Start = func() (p *process.Child, err error) {
			if p, mark, err = marks.Start(c); err != nil {
				return nil, errors.New(process.StartReason(c.Program, err))
			}
			return p, nil
		}
		defer func() { endMarked(marks, mark) }()
	}
	began := time.Now()
	conn, tools, err := child.Open(ctx, o)
	if err != nil {
		return Tried{}, err
	}
	defer conn.End()
	out := Tried{
		Server: sanitize.Line(conn.Server), Version: sanitize.Line(conn.Version), Protocol: sanitize.Line(conn.Protocol),
		Context: len(conn.Instructions), Took: time.Since(began),
	}
	for _, raw := range tools {
		var t struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Input       json.RawMessage `json:"inputSchema"`
		}
		if json.Unmarshal(raw, &t) == nil {
			out.Tools = append(out.Tools, sanitize.Line(t.Name))
			out.Context += len(t.Name) + len(t.Description) + len(t.Input)
		}
	}
	return out, nil
}

// endMarked ends what carries a mark, also what has left the program's group.
func endMarked(marks *child.Marks, mark string) {
	const rounds, pause = 100, 10 * time.Millisecond
	for range rounds {
		left := marks.Left(mark)
		if mark == "" || len(left) == 0 {
			return
		}
		for _, l := range left {
			l.End()
		}
		time.Sleep(pause)
	}
}

// EraOf returns the era for a value of a card's era setting.
func EraOf(word string) child.Era {
	switch word {
	case "legacy":
		return child.Legacy
	case "modern":
		return child.Modern
	}
	return ""
}
