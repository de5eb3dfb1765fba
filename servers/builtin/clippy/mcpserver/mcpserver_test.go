package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/backendtest"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

type testServer struct {
	*clippy.Service
	deck          *inproc.Server
	home, project string
	log           bytes.Buffer
	events        backendtest.Events
}

func newServer(t *testing.T, change func(*clippy.Options)) *testServer {
	t.Helper()
	ts := &testServer{home: testwait.TempDir(t)}
	ts.project = filepath.Join(ts.home, "project")
	mkdir(t, filepath.Join(ts.home, "Desktop"))
	mkdir(t, filepath.Join(ts.project, "src"))
	o := clippy.Options{Home: ts.home, Dir: ts.project, Bell: func() error { return nil }, Log: slog.New(slog.NewTextHandler(&ts.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if change != nil {
		change(&o)
	}
	ts.Service = clippy.New(o)
	ts.deck = InDeck(ts.Service, "1")
	must(t, ts.deck.Start(t.Context(), &ts.events))
	t.Cleanup(func() { must(t, ts.deck.Stop(context.Background())) })
	return ts
}

// request calls a tool as a client does and returns the text and the rest.
func (ts *testServer) request(t *testing.T, tool, args string) (string, *mcp.CallToolResult) {
	t.Helper()
	params := map[string]any{"name": tool}
	if args != "" {
		params["arguments"] = json.RawMessage(args)
	}
	raw, err := json.Marshal(params)
	must(t, err)
	ctx := backend.WithCall(t.Context(), backend.Call{Caller: snapshot.Caller{Agent: "a1", Client: "claude", Root: ts.project}})
	reply := ts.deck.Serve(ctx, backend.New(rpc.Message{ID: json.RawMessage("1"), Method: "tools/call", Params: raw}))
	if reply.Error != nil {
		t.Fatalf("%s: %s", tool, reply.Error)
	}
	r, err := mcp.ParseCallToolResult((*json.RawMessage)(&reply.Result))
	must(t, err)
	return r.Content[0].(mcp.TextContent).Text, r
}

func TestEveryToolIsWhole(t *testing.T) {
	ts := newServer(t, nil)
	backendtest.EveryToolIsWhole(t, "../README.md", ts.deck)
	for _, d := range backendtest.Definitions(t, ts.deck) {
		name := d.Name
		if !bytes.Contains(d.InputSchema, []byte(`"additionalProperties":false`)) {
			t.Errorf("%s: schema %s is open", name, d.InputSchema)
		}
		if text, _ := ts.request(t, name, `[]`); text != "Error: arguments must be an object" {
			t.Errorf("%s: with a list of arguments it says %q", name, text)
		}
		ts.Apply(clippy.Settings{DisabledTools: []string{name}})
		for _, other := range ts.deck.Catalogue().Tools {
			if off := other.Off != ""; off != (other.Key == name) {
				t.Errorf("%s is turned off: %v, when %s alone is", other.Key, off, name)
			}
		}
		ts.Apply(clippy.Settings{})
	}
}

func TestHintsOfTheTools(t *testing.T) {
	want := map[string][3]bool{ // read-only, destructive, idempotent
		"haunt_desktop": {false, true, false}, "play_system_sound": {false, false, false},
		"read_project_context": {true, false, true}, "manage_memory": {false, false, true},
	}
	for _, o := range backendtest.Definitions(t, newServer(t, nil).deck) {
		a := o.Annotations
		if want, ok := want[o.Name]; ok && ([3]bool{*a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint} != want || *a.OpenWorldHint) {
			t.Errorf("%s: got %v, %v, %v, %v, want %v, false", o.Name, *a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint, *a.OpenWorldHint, want)
		}
		delete(want, o.Name)
	}
	if len(want) > 0 {
		t.Errorf("not offered: %v", want)
	}
}

func TestClippyCalls(t *testing.T) {
	desk := func(ts *testServer, name string) string { return filepath.Join(ts.home, "Desktop", name) }
	tests := []struct{ name, tool, args, text, data string }{
		{"note", "haunt_desktop", `{"filename":"a.txt","content":"boo"}`, "File created at DESK/a.txt (3 bytes)", `{"bytes":3,"path":"DESK/a.txt","replaced":false}`},
		{"note again", "haunt_desktop", `{"filename":"a.txt","content":""}`, "Error: a file with that name already exists on the Desktop; it was not changed. Choose another name, or set overwrite to replace it", ""},
		{"note replaced, unknown argument", "haunt_desktop", `{"filename":"a.txt","content":"","overwrite":true,"x":1}`, "File replaced at DESK/a.txt (0 bytes)", `{"bytes":0,"path":"DESK/a.txt","replaced":true}`},
		{"no arguments", "haunt_desktop", ``, "Error: filename is required", ""},
		{"null arguments", "haunt_desktop", `null`, "Error: filename is required", ""},
		{"array", "haunt_desktop", `[1]`, "Error: arguments must be an object", ""},
		{"number as name", "haunt_desktop", `{"filename":1,"content":""}`, "Error: filename must be a string", ""},
		{"no content", "haunt_desktop", `{"filename":"b"}`, "Error: content is required (it may be empty)", ""},
		{"null content", "haunt_desktop", `{"filename":"b","content":null}`, "Error: content is required (it may be empty)", ""},
		{"object as content", "haunt_desktop", `{"filename":"b","content":{}}`, "Error: content must be a string", ""},
		{"text as overwrite", "haunt_desktop", `{"filename":"b","content":"","overwrite":"true"}`, "Error: overwrite must be true or false", ""},
		{"bell", "play_system_sound", `{"type":"error"}`, "Rang the terminal bell for error", `{"method":"bell","state":"bell","type":"error"}`},
		{"sound missing", "play_system_sound", `{}`, "Error: type must be one of error, warning, success", ""},
		{"sound number", "play_system_sound", `{"type":3}`, "Error: type must be one of error, warning, success", ""},
		{"sound unknown", "play_system_sound", `{"type":"Error"}`, "Error: type must be one of error, warning, success", ""},
		{"listing", "read_project_context", `{"directoryPath":"src"}`, "[]", `{"entries":[],"path":"src","total":0,"truncated":false}`},
		{"listing of the root", "read_project_context", `{"directoryPath":"."}`, "[\n  {\n    \"name\": \"src\",\n    \"type\": \"directory\",\n    \"size\": 0\n  }\n]", `{"entries":[{"name":"src","size":0,"type":"directory"}],"path":".","total":1,"truncated":false}`},
		{"listing outside", "read_project_context", `{"directoryPath":"/etc"}`, `Error: the path is outside the project; use one inside it, such as "." for its root`, ""},
		{"listing missing", "read_project_context", `{"directoryPath":"x"}`, "Error: directory does not exist: x", ""},
		{"listing nothing", "read_project_context", `{}`, "Error: directoryPath is required", ""},
		{"recall nothing", "manage_memory", `{"action":"read","key":"k"}`, "No memory found for key: k", `{"action":"read","found":false,"key":"k","value":null}`},
		{"remember", "manage_memory", `{"action":"write","key":"k","value":"v"}`, "Memory updated: k = v", `{"action":"write","key":"k","value":"v"}`},
		{"recall", "manage_memory", `{"action":"read","key":"k","value":3}`, "v", `{"action":"read","found":true,"key":"k","value":"v"}`},
		{"remember empty", "manage_memory", `{"action":"write","key":"e","value":""}`, "Memory updated: e = ", `{"action":"write","key":"e","value":""}`},
		{"recall empty", "manage_memory", `{"action":"read","key":"e"}`, "", `{"action":"read","found":true,"key":"e","value":""}`},
		{"recall constructor", "manage_memory", `{"action":"read","key":"constructor"}`, "No memory found for key: constructor", `{"action":"read","found":false,"key":"constructor","value":null}`},
		{"remember null", "manage_memory", `{"action":"write","key":"k","value":null}`, "Error: value is required for write", ""},
		{"remember number", "manage_memory", `{"action":"write","key":"k","value":1}`, "Error: value must be a string", ""},
		{"no key", "manage_memory", `{"action":"read"}`, "Error: key is required", ""},
		{"bad action", "manage_memory", `{"action":"delete","key":"k"}`, "Error: action must be read or write", ""},
	}
	ts := newServer(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, r := ts.request(t, tt.tool, tt.args)
			fill := func(s string) string { return strings.ReplaceAll(s, "DESK", desk(ts, "")) }
			if want := strings.ReplaceAll(tt.text, "DESK", desk(ts, "")); text != want {
				t.Errorf("got %q, want %q", text, want)
			}
			if r.IsError != (tt.data == "") || r.IsError && r.StructuredContent != nil {
				t.Errorf("isError %v, data %v", r.IsError, r.StructuredContent)
			}
			if tt.data == "" {
				return
			}
			got := canonical(t, r.StructuredContent)
			if got != fill(tt.data) {
				t.Errorf("got data %s, want %s", got, fill(tt.data))
			}
		})
	}
	for _, secret := range []string{"boo", "= v"} {
		if strings.Contains(ts.log.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if !strings.Contains(ts.log.String(), `level=DEBUG msg="tool called" tool=haunt_desktop client=claude`) || !strings.Contains(ts.log.String(), `level=INFO msg="tool done"`) || !strings.Contains(ts.log.String(), `level=ERROR msg="tool failed"`) {
		t.Errorf("log: %s", &ts.log)
	}
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	var m any
	must(t, json.Unmarshal(b, &m))
	b, err = json.Marshal(m)
	must(t, err)
	return string(b)
}

func TestErrorsHoldNoPaths(t *testing.T) {
	ts := newServer(t, nil)
	must(t, os.Remove(filepath.Join(ts.home, "Desktop")))
	must(t, os.WriteFile(ts.MemoryPath(), []byte("{"), 0o600))
	for tool, args := range map[string]string{
		"haunt_desktop":        `{"filename":"a","content":"b"}`,
		"read_project_context": `{"directoryPath":"nothing"}`,
		"manage_memory":        `{"action":"read","key":"k"}`,
	} {
		text, r := ts.request(t, tool, args)
		if !r.IsError || strings.Contains(text, ts.home) || strings.Contains(text, "/") {
			t.Errorf("%s: %q", tool, text)
		}
	}
	if ts.events.State().Status != snapshot.Degraded {
		t.Errorf("a corrupted memory leaves the state %q", ts.events.State().Status)
	}
	if _, err := ts.RepairMemory(t.Context()); err != nil || ts.events.State().Status != snapshot.Ready {
		t.Errorf("after the repair: %q, %v", ts.events.State().Status, err)
	}
}

func TestToolsAreTurnedOffBySettings(t *testing.T) {
	ts := newServer(t, nil)
	off := func() (names []string) {
		for _, tool := range ts.deck.Catalogue().Tools {
			if tool.Off != "" {
				names = append(names, tool.Key)
			}
		}
		return names
	}
	var all []string
	for _, tool := range ts.deck.Catalogue().Tools {
		all = append(all, tool.Key)
	}
	for _, step := range []struct {
		name     string
		settings clippy.Settings
		off      []string
		changes  int
	}{
		{"nothing new", clippy.Settings{}, nil, 0},
		{"no list change", clippy.Settings{Muted: true, AllowAnyExtension: true}, nil, 0},
		{"one", clippy.Settings{DisabledTools: []string{"play_system_sound"}}, []string{"play_system_sound"}, 1},
		{"another by policy", clippy.Settings{DisabledTools: []string{"play_system_sound"}, Policy: map[string]clippy.Policy{"haunt_desktop": clippy.Off}}, []string{"haunt_desktop", "play_system_sound"}, 2},
		{"all", clippy.Settings{Disabled: true}, all, 3},
		{"all on again", clippy.Settings{Policy: map[string]clippy.Policy{"haunt_desktop": clippy.Ask}}, nil, 4},
	} {
		ts.Apply(step.settings)
		testwait.Until(t, step.name+": a change", func() bool { return ts.events.Changes() >= step.changes })
		if got := off(); !slices.Equal(got, step.off) || ts.events.Changes() != step.changes {
			t.Errorf("%s: got %v turned off, %d changes; want %v, %d", step.name, got, ts.events.Changes(), step.off, step.changes)
		}
	}
}

func TestPolicyOfATool(t *testing.T) {
	ts := newServer(t, func(o *clippy.Options) {
		o.Settings.Policy = map[string]clippy.Policy{"manage_memory": clippy.Ask, "read_project_context": "deny", "haunt_desktop": clippy.Allow}
	})
	for tool, asks := range map[string]bool{"manage_memory": true, "read_project_context": true, "haunt_desktop": false, "play_system_sound": false} {
		if c := ts.deck.Called(&backend.Request{Key: tool}); c.Ask != asks || c.Tool != tool {
			t.Errorf("of %s it is %+v", tool, c)
		}
	}
	t.Run("too many", func(t *testing.T) {
		ts := newServer(t, nil)
		for range 20 {
			if text, r := ts.request(t, "play_system_sound", `{"type":"success"}`); r.IsError {
				t.Fatalf("refused: %s", text)
			}
		}
		if text, _ := ts.request(t, "play_system_sound", `{"type":"success"}`); !strings.HasPrefix(text, "Error: too many play_system_sound calls, try again in ") {
			t.Errorf("21st: %s", text)
		}
	})
	t.Run("notes with names that are refused do not count", func(t *testing.T) {
		ts := newServer(t, nil)
		for range 11 { // of each, one more than notes may be written
			for _, args := range []string{`{"filename":"run.sh","content":""}`, `{"filename":"../a.txt","content":""}`, `{"filename":".profile","content":""}`, `{"filename":"a.txt","content":"` + strings.Repeat("a", 1<<20+1) + `"}`} {
				if text, r := ts.request(t, "haunt_desktop", args); !r.IsError || strings.Contains(text, "too many") {
					t.Fatalf("%.40s: %s", args, text)
				}
			}
		}
		for i := range 11 {
			text, r := ts.request(t, "haunt_desktop", fmt.Sprintf(`{"filename":"note %d.txt","content":"boo"}`, i))
			if r.IsError != (i == 10) || strings.Contains(text, "too many") != (i == 10) {
				t.Errorf("note %d: %s", i, text)
			}
		}
	})
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	must(t, os.MkdirAll(path, 0o755))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
