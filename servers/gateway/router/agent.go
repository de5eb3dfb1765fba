package router

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Agent is one connection, from Connect to Close.
type Agent struct {
	host  *Host
	view  []string
	since time.Time

	figures calllog.Figures
	telling sync.Mutex // of what it wants, one at a time

	mu       sync.Mutex // guards what follows
	caller   snapshot.Caller
	rooted   bool // the root is the connection's own
	protocol string
	list     *View  // whose tools it listed last; nil: none
	version  uint64 // of that list
	gateway  bool   // that list had a gateway for the client
	got      snapshot.Got
	greeted  bool // it has made a handshake
	greeting Greeting
	through  *View // that the connection has; nil: none
	tell     Tell  // what belongs to no request; nil: it cannot be told
	level    string
	uris     map[string]bool // of resources, by resources/subscribe

	subscriptions []*subscription // that are open
}

// Connect registers a connection that wants the named servers (none: all). The
// caller's Agent and Identity are filled in. An empty Root becomes the deck's; one
// that is refused leaves the connection without a project, for the deck's files are
// none of those that its agent works on.
func (h *Host) Connect(c snapshot.Caller, view []string) *Agent {
	c.Agent = randomID()
	own := c.Root != ""
	c.Root, c.Refused = h.project(cmp.Or(c.Root, h.opts.Root))
	a := &Agent{host: h, view: slices.Clone(view), since: time.Now(), rooted: own && c.Root != ""}
	a.caller = clean(c)
	a.identify()
	h.mu.Lock()
	h.agents = append(h.agents, a)
	h.mu.Unlock()
	h.changed()
	return a
}

// Close removes the connection from the list; the screen shows it as gone for
// a minute more.
func (a *Agent) Close() {
	info := a.info()
	info.Gone = time.Now()
	info.InFlight, info.Waiting = nil, false
	h := a.host
	h.mu.Lock()
	before := len(h.agents)
	h.agents = slices.DeleteFunc(h.agents, func(b *Agent) bool { return b == a })
	if len(h.agents) < before && info.Calls > 0 {
		h.gone = slices.DeleteFunc(h.gone, func(before snapshot.Agent) bool { return succeeds(&info, before) }) // which adds to info
		h.gone = append(h.gone, info)
		h.gone = h.gone[max(0, len(h.gone)-goneKept):]
	}
	h.mu.Unlock()
	h.rounds.left(info.Agent)
	for _, m := range h.all() {
		if l, ok := m.Server.(backend.SessionEnder); ok {
			recovery.Go(m.id.Name+" after an agent", func() { l.SessionEnded(info.Agent) })
		}
	}
	h.changed()
}

// succeeds takes the figures of one that has gone before if it was the same
// program in the same folder: a script that calls the deck in a loop is shown
// once.
func succeeds(i *snapshot.Agent, before snapshot.Agent) bool {
	if before.Name() != i.Name() || before.Folder() != i.Folder() {
		return false
	}
	i.Since, i.Calls, i.Errors = before.Since, i.Calls+before.Calls, i.Errors+before.Errors
	return true
}

// Caller says who the connection is, as far as known by now.
func (a *Agent) Caller() snapshot.Caller {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.caller
}

// Claim records what the client says of itself; empty values leave what was
// there.
func (a *Agent) Claim(client, version, protocol string) {
	a.mu.Lock()
	changed := false
	set := func(to *string, v string) {
		if v = sanitize.Cut(sanitize.Line(v), 80); v != "" && v != *to {
			*to, changed = v, true
		}
	}
	set(&a.caller.Client, client)
	set(&a.caller.ClientVersion, version)
	set(&a.protocol, protocol)
	if changed {
		a.identify()
	}
	a.mu.Unlock()
	if changed {
		a.host.changed()
	}
}

// names records the session that a call says it belongs to.
func (a *Agent) names(meta rawjson.Object) {
	a.mu.Lock()
	id := ""
	if c, _ := clients.Find(a.caller.Name()); c.Session != "" {
		id = sanitize.Cut(sanitize.Line(meta.Str(c.Session)), 80)
	}
	changed := id != "" && id != a.caller.Session
	if changed {
		a.caller.Session = id
	}
	a.mu.Unlock()
	if changed {
		a.host.changed()
	}
}

// Greet records the handshake of the connection.
func (a *Agent) Greet(g Greeting) {
	a.mu.Lock()
	a.greeted, a.greeting = true, g
	a.mu.Unlock()
	a.Claim(g.Client, g.ClientVersion, g.Version)
}

// Capabilities are what the client has declared in its handshake, an object; nil for nothing.
func (a *Agent) Capabilities() json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.greeting.Capabilities
}

// Resume connects an agent again, as it was before it was closed.
func (a *Agent) Resume() *Agent {
	a.mu.Lock()
	caller, greeting, greeted := snapshot.Caller{Transport: a.caller.Transport}, a.greeting, a.greeted
	through, tell, level, uris := a.through, a.tell, a.level, a.uris
	a.mu.Unlock()
	again := a.host.Connect(caller, a.view)
	again.mu.Lock()
	again.through, again.tell, again.level, again.uris = through, tell, level, uris
	again.mu.Unlock()
	if greeted {
		again.Greet(greeting)
	}
	again.publishSubscriptions(a.host.all())
	return again
}

// SetRoot replaces the project root by one the client announced. It says false
// for a folder that no project lives in: that leaves a project that the client
// named before, but never the deck's.
func (a *Agent) SetRoot(root string) bool {
	if root == "" {
		return false
	}
	root, refused := a.host.project(root)
	a.mu.Lock()
	if refused == nil || !a.rooted {
		a.caller.Root, a.caller.Refused = root, refused
		a.rooted = refused == nil
		a.identify()
	}
	a.mu.Unlock()
	a.host.changed()
	a.publishSubscriptions(a.host.all())
	return refused == nil
}

// project returns dir as a project's folder, with links resolved, or says why no
// project may live in it. One that cannot be seen from here is left as it is
// called: whoever opens it decides again.
func (h *Host) project(dir string) (string, *roots.RefusedError) {
	resolved, err := h.opts.Roots.Folder(dir)
	var refused *roots.RefusedError
	switch {
	case err == nil:
		return resolved, nil
	case dir == "":
		return "", nil
	case errors.As(err, &refused):
		return "", &roots.RefusedError{Dir: sanitize.Line(refused.Dir), Why: refused.Why}
	}
	return filepath.Clean(dir), nil
}

// HasRoot tells whether the connection brought a project root of its own.
func (a *Agent) HasRoot() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rooted
}

// listed notes that the agent has the present list of a view's tools.
func (a *Agent) listed(v *View, gateway bool, got snapshot.Got) {
	a.mu.Lock()
	changed := a.stale() || a.got != got
	a.list, a.version, a.gateway, a.got = v, v.toolsVersion.Load(), gateway, got
	a.mu.Unlock()
	if changed {
		a.host.changed()
	}
}

// stale tells whether the agent did not ask again after its list has changed.
func (a *Agent) stale() bool {
	return a.list != nil && a.version != a.list.toolsVersion.Load() &&
		time.Since(time.Unix(0, a.list.toolsAt.Load())) >= refreshPatience
}

func (a *Agent) identify() {
	c := &a.caller
	sum := sha256.Sum256([]byte(strconv.Itoa(os.Getuid()) + "\x00" + c.Client + "\x00" + c.Folder()))
	c.Identity, c.Shown = hex.EncodeToString(sum[:8]), clients.Name(c.Client, c.Program, c.Transport)
}

// Hold counts the bytes of a request that is kept in memory until it is answered;
// false when the agent, or all together, have too many in flight. release must be
// called once.
func (a *Agent) Hold(n int) (release func(), ok bool) {
	return a.host.admission.Hold(a.Caller().Identity, int64(n))
}

// Hold is [Agent.Hold] for bytes of which it is not known yet whose they are.
func (h *Host) Hold(of string, n int) (release func(), ok bool) {
	return h.admission.Hold(of, int64(n))
}

func (a *Agent) info() snapshot.Agent {
	a.mu.Lock()
	defer a.mu.Unlock()
	info := snapshot.Agent{
		Caller: a.caller, View: a.view, Protocol: a.protocol, Since: a.since, Stale: a.stale(), Gateway: a.gateway, Got: a.got,
	}
	if a.list != nil {
		if p := a.list.profile.Load(); p != nil {
			info.Profile, info.View = p.Name, p.narrow(a.view)
		}
	}
	a.figures.Fill(&info)
	return info
}

func clean(c snapshot.Caller) snapshot.Caller {
	c.Program = sanitize.Cut(sanitize.Line(c.Program), 80)
	c.Client = sanitize.Cut(sanitize.Line(c.Client), 80)
	c.ClientVersion = sanitize.Cut(sanitize.Line(c.ClientVersion), 40)
	return c
}

// randomID is unguessable: 16 hex digits of 64 random bits.
func randomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
