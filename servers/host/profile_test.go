package host

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/deck"
)

func TestAProfileFitsByWhatIsKnownOfAConnection(t *testing.T) {
	who := deck.Caller{Client: "claude-code", Program: "claude", Root: "/home/me/work/shop"}
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
	if (Match{Client: "*"}).fits(deck.Caller{}) || (Match{Project: "/"}).fits(deck.Caller{}) {
		t.Error("what is not known fits")
	}
}

func TestAProfileNarrowsWhatIsOn(t *testing.T) {
	a, b := &module{name: "a", tools: []string{"a_get", "a_put", "a_drop"}}, &module{name: "b", tools: []string{"b_get"}}
	h := started(t, Options{Modules: []Module{a, b}})
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
		for name := range v.MCP.ListTools() {
			if who, some := v.listing.Load().only[name]; !some || who.has(client) {
				out = append(out, name)
			}
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
	if text, module := v.refusal("a_put"); text != "a_put is turned off in the profile one. The user can allow it in mcpdeck." || module != "a" {
		t.Errorf("refused with %q", text)
	}
	if _, err := h.View(ViewSpec{Profile: "two"}); err == nil || !strings.Contains(err.Error(), `there is no profile "two"`) {
		t.Errorf("an unknown profile: %v", err)
	}
	all, _ := h.View(ViewSpec{})
	if got := all.For(deck.Caller{Client: "tester"}).Spec.Profile; got != "lazy" {
		t.Errorf("it has the profile %q", got)
	}
	if all.For(deck.Caller{Client: "other"}) != all || v.For(deck.Caller{Client: "tester"}) != v {
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
