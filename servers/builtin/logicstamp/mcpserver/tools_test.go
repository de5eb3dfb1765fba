package mcpserver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/backendtest"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestMain(m *testing.M) { os.Exit(stamptest.Main(m)) }

// stage is a service over the stand-in with a project, and its server.
type stage struct {
	*stamptest.Stage
	deck *inproc.Server
}

func newStage(t testing.TB, options ...func(*logicstamp.Options)) *stage {
	t.Helper()
	s := stamptest.NewStage(t, stamptest.StandIn{}, options...)
	return &stage{s, mcpserver.InDeck(s.Service, "0")}
}

// use calls a tool as a client would and decodes its answer.
func (s *stage) use(name string, args map[string]any) (answer map[string]any, failure string) {
	s.T.Helper()
	if args == nil {
		args = map[string]any{}
	}
	reply := s.serve("tools/call", map[string]any{"name": name, "arguments": args}, s.Project)
	var result struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(reply.Result, &result); err != nil || len(result.Content) == 0 {
		s.T.Fatalf("%s: %s %s", name, reply.Result, reply.Error)
	}
	text := result.Content[0].Text
	s.Clock.Add(time.Second)
	if result.IsError && result.StructuredContent == nil {
		return nil, text
	}
	var structured map[string]any
	if json.Unmarshal([]byte(text), &answer) != nil || json.Unmarshal(result.StructuredContent, &structured) != nil || !reflect.DeepEqual(answer, structured) {
		s.T.Fatalf("%s answers %q and %s", name, text, result.StructuredContent)
	}
	return answer, ""
}

// serve has a request of a client in a folder answered.
func (s *stage) serve(method string, params map[string]any, root string) backend.Reply {
	s.T.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		s.T.Fatal(err)
	}
	ctx := backend.WithCall(s.T.Context(), backend.Call{Caller: snapshot.Caller{Root: root}})
	return s.deck.Serve(ctx, backend.New(rpc.Message{ID: json.RawMessage("1"), Method: method, Params: raw}))
}

func TestEveryToolIsWhole(t *testing.T) {
	backendtest.EveryToolIsWhole(t, "../README.md", newStage(t).deck)
}

func TestTheToolListIsSmall(t *testing.T) {
	var list []json.RawMessage
	for _, tool := range newStage(t).deck.Catalogue().Tools {
		list = append(list, tool.Raw)
	}
	data, err := json.Marshal(list)
	if err != nil || len(data) > 12_000 {
		t.Errorf("the list takes %d bytes, %v", len(data), err)
	}
	for _, word := range []string{"NEVER", "ALWAYS", "MUST"} {
		if strings.Contains(string(data), word) {
			t.Errorf("the list says %s", word)
		}
	}
}

func TestArgumentsAreCheckedBeforeAnythingRuns(t *testing.T) {
	s := newStage(t)
	for name, row := range map[string]struct {
		tool string
		args map[string]any
		says string
	}{
		"unknown profile":     {"logicstamp_refresh_snapshot", map[string]any{"profile": "fast; rm -rf ."}, "llm-chat, llm-safe, ci-strict"},
		"depth 0":             {"logicstamp_refresh_snapshot", map[string]any{"depth": 0.0}, "1 to 64"},
		"depth below 0":       {"logicstamp_refresh_snapshot", map[string]any{"depth": -1.0}, "1 to 64"},
		"depth broken":        {"logicstamp_refresh_snapshot", map[string]any{"depth": 1.5}, "1 to 64"},
		"depth as words":      {"logicstamp_refresh_snapshot", map[string]any{"depth": "deep"}, "1 to 64"},
		"flag as text":        {"logicstamp_refresh_snapshot", map[string]any{"force": "yes"}, "true or false"},
		"bundlePath missing":  {"logicstamp_read_bundle", nil, "bundlePath is missing"},
		"projectPath missing": {"logicstamp_watch_status", map[string]any{}, "projectPath is missing"},
		"nothing to search":   {"logicstamp_search_components", map[string]any{}, "nothing to search for"},
		"query too long":      {"logicstamp_search_components", map[string]any{"query": strings.Repeat("x", 201)}, "query"},
		"action missing":      {"logicstamp_drift_monitor", nil, "action is missing"},
		"action unknown":      {"logicstamp_drift_monitor", map[string]any{"action": "pause"}, "start, stop, status"},
		"since no time":       {"logicstamp_get_last_compare_result", map[string]any{"since": "yesterday"}, "since"},
		"topic unknown":       {"logicstamp_read_logicstamp_docs", map[string]any{"topic": "all"}, "forLLMs"},
		"limit too large":     {"logicstamp_search_components", map[string]any{"query": "x", "limit": 101.0}, "1 to 100"},
	} {
		t.Run(name, func(t *testing.T) {
			_, failure := s.use(row.tool, row.args)
			if !strings.HasPrefix(failure, "Error [BAD_ARGUMENT]: ") || !strings.Contains(failure, row.says) || !strings.Contains(failure, " Next: ") {
				t.Errorf("failure = %q", failure)
			}
		})
	}
	if len(s.Runs()) > 0 {
		t.Errorf("ran %v", s.Runs())
	}
	if out, failure := s.use("logicstamp_refresh_snapshot", map[string]any{"depth": "3", "mode": nil, "whatever": 1.0}); failure != "" || out["depth"] != 3.0 || out["mode"] != "header" || out["profile"] != "llm-chat" {
		t.Errorf("tolerated arguments: %v %s", out, failure)
	}
	if out, _ := s.use("logicstamp_refresh_snapshot", map[string]any{"profile": "ci-strict"}); out["mode"] != "none" {
		t.Errorf("ci-strict analyses in mode %v", out["mode"])
	}
}

func TestPathsOutsideTheProjectAreRefused(t *testing.T) {
	s := newStage(t)
	snap := s.MustRefresh(logicstamp.RefreshArgs{})
	sibling := s.Project + "2"
	link := filepath.Join(s.Project, "src", "out")
	secret := filepath.Join(filepath.Dir(s.Project), "x.json")
	if err := os.MkdirAll(sibling, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sibling, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte(`{"secret":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{sibling, link, filepath.Dir(s.Project), "/"} {
		if _, failure := s.use("logicstamp_refresh_snapshot", map[string]any{"projectPath": p}); !strings.HasPrefix(failure, "Error [PROJECT_NOT_ALLOWED]") {
			t.Errorf("%s: %q", p, failure)
		}
		if out, _ := s.use("logicstamp_compare_snapshot", map[string]any{"baseline": p}); out["errorCode"] != "PROJECT_NOT_ALLOWED" {
			t.Errorf("baseline %s: %v", p, out)
		}
	}
	if _, failure := s.use("logicstamp_list_bundles", map[string]any{"projectPath": filepath.Join(s.Project, "gone")}); !strings.HasPrefix(failure, "Error [PROJECT_NOT_FOUND]") {
		t.Errorf("failure = %q", failure)
	}
	for p, code := range map[string]string{
		"../x.json": "BUNDLE_PATH", "../../x.json": "BUNDLE_PATH", secret: "BUNDLE_PATH", "snapshot.json": "BUNDLE_PATH", "sources.json": "BUNDLE_PATH",
		"src/App.tsx": "BUNDLE_PATH", "src/contxt.json": "BUNDLE_PATH",
	} {
		if _, failure := s.use("logicstamp_read_bundle", map[string]any{"snapshotId": snap.SnapshotID, "bundlePath": p}); !strings.HasPrefix(failure, "Error ["+code+"]") || strings.Contains(failure, "secret") {
			t.Errorf("%s: %q", p, failure)
		}
	}
}

func TestReadBundleFindsItsRoot(t *testing.T) {
	s := newStage(t)
	s.Write("src/helpers.ts", "export {}\n")
	s.Write("src/helpers.tsx", "// props: x\n")
	s.MustRefresh(logicstamp.RefreshArgs{})
	read := func(component string) (map[string]any, string) {
		args := map[string]any{"bundlePath": "src/context.json"}
		if component != "" {
			args["rootComponent"] = component
		}
		return s.use("logicstamp_read_bundle", args)
	}
	for _, name := range []string{"App", "App.tsx", "src/App.tsx", "helpers.ts"} {
		out, failure := read(name)
		if bundle, ok := out["bundle"].(map[string]any); !ok || !strings.Contains(bundle["entryId"].(string), name) {
			t.Errorf("%s: %v %s", name, out, failure)
		}
	}
	if out, failure := read(""); len(out["bundles"].([]any)) != 3 || out["totalBundles"] != 3.0 {
		t.Errorf("all: %v %s", out, failure)
	}
	for name, says := range map[string][]string{
		"helpers": {"AMBIGUOUS_COMPONENT", "src/helpers.ts", "src/helpers.tsx"}, "Knob": {"COMPONENT_NOT_FOUND", "src/App.tsx in src/context.json"},
		"Ap": {"COMPONENT_NOT_FOUND", "App"}, "app": {"COMPONENT_NOT_FOUND"},
	} {
		_, failure := read(name)
		for _, w := range says {
			if !strings.Contains(failure, w) {
				t.Errorf("%s: %q lacks %q", name, failure, w)
			}
		}
	}
	if out, failure := s.use("logicstamp_read_bundle", map[string]any{"bundlePath": "context_main.json"}); out["index"] == nil {
		t.Errorf("index: %v %s", out, failure)
	}
	list, _ := s.use("logicstamp_list_bundles", map[string]any{"folderPrefix": "./src/parts/"})
	if list["totalBundles"] != 1.0 {
		t.Errorf("list = %v", list)
	}
	if list, _ = s.use("logicstamp_list_bundles", map[string]any{"folderPrefix": "sr"}); list["totalBundles"] != 0.0 || list["bundles"] == nil {
		t.Errorf("list = %v", list)
	}
	list, _ = s.use("logicstamp_list_bundles", nil)
	ids := map[string]bool{}
	for _, b := range list["bundles"].([]any) {
		ids[b.(map[string]any)["id"].(string)] = true
	}
	if len(ids) != 4 || !ids["bundle_App"] || !ids["bundle_helpers.tsx"] {
		t.Errorf("ids = %v", ids)
	}
}

func TestLastResult(t *testing.T) {
	s := newStage(t)
	if out, _ := s.use("logicstamp_get_last_compare_result", nil); out["found"] != false || out["reason"] == "" {
		t.Errorf("nothing: %v", out)
	}
	s.MustRefresh(logicstamp.RefreshArgs{})
	s.use("logicstamp_compare_snapshot", nil)
	for since, found := range map[string]bool{"": true, "2026-01-02": true, "2026-01-02T04:04:00+01:00": true, "2026-01-02T03:05:00Z": false, "2030-01-01": false} {
		out, failure := s.use("logicstamp_get_last_compare_result", map[string]any{"since": since})
		if out["found"] != found || found != (out["status"] == "pass") {
			t.Errorf("since %q: %v %s", since, out, failure)
		}
	}
}

func TestDocsHaveEveryTopic(t *testing.T) {
	s := newStage(t)
	out, _ := s.use("logicstamp_read_logicstamp_docs", nil)
	size := 0
	for _, topic := range []string{"forLLMs", "usage", "uifContracts", "schema", "context", "compareModes", "limitations"} {
		text, _ := out[topic].(string)
		if !strings.HasPrefix(text, "# ") {
			t.Errorf("%s = %q", topic, text)
		}
		size += len(text)
		one, _ := s.use("logicstamp_read_logicstamp_docs", map[string]any{"topic": topic})
		if one[topic] != text || len(one) != 4 {
			t.Errorf("%s alone has %d members", topic, len(one))
		}
	}
	if size > 24_000 {
		t.Errorf("the texts take %d bytes", size)
	}
}

func TestSearching(t *testing.T) {
	s := newStage(t)
	s.MustRefresh(logicstamp.RefreshArgs{})
	for name, row := range map[string]struct {
		args map[string]any
		want []string
	}{
		"name":             {map[string]any{"query": "knob"}, []string{"src/parts/Knob.tsx"}},
		"prop":             {map[string]any{"query": "dense"}, []string{"src/App.tsx"}},
		"typo":             {map[string]any{"query": "helpres"}, []string{"src/parts/helpers.ts"}},
		"prefix":           {map[string]any{"query": "help"}, []string{"src/parts/helpers.ts"}},
		"filter":           {map[string]any{"hasProp": []any{"size", "locked"}}, []string{"src/parts/Knob.tsx"}},
		"role":             {map[string]any{"role": "dependency"}, []string{"src/parts/Knob.tsx"}},
		"all words first":  {map[string]any{"query": "knob locked"}, []string{"src/parts/Knob.tsx"}},
		"else any of them": {map[string]any{"query": "knob dense"}, []string{"src/App.tsx", "src/parts/Knob.tsx"}},
		"nothing":          {map[string]any{"query": "zzzz"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			out, failure := s.use("logicstamp_search_components", row.args)
			var got []string
			for _, h := range out["hits"].([]any) {
				hit := h.(map[string]any)
				got = append(got, hit["entryId"].(string))
				if hit["role"] == "dependency" && (hit["rootComponent"] != "App" || hit["bundlePath"] != "src/context.json") {
					t.Errorf("hit = %v", hit)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, row.want) {
				t.Errorf("hits = %q %s", got, failure)
			}
		})
	}
}

func TestDriftIsTold(t *testing.T) {
	s := newStage(t, func(o *logicstamp.Options) { o.MinInterval = time.Second })
	s.MustRefresh(logicstamp.RefreshArgs{})
	hint, stop := s.Subscribe()
	defer stop()
	wait := func(status string) {
		t.Helper()
		end := stamptest.Patience(t)
		for {
			if r := s.State().Projects[0].Results; len(r) > 0 && string(r[len(r)-1].Status) == status {
				return
			}
			select {
			case <-hint:
			case <-end:
				t.Fatalf("no result with the status %s came", status)
			}
		}
	}
	state, failure := s.use("logicstamp_drift_monitor", map[string]any{"action": "start"})
	if state["active"] != true || !strings.HasPrefix(state["baseline"].(string), "snapshot:snap_") {
		t.Fatalf("start = %v %s", state, failure)
	}
	wait("pass")
	s.Write("src/parts/Knob.tsx", "// props: size\n")
	wait("diff")
	if !s.State().Projects[0].Snapshots[0].Pinned {
		t.Error("the baseline can expire while it is watched")
	}
	if state, _ = s.use("logicstamp_drift_monitor", map[string]any{"action": "stop"}); state["active"] != false {
		t.Errorf("stop = %v", state)
	}
	if s.State().Projects[0].Snapshots[0].Pinned {
		t.Error("the baseline stays pinned")
	}
}
