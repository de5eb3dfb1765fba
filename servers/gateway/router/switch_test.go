package router

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// rich is a server with something in every list.
type rich struct{ module }

func (m *rich) Catalogue() *backend.Catalogue {
	c := m.module.Catalogue()
	define := func(key, definition string) []backend.Definition {
		return []backend.Definition{{Key: key, Raw: json.RawMessage(definition)}}
	}
	c.Resources = define(m.name+"://r", fmt.Sprintf(`{"uri":"%[1]s://r","name":%[1]q}`, m.name))
	c.Templates = define(m.name+"://{x}", fmt.Sprintf(`{"uriTemplate":"%[1]s://{x}","name":%[1]q}`, m.name))
	c.Prompts = define(m.name+"_p", fmt.Sprintf(`{"name":%q}`, m.name+"_p"))
	for i := range c.Tools {
		c.Tools[i].Redact, c.Tools[i].Resumable = redact.Kind{Keep: []string{"key"}}, true
	}
	return c
}

// everything is what a client is told before it calls something.
func everything(t *testing.T, h *Host, servers ...string) string {
	t.Helper()
	v := viewOf(t, h, servers...)
	a := h.Connect(snapshot.Caller{}, servers)
	defer a.Close()
	var b strings.Builder
	for _, r := range []string{
		`"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`,
		`"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`, `"tools/list"`, `"resources/list"`, `"resources/templates/list"`, `"prompts/list"`,
	} {
		line := []byte(`{"jsonrpc":"2.0","id":1,"method":` + r + `}`)
		m, bad := rpc.Rules{}.Decode(line)
		if bad != nil {
			t.Fatal(bad)
		}
		b.Write(append(v.Route(a, backend.Parse(line, m))(t.Context()).Result, '\n'))
	}
	return b.String()
}

func TestAModuleThatIsTurnedOffCostsAgentsNothing(t *testing.T) {
	mod := func(name string) backend.Server { return &rich{module{name: name, tools: []string{name + "_x"}}} }
	without := everything(t, started(t, Options{Servers: []backend.Server{mod("a"), mod("c")}}))
	h := started(t, Options{Servers: []backend.Server{mod("a"), mod("b"), mod("c")}, Off: []string{"b"}})
	for step := range 3 {
		if got := everything(t, h); got != without {
			t.Fatalf("off, step %d:\n%s\nwithout it:\n%s", step, got, without)
		}
		if n, err := h.Switch("b", true); n != 1 || err != nil {
			t.Fatalf("on: %d, %v", n, err)
		}
		got := everything(t, h)
		for _, part := range []string{"Use b.", "b_x", "b://r", "b://{x}", "b_p"} {
			if !strings.Contains(got, part) {
				t.Errorf("on, no %s:\n%s", part, got)
			}
		}
		if n, err := h.Switch("b", false); n != 0 || err != nil {
			t.Fatalf("off: %d, %v", n, err)
		}
	}
	if alone := everything(t, h, "b"); !strings.Contains(alone, `"b_status"`) || strings.Contains(alone, "b_x") {
		t.Errorf("alone:\n%s", alone)
	}
	if stub := tools(viewOf(t, h, "b"))["b_status"]; len(stub) == 0 || len(stub) > 250 {
		t.Errorf("%d bytes: %s", len(stub), stub)
	}
}

func TestTurningAModuleOnOrOffIsToldOnce(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "a", tools: []string{"a_x"}}, &module{name: "b", tools: []string{"b_x"}}}})
	v := viewOf(t, h)
	s := listens(h, v)
	for _, step := range []struct {
		on     bool
		told   int
		status snapshot.Status
		tools  []string
	}{
		{true, 0, snapshot.Ready, []string{"a_x", "b_x"}},
		{false, 1, snapshot.Off, []string{"a_x"}},
		{false, 0, snapshot.Off, []string{"a_x"}},
		{true, 1, snapshot.Ready, []string{"a_x", "b_x"}},
	} {
		if _, err := h.Switch("b", step.on); err != nil {
			t.Fatal(err)
		}
		if got := s.told(); len(got) != step.told {
			t.Errorf("%+v: told %q", step, got)
		}
		if got := toolNames(v); !slices.Equal(got, step.tools) {
			t.Errorf("%+v: listed %q", step, got)
		}
		if got := h.Snapshot().Servers[1]; got.State.Status != step.status || got.Tools != len(step.tools)-1 {
			t.Errorf("%+v: shown as %+v", step, got)
		}
	}
}

// What is called then is refused with the user's remedy, and logged as it would be.
func TestCallsOfAModuleThatIsTurnedOff(t *testing.T) {
	rec := &kepts{}
	h := started(t, Options{Servers: []backend.Server{&rich{module{name: "b", tools: []string{"b_x"}}}}, Off: []string{"b"}, Recorder: rec})
	a := h.Connect(snapshot.Caller{}, nil)
	v := viewOf(t, h)
	const want = "b is off. The user can turn it on in mcpdeck."
	if reply := say(t.Context(), a, v, "tools/call", `{"name":"b_x","arguments":{"value":"hush"}}`); !strings.Contains(string(reply.Result), want) {
		t.Errorf("answered %s %s", reply.Result, reply.Error)
	}
	calls := settled(h, 1).Calls
	if len(calls) != 1 || calls[0].Server != "b" || calls[0].Result != want {
		t.Errorf("logged %+v", calls)
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if strings.Contains(fmt.Sprint(rec.bodies, calls), "hush") {
		t.Errorf("the log keeps what it must not: %q", rec.bodies)
	}
	if got := v.Resumable(); !slices.Equal(got, []string{"b_x"}) {
		t.Errorf("sent again to the next deck: %q", got)
	}
}

func TestTheHostDoesNotTurnGuestsOff(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "a"}}})
	if err := h.Add(&foreign{module{name: "f"}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"f", "nobody"} {
		if _, err := h.Switch(name, false); err == nil {
			t.Errorf("%s was turned off", name)
		}
	}
}

type foreign struct{ module }

func (m *foreign) Info() backend.Info {
	return backend.Info{Name: m.name, Title: m.name, Foreign: true}
}

func TestToolsOfAModuleAreTurnedOff(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&rich{module{name: "b", tools: []string{"b_x", "b_y"}}}}, Denied: map[string][]string{"b": {"b_x"}}})
	v := viewOf(t, h)
	for _, step := range []struct{ off, listed []string }{{[]string{"b_x"}, []string{"b_y"}}, {nil, []string{"b_x", "b_y"}}, {[]string{"b_y", "b_x"}, nil}, {[]string{"b_y"}, []string{"b_x"}}} {
		if err := h.Deny("b", step.off); err != nil {
			t.Fatal(err)
		}
		if got := toolNames(v); !slices.Equal(got, step.listed) {
			t.Errorf("off %q: listed %q", step.off, got)
		}
		d, _ := h.Details("b")
		for _, tool := range d.Tools {
			if off := slices.Contains(step.off, tool.Name); off != (tool.Verdict == snapshot.Denied) || tool.Context == 0 || tool.Context >= tool.Bytes {
				t.Errorf("off %q: shown %+v", step.off, tool)
			}
		}
	}
	if text, _ := v.refusal("b_y"); text != "b_y is turned off. The user can allow it in mcpdeck." {
		t.Errorf("refused with %q", text)
	}
	d, ok := h.Details("b")
	if !ok || len(d.Resources) != 2 || d.Resources[1].Key != "b://{x}" || len(d.Prompts) != 1 || d.Instructions != "Use b." {
		t.Errorf("%t, %+v", ok, d)
	}
	if _, ok := h.Details("nobody"); ok {
		t.Error("a server that is not there has details")
	}
	if err := h.Deny("nobody", nil); err == nil {
		t.Error("tools of a server that is not there were turned off")
	}
}

func TestAServerIsWantedOnceTheUserTurnsItOn(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	var all []backend.Server
	for _, name := range names {
		all = append(all, &rich{module{name: name, tools: []string{name + "_x"}}})
	}
	h := started(t, Options{Servers: all, Wanted: []string{"b"}})
	if _, err := h.Switch("c", true); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Switch("d", false); err != nil {
		t.Fatal(err)
	}
	for _, s := range h.Snapshot().Servers {
		if want := s.Name == "b" || s.Name == "c"; s.Wanted != want {
			t.Errorf("%s is wanted: %v", s.Name, s.Wanted)
		}
	}
}
