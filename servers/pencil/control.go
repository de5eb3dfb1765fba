package pencil

import (
	"context"
	"errors"
	"fmt"
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
			text += fmt.Sprintf(" %d held because their definition changed; see mcpdeck pencil status --long, then mcpdeck pencil accept.", len(s.Held))
		}
		return Reply{text}, nil
	case s.Link == LinkReady:
		return Reply{fmt.Sprintf("Pencil mode is off; Pencil's MCP server answers with %d tools.", len(s.Tools))}, nil
	}
	return Reply{"Pencil mode is off."}, nil
}

func (p *Pencil) accept(agent string, names []string) (Reply, error) {
	if agent != "" {
		return Reply{}, fmt.Errorf("pencil accept: only the person may accept changed tools, and this comes from %s; use the Pencil page or a terminal of your own", agent)
	}
	held := p.Status().Held
	if len(held) == 0 {
		return Reply{"Nothing is held."}, nil
	}
	n, err := p.Accept(names)
	if err != nil {
		return Reply{}, err
	}
	if n == 0 {
		var list []string
		for _, h := range held {
			list = append(list, h.Tool)
		}
		return Reply{}, fmt.Errorf("pencil accept: none of these is held; held are %s", strings.Join(list, ", "))
	}
	return Reply{fmt.Sprintf("Accepted %d of %d changed tools.", n, len(held))}, nil
}
