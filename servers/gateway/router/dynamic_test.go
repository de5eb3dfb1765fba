package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// guest is a server whose calls are answered as they came, once they may end.
type guest struct {
	module
	began   chan struct{}
	stopped chan struct{}
}

func newGuest(name string, tools ...string) *guest {
	return &guest{module{name: name, tools: tools}, make(chan struct{}, 1), make(chan struct{}, 1)}
}

func (g *guest) Catalogue() *backend.Catalogue {
	c := &backend.Catalogue{}
	for _, name := range g.tools {
		c.Tools = append(c.Tools, own(name, fmt.Sprintf(`{"name":%q,"of":%q}`, name, g.name), backend.Policy{}))
	}
	return c
}

func (g *guest) Serve(ctx context.Context, r *backend.Request) backend.Reply {
	g.began <- struct{}{}
	<-ctx.Done()
	return backend.Reply{}
}

func (g *guest) Stop(context.Context) error { g.stopped <- struct{}{}; return nil }

func viewOf(t *testing.T, h *Host, servers ...string) *View {
	t.Helper()
	v, err := h.View(ViewSpec{Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// toolNames are the names that a view lists.
func toolNames(v *View) []string { return slices.Sorted(maps.Keys(tools(v))) }

// tools are the definitions that a view lists for whichever session, by name.
func tools(v *View) map[string]string {
	all := map[string]string{}
	for _, e := range v.listing.Load().lists[toolsList] {
		all[e.Name] = string(e.Raw)
	}
	return all
}

// listener counts what a connection is told.
type listener struct{ heard []string }

// listens connects an agent to a view, with a handshake.
func listens(h *Host, v *View) *listener {
	l := &listener{}
	a := h.Connect(snapshot.Caller{}, v.Spec.Servers)
	a.Attach(v, func(method string, _ json.RawMessage) { l.heard = append(l.heard, method) })
	a.Greet(Greeting{Client: "c", Version: "2025-11-25"})
	return l
}

func (l *listener) told() (methods []string) {
	methods, l.heard = l.heard, nil
	return methods
}

func TestModulesComeAndGo(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "own", tools: []string{"own_a"}}}})
	v, own := viewOf(t, h), viewOf(t, h, "own")
	s, other := listens(h, v), listens(h, own)
	for _, step := range []struct {
		name    string
		change  func() error
		want    []string
		servers string
		told    int
	}{
		{"add", func() error { return h.Add(newGuest("b", "b_x")) }, []string{"b_x", "own_a"}, "own b", 1},
		{"add before it", func() error { return h.Add(newGuest("a", "a_x")) }, []string{"a_x", "b_x", "own_a"}, "own a b", 1},
		{"replace", func() error { return h.Replace(t.Context(), newGuest("a", "a_y", "a_z")) }, []string{"a_y", "a_z", "b_x", "own_a"}, "own a b", 1},
		{"replace by its like", func() error { return h.Replace(t.Context(), newGuest("b", "b_x")) }, []string{"a_y", "a_z", "b_x", "own_a"}, "own a b", 0},
		{"remove", func() error { return h.Remove(t.Context(), "a") }, []string{"b_x", "own_a"}, "own b", 1},
	} {
		if err := step.change(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := toolNames(v); !slices.Equal(got, step.want) {
			t.Errorf("%s: listed %q, want %q", step.name, got, step.want)
		}
		if got := strings.Join(h.Names(), " "); got != step.servers {
			t.Errorf("%s: the servers are %s, want %s", step.name, got, step.servers)
		}
		if got := s.told(); len(got) != step.told {
			t.Errorf("%s: told %q, want %d", step.name, got, step.told)
		}
		if got := other.told(); len(got) != 0 {
			t.Errorf("%s: a view without it was told %q", step.name, got)
		}
	}
	for what, err := range map[string]error{
		"add of a name that is taken": h.Add(newGuest("b")), "removal of what is not there": h.Remove(t.Context(), "a"),
		"removal of a server of the deck's own": h.Remove(t.Context(), "own"), "replacement of it": h.Replace(t.Context(), newGuest("own")),
	} {
		if err == nil {
			t.Errorf("%s did not fail", what)
		}
	}
	if _, err := h.View(ViewSpec{Servers: []string{"a"}}); !errors.Is(err, ErrUnknownServer) {
		t.Errorf("a view of a server that has gone: %v", err)
	}
}

func TestToolsOfGuestsThatAreTakenAreHidden(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "own", tools: []string{"same"}}}})
	for _, m := range []*guest{newGuest("z", "shared", "z_x"), newGuest("a", "same", "shared")} {
		if err := h.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	v := viewOf(t, h)
	if got, want := toolNames(v), []string{"same", "shared", "z_x"}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	if list := tools(v); list["shared"] != `{"name":"shared","of":"a"}` {
		t.Errorf("as they stand, %s are listed", list)
	}
	if got, want := toolNames(viewOf(t, h, "a")), []string{"shared"}; !slices.Equal(got, want) {
		t.Errorf("alone, it lists %q, want %q", got, want)
	}
	said := func() (texts []string) {
		for _, w := range h.Snapshot().Warnings {
			texts = append(texts, w.From+" "+w.Text)
		}
		return texts
	}
	want := []string{"a hidden, since own has the same name: same", "z hidden, since a has the same name: shared"}
	if got := said(); !slices.Equal(got, want) {
		t.Errorf("warned of %q, want %q", got, want)
	}
	if got, want := h.Hidden("z"), []string{"shared: the name is taken by a"}; !slices.Equal(got, want) {
		t.Errorf("z says that %q are hidden, want %q", got, want)
	}
	d, _ := h.Details("z")
	if d.Tools[0].Verdict != snapshot.Hidden || d.Tools[0].Why != "the name is taken by a" || d.Tools[1].Verdict != snapshot.Allow {
		t.Errorf("its page has %+v", d.Tools)
	}
	if s := h.Snapshot().Servers; s[1].Tools != 1 || s[2].Tools != 1 {
		t.Errorf("agents have %d and %d tools of the two", s[1].Tools, s[2].Tools)
	}
	h.module("z").Changed()
	if got := said(); !slices.Equal(got, want) {
		t.Errorf("warned again: %q", got)
	}
	if err := h.Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if list := tools(v); list["shared"] != `{"name":"shared","of":"z"}` {
		t.Errorf("once the first has gone, %s are listed", list)
	}
}

// Agents would bring another server what is meant for the deck.
func TestNoGuestTakesANameOfTheDecks(t *testing.T) {
	own := &module{name: "own", tools: []string{"ask", "haunt"}, refuse: "own_later"}
	h := started(t, Options{Servers: []backend.Server{own}})
	g := newGuest("bare", "ask", "haunt", "own_status", "own_later", "find_tools", "call_tool", "free")
	if err := h.Add(g); err != nil {
		t.Fatal(err)
	}
	h.SetProfiles([]Profile{{Name: "without", Servers: []string{"bare"}}})
	check := func(when string) {
		t.Helper()
		for _, spec := range []ViewSpec{{}, {Servers: []string{"bare"}}, {Profile: "without"}} {
			v, err := h.View(spec)
			if err != nil {
				t.Fatal(err)
			}
			var has []string
			for name, to := range v.listing.Load().routes[backend.Tool] {
				if to.module.id.Name == "bare" {
					has = append(has, name)
				}
			}
			if !slices.Equal(has, []string{"free"}) {
				t.Errorf("%s, %+v has %q", when, spec, has)
			}
		}
	}
	check("on")
	if err := h.Deny("own", []string{"ask"}); err != nil {
		t.Fatal(err)
	}
	check("with a tool turned off")
	if _, err := h.Switch("own", false); err != nil {
		t.Fatal(err)
	}
	check("off")
	if hidden := h.Hidden("bare"); len(hidden) != 6 {
		t.Errorf("it says that %q are hidden", hidden)
	}
}

func TestCallsOfAModuleThatGoesEndWithASentence(t *testing.T) {
	for verb, change := range map[string]func(h *Host) error{
		"was removed from mcpdeck": func(h *Host) error { return h.Remove(context.Background(), "a") },
		"was restarted":            func(h *Host) error { return h.Replace(context.Background(), newGuest("a", "a_x")) },
	} {
		g := newGuest("a", "a_x")
		h := started(t, Options{})
		if err := h.Add(g); err != nil {
			t.Fatal(err)
		}
		agent := h.Connect(snapshot.Caller{}, nil)
		serve := viewOf(t, h).Route(agent, backend.Parse(nil, rpc.Message{Method: "tools/call", Params: json.RawMessage(`{"name":"a_x"}`)}))
		reply := make(chan backend.Reply, 1)
		go func() { reply <- serve(context.Background()) }()
		<-g.began
		if err := change(h); err != nil {
			t.Fatal(err)
		}
		<-g.stopped
		want := `{"resultType":"complete","content":[{"type":"text","text":"a ` + verb + ` during this call. It may have taken effect: check, then retry"}],"isError":true}`
		if got := <-reply; string(got.Result) != want || got.Error != nil {
			t.Errorf("got %s %s, want %s", got.Result, got.Error, want)
		}
		if c := settled(h, 1).Calls[0]; c.Status != snapshot.ToolError || c.Server != "a" {
			t.Errorf("the call is logged as %+v", c)
		}
	}
}

func TestModulesChangeWhileAgentsListAndCall(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "own", tools: []string{"own_a"}}}})
	var agents, changes sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		agents.Go(func() {
			a := h.Connect(snapshot.Caller{}, nil)
			defer a.Close()
			for {
				select {
				case <-done:
					return
				default:
				}
				v, err := h.View(ViewSpec{})
				if err != nil {
					t.Error(err)
					return
				}
				ctx := context.Background()
				say(ctx, a, v, toolsList, `{}`)
				say(ctx, a, v, "tools/call", `{"name":"nope"}`)
				v.Route(a, backend.Parse(nil, rpc.Message{Method: "tools/call", Params: json.RawMessage(`{"name":"a_x"}`)}))
				h.Snapshot()
			}
		})
	}
	for _, name := range []string{"a", "b"} {
		changes.Go(func() {
			for i := range 50 {
				if err := h.Add(newGuest(name, fmt.Sprint(name, i))); err != nil {
					t.Error(err)
				}
				if err := h.Replace(context.Background(), newGuest(name, name+"_x", "both")); err != nil {
					t.Error(err)
				}
				if err := h.Remove(context.Background(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	changes.Wait()
	close(done)
	agents.Wait()
	if got := toolNames(viewOf(t, h)); !slices.Equal(got, []string{"own_a"}) {
		t.Errorf("in the end, %q are listed", got)
	}
}
