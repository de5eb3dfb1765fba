package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Request is a command-line request to a running deck.
type Request struct {
	Verb  string   `json:"verb"`            // "on", "off", "toggle", "status", "reconnect" or "accept"
	Tools []string `json:"tools,omitempty"` // accept: tool names; none means all
	Long  bool     `json:"long,omitempty"`  // status: include the search, the instructions and the log
}

// Reply is the answer for the user.
type Reply struct {
	Text string `json:"text"`
}

// Control carries out a request and returns when it is done. It does not accept
// definitions: whether a command may do that is decided elsewhere.
func (c *Card) Control(ctx context.Context, r Request) (Reply, error) {
	before := c.Published().mode
	switch r.Verb {
	case "toggle":
		c.Toggle()
	case "on":
		if before == On {
			return c.Confirm(ctx, "is already on")
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
	return c.Confirm(ctx, "is on")
}

// Confirm waits until nothing is in progress and reports the state. on is what is said of a
// card that is on: "is on".
func (c *Card) Confirm(ctx context.Context, on string) (Reply, error) {
	if err := c.Settle(ctx); err != nil {
		return Reply{}, fmt.Errorf("%s: %w", c.opts.Name, err)
	}
	s := c.Status()
	switch {
	case s.Link == LinkFailed && s.Error != "":
		return Reply{}, errors.New(s.Error)
	case s.Mode == On:
		text := fmt.Sprintf("%s %s: %s offered.", c.opts.Texts.Mode, on, humanize.Count(len(s.Tools), "tool"))
		if len(s.Held) > 0 {
			text += fmt.Sprintf(" Hidden until you accept the change: %s; see %s, then %s.", s.Holding(), c.opts.Texts.Command("status --long"), c.opts.Texts.Command("accept"))
		}
		return Reply{text}, nil
	case s.Link == LinkReady:
		return Reply{fmt.Sprintf("%s is off; %s answers with %s.", c.opts.Texts.Mode, c.opts.server(), humanize.Count(len(s.Tools), "tool"))}, nil
	}
	return Reply{c.opts.Texts.Mode + " is off."}, nil
}

// Accept offers held tools as they were shown. A tool whose definition has changed since
// stays held. Accept returns how many are no longer held.
func (c *Card) Accept(shown []catalogue.Held) (int, error) {
	if len(shown) == 0 {
		return 0, nil
	}
	if err := c.pins.Accept(shown); err != nil {
		return 0, err
	}
	c.mu.Lock()
	offer := c.offer
	c.mu.Unlock()
	if offer == nil {
		return len(shown), nil // without a child, they take effect at its next start
	}
	v, err := c.pins.Check(*offer.Listing)
	if err == nil && len(v.Held) == 0 && len(v.Gone) > 0 {
		err = c.pins.Forget(v.Gone)
		v.Gone = nil
	}
	if err != nil {
		return 0, err
	}
	c.update(func() {
		if c.offer != nil && c.offer.Listing == offer.Listing { // else the child has been replaced
			c.offers(c.offer.Again(v, c.opts.Catalogue))
		}
	})
	return len(offer.Verdict.Held) - len(v.Held), nil
}

// AcceptShown is [Card.Accept] with an answer for the user.
func (c *Card) AcceptShown(shown []catalogue.Held) (Reply, error) {
	n, err := c.Accept(shown)
	switch {
	case err != nil:
		return Reply{}, err
	case len(shown) == 0:
		return Reply{"Nothing was accepted: the definitions have changed since."}, nil
	}
	return Reply{fmt.Sprintf("Accepted %d of %s.", n, humanize.Count(len(shown), "definition"))}, nil
}

// maxAsking is the maximum number of commands that wait for the user at once.
const maxAsking = 8

// WaitAccepted shows the user that who is asking to accept definitions, and waits until all
// of them are accepted.
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
	return Reply{"Accepted on the Servers page."}, nil
}

// HeldBy returns the held definitions with these original or exposed names, or all if there
// are no names. If none matches, the error lists those that are held.
func (s Status) HeldBy(names []string) ([]catalogue.Held, error) {
	if len(s.Held) == 0 || len(names) == 0 {
		return s.Held, nil
	}
	var out []catalogue.Held
	var all []string
	for _, h := range s.Held {
		all = append(all, h.Name())
		if slices.Contains(names, h.Name()) || h.Tool != "" && slices.Contains(names, s.opts.Catalogue.Expose(h.Tool)) || h.Tool == "" && slices.Contains(names, "instructions") {
			out = append(out, h)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s accept: none of these waits to be accepted; these do: %s", s.opts.Name, strings.Join(all, ", "))
	}
	return out, nil
}

// Seen returns those held definitions that are still as the user saw them.
func (s Status) Seen(seen []snapshot.Held) (shown []catalogue.Held) {
	for _, h := range s.Held {
		if slices.ContainsFunc(seen, func(s snapshot.Held) bool {
			return s.Kind == string(h.Kind) && s.Tool == h.Tool && s.Digest == h.Digest()
		}) {
			shown = append(shown, h)
		}
	}
	return shown
}
