package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// attempt is an attempt to start a child, and what comes of it.
type attempt struct {
	card  *Card
	child *link
	offer *catalogue.Catalogue
	found Found
	has   resources
	err   error // its text is for the user
}

// run starts a child for a slot.
func (a *attempt) run(ctx context.Context, s *slot, from From) {
	o := &a.card.opts
	if a.found, a.err = o.Hooks.Find(from); a.err != nil {
		return
	}
	list, err := a.open(ctx, s, from)
	switch {
	case err != nil && a.found.Open != nil:
		a.err = fmt.Errorf("%s cannot be %s: %w", o.server(), barred(err), err)
	case err != nil:
		a.err = fmt.Errorf("%s failed to start: %w", o.server(), err)
	default:
		a.inspect(list)
		if a.err != nil {
			a.child.End()
			a.child = nil
		}
	}
}

// open starts a child and lists its tools. It leaves nothing behind if it fails.
func (a *attempt) open(ctx context.Context, s *slot, from From) ([]json.RawMessage, error) {
	c, o := a.card, &a.card.opts
	l := &link{opts: o, log: s.log, work: &c.work, passed: o.passed(from)}
	l.person.either = o.ElicitAgent || o.SampleAgent
	root := from.Root
	if from.Agent == "" {
		root = o.Root
	}
	l.root.Store(&root)
	opts := child.Options{Name: s.name, Limit: o.Limits.Start, Version: o.Version, Log: s.log, Era: o.Era, Remembered: c.remembered(), Settle: o.Era == ""}
	opts.Told = func(method string, params json.RawMessage) { c.handleNotification(l, method, params) }
	if a.found.Open != nil {
		opts.Open = func() (child.Link, error) { return a.found.Open(s.log) }
	} else {
		opts.Start = func() (*process.Child, error) {
			proc, err := o.Start(a.found.Command)
			if err != nil {
				return nil, errors.New(process.StartReason(a.found.Program, err))
			}
			return proc, nil
		}
	}
	opts.Handshake = o.capabilities(l.passed, `{"listChanged":true}`)
	if o.Share != ShareSession { // a child of the newer era serves other agents, too
		opts.Capabilities = o.capabilities(Answers{}, `{}`)
	} else {
		opts.Capabilities = o.capabilities(l.passed, `{}`)
	}
	if opts.Handshake != nil || o.ElicitAgent {
		opts.Ask = func(conn *child.Conn, m rpc.Message) { l.serve(conn, m) }
	}
	conn, tools, err := child.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	l.Conn = conn
	l.modern.Store(conn.Era() == child.Modern)
	a.child = l
	return tools, nil
}

// inspect builds a catalogue from the child's list of tools.
func (a *attempt) inspect(list []json.RawMessage) {
	c := a.card
	tools, notes := catalogue.Read(list)
	l := catalogue.Listing{Tools: tools, Notes: notes, Instructions: a.child.Instructions, Version: a.child.Version, Program: a.found.Program}
	a.more(&l)
	if l.Empty() && len(a.has.all) == 0 {
		a.err = errors.New(c.opts.server() + " offered no tools")
		return
	}
	v, err := c.pins.Check(l)
	if err == nil && c.opts.OnDemand {
		err = c.pins.Spoke(string(a.child.Era()), a.child.Version, c.remembered() != child.Legacy)
	}
	a.offer, a.err = catalogue.New(l, v, c.opts.Catalogue), err
}

// more reads what a child lists besides tools, if it declares such capabilities. Failures
// are logged, and what was accepted before stays.
func (a *attempt) more(l *catalogue.Listing) {
	c := a.card
	if c.opts.ToolsOnly {
		return
	}
	c.mu.Lock()
	life := c.life
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(life, c.opts.Limits.Start)
	defer cancel()
	hello := a.child.Hello()
	l.Server, l.Capabilities = hello.Server, hello.Capabilities
	list := func(k child.Kind, capability string, read func([]json.RawMessage) ([]catalogue.Definition, []catalogue.Note)) []catalogue.Definition {
		if !hello.Has(capability) {
			return []catalogue.Definition{}
		}
		raw, err := a.child.List(ctx, k)
		if err != nil {
			a.child.log.Note("list " + capability + ": " + err.Error())
			return nil
		}
		all, notes := read(raw)
		l.Notes = append(l.Notes, notes...)
		return all
	}
	l.Prompts = list(child.Prompts, "prompts", catalogue.ReadPrompts)
	l.Templates = list(child.Templates, "resources", catalogue.ReadTemplates)
	if hello.Has("resources") && !c.opts.noResources() {
		c.mu.Lock()
		order := c.nextList()
		a.has = c.has
		c.mu.Unlock()
		if has, ok := a.child.listResources(ctx, order); ok {
			a.has = has
		}
	}
}
