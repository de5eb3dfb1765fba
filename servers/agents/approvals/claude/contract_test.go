package claude

import (
	"encoding/json"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/contract"
)

// TestWhatWasRecordedOfPromptsIsUnderstood reads what versions of Claude Code have written: if it
// fails, the deck broke, and not a contract.
func TestWhatWasRecordedOfPromptsIsUnderstood(t *testing.T) {
	kinds := map[string]ask.PromptKind{"Bash": ask.Permission, "AskUserQuestion": ask.OwnQuestion, "ExitPlanMode": ask.Plan, "": ask.ServerForm}
	for _, version := range []string{"2.1.197", "2.1.330"} {
		t.Run(version, func(t *testing.T) {
			wrote, err := contract.Find("claude-" + version + "-prompts")
			if err != nil {
				t.Fatal(err)
			}
			log := &transcript{results: map[string]end{}, hooks: map[string]string{}}
			for _, line := range wrote.Lines {
				var payload map[string]any
				if err := json.Unmarshal(line, &payload); err != nil {
					t.Fatal(err)
				}
				event, is := payload["hook_event_name"].(string)
				if !is {
					log.line(line)
					continue
				}
				bubble(t, nil, func(d *desk) {
					payload["session_id"], payload["transcript_path"], payload["cwd"] = sessionID, d.transcript(), d.project
					d.hook(event, payload)
					tool, _ := payload["tool_name"].(string)
					if it := d.only(); it.Request.Prompt.Kind != kinds[tool] || inTerminal(it) {
						t.Errorf("%s %s is shown as %+v", event, tool, it.Request)
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
