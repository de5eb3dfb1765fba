package usage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

var notLetter = regexp.MustCompile(`[^A-Za-z0-9]`)

// claudeMain is projects/FOLDER/ID.jsonl, where FOLDER is the project's path with dashes.
func claudeMain(look Lookup, id string) string {
	if look.folder != "" {
		if name := "projects/" + notLetter.ReplaceAllString(look.folder, "-") + "/" + id + ".jsonl"; look.Is(name) {
			return name
		}
	}
	if look.near {
		return ""
	}
	return look.Newest("projects/*/" + id + ".jsonl")
}

func claudeSubagents(main, _ string) (folder, pattern string) {
	return path.Join(strings.TrimSuffix(main, ".jsonl"), "subagents"), "agent-*.jsonl"
}

// claudeRecord is a line of Claude Code's transcript.
type claudeRecord struct {
	Type        string `json:"type"`
	RequestID   string `json:"requestId"`
	IsSidechain bool   `json:"isSidechain"`
	CustomTitle string `json:"customTitle"`
	AITitle     string `json:"aiTitle"`
	Summary     string `json:"summary"`
	Timestamp   Moment
	Mode        string `json:"permissionMode"`
	Denial      string `json:"toolDenialKind"`
	Message     struct {
		ID, Model string
		Usage     *claudeUsage
		Stop      string `json:"stop_reason"`
		Content   json.RawMessage
	}

	Origin     struct{ Kind string }
	IsMeta     bool     `json:"isMeta"`
	IsSummary  bool     `json:"isCompactSummary"`
	IsError    bool     `json:"isApiErrorMessage"`
	LastPrompt string   `json:"lastPrompt"`
	Attachment struct { // of a prompt that came while the agent was at work
		Type   string
		Prompt json.RawMessage
		Mode   string `json:"commandMode"`
	}
	Result json.RawMessage `json:"toolUseResult"`
}

type claudeUsage struct {
	Input  int64  `json:"input_tokens"`
	Output int64  `json:"output_tokens"`
	Read   int64  `json:"cache_read_input_tokens"`
	Write  int64  `json:"cache_creation_input_tokens"`
	Speed  string `json:"speed"`
	Writes struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Tools struct {
		Searches int64 `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

// claudeLine reads a line of Claude Code. A reply is known by the ID of its message and of
// its request: it is written once for each of its parts, and its counts grow.
func claudeLine(text []byte, sub bool) (Line, bool) {
	says := func(word string) bool { return bytes.Contains(text, []byte(word)) }
	switch { // most of a transcript is something else
	case bytes.HasPrefix(text, []byte(`{"type":"api-request`)): // what the model is sent, once more
		return Line{}, false
	case !says(`"usage"`) && !says(`"user"`) && !says(`"assistant"`) && !says(`"permissionMode"`) && !says(`"customTitle"`) && !says(`"aiTitle"`) &&
		!says(`"summary"`) && !says(`"lastPrompt"`) && !says(`"queued_command"`):
		return Line{}, false
	}
	var rec claudeRecord
	if json.Unmarshal(text, &rec) != nil {
		return Line{}, false
	}
	l := Line{Mode: rec.Mode, Title: cmp.Or(rec.CustomTitle, rec.AITitle, rec.Summary), Named: rec.CustomTitle != "", Event: claudeEvent(&rec)}
	if sub {
		l.Mode, l.Title = "", ""
		l.Turn, l.When = claudeTurn(&rec), rec.Timestamp.Time
	}
	u := rec.Message.Usage
	if u == nil || rec.Message.ID == "" || rec.Message.Model == "<synthetic>" {
		return l, true
	}
	hour := min(u.Writes.Hour, u.Write)
	l.ID, l.Model = rec.Message.ID+" "+rec.RequestID, rec.Message.Model
	l.When = rec.Timestamp.Time
	l.Reply = &Reply{
		In: u.Input, Out: u.Output, Read: u.Read, Write: u.Write - hour, WriteHour: hour,
		Searches: u.Tools.Searches, Fast: u.Speed == "fast",
	}
	if !sub && !rec.IsSidechain {
		l.Filled = u.Input + u.Read + u.Write
	}
	return l, true
}

// claudeTurn tells whether a line of a sub-agent is its last. Interrupting one adds a
// message that says so.
func claudeTurn(rec *claudeRecord) Turn {
	switch rec.Type {
	case "assistant":
		if rec.Message.Stop != "" && rec.Message.Stop != "tool_use" {
			return TurnOver
		}
		return InTurn
	case "user":
		const interrupted = "[Request interrupted by user"
		for _, p := range claudeParts(rec.Message.Content) {
			if strings.HasPrefix(p.Text, interrupted) {
				return TurnOver
			}
		}
		return InTurn
	}
	return SameTurn
}
