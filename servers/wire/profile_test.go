package wire_test

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/host/hosttest"
	"github.com/mcpdeck/mcpdeck/servers/wire/wiretest"
)

func TestAConnectionHasTheProfileItNamesOrTheFirstThatFits(t *testing.T) {
	h := hosttest.Start(t, newFixture(), newLibrary("shelf", `{"name":"shelf_lend","inputSchema":{"type":"object"}}`), newLibrary("desk", `{"name":"desk_tidy","inputSchema":{"type":"object"}}`))
	h.SetProfiles([]host.Profile{
		{Name: "away", Servers: []string{"fixture"}, Match: host.Match{Client: "tester", Project: "/elsewhere"}},
		{Name: "reader", Servers: []string{"shelf"}, Match: host.Match{Client: "tester"}},
		{Name: "late", Servers: []string{"fixture"}, Match: host.Match{Client: "tester"}},
		{Name: "named", Servers: []string{"desk"}},
	})
	stream := func(spec host.ViewSpec, socket bool) func(t *testing.T) wiretest.Talker {
		return func(t *testing.T) wiretest.Talker { t.Helper(); return wiretest.OverStream(t, h, spec, socket) }
	}
	http := func(path string) func(t *testing.T) wiretest.Talker {
		return func(t *testing.T) wiretest.Talker { t.Helper(); return wiretest.OverHTTP(t, h, path) }
	}
	has := func(want string) func(t *testing.T, a wiretest.Talker, modern bool) {
		return func(t *testing.T, a wiretest.Talker, modern bool) {
			t.Helper()
			if names, _ := listed(t, a, "tools/list", "tools", modern); strings.Join(names, " ") != want {
				t.Errorf("listed: %s, want %s", names, want)
			}
		}
	}
	named := host.ViewSpec{Profile: "named"}
	wiretest.Carriers(t, stream(named, false), stream(named, true), http("?profile=named"), has("desk_tidy"))
	wiretest.Carriers(t, stream(host.ViewSpec{}, false), stream(host.ViewSpec{}, true), http(""), has("shelf_lend"))
	narrow := host.ViewSpec{Servers: []string{"desk", "shelf"}, Profile: "named"}
	wiretest.Carriers(t, stream(narrow, false), stream(narrow, true), http("/desk?profile=named"), has("desk_tidy"))
	for _, a := range h.Snapshot().Agents {
		if want := map[string]string{"named": "desk", "reader": "shelf"}[a.Profile]; strings.Join(a.View, " ") != want || want == "" {
			t.Errorf("an agent over %s is shown with the profile %q and the servers %s", a.Transport, a.Profile, a.View)
		}
	}
}
