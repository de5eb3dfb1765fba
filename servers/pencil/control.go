package pencil

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Request is what a person asks a running deck for on the command line.
type Request struct {
	Verb  string   `json:"verb"`            // "on", "off", "toggle", "status", "reconnect" or "accept"
	Tools []string `json:"tools,omitempty"` // accept: which; none is all
	Long  bool     `json:"long,omitempty"`  // status: with the search, the instructions and the log
}

// Reply is what the person reads.
type Reply struct {
	Text string `json:"text"`
}

// Control does what the person asks for and returns when it is done. agent is
// the name of the connected agent that the request comes from, "" for none:
// accepting a changed definition is for the person alone.
func (p *Pencil) Control(ctx context.Context, agent string, r Request) (Reply, error) {
	before := p.now.Load().mode
	switch r.Verb {
	case "toggle":
		p.Toggle()
	case "on":
		if before == On {
			return p.confirm(ctx, "Pencil mode is already on")
		}
		p.On()
	case "off":
		p.Off()
		if before == Off {
			return Reply{"Pencil mode is already off."}, nil
		}
		return Reply{"Pencil mode is off: agents no longer have its tools."}, nil
	case "reconnect":
		p.Reconnect()
	case "status":
		return Reply{p.Status().Text(r.Long)}, nil
	case "accept":
		return p.accept(agent, r.Tools)
	default:
		return Reply{}, fmt.Errorf("pencil: no command %q (on, off, toggle, status, reconnect, accept)", r.Verb)
	}
	return p.confirm(ctx, "Pencil mode is on")
}

// confirm waits until things have settled and says how they stand.
func (p *Pencil) confirm(ctx context.Context, on string) (Reply, error) {
	if err := p.Settle(ctx); err != nil {
		return Reply{}, fmt.Errorf("pencil: %w", err)
	}
	s := p.Status()
	switch {
	case s.Link == LinkFailed && s.Error != "":
		return Reply{}, errors.New(s.Error)
	case s.Mode == On:
		text := fmt.Sprintf("%s: %d tools offered.", on, len(s.Tools))
		if len(s.Held) > 0 {
			text += fmt.Sprintf(" Held: %s; see mcpdeck pencil status --long, then mcpdeck pencil accept.", s.Holding())
		}
		return Reply{text}, nil
	case s.Link == LinkReady:
		return Reply{fmt.Sprintf("Pencil mode is off; Pencil's MCP server answers with %d tools.", len(s.Tools))}, nil
	}
	return Reply{"Pencil mode is off."}, nil
}

func (p *Pencil) accept(agent string, names []string) (Reply, error) {
	if agent != "" {
		return Reply{}, fmt.Errorf("pencil accept: only the user may accept definitions, and this comes from %s; use the Pencil page or a terminal of your own", agent)
	}
	shown, err := p.HeldBy(names)
	if err != nil || len(shown) == 0 {
		return Reply{"Nothing is held."}, err
	}
	n, err := p.Accept(shown)
	if err != nil {
		return Reply{}, err
	}
	return Reply{fmt.Sprintf("Accepted %d of %d definitions.", n, len(shown))}, nil
}

// HeldBy are the held definitions with these names, original or exposed; without
// names all of them. An error names those that are held when none fits.
func (p *Pencil) HeldBy(names []string) ([]Held, error) {
	held := p.Status().Held
	if len(held) == 0 || len(names) == 0 {
		return held, nil
	}
	var out []Held
	var all []string
	for _, h := range held {
		all = append(all, h.Name())
		if slices.Contains(names, h.Name()) || h.Tool != "" && slices.Contains(names, exposedName(h.Tool)) || h.Tool == "" && slices.Contains(names, "instructions") {
			out = append(out, h)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("pencil accept: none of these is held; held are %s", strings.Join(all, ", "))
	}
	return out, nil
}
