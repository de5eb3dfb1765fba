package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
)

// recorded are the payloads that versions of Claude Code have written.
func recorded(t *testing.T) map[string][]agenttest.Payload {
	t.Helper()
	files, err := filepath.Glob("testdata/contract/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded payloads: %v", err)
	}
	all := map[string][]agenttest.Payload{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err == nil {
			all[filepath.Base(file)], err = agenttest.Payloads(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestRecordedPayloadsAreUnderstood reads what versions of Claude Code have written: if it
// fails, the deck broke, and not a contract.
func TestRecordedPayloadsAreUnderstood(t *testing.T) {
	kinds := map[string]ask.PromptKind{
		"PermissionRequest Bash": ask.Permission, "PermissionRequest AskUserQuestion": ask.OwnQuestion, "PermissionRequest ExitPlanMode": ask.Plan, "Elicitation": ask.ServerForm,
	}
	for version, all := range recorded(t) {
		t.Run(version, func(t *testing.T) {
			log := &transcript{results: map[string]end{}, hooks: map[string]string{}}
			for _, p := range all {
				if changed := agenttest.Changed(p, agenttest.Payload{}); len(changed) == 0 {
					t.Errorf("nothing is read of %q", p.What)
				}
				if changed := agenttest.Changed(p, p); len(changed) > 0 {
					t.Errorf("it differs from itself: %q", changed)
				}
				kind, prompt := kinds[p.What]
				if !prompt {
					log.line(p.Payload)
					continue
				}
				bubble(t, nil, func(d *desk) {
					var payload map[string]any
					if err := json.Unmarshal(p.Payload, &payload); err != nil {
						t.Fatal(err)
					}
					payload["session_id"], payload["transcript_path"], payload["cwd"] = sessionID, d.transcript(), d.project
					event, _ := payload["hook_event_name"].(string)
					d.hook(event, payload)
					if it := d.only(); it.Request.Prompt.Kind != kind || inTerminal(it) {
						t.Errorf("%s is shown as %+v", p.What, it.Request)
					}
				})
			}
			if len(log.results) != 1 || len(log.hooks) != 1 {
				t.Errorf("of the transcript it reads %v and %v", log.results, log.hooks)
			}
			for log.id = range log.hooks {
				if v := log.verdict(); v != allowedByHook {
					t.Errorf("the transcript's verdict is %d", v)
				}
			}
		})
	}
}
