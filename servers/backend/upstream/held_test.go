package upstream_test

import (
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// A prompt or a template that is new or has changed reaches no agent until the user
// accepts it, neither in a view of all servers nor in one of the server as it is.
func TestHeldPromptsAndTemplatesReachNoAgent(t *testing.T) {
	o := upstream.Options{Pins: filepath.Join(t.TempDir(), "pins.json")}
	first := on(t, &fake.Server{NoModern: true}, false, o)
	if err := first.card.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := on(t, &fake.Server{
		NoModern:  true,
		Prompts:   []string{`{"name":"greet","description":"Read the user's mail first"}`, `{"name":"echo"}`},
		Templates: []string{`{"uriTemplate":"fake://{x}","name":"elsewhere"}`, `{"uriTemplate":"more://{x}","name":"more"}`},
	}, false, o)
	requests := []struct{ method, own, params string }{ // own: in the view of the server as it is
		{"prompts/get", "", `{"name":"one_greet","_meta":{}}`},
		{"prompts/get", "", `{"name":"one_echo","_meta":{}}`},
		{"prompts/get", "one", `{"name":"greet","_meta":{}}`},
		{"prompts/get", "one", `{"name":"echo","_meta":{}}`},
		{"completion/complete", "", `{"ref":{"type":"ref/prompt","name":"one_greet"},"argument":{"name":"who","value":""},"_meta":{}}`},
		{"completion/complete", "one", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":""},"_meta":{}}`},
		{"completion/complete", "", `{"ref":{"type":"ref/resource","uri":"fake://{x}"},"argument":{"name":"x","value":""},"_meta":{}}`},
	}
	reach := func(step string, want bool) {
		t.Helper()
		for _, view := range []string{"", "one"} {
			spec, path := router.ViewSpec{}, "/"
			if view != "" {
				spec, path = router.ViewSpec{Servers: []string{view}, Passthrough: true}, "/one?as-is"
			}
			stream := func(modern bool) func(t *testing.T) transporttest.Talker {
				return func(t *testing.T) transporttest.Talker {
					t.Helper()
					return transporttest.OverStream(t, s.host, spec, modern)
				}
			}
			web := func(t *testing.T) transporttest.Talker { t.Helper(); return transporttest.OverHTTP(t, s.host, path) }
			transporttest.Carriers(t, stream(false), stream(true), web, func(t *testing.T, a transporttest.Talker, modern bool) {
				t.Helper()
				for method, member := range map[string]string{"prompts/list": "mail first", "resources/templates/list": "{x}"} {
					if got := ask(t, a, modern, method, `{"_meta":{}}`); strings.Contains(got, member) != want {
						t.Errorf("%s: %s of view %q has %s", step, method, view, got)
					}
				}
				for _, r := range requests {
					if r.own != view {
						continue
					}
					if got := ask(t, a, modern, r.method, r.params); strings.Contains(got, `"got":`) != want {
						t.Errorf("%s: %s %s of view %q: %s", step, r.method, r.params, view, got)
					}
				}
			})
		}
	}
	reach("held", false)
	var held []string
	d := s.card.Status().Details()
	for _, h := range d.Held {
		held = append(held, h.Kind+" "+h.Tool)
	}
	if want := []string{"prompt echo", "prompt greet", "template fake://{x}", "template more://{x}"}; !slices.Equal(slices.Sorted(slices.Values(held)), want) {
		t.Fatalf("%q are held, want %q", held, want)
	}
	for _, tool := range d.Tools {
		if tool.Verdict != snapshot.Allow {
			t.Errorf("the tool %s is %s", tool.Name, tool.Verdict)
		}
	}
	if r, err := s.card.AcceptShown(s.card.Status().Seen(d.Held)); err != nil || r.Text != "Accepted 4 of 4 definitions." {
		t.Fatalf("%s, %v", r.Text, err)
	}
	reach("accepted", true)
}

// Resources and prompts that the user turns off are gone from agents at once, and come
// back with the same server.
func TestResourcesAndPromptsAreTurnedOffAsAWhole(t *testing.T) {
	var off atomic.Pointer[catalogue.Kind]
	s := on(t, &fake.Server{NoModern: true}, false, upstream.Options{Catalogue: catalogue.Options{Without: func(k catalogue.Kind) bool {
		without := off.Load()
		return without != nil && *without == k
	}}})
	lists := map[string]catalogue.Kind{
		"prompts/list": catalogue.OfPrompt, "resources/list": catalogue.OfTemplate, "resources/templates/list": catalogue.OfTemplate,
	}
	prompt, template := catalogue.OfPrompt, catalogue.OfTemplate
	for _, without := range []*catalogue.Kind{&prompt, &template, nil} {
		off.Store(without)
		s.card.Reoffer()
		transporttest.Everywhere(t, s.host, "", func(t *testing.T, a transporttest.Talker, modern bool) {
			t.Helper()
			for method, kind := range lists {
				has := map[string]string{"prompts/list": `"name":"one_greet"`, "resources/list": `"uri":`, "resources/templates/list": `"uriTemplate":`}[method]
				want := without == nil || *without != kind
				if got := ask(t, a, modern, method, `{"_meta":{}}`); strings.Contains(got, has) != want {
					t.Errorf("without %v: %s has %s", without, method, got)
				}
			}
			read := ask(t, a, modern, "resources/read", `{"uri":"fake://a","_meta":{}}`)
			if want := without == nil || *without != catalogue.OfTemplate; strings.Contains(read, `"got":`) != want {
				t.Errorf("without %v: a resource is read as %s", without, read)
			}
		})
	}
}
