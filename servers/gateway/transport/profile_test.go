package transport_test

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
)

func TestAConnectionHasTheProfileItNamesOrTheFirstThatFits(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newLibrary("shelf", `{"name":"shelf_lend","inputSchema":{"type":"object"}}`), newLibrary("desk", `{"name":"desk_tidy","inputSchema":{"type":"object"}}`))
	h.SetProfiles([]router.Profile{
		{Name: "away", Servers: []string{"fixture"}, Match: router.Match{Client: "tester", Project: "/elsewhere"}},
		{Name: "reader", Servers: []string{"shelf"}, Match: router.Match{Client: "tester"}},
		{Name: "late", Servers: []string{"fixture"}, Match: router.Match{Client: "tester"}},
		{Name: "named", Servers: []string{"desk"}},
	})
	stream := func(spec router.ViewSpec, socket bool) func(t *testing.T) transporttest.Talker {
		return func(t *testing.T) transporttest.Talker {
			t.Helper()
			return transporttest.OverStream(t, h, spec, socket)
		}
	}
	http := func(path string) func(t *testing.T) transporttest.Talker {
		return func(t *testing.T) transporttest.Talker { t.Helper(); return transporttest.OverHTTP(t, h, path) }
	}
	has := func(want string) func(t *testing.T, a transporttest.Talker, modern bool) {
		return func(t *testing.T, a transporttest.Talker, modern bool) {
			t.Helper()
			if names, _ := listed(t, a, "tools/list", "tools", modern); strings.Join(names, " ") != want {
				t.Errorf("listed: %s, want %s", names, want)
			}
		}
	}
	named := router.ViewSpec{Profile: "named"}
	transporttest.Carriers(t, stream(named, false), stream(named, true), http("?profile=named"), has("desk_tidy"))
	transporttest.Carriers(t, stream(router.ViewSpec{}, false), stream(router.ViewSpec{}, true), http(""), has("shelf_lend"))
	narrow := router.ViewSpec{Servers: []string{"desk", "shelf"}, Profile: "named"}
	transporttest.Carriers(t, stream(narrow, false), stream(narrow, true), http("/desk?profile=named"), has("desk_tidy"))
	for _, a := range h.Snapshot().Agents {
		if want := map[string]string{"named": "desk", "reader": "shelf"}[a.Profile]; strings.Join(a.View, " ") != want || want == "" {
			t.Errorf("an agent over %s is shown with the profile %q and the servers %s", a.Transport, a.Profile, a.View)
		}
	}
}
