package transport_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// library is a card with many tools.
type library struct {
	*card
	tools []string // definitions
}

func newLibrary(name string, tools ...string) *library { return &library{newCard(name), tools} }

func (l *library) Catalogue() *backend.Catalogue {
	all := &backend.Catalogue{Instructions: "The rules of " + l.name + "."}
	for _, definition := range l.tools {
		o, err := rawjson.Parse([]byte(definition))
		if err != nil {
			panic(err)
		}
		all.Tools = append(all.Tools, tool(o.Str("name"), []byte(definition)))
	}
	return all
}

// listed are the names in the answer to a request for a list, and their bytes.
func listed(t *testing.T, a transporttest.Talker, method, member string, modern bool) (names []string, bytes int) {
	t.Helper()
	got := a.Say(t, method, transporttest.With(`{"_meta":{}}`, modern), "8")
	var answer struct{ Result map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(got[len(got)-1]), &answer); err != nil {
		t.Fatal(err)
	}
	definitions, _ := rawjson.SplitArray(answer.Result[member])
	for _, d := range definitions {
		o, _ := rawjson.SplitObject(d)
		names = append(names, o.Str("name"))
		bytes += len(d)
	}
	return names, bytes
}

// called is the text of the result of a call, and whether that is an error.
func called(t *testing.T, a transporttest.Talker, params string, modern bool) (text string, isError bool) {
	t.Helper()
	got := a.Say(t, "tools/call", transporttest.With(params, modern), "9")
	var answer struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal([]byte(got[len(got)-1]), &answer); err != nil || len(answer.Result.Content) != 1 {
		t.Fatalf("%s: got %s, %v", params, got, err)
	}
	return answer.Result.Content[0].Text, answer.Result.IsError
}

func TestALazyServerListsNothingButTwoToolsForAll(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"), newCard("two"))
	h.SetLazy("one", true)
	h.SetLazy("two", true)
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		names, _ := listed(t, a, "tools/list", "tools", modern)
		for _, n := range names {
			if strings.HasPrefix(n, "one_") || strings.HasPrefix(n, "two_") {
				t.Errorf("%s is listed", n)
			}
		}
		if !slices.Contains(names, "find_tools") || !slices.Contains(names, "call_tool") || !slices.Contains(names, "echo") {
			t.Errorf("listed: %s", names)
		}
		for method, member := range map[string]string{"prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"} {
			if names, _ := listed(t, a, method, member, modern); len(names) != 0 {
				t.Errorf("%s: %s", method, names)
			}
		}
	})
	transporttest.Everywhere(t, h, "one", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		names, bytes := listed(t, a, "tools/list", "tools", modern)
		if strings.Join(names, " ") != "call_tool find_tools" || bytes > 1200 {
			t.Errorf("alone it lists %s, %d bytes", names, bytes)
		}
	})
	h.SetLazy("one", false)
	h.SetLazy("two", false)
	a := transporttest.OverStream(t, h, router.ViewSpec{}, false)
	a.Say(t, "initialize", transporttest.Handshake, "0")
	if names, _ := listed(t, a, "tools/list", "tools", false); slices.Contains(names, "find_tools") || !slices.Contains(names, "one_echo") {
		t.Errorf("when none is lazy: %s", names)
	}
}

func TestTwoToolsStayShortForManyServers(t *testing.T) {
	modules := []backend.Server{transporttest.NewFixture()}
	for i := range 60 {
		modules = append(modules, newLibrary(fmt.Sprintf("a-server-with-a-name-%02d", i), fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i)))
	}
	h := routertest.Start(t, modules...)
	for _, n := range h.Names()[1:] {
		h.SetLazy(n, true)
	}
	a := transporttest.OverStream(t, h, router.ViewSpec{Servers: h.Names()[1:]}, false)
	a.Say(t, "initialize", transporttest.Handshake, "0")
	if names, bytes := listed(t, a, "tools/list", "tools", false); len(names) != 2 || bytes > 1200 {
		t.Errorf("%s: %d bytes", names, bytes)
	}
}

// What a session gets depends on what it says it can, over each carrier, and not on its
// client's name alone.
func TestASessionThatSearchesHasTheWholeList(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newLibrary("shelf", `{"name":"shelf_lend","inputSchema":{"type":"object"}}`), newCard("one"))
	h.SetLazy("shelf", true)
	h.SetLazy("one", true)
	hello := strings.Replace(transporttest.Handshake, "tester", "claude-code", 1)
	hints := map[string]string{clients.SearchHint: "claude,other"}
	for name, a := range map[string]transporttest.Talker{"stdio": transporttest.Hinted(t, h, router.ViewSpec{}, false, hints), "socket": transporttest.Hinted(t, h, router.ViewSpec{}, true, hints)} {
		if got := a.Say(t, "initialize", hello, "0"); !strings.Contains(got[0], "The rules of shelf.") {
			t.Errorf("%s: introduced: %s", name, got)
		}
		if names, _ := listed(t, a, "tools/list", "tools", false); slices.Contains(names, "find_tools") || slices.Contains(names, "call_tool") || !slices.Contains(names, "shelf_lend") {
			t.Errorf("%s: listed: %s", name, names)
		}
		if names, _ := listed(t, a, "prompts/list", "prompts", false); !slices.Contains(names, "one_prompt") {
			t.Errorf("%s: prompts: %s", name, names)
		}
		if text, failed := called(t, a, `{"name":"find_tools","arguments":{"query":"lend"}}`, false); failed || !strings.Contains(text, "shelf_lend") {
			t.Errorf("%s: it can search all the same: %s", name, text)
		}
	}
	whole := h.Snapshot().Agents[0].Got
	for name, tt := range map[string]struct {
		client string
		talker transporttest.Talker
	}{
		"its own search is off":   {"claude-code", transporttest.Hinted(t, h, router.ViewSpec{}, false, map[string]string{clients.SearchHint: ""})},
		"the entry loads it all":  {"claude-code", transporttest.Hinted(t, h, router.ViewSpec{}, true, map[string]string{clients.SearchHint: clients.NoSearch})},
		"nothing is known of it":  {"claude-code", transporttest.OverHTTP(t, h, "/")},
		"another started from it": {"codex", transporttest.Hinted(t, h, router.ViewSpec{}, false, hints)},
	} {
		got := tt.talker.Say(t, "initialize", strings.Replace(transporttest.Handshake, "tester", tt.client, 1), "0")
		if strings.Contains(got[0], "The rules of shelf.") || !strings.Contains(got[0], "Be kind.") {
			t.Errorf("%s: introduced: %s", name, got)
		}
		if names, bytes := listed(t, tt.talker, "tools/list", "tools", false); !slices.Contains(names, "find_tools") || slices.Contains(names, "shelf_lend") || slices.Contains(names, "one_echo") {
			t.Errorf("%s: %d bytes of %s are listed", name, bytes, names)
		}
	}
	for _, a := range h.Snapshot().Agents {
		want := snapshot.Finds
		if a.Got == whole {
			want = snapshot.Searches
		}
		if a.Got.Lazy != want || a.Got.Tools == 0 || a.Got.Context == 0 || want == snapshot.Finds && a.Got.Tools >= whole.Tools {
			t.Errorf("%s over %s is shown to have got %+v", a.Client, a.Transport, a.Got)
		}
	}
}

func TestACallOfCallToolIsTheCallItself(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	h.SetLazy("one", true)
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		const rest = `"_meta":{"z":1.0},"task":{"ttl":1.0},"requestState":"<s>"`
		own := ""
		if modern {
			own = ofModern
		}
		want := fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"result":{`+own+`"z":1.0,"kind":"tool","params":%s,"content":[],"a":"<\u00e9>"}}`,
			transporttest.With(`{"name":"one_echo","arguments":{"n":9007199254740993,"a":[1e2]},`+rest+`}`, modern))
		for _, params := range []string{
			`{"name":"call_tool","arguments":{"name":"one_echo","arguments":{"n":9007199254740993,"a":[1e2]}},` + rest + `}`,
			`{"name":"call_tool","arguments":{"name":"one_echo","arguments":"{\"n\":9007199254740993,\"a\":[1e2]}"},` + rest + `}`,
			`{"name":"one_echo","arguments":{"n":9007199254740993,"a":[1e2]},` + rest + `}`,
		} {
			if got := a.Say(t, "tools/call", transporttest.With(params, modern), "5"); len(got) != 1 || got[0] != want {
				t.Errorf("%s\n got %s\nwant %s", params, got, want)
			}
		}
		if got := a.Say(t, "tools/call", transporttest.With(`{"name":"call_tool","arguments":{"name":"one_steps"},"_meta":{"progressToken":"p"}}`, modern), "6"); len(got) != 4 || !strings.Contains(got[0], `"progressToken":"p"`) {
			t.Errorf("progress: %s", got)
		}
		if got := a.Say(t, "tools/call", transporttest.With(`{"name":"call_tool","arguments":{"name":"one_error","arguments":{}},"_meta":{}}`, modern), "7"); !strings.HasSuffix(got[0], `"error":`+oddError+`}`) {
			t.Errorf("an error: %s", got)
		}
		if text, failed := called(t, a, `{"name":"call_tool","arguments":{"name":"echo","arguments":{"text":"hi"}},"_meta":{}}`, modern); failed || text != "hi" {
			t.Errorf("a tool that is listed: %s", text)
		}
	})
	tools := map[string]int{}
	var all []snapshot.Call
	testwait.Until(t, "the log has all calls", func() bool { all, _ = h.Calls(0); return len(all) == 36 })
	for _, c := range all {
		tools[c.Server+" "+c.Tool]++
	}
	if want := map[string]int{"one one_echo": 18, "one one_steps": 6, "one one_error": 6, "fixture echo": 6}; fmt.Sprint(tools) != fmt.Sprint(want) {
		t.Errorf("recorded: %v, want %v", tools, want)
	}
}

func TestACallThroughCallToolIsCancelled(t *testing.T) {
	one := newCard("one")
	h := routertest.Start(t, transporttest.NewFixture(), one)
	h.SetLazy("one", true)
	a := transporttest.OverStream(t, h, router.ViewSpec{}, false)
	a.Say(t, "initialize", transporttest.Handshake, "0")
	a.Begin(t, "tools/call", `{"name":"call_tool","arguments":{"name":"one_wait","arguments":{}}}`, "4")
	<-one.began
	a.Tell(t, "notifications/cancelled", `{"requestId":4}`)
	if got := a.Say(t, "ping", `{}`, "5"); len(got) != 1 {
		t.Errorf("got %s", got)
	}
}

func TestWhatCallToolCannotCallIsExplained(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	h.SetLazy("one", true)
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		for arguments, want := range map[string]string{
			`{"name":"one_ecko","arguments":{}}`:        `did you mean "one_echo"?`,
			`{"arguments":{}}`:                          "needs the name of a tool",
			`{"name":"call_tool","arguments":{}}`:       "needs the name of a tool",
			`[]`:                                        "needs the name of a tool",
			`{"name":"one_echo","arguments":[1]}`:       "arguments must be an object.\nIts input schema: {\"type\":\"object\",\"properties\":{\"n\"",
			`{"name":"one_echo","arguments":{"n":"x"}}`: "The arguments do not fit one_echo: /n: got string, want integer.\nIts input schema: {\"type\":\"object\",\"properties\":{\"n\"",
			`{"name":"one_echo","arguments":"hi"}`:      "arguments must be an object.",
			`{"name":"one_echo","arguments":"{} {}"}`:   "arguments must be an object.",
			`{"name":"one_echo","arguments":"\ud800{"}`: "arguments must be an object.",
		} {
			if text, failed := called(t, a, `{"name":"call_tool","arguments":`+arguments+`,"_meta":{}}`, modern); !failed || !strings.Contains(text, want) {
				t.Errorf("%s: %s, want %s", arguments, text, want)
			}
		}
	})
}

func TestToolsAreFoundWithWhatACallNeeds(t *testing.T) {
	long := strings.Repeat("A word of advice. ", 40)
	big := `{"type":"object","properties":{"x":{"type":"string","description":"` + strings.Repeat("large ", 1500) + `"}}}`
	h := routertest.Start(t, transporttest.NewFixture(),
		newLibrary("shelf", `{"name":"shelf_lend","description":"Lend a book. `+long+`","inputSchema":{"type":"object","properties":{"isbn":{"type":"string"}}},"outputSchema":{"type":"object"}}`,
			`{"name":"shelf_return","description":"Take a book back.","inputSchema":{"type":"object"}}`,
			`{"name":"shelf_bind","description":"Bind a book.","inputSchema":`+big+`}`,
			`{"name":"shelf_sell","description":"Sell a book.","inputSchema":{"type":"object"}}`,
			`{"name":"shelf_buy","description":"Buy a book.","inputSchema":{"type":"object"}}`,
			`{"name":"shelf_burn","description":"Burn a book.","inputSchema":{"type":"object"}}`),
		newLibrary("desk", `{"name":"desk_tidy","description":"Put every book away.","inputSchema":{"type":"object"}}`))
	h.SetLazy("shelf", true)
	h.SetLazy("desk", true)
	a := transporttest.OverStream(t, h, router.ViewSpec{}, false)
	a.Say(t, "initialize", transporttest.Handshake, "0")
	find := func(arguments string) string {
		t.Helper()
		text, failed := called(t, a, `{"name":"find_tools","arguments":`+arguments+`}`, false)
		if failed {
			return "failed: " + text
		}
		return text
	}
	text := find(`{"query":"binding books"}`)
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 5 || len(text) > 6000 ||
		!strings.HasPrefix(lines[0], `{"name":"shelf_bind","description":"Bind a book.","note":"`) || !strings.Contains(lines[1], `"inputSchema":{`) {
		t.Errorf("found %d bytes: %s", len(text), text)
	}
	var entry struct{ Description string }
	if err := json.Unmarshal([]byte(find(`{"query":"lending"}`)), &entry); err != nil || len([]rune(entry.Description)) > 300 || !strings.HasPrefix(entry.Description, "Lend a book.") {
		t.Errorf("described with %d characters, %v", len([]rune(entry.Description)), err)
	}
	for arguments, want := range map[string]string{
		`{"query":"shelf_lend"}`:                  `"outputSchema":{"type":"object"}}`,
		`{"query":"lend"}`:                        `"outputSchema":{"type":"object"}}`,
		`{"query":"shelf_bind"}`:                  big,
		`{}`:                                      "shelf: shelf_lend, shelf_return, shelf_bind, shelf_sell, shelf_buy, shelf_burn\ndesk: desk_tidy\n",
		`{"query":" ","server":"desk"}`:           "desk: desk_tidy\n\nThe rules of desk.\n",
		`{"query":"a book","server":"desk"}`:      `{"name":"desk_tidy","description":"Put every book away.","inputSchema":{"type":"object"}}`,
		`{"query":"xylophone"}`:                   "No tool fits.",
		`{"query":"book","server":"attic"}`:       `failed: unknown server "attic"; there are shelf, desk`,
		`[]`:                                      "failed: The arguments must be an object",
		`{"query":"echo anything","server":""}`:   "No tool fits.",
		`{"query":"shelf_lend","server":"desk"}`:  "No tool fits.",
		`{"query":"sell something on the shelf"}`: `{"name":"shelf_sell"`,
	} {
		if got := find(arguments); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
}

func TestAgentsAreToldWhenAServerBecomesLazy(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newLibrary("shelf", `{"name":"shelf_lend","inputSchema":{"type":"object"}}`))
	a := transporttest.OverStream(t, h, router.ViewSpec{}, false)
	a.Say(t, "initialize", transporttest.Handshake, "0")
	a.Tell(t, "notifications/initialized", `{}`)
	a.Say(t, "ping", `{}`, "1")
	hear := a.Listen(t, "")
	for _, lazy := range []bool{true, false} {
		h.SetLazy("shelf", lazy)
		if got := hear(); !strings.Contains(got, "notifications/tools/list_changed") {
			t.Errorf("lazy %v: got %s", lazy, got)
		}
		h.SetLazy("shelf", lazy)
		if got := a.Say(t, "ping", `{}`, "2"); len(got) != 1 {
			t.Errorf("nothing has changed, and it is told %s", got[:len(got)-1])
		}
	}
}
