package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

// cardControl does what a command asks of a card.
func (w *Switches) cardControl(ctx context.Context, from transport.Requester, args json.RawMessage) (any, error) {
	var r CardRequest
	if err := json.Unmarshal(args, &r); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	if own := w.switchOf(r.Name); own != nil {
		if r.Verb == "accept" {
			return w.acceptFor(ctx, from, own.Program(), r.Tools)
		}
		return own.Control(ctx, r.Request)
	}
	s, err := w.Turnable(r.Name)
	if err != nil {
		return nil, err
	}
	if r.Verb == "accept" {
		if s.card == nil {
			return nil, fmt.Errorf("%s accept: it is part of mcpdeck and never waits for that", r.Name)
		}
		return w.acceptFor(ctx, from, s.card, r.Tools)
	}
	switch on := s.on(); {
	case r.Verb == "off" || r.Verb == "status" || r.Verb == "toggle" && on:
	case from.Agent != "":
		return nil, w.refused(from, fmt.Errorf("%s: only the user may turn a server on, and this request came from %s", r.Name, from.Agent))
	case !on:
		return w.startFor(ctx, from, r.Name, s, r.Request)
	}
	return s.Control(ctx, r.Request, "")
}

// Switches turn servers on and off and decide what agents have of them, for keys and for commands.
type Switches struct {
	cfg    *config.Config
	host   *router.Host
	gate   *userauth.Gate // nil when headless
	own    []included
	user   *userServers
	denied *denied
}

// switchOf is the switch of a server that is part of mcpdeck; nil if it has none of its own.
func (w *Switches) switchOf(name string) plugin.Switch {
	for _, s := range w.own {
		if s.Name() == name {
			return s.Switch
		}
	}
	return nil
}

// cards are all servers of somebody else's.
func (w *Switches) cards() (all []*upstream.Card) {
	for _, s := range w.own {
		if s.Switch != nil {
			all = append(all, s.Switch.Program())
		}
	}
	w.user.mu.Lock()
	defer w.user.mu.Unlock()
	for _, c := range w.user.at {
		all = append(all, c.Card)
	}
	return all
}

// CardRequest is what a command asks of one of the running deck's cards.
type CardRequest struct {
	Name string `json:"name"`
	upstream.Request
}

// turnable is a server as a command turns it on and off.
type turnable struct {
	card     *upstream.Card // nil: it is part of mcpdeck
	runs     string         // what, once it is on; "" for nothing
	Terms    snapshot.Terms // of turning it on, as the settings are now
	on       func() bool
	hints    func() (<-chan struct{}, func()) // that it may have been turned on or off
	replaced <-chan struct{}                  // closed when it has other settings, or is gone
	// Control does something. seen is the digest of the terms that the user was shown, "" for
	// none.
	Control func(ctx context.Context, r upstream.Request, seen string) (upstream.Reply, error)
	confirm func(context.Context) (upstream.Reply, error) // once it is on
}

// Turnable finds a server that has no switch of its own by its name.
func (w *Switches) Turnable(name string) (turnable, error) {
	if isOwn(name) {
		control := func(_ context.Context, r upstream.Request, _ string) (upstream.Reply, error) {
			return w.controlOwn(name, r.Verb)
		}
		return turnable{
			on: func() bool { return w.server(name).State.Status != snapshot.Off }, hints: w.host.Subscribe, Control: control,
			confirm: func(context.Context) (upstream.Reply, error) { return w.controlOwn(name, "status") },
		}, nil
	}
	c, err := w.user.find(name)
	if err != nil {
		return turnable{}, err
	}
	return turnable{
		card: c.Card, runs: " (" + strings.Join(strings.Fields(strings.Join(c.settings.Runs(), ", ")), " ") + ")", Terms: w.user.consents.terms(c.settings),
		on: func() bool { return c.Status().Mode != upstream.Off }, hints: c.Subscribe, replaced: c.replaced, confirm: func(ctx context.Context) (upstream.Reply, error) { return c.Confirm(ctx, "is on") },
		Control: func(ctx context.Context, r upstream.Request, seen string) (upstream.Reply, error) {
			return w.control(ctx, c, r, seen)
		},
	}, nil
}

// startFor turns on a server that is off for a command that shows a proof, and else
// waits until the user does it on the screen: an agent may have written what it runs.
func (w *Switches) startFor(ctx context.Context, from transport.Requester, name string, s turnable, r upstream.Request) (any, error) {
	if _, why := w.gate.Ready(); why == nil && s.Terms.Digest != "" && !s.Terms.Agreed { // a proof is about to turn it on
		if err := from.Say(readable(name, s.Terms)); err != nil {
			return nil, err
		}
	}
	ok, why, err := w.proved(ctx, from)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", name, r.Verb, err)
	case ok:
		return s.Control(ctx, r, s.Terms.Digest)
	case !w.gate.Screen():
		return nil, w.refused(from, fmt.Errorf("%s %s: %w", name, r.Verb, why))
	}
	if _, err := chooseLazy(w.host, name, r.Verb); err != nil {
		return nil, err
	}
	hint, stop := s.hints()
	defer stop()
	item := "mcpdeck on " + name
	w.host.SetWarnings(item, false, fmt.Sprintf("space on %s on the Servers page turns it on%s; asked for by %s", name, s.runs, behind(from)))
	defer w.host.SetWarnings(item, false)
	if err := from.Wait("Waiting for you: press space on " + name + " on the Servers page to turn it on. Ctrl+C gives up."); err != nil {
		return nil, err
	}
	for !s.on() {
		select {
		case <-hint:
		case <-s.replaced: // what the user was shown is not what would run
			return nil, errReplaced(name)
		case <-ctx.Done():
			return nil, fmt.Errorf("%s stays off: the deck was closed meanwhile", name) // or nobody is left to be told
		}
	}
	reply, err := s.confirm(ctx)
	return sayLazy(w.host, name, reply), err
}

// readable are terms as a shell shows them.
func readable(name string, t snapshot.Terms) string {
	var b strings.Builder
	fmt.Fprintf(&b, "To turn %s on is to agree to this:\n", name)
	for _, f := range t.Facts {
		fmt.Fprintf(&b, "  %-12s %s\n", f.Name, strings.ReplaceAll(sanitize.Exact(f.Value), "\n", "\n"+strings.Repeat(" ", 15))+f.Means)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func errReplaced(name string) error {
	return fmt.Errorf("%s: its settings changed meanwhile: %w", name, snapshot.ErrNotAgreed)
}

// control does what the user asks of a card, with a command or a key, and returns when
// it is done. Its program starts only if the user has agreed to all its settings, before or by
// having been shown them: seen is the digest of those.
func (w *Switches) control(ctx context.Context, c addedCard, r upstream.Request, seen string) (reply upstream.Reply, err error) {
	if r.Verb == "toggle" {
		r.Verb = "on"
		if w.host.IsLazy(c.Name()) {
			r.Verb = LazyWord // as it was
		}
		if c.Status().Mode != upstream.Off {
			r.Verb = "off"
		}
	}
	if r.Verb != "off" && r.Verb != "status" {
		select {
		case <-c.replaced:
			return upstream.Reply{}, errReplaced(c.Name())
		default:
		}
		switch t := w.user.consents.terms(c.settings); {
		case t.Agreed:
		case seen == "":
			return upstream.Reply{}, fmt.Errorf("%s: %w", c.Name(), snapshot.ErrNotAgreed)
		case seen != t.Digest:
			return upstream.Reply{}, errReplaced(c.Name())
		}
	}
	if r.Verb, err = chooseLazy(w.host, c.Name(), r.Verb); err != nil {
		return upstream.Reply{}, err
	}
	if r.Verb == "on" || r.Verb == "off" {
		w.host.SetWarnings(c.Name(), false) // why it was off, or did not start
		keepMode(w.cfg, w.host, c.Name(), r.Verb)
	}
	if r.Verb == "on" {
		if err := w.user.consents.Agree(w.cfg, c.settings); err != nil {
			w.host.Warn(c.Name(), err.Error())
		}
	}
	reply, err = c.Control(ctx, r)
	if r.Verb != "off" && err == nil {
		for _, text := range w.host.Hidden(c.Name()) {
			reply.Text = strings.TrimSuffix(reply.Text, "\n") + "\nhidden     " + text + "\n"
		}
	}
	if r.Verb == "status" && err == nil && w.host.IsLazy(c.Name()) {
		reply.Text += "listing    on demand: agents search for the tools with find_tools instead of listing them\n"
	}
	return sayLazy(w.host, c.Name(), reply), err
}

// TurnOn turns a server on for the screen, whose agents then list its tools or, when it is
// lazy, find them. Why one did not start, its row says.
func (w *Switches) TurnOn(name string, lazy bool, seen string) (string, error) {
	verb := "on"
	if lazy {
		verb = LazyWord
	}
	return w.turn(name, verb, seen)
}

// TurnOff turns a server off for the screen.
func (w *Switches) TurnOff(name string) (string, error) { return w.turn(name, "off", "") }

// turn does what a key asks of a server.
func (w *Switches) turn(name, verb, seen string) (string, error) {
	if own := w.switchOf(name); own != nil { // its own page says how it went
		switch verb {
		case "on":
			own.On()
		case "off":
			own.Off()
		default:
			return "", fmt.Errorf("the tools of %s are always listed", own.Program().Options().Title)
		}
		return "", nil
	}
	s, err := w.Turnable(name)
	if err != nil {
		return "", err
	}
	reply, err := s.Control(context.Background(), upstream.Request{Verb: verb}, seen)
	if err != nil && s.card != nil && s.card.Status().Error == err.Error() {
		return "", nil
	}
	return reply.Text, err
}

// Restart starts the program of a server anew.
func (w *Switches) Restart(name string) error {
	if own := w.switchOf(name); own != nil {
		own.Reconnect()
		return own.Settle(context.Background())
	}
	if isOwn(name) {
		_, err := w.controlOwn(name, "reconnect")
		return err
	}
	c, err := w.user.find(name)
	if err != nil {
		return err
	}
	_, err = w.control(context.Background(), c, upstream.Request{Verb: "reconnect"}, "")
	return err
}

// Details are what the screen shows of a server.
func (w *Switches) Details(name string) (snapshot.Details, bool) {
	d, ok := w.host.Details(name)
	if !ok {
		return d, false
	}
	own := w.switchOf(name)
	switch c, err := w.user.find(name); {
	case own != nil:
		d = merged(d, own.Details())
	case err == nil:
		d = merged(d, c.Status().Details())
		d.Terms = w.user.consents.terms(c.settings)
		d.Runs = cmp.Or(c.settings.CommandLine(), redact.Rules{}.Text(c.settings.URL))
	}
	figures := w.host.Figures(name)
	for i, t := range d.Tools {
		d.Tools[i].Figures = figures[t.Name]
	}
	return d, true
}

// merged is what a card says of itself, with what else agents have of it.
func merged(offered, own snapshot.Details) snapshot.Details {
	own.Resources, own.Prompts = offered.Resources, offered.Prompts
	own.Notes = append(own.Notes, offered.Notes...)
	for _, t := range offered.Tools {
		if i := slices.IndexFunc(own.Tools, func(o snapshot.Tool) bool { return o.Name == t.Name && o.Verdict == snapshot.Allow }); i >= 0 {
			own.Tools[i].Verdict, own.Tools[i].Why = t.Verdict, t.Why // another server may have the name
		}
	}
	return own
}
