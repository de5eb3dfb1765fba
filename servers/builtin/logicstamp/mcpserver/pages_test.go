package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
)

// pages follows the cursor of a tool to its end.
func (s *stage) pages(tool string, args map[string]any) []map[string]any {
	s.T.Helper()
	var out []map[string]any
	for range 1000 {
		page, failure := s.use(tool, args)
		if failure != "" {
			s.T.Fatal(failure)
		}
		out = append(out, page)
		next, _ := page["nextCursor"].(string)
		if next == "" {
			return out
		}
		size, _ := json.Marshal(page)
		if limit, ok := args["maxTokens"].(float64); ok && float64(len(size)) > 4*limit {
			s.T.Errorf("a page of %s takes %d bytes", tool, len(size))
		}
		if page["truncated"] != true {
			s.T.Error("a page that goes on does not say so")
		}
		args["cursor"] = next
	}
	s.T.Fatal("the pages never end")
	return nil
}

func TestPagesTogetherAreTheWhole(t *testing.T) {
	s := newStage(t)
	for i := range 60 {
		s.Write(fmt.Sprintf("src/area%d/W%02d.tsx", i%7, i), "// props: a b c\n")
	}
	s.Write("src/Big.tsx", "// uses: src/area0/W00.tsx\n// uses: src/area1/W01.tsx\n// "+strings.Repeat("é\"x", 20_000))
	full := "full"
	snap := s.MustRefresh(logicstamp.RefreshArgs{AnalysisArgs: logicstamp.AnalysisArgs{Mode: &full}})
	for i := range 60 {
		s.Write(fmt.Sprintf("src/area%d/W%02d.tsx", i%7, i), "// props: a b d\n")
	}
	gather := func(pages []map[string]any, field string) []any {
		var out []any
		for _, p := range pages {
			list, _ := p[field].([]any)
			out = append(out, list...)
		}
		return out
	}
	for tool, row := range map[string]struct {
		args   map[string]any
		fields []string
		tokens float64
	}{
		"logicstamp_list_bundles":            {map[string]any{"snapshotId": snap.SnapshotID}, []string{"bundles"}, 1000},
		"logicstamp_search_components":       {map[string]any{"query": "tsx", "limit": 100.0, "snapshotId": snap.SnapshotID}, []string{"hits"}, 1200},
		"logicstamp_compare_snapshot":        {map[string]any{"baseline": "snapshot:" + snap.SnapshotID}, []string{"folderDiffs", "contractChanges"}, 2500},
		"logicstamp_get_last_compare_result": {map[string]any{}, []string{"folderDiffs", "contractChanges"}, 2500},
	} {
		t.Run(tool, func(t *testing.T) {
			if tool == "logicstamp_get_last_compare_result" {
				s.use("logicstamp_compare_snapshot", map[string]any{"baseline": "snapshot:" + snap.SnapshotID})
			}
			whole := s.pages(tool, row.args)
			row.args["maxTokens"] = row.tokens
			delete(row.args, "cursor")
			parts := s.pages(tool, row.args)
			if len(parts) < 3 || len(whole) != 1 {
				t.Fatalf("%d pages, %d", len(parts), len(whole))
			}
			for _, f := range row.fields {
				if got, want := gather(parts, f), gather(whole, f); !reflect.DeepEqual(got, want) || len(want) == 0 {
					t.Errorf("%s: %d of %d", f, len(got), len(want))
				}
			}
		})
	}
	checkLargeBundle(t, s, snap.SnapshotID)
	checkCursors(t, s, snap.SnapshotID)
}

// A folder too large for a page comes in parts, one that is not whole.
func TestLargeFolderIsPagedInside(t *testing.T) {
	s := newStage(t)
	for i := range 60 {
		s.Write(fmt.Sprintf("src/crowd/W%02d.tsx", i), "// props: a b c\n")
	}
	for i := range 3 {
		s.Write(fmt.Sprintf("src/small/S%d.tsx", i), "// props: a\n")
	}
	s.MustRefresh(logicstamp.RefreshArgs{})
	for i := range 60 {
		s.Write(fmt.Sprintf("src/crowd/W%02d.tsx", i), "// props: a b d\n")
	}
	for i := range 3 {
		s.Write(fmt.Sprintf("src/small/S%d.tsx", i), "// props: b\n")
	}
	whole := s.pages("logicstamp_compare_snapshot", map[string]any{})[0]["folderDiffs"].([]any)
	for _, tokens := range []float64{500, 1500, 4000} {
		t.Run(fmt.Sprint(tokens), func(t *testing.T) {
			pages := s.pages("logicstamp_get_last_compare_result", map[string]any{"maxTokens": tokens})
			if pages[0]["summary"] == nil || len(pages) < 4 {
				t.Fatalf("%d pages, the first with the summary %v", len(pages), pages[0]["summary"])
			}
			var together []any
			parts := map[string]int{}
			for _, p := range pages {
				for _, f := range p["folderDiffs"].([]any) {
					folder := f.(map[string]any)
					name := folder["path"].(string)
					if parts[name]++; parts[name] == 1 {
						together = append(together, folder)
						continue
					}
					last := together[len(together)-1].(map[string]any)
					if last["path"] != name || last["status"] != folder["status"] {
						t.Fatalf("a part of %s follows %s", name, last["path"])
					}
					last["changes"] = append(last["changes"].([]any), folder["changes"].([]any)...)
				}
			}
			if !reflect.DeepEqual(together, whole) {
				t.Errorf("the parts together are %d folders, the whole %d, or they differ", len(together), len(whole))
			}
			if parts["src/crowd"] < 2 || tokens > 500 && parts["src/small"] != 1 {
				t.Errorf("parts = %v", parts)
			}
		})
	}
}

// checkLargeBundle reads a bundle of one large and two small nodes in parts.
func checkLargeBundle(t *testing.T, s *stage, id string) {
	t.Helper()
	args := func() map[string]any {
		return map[string]any{"snapshotId": id, "bundlePath": "src/context.json", "rootComponent": "Big"}
	}
	whole := s.pages("logicstamp_read_bundle", args())[0]["bundle"].(map[string]any)
	small := args()
	small["maxTokens"] = 5000.0
	parts := s.pages("logicstamp_read_bundle", small)
	code, seen := "", map[string]bool{}
	for i, p := range parts {
		bundle := p["bundle"].(map[string]any)
		graph := bundle["graph"].(map[string]any)
		if i == 0 && (bundle["bundleHash"] != whole["bundleHash"] || graph["edges"] == nil) {
			t.Errorf("the first part lacks the bundle's own members: %v", bundle)
		}
		for _, n := range graph["nodes"].([]any) {
			node := n.(map[string]any)
			seen[node["entryId"].(string)] = true
			if offset, ok := node["codeOffset"].(float64); ok {
				if int(offset) != len(code) {
					t.Fatalf("code goes on at %v after %d bytes", offset, len(code))
				}
				code += node["code"].(string)
			}
		}
	}
	for _, n := range whole["graph"].(map[string]any)["nodes"].([]any) {
		node := n.(map[string]any)
		if !seen[node["entryId"].(string)] {
			t.Errorf("%v is in no part", node["entryId"])
		}
		if node["entryId"] == "src/Big.tsx" && node["code"] != code {
			t.Errorf("the code came as %d of %d bytes", len(code), len(node["code"].(string)))
		}
	}
}

func checkCursors(t *testing.T, s *stage, id string) {
	t.Helper()
	page, _ := s.use("logicstamp_list_bundles", map[string]any{"snapshotId": id, "maxTokens": 1000.0})
	good := page["nextCursor"].(string)
	for name, args := range map[string]map[string]any{
		"changed":         {"snapshotId": id, "cursor": good[:len(good)-2] + "xx"},
		"no cursor":       {"snapshotId": id, "cursor": "hello"},
		"other arguments": {"snapshotId": id, "folderPrefix": "src", "cursor": good},
	} {
		if _, failure := s.use("logicstamp_list_bundles", args); !strings.HasPrefix(failure, "Error [BAD_CURSOR]") {
			t.Errorf("%s: %q", name, failure)
		}
	}
	if _, failure := s.use("logicstamp_search_components", map[string]any{"query": "x", "snapshotId": id, "cursor": good}); !strings.HasPrefix(failure, "Error [BAD_CURSOR]") {
		t.Errorf("another tool's cursor: %q", failure)
	}
	page, _ = s.use("logicstamp_list_bundles", map[string]any{"maxTokens": 1000.0})
	s.Write("src/Later.tsx", "// props: z\n")
	s.MustRefresh(logicstamp.RefreshArgs{})
	if _, failure := s.use("logicstamp_list_bundles", map[string]any{"cursor": page["nextCursor"]}); !strings.HasPrefix(failure, "Error [CURSOR_STALE]") {
		t.Errorf("stale: %q", failure)
	}
}
