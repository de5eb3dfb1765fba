package usage

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// claudePart is one of what a message consists of.
type claudePart struct {
	Type, ID, Name, Text string
	Input                json.RawMessage
	Use                  string `json:"tool_use_id"`
	IsError              bool   `json:"is_error"`
	Content              json.RawMessage
}

// claudeParts are those of a message; none if it is only text.
func claudeParts(content json.RawMessage) []claudePart {
	var parts []claudePart
	if json.Unmarshal(content, &parts) != nil {
		return nil
	}
	return parts
}

// claudeEvent is what a line says of the conversation.
func claudeEvent(rec *claudeRecord) record.Event {
	e := record.Event{When: rec.Timestamp.Time}
	switch {
	case rec.Type == "last-prompt": // on one line, and cut
		e.Prompt, e.Repeat = rec.LastPrompt, true
	case rec.Type == "attachment" && rec.Attachment.Type == "queued_command" && (rec.Attachment.Mode == "" || rec.Attachment.Mode == "prompt"):
		e.Prompt = TextOf(rec.Attachment.Prompt)
	case rec.Type == "user":
		for _, p := range claudeParts(rec.Message.Content) {
			if p.Type == "tool_result" {
				e.Results = append(e.Results, claudeResult(rec, &p))
			}
		}
		if len(e.Results) == 0 && !rec.IsSidechain {
			e.Prompt = claudePrompt(rec)
		}
	case rec.Type == "assistant":
		for _, p := range claudeParts(rec.Message.Content) {
			if p.Type == "tool_use" {
				e.Calls = append(e.Calls, record.Call{ID: p.ID, Tool: p.Name, Subject: record.Subject(p.Input), Writes: (p.Name == "Bash" || p.Name == "PowerShell") && record.Writes(p.Input)})
			}
		}
		if !rec.IsSidechain && (rec.Message.Model != "<synthetic>" || rec.IsError) {
			e.Said = TextOf(rec.Message.Content)
		}
	}
	return e
}

// claudeCommand is how Claude Code records a command that begins with a slash.
var claudeCommand = regexp.MustCompile(`(?s)<command-name>(.*?)</command-name>(?:.*<command-args>(.*?)</command-args>)?`)

// claudePrompt is what the user sent, "" if a message is not the user's.
func claudePrompt(rec *claudeRecord) string {
	text := TextOf(rec.Message.Content)
	switch {
	case rec.Origin.Kind == "human":
		if c := claudeCommand.FindStringSubmatch(text); c != nil {
			return strings.TrimSpace(c[1] + " " + c[2])
		}
	case rec.Origin.Kind != "" || rec.IsMeta || rec.IsSummary || rec.IsSidechain:
		return ""
	}
	for _, not := range []string{"<command-", "<local-command-", "<bash-", "<task-", "<system-reminder>", "[Request interrupted by user", "Caveat: "} {
		if strings.HasPrefix(text, not) {
			return ""
		}
	}
	return text
}

// claudeResult is what came of a call.
func claudeResult(rec *claudeRecord, p *claudePart) record.Result {
	r := record.Result{Call: p.Use, Failed: p.IsError, Denied: rec.Denial != ""}
	var did struct {
		Type     string
		Path     string `json:"filePath"`
		Notebook string `json:"notebook_path"`
		Content  string
		Patch    []struct {
			OldStart, OldLines, NewStart, NewLines int
			Lines                                  []string
		} `json:"structuredPatch"`
		Original    *string `json:"original_file"`
		Updated     *string `json:"updated_file"`
		Interrupted bool
	}
	text := strings.TrimPrefix(TextOf(p.Content), "<tool_use_error>")
	switch says := string(rec.Result); {
	case p.IsError:
		if code, is := strings.CutPrefix(text, "Exit code "); is {
			text = "exit " + code
		}
		r.Outcome, _, _ = strings.Cut(strings.TrimSuffix(text, "</tool_use_error>"), "\n")
	case !strings.Contains(says, `"structuredPatch"`) && !strings.Contains(says, `"notebook_path"`) && !strings.Contains(says, `"interrupted":true`):
	case json.Unmarshal(rec.Result, &did) != nil:
	case did.Interrupted:
		r.Failed, r.Outcome = true, "interrupted"
	case did.Notebook != "" && did.Original != nil && did.Updated != nil:
		r.Files = []snapshot.ChangedFile{record.Compared(did.Notebook, *did.Original, *did.Updated)}
	case did.Path != "":
		var hunks strings.Builder
		for _, h := range did.Patch {
			fmt.Fprintf(&hunks, "@@ -%d,%d +%d,%d @@\n%s\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines, strings.Join(h.Lines, "\n"))
		}
		f := record.Diff(did.Path, hunks.String())
		if did.Type == "create" {
			f = record.Whole(did.Path, did.Content, true)
		}
		r.Files = []snapshot.ChangedFile{f}
	}
	return r
}
