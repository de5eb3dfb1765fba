package card

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
)

// Request is what a user asks a running deck for on the command line.
type Request struct {
	Verb  string   `json:"verb"`            // "on", "off", "toggle", "status", "reconnect" or "accept"
	Tools []string `json:"tools,omitempty"` // accept: which; none is all
	Long  bool     `json:"long,omitempty"`  // status: with the search, the instructions and the log
}

// Reply is what the user reads.
type Reply struct {
	Text string `json:"text"`
}

// Control does what a command asks for and returns when it is done. Accepting is
// not among it: whether a command may do that is decided elsewhere.
func (c *Card) Control(ctx context.Context, r Request) (Reply, error) {
	before := c.now.Load().mode
	switch r.Verb {
	case "toggle":
		c.Toggle()
	case "on":
		if before == On {
			return c.confirm(ctx, c.opts.Texts.Mode+" is already on")
		}
		c.On()
	case "off":
		c.Off()
		if before == Off {
			return Reply{c.opts.Texts.Mode + " is already off."}, nil
		}
		return Reply{c.opts.Texts.Mode + " is off: agents no longer have its tools."}, nil
	case "reconnect":
		c.Reconnect()
	case "status":
		return Reply{c.Status().Text(r.Long)}, nil
	default:
		return Reply{}, fmt.Errorf("%s: no command %q (on, off, toggle, status, reconnect, accept)", c.opts.Name, r.Verb)
	}
	return c.Confirm(ctx)
}

// Confirm waits until a server that was turned on has started, and says how it stands.
func (c *Card) Confirm(ctx context.Context) (Reply, error) {
	return c.confirm(ctx, c.opts.Texts.Mode+" is on")
}

// confirm waits until things have settled and says how they stand.
func (c *Card) confirm(ctx context.Context, on string) (Reply, error) {
	if err := c.Settle(ctx); err != nil {
		return Reply{}, fmt.Errorf("%s: %w", c.opts.Name, err)
	}
	s := c.Status()
	switch {
	case s.Link == LinkFailed && s.Error != "":
		return Reply{}, errors.New(s.Error)
	case s.Mode == On:
		text := fmt.Sprintf("%s: %d tools offered.", on, len(s.Tools))
		if len(s.Held) > 0 {
			text += fmt.Sprintf(" Held: %s; see %s, then %s.", s.Holding(), c.opts.Texts.Command("status --long"), c.opts.Texts.Command("accept"))
		}
		return Reply{text}, nil
	case s.Link == LinkReady:
		return Reply{fmt.Sprintf("%s is off; %s answers with %d tools.", c.opts.Texts.Mode, c.opts.server(), len(s.Tools))}, nil
	}
	return Reply{c.opts.Texts.Mode + " is off."}, nil
}

// AcceptShown accepts definitions and says how many.
func (c *Card) AcceptShown(shown []catalogue.Held) (Reply, error) {
	n, err := c.Accept(shown)
	if err != nil {
		return Reply{}, err
	}
	return Reply{fmt.Sprintf("Accepted %d of %d definitions.", n, len(shown))}, nil
}

// maxAsking is how many commands may wait for the user at once.
const maxAsking = 8

// WaitAccepted shows the user that who asks for definitions to be accepted, and
// waits until all of them are.
func (c *Card) WaitAccepted(ctx context.Context, who string, shown []catalogue.Held) (Reply, error) {
	hint, stop := c.Subscribe()
	defer stop()
	full := false
	c.update(func() {
		if full = len(c.asked) >= maxAsking; !full {
			c.asked = append(c.asked, who)
		}
	})
	if full {
		return Reply{}, fmt.Errorf("%s accept: too many commands are already waiting for the user", c.opts.Name)
	}
	defer c.update(func() {
		if i := slices.Index(c.asked, who); i >= 0 {
			c.asked = slices.Delete(c.asked, i, i+1)
		}
	})
	for !c.pins.Accepted(shown) {
		select {
		case <-hint:
		case <-ctx.Done():
			return Reply{}, ctx.Err()
		}
	}
	return Reply{"Accepted on the Cards page."}, nil
}

// HeldBy are the held definitions with these names, original or exposed; without
// names all of them. An error names those that are held when none fits.
func (c *Card) HeldBy(names []string) ([]catalogue.Held, error) {
	held := c.Status().Held
	if len(held) == 0 || len(names) == 0 {
		return held, nil
	}
	var out []catalogue.Held
	var all []string
	for _, h := range held {
		all = append(all, h.Name())
		if slices.Contains(names, h.Name()) || h.Tool != "" && slices.Contains(names, c.opts.Catalogue.Expose(h.Tool)) || h.Tool == "" && slices.Contains(names, "instructions") {
			out = append(out, h)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s accept: none of these is held; held are %s", c.opts.Name, strings.Join(all, ", "))
	}
	return out, nil
}
