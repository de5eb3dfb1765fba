// Package router runs the deck's MCP servers and offers views of them to connected
// agents.
//
// The [Host] starts servers, each a [backend.Server], merges those that a connection asks for
// into a view, and keeps the state the screen shows. State is pulled as a versioned
// [snapshot.Snapshot]; what the host pushes are only hints to look again.
package router

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Options are what a Host is made of.
type Options struct {
	Name    string // of the deck; "" for the default one
	Version string // of the program, for serverInfo
	Servers []backend.Server
	Root    string       // project root of connections that bring none; absolute
	Roots   *roots.Rules // which folders may be a project root; nil: all but the system's

	// Off are the names of servers that are off from the start, of those that the host
	// turns on and off.
	Off []string
	// Wanted are the names of those that the user has turned on.
	Wanted []string
	// Denied are the tools of such servers that the user has turned off, by server.
	Denied map[string][]string

	// Recorder gets every call; nil: none. It must not block.
	Recorder calllog.Recorder
	// Limits bound the work that agents can cause; the zero value has defaults.
	Limits admission.Limits

	// Approve returns once a call may go to its server, or why it does not; nil: it may. Without
	// it, a tool of which each call is to be asked refuses them. It returns when ctx ends.
	Approve func(ctx context.Context, c Wanted) *Refusal

	// Redact says what is kept of arguments and results.
	Redact redact.Rules
}

// Host runs the servers and knows who is connected and what is being called.
// Make one with [New], then [Host.Start].
type Host struct {
	opts      Options
	ctx       context.Context
	admission *admission.Scheduler
	cancel    context.CancelFunc
	modules   atomic.Pointer[[]*registration] // those there are now; the slice never changes
	changing  sync.Mutex                      // of that, one at a time
	clashing  sync.Mutex                      // held while clashes are found
	calls     *calllog.Log
	closing   atomic.Bool // no more calls are taken
	stops     sync.Map    // of running calls, by ID: a context.CancelCauseFunc
	rounds    rounds
	hints     notify.Feed
	own       *registration // what the deck offers itself, whatever servers there are

	cached atomic.Pointer[snapshot.Snapshot]

	mu        sync.Mutex // guards what follows
	started   time.Time
	version   uint64
	agents    []*Agent
	gone      []snapshot.Agent
	views     map[viewKey]*View
	lazy      map[string]bool // servers, by name
	profiles  []Profile
	endpoints snapshot.Endpoints
	warnings  []snapshot.Warning
	warned    uint64 // the ID of the newest
	logging   bool   // warnings go to the log, too
}

// registration is a server with its state. It is the server's [backend.Events].
type registration struct {
	backend.Server
	host *Host
	id   backend.Info
	gone *removal // of a guest; nil: it stays

	offering sync.Mutex // held while an offer is made and kept, so that the last one made stays

	mu     sync.Mutex // guards what follows
	state  snapshot.State
	off    bool               // by the host
	wanted bool               // the user has turned it on
	whole  offer              // also while it is off
	offer  offer              // to agents now
	denied []string           // tools that the user has turned off
	listed snapshot.Count     // that agents get
	adds   snapshot.Count     // that they would get, while it is off
	bytes  int                // of the definitions that are listed
	hidden map[offered]string // what another server has in views of all, by its title
	run    context.CancelFunc
}

// New makes a host that is not running yet. A tool name that two servers use is
// an error.
func New(opts Options) (*Host, error) {
	h := &Host{opts: opts, admission: admission.New(opts.Limits), views: map[viewKey]*View{}, lazy: map[string]bool{}, started: time.Now()}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.calls = calllog.New(calllog.Options{Recorder: opts.Recorder, Redact: opts.Redact, Changed: h.changed})
	h.own = &registration{host: h, id: backend.Info{Name: "mcpdeck", Title: "mcpdeck"}}
	owner := map[string]string{}
	var modules []*registration
	for _, one := range opts.Servers {
		id := one.Info()
		for _, other := range modules {
			if other.id.Name == id.Name {
				return nil, fmt.Errorf("host servers: two are named %q", id.Name)
			}
		}
		for _, t := range one.Catalogue().Tools {
			if first, taken := owner[t.Key]; taken {
				return nil, fmt.Errorf("host servers: the tool %q is offered by both %s and %s", t.Key, first, id.Name)
			}
			owner[t.Key] = id.Name
		}
		m := h.register(one, id)
		m.off, m.denied = slices.Contains(opts.Off, id.Name) && !id.Foreign, opts.Denied[id.Name]
		m.wanted = slices.Contains(opts.Wanted, id.Name)
		modules = append(modules, m)
	}
	h.modules.Store(&modules)
	return h, nil
}

// register is a server that is not started yet.
func (h *Host) register(s backend.Server, id backend.Info) *registration {
	nothing := offer{&backend.Catalogue{}, s}
	return &registration{Server: s, host: h, id: id, whole: nothing, offer: nothing, state: snapshot.State{Status: snapshot.Starting}}
}

// Start starts every server. A server that fails shows it in its state; the
// others are not touched.
func (h *Host) Start() {
	h.calls.Start()
	for _, m := range h.all() {
		m.start()
	}
}

// Names of the servers there are, those that stay first.
func (h *Host) Names() []string {
	modules := h.all()
	names := make([]string, len(modules))
	for i, m := range modules {
		names[i] = m.id.Name
	}
	return names
}

// RestartServer stops a server and starts it again.
func (h *Host) RestartServer(ctx context.Context, name string) error {
	m := h.module(name)
	if m == nil {
		return fmt.Errorf("restart %q: no such server", name)
	}
	err := m.stop(ctx)
	m.start()
	return err
}

// Stop ends everything within ctx: no new calls; those in flight get two thirds
// of the time, and the servers, side by side, what is left of it.
func (h *Host) Stop(ctx context.Context) error {
	h.closing.Store(true)
	for _, m := range h.all() {
		if q, ok := m.Server.(backend.Quitter); ok {
			_ = recovery.Call("quit "+m.id.Name, func() error { q.Quit(); return nil })
		}
	}
	h.drain(ctx)
	h.cancel()
	err := h.stopServers(ctx)
	h.calls.Stop()
	return err
}

func (h *Host) drain(ctx context.Context) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)*2/3)
		defer cancel()
	}
	h.calls.Drain(ctx)
}

func (h *Host) stopServers(ctx context.Context) error {
	modules := h.all()
	ended := make([]chan error, len(modules))
	for i, m := range modules {
		ended[i] = make(chan error, 1)
		recovery.Go("stop "+m.id.Name, func() { ended[i] <- m.stop(ctx) })
	}
	var errs []error
	for i, m := range modules {
		select {
		case err := <-ended[i]:
			errs = append(errs, err)
		case <-ctx.Done():
			errs = append(errs, fmt.Errorf("stop %s: %w", m.id.Name, ctx.Err()))
		}
	}
	return errors.Join(errs...)
}

// SetEndpoints says where agents reach the deck.
func (h *Host) SetEndpoints(e snapshot.Endpoints) {
	h.mu.Lock()
	h.endpoints = e
	h.mu.Unlock()
	h.changed()
}

// Warn shows a sentence to the user.
func (h *Host) Warn(from, text string) {
	h.mu.Lock()
	h.warn(snapshot.Warning{From: from, Text: sanitize.Line(text)})
	h.mu.Unlock()
	h.changed()
}

// SetWarnings shows the user all that is the matter with from, in place of what
// was: what is still the matter is not said again. Pinned ones are shown on every
// page.
func (h *Host) SetWarnings(from string, pinned bool, texts ...string) {
	h.mu.Lock()
	stays := map[string]bool{}
	for _, text := range texts {
		stays[sanitize.Line(text)] = true
	}
	h.warnings = slices.DeleteFunc(slices.Clone(h.warnings), func(w snapshot.Warning) bool {
		return w.From == from && (w.Pinned != pinned || !stays[w.Text])
	})
	for _, w := range h.warnings {
		if w.From == from {
			delete(stays, w.Text)
		}
	}
	for _, text := range texts {
		if text = sanitize.Line(text); stays[text] {
			delete(stays, text)
			h.warn(snapshot.Warning{From: from, Text: text, Pinned: pinned})
		}
	}
	h.mu.Unlock()
	h.changed()
}

// warn adds a warning to those that are kept.
func (h *Host) warn(w snapshot.Warning) {
	const kept = 32
	h.warned++
	w.ID, w.Time = h.warned, time.Now()
	h.warnings = append(h.warnings, w)
	if len(h.warnings) > kept {
		h.warnings = slices.Clone(h.warnings[len(h.warnings)-kept:])
	}
	if h.logging {
		slog.Warn(w.Text, "from", w.From)
	}
}

// LogWarnings sends the warnings there are, and those to come, to the default
// logger.
func (h *Host) LogWarnings() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logging = true
	for _, w := range h.warnings {
		slog.Warn(w.Text, "from", w.From)
	}
}

func (h *Host) module(name string) *registration {
	for _, m := range h.all() {
		if m.id.Name == name {
			return m
		}
	}
	return nil
}

// changed makes the next Snapshot a new version and hints to look at it.
func (h *Host) changed() {
	h.mu.Lock()
	h.version++
	h.mu.Unlock()
	h.hints.Send()
}

func (m *registration) start() {
	ctx, cancel := context.WithCancel(m.host.ctx)
	m.mu.Lock()
	m.run = cancel
	m.state = snapshot.State{Status: snapshot.Ready}
	m.mu.Unlock()
	err := recovery.Call("start "+m.id.Name, func() error { return m.Server.Start(ctx, m) })
	if err != nil {
		m.SetState(snapshot.State{Status: snapshot.Failed, Reason: err.Error()})
	}
	m.Changed()
}

func (m *registration) stop(ctx context.Context) error {
	m.mu.Lock()
	cancel := m.run
	m.mu.Unlock()
	err := recovery.Call("stop "+m.id.Name, func() error { return m.Server.Stop(ctx) })
	if cancel != nil {
		cancel()
	}
	if err != nil {
		return fmt.Errorf("stop %s: %w", m.id.Name, err)
	}
	return nil
}

// SetState implements [backend.Events].
func (m *registration) SetState(s snapshot.State) {
	s.Reason, s.Detail, s.Lacks = sanitize.Line(s.Reason), sanitize.Line(s.Detail), sanitize.Line(s.Lacks)
	m.mu.Lock()
	m.state = s
	m.mu.Unlock()
	m.host.changed()
}

// Changed implements [backend.Events].
func (m *registration) Changed() {
	if !m.reoffer() {
		return
	}
	m.host.refreshViews(m)
	m.host.findClashes()
	m.host.changed()
}

// reoffer asks the server what it offers. It reports whether that counts.
func (m *registration) reoffer() bool {
	m.offering.Lock()
	defer m.offering.Unlock()
	whole := offer{by: m.Server}
	err := recovery.Call("catalogue of "+m.id.Name, func() error { whole.Catalogue = m.Server.Catalogue(); return nil })
	if err != nil {
		m.SetState(snapshot.State{Status: snapshot.Failed, Reason: err.Error()})
		return false
	}
	m.mu.Lock()
	off, denied := m.off, m.denied
	m.mu.Unlock()
	if len(denied) > 0 {
		c := *whole.Catalogue
		c.Tools = without(c.Tools, denied)
		whole.Catalogue = &c
	}
	now := whole
	if off {
		now = m.turnedOff(whole)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.off != off || !slices.Equal(m.denied, denied) { // turned on or off meanwhile; who did that asks again
		return false
	}
	m.whole, m.offer = whole, now
	m.count()
	return true
}

// count adds up what agents have of the server. The caller holds mu.
func (m *registration) count() {
	sum := func(o offer) (n snapshot.Count, bytes int) {
		n.Context = len(o.Instructions)
		for _, t := range o.Tools {
			if _, hidden := m.hidden[offered{backend.Tool, t.Key}]; t.Off != "" || hidden {
				continue
			}
			n.Tools++
			bytes += len(t.Raw)
			n.Context += contextOf(t.Raw)
		}
		return n, bytes
	}
	m.listed, m.bytes = sum(m.offer)
	m.adds = snapshot.Count{}
	if m.off {
		m.adds, _ = sum(m.whole)
	}
}

// Warn implements [backend.Events].
func (m *registration) Warn(text string) { m.host.Warn(m.id.Name, text) }

func (m *registration) current() offer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offer
}
