package router

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestAProfileFitsByWhatIsKnownOfAConnection(t *testing.T) {
	who := snapshot.Caller{Client: "claude-code", Program: "claude", Root: "/home/me/work/shop"}
	for name, tt := range map[string]struct {
		match Match
		fits  bool
	}{
		"nothing":             {Match{}, false},
		"client by its ID":    {Match{Client: "claude"}, true},
		"client by a pattern": {Match{Client: "Claude*"}, true},
		"another client":      {Match{Client: "codex"}, false},
		"project":             {Match{Project: "/home/me/work/shop"}, true},
		"folder of projects":  {Match{Project: "/home/me/work"}, true},
		"folder beside":       {Match{Project: "/home/me/work/sho"}, false},
		"program":             {Match{Program: "claude"}, true},
		"another program":     {Match{Program: "node"}, false},
		"all of them":         {Match{Client: "claude", Project: "/home/me", Program: "cl*"}, true},
		"all but one":         {Match{Client: "claude", Project: "/srv", Program: "cl*"}, false},
	} {
		if tt.match.fits(who) != tt.fits {
			t.Errorf("%s: %v", name, !tt.fits)
		}
	}
	if (Match{Client: "*"}).fits(snapshot.Caller{}) || (Match{Project: "/"}).fits(snapshot.Caller{}) {
		t.Error("what is not known fits")
	}
}

func TestAProfileNarrowsWhatIsOn(t *testing.T) {
	a, b := &module{name: "a", tools: []string{"a_get", "a_put", "a_drop"}}, &module{name: "b", tools: []string{"b_get"}}
	h := started(t, Options{Servers: []backend.Server{a, b}})
	h.SetProfiles([]Profile{
		{Name: "one", Servers: []string{"a"}, Tools: map[string]string{"a_*": "off", "a_get": "allow"}},
		{Name: "lazy", Lazy: []string{"b"}, Match: Match{Client: "tester"}},
		{Name: "full", Lazy: []string{}},
	})
	h.SetLazy("a", true)
	names := func(profile, client string) string {
		t.Helper()
		v, err := h.View(ViewSpec{Profile: profile})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range v.listing.Load().forCaller(toolsList, snapshot.Caller{Client: client, Hints: map[string]string{clients.SearchHint: "claude"}}) {
			out = append(out, e.Name)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	for _, tt := range []struct{ profile, client, want string }{
		{"", "tester", "b_get call_tool find_tools"},
		{"", "claude-code", "a_drop a_get a_put b_get"},
		{"one", "claude-code", "a_get"},
		{"one", "tester", "call_tool find_tools"},
		{"lazy", "claude-code", "a_drop a_get a_put call_tool find_tools"},
		{"full", "tester", "a_drop a_get a_put b_get"},
	} {
		if got := names(tt.profile, tt.client); got != tt.want {
			t.Errorf("%s for %s: %s, want %s", tt.profile, tt.client, got, tt.want)
		}
	}
	v, _ := h.View(ViewSpec{Profile: "one"})
	if text, _ := v.refusal("a_put"); text != "" {
		t.Errorf("refused with %q", text)
	}
	if _, err := h.View(ViewSpec{Profile: "two"}); err == nil || !strings.Contains(err.Error(), `there is no profile "two"`) {
		t.Errorf("an unknown profile: %v", err)
	}
	all, _ := h.View(ViewSpec{})
	if got := all.For(snapshot.Caller{Client: "tester"}).Spec.Profile; got != "lazy" {
		t.Errorf("it has the profile %q", got)
	}
	if all.For(snapshot.Caller{Client: "other"}) != all || v.For(snapshot.Caller{Client: "tester"}) != v {
		t.Error("a profile was taken that does not fit, or in place of the named one")
	}
	h.SetProfiles([]Profile{{Name: "one", Servers: []string{"b"}}})
	if got := names("one", "tester"); got != "b_get" {
		t.Errorf("changed: %s", got)
	}
	h.SetProfiles(nil)
	if len(v.all()) != 1 {
		t.Error("a connection has more once its profile is gone")
	}
}

// To an agent, what a profile hides is not there, and beside a server as it is there is no
// other.
func TestNothingHiddenIsNamed(t *testing.T) {
	a, b := &module{name: "a", tools: []string{"a_get", "a_put"}, refuse: "a_put"}, &module{name: "b", tools: []string{"b_get"}}
	h := started(t, Options{Servers: []backend.Server{a, b}})
	for _, g := range []*guest{newGuest("far", "far_look", "far_do"), newGuest("other", "other_do")} {
		if err := h.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	h.SetProfiles([]Profile{
		{Name: "one", Servers: []string{"a", "far"}, Tools: map[string]string{"a_put": "off", "far_do": "off"}},
		{Name: "lazy", Servers: []string{"a", "far"}, Tools: map[string]string{"a_put": "off", "far_do": "off"}, Lazy: []string{"*"}},
	})
	hidden := []string{"a_put", "far_do", "b_get", "other"}
	for name, spec := range map[string]ViewSpec{"a profile": {Profile: "one"}, "a lazy one": {Profile: "lazy"}, "one server of it": {Profile: "one", Servers: []string{"a"}}, "as it is": {Servers: []string{"far"}, Passthrough: true}} {
		v, err := h.View(spec)
		if err != nil {
			t.Fatal(err)
		}
		said := v.instructions(snapshot.Caller{Client: "tester"})
		for _, tool := range append(hidden, "b_", "other_do", "nothing", "a_pu", "far_d") {
			text, _ := v.refusal(tool)
			said += "\n" + strings.ReplaceAll(text+" "+v.unknown(tool), strconv.Quote(tool), "it")
		}
		for _, definition := range tools(v) {
			said += "\n" + definition
		}
		for _, word := range hidden {
			if spec.Passthrough && strings.HasPrefix(word, "far") {
				continue
			}
			if strings.Contains(said, word) {
				t.Errorf("%s names %s:\n%s", name, word, said)
			}
		}
		if _, err := h.View(ViewSpec{Profile: spec.Profile, Passthrough: spec.Passthrough, Servers: []string{"nope"}}); err == nil || strings.Contains(err.Error(), "other") {
			t.Errorf("%s: an unknown server: %v", name, err)
		}
	}
}

// A gateway leads to all tools of a server, also to those that a profile hides.
func TestAGatewayDoesNotLeadPastAProfile(t *testing.T) {
	g := &gated{module{name: "a", tools: []string{"a_get", "a_put"}}}
	h := started(t, Options{Servers: []backend.Server{g}})
	h.SetProfiles([]Profile{{Name: "some", Tools: map[string]string{"a_put": "off"}}, {Name: "all", Tools: map[string]string{"b": "off"}}})
	for profile, want := range map[string]string{"some": "a_get", "all": "a_get a_put a_tools"} {
		for _, gateway := range []bool{false, true} {
			v, err := h.View(ViewSpec{Profile: profile, Gateway: gateway})
			if err != nil {
				t.Fatal(err)
			}
			want := want
			if gateway && profile == "all" {
				want = "a_tools"
			}
			if got := strings.Join(toolNames(v), " "); got != want {
				t.Errorf("%s, asked for a gateway %v: %s, want %s", profile, gateway, got, want)
			}
		}
	}
}

// gated is a server with a gateway.
type gated struct{ module }

func (g *gated) Catalogue() *backend.Catalogue {
	c := g.module.Catalogue()
	name := g.name + "_tools"
	c.Gateway = []backend.ToolDefinition{own(name, fmt.Sprintf(`{"name":%q}`, name), backend.Policy{})}
	c.GatewayFor = func(string) bool { return true }
	return c
}
