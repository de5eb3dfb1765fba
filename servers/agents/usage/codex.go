package usage

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// codexMain is sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl. The time of the folder is local,
// and the beginning of the ID says it in milliseconds.
func codexMain(look Lookup, id string) string {
	if at, ok := timeOf(id); ok {
		for _, day := range []int{0, 1, -1} {
			if name := look.Newest("sessions/" + at.AddDate(0, 0, day).Format("2006/01/02") + "/rollout-*-" + id + ".jsonl"); name != "" {
				return name
			}
			if look.near {
				return ""
			}
		}
	}
	return look.Newest("sessions/*/*/*/rollout-*-" + id + ".jsonl")
}

// timeOf reads the time from a UUID of version 7.
func timeOf(id string) (time.Time, bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != 16 || b[6]>>4 != 7 {
		return time.Time{}, false
	}
	var ms int64
	for _, x := range b[:6] {
		ms = ms<<8 | int64(x)
	}
	return time.UnixMilli(ms), true
}

type codexTokens struct {
	Input     int64 `json:"input_tokens"` // with what came from the cache
	Cached    int64 `json:"cached_input_tokens"`
	Output    int64 `json:"output_tokens"`
	Reasoning int64 `json:"reasoning_output_tokens"`
}

func (t codexTokens) reply() *Reply {
	cached := min(t.Cached, t.Input)
	return &Reply{In: t.Input - cached, Read: cached, Out: t.Output, Reasoning: t.Reasoning}
}

// codexRecord is a line of Codex's rollout.
type codexRecord struct {
	Type      string
	Timestamp Moment
	Payload   struct {
		Type, Name, Model string
		Approval          string `json:"approval_policy"`
		Arguments         string
		Input             string          // of a tool whose argument is a text
		Call              string          `json:"call_id"`
		Output            json.RawMessage // a text, or something else
		Info              *struct {
			Total  codexTokens `json:"total_token_usage"`
			Last   codexTokens `json:"last_token_usage"`
			Window int64       `json:"model_context_window"`
		}
		Message string
		Item    codexItem
	}
}

// codexRejected is what Codex writes in place of the output of a call that the user has
// denied.
const codexRejected = "rejected by user"

// codexLine reads a line of Codex, which counts its tokens itself.
func codexLine(text []byte, _ bool) (Line, bool) {
	says := func(word string) bool { return bytes.Contains(text, []byte(word)) }
	if !says(`"token_count"`) && !says(`"turn_context"`) && !says(`_call"`) && !says(`_call_output"`) && !says(`"item_completed"`) && !says(`"user_message"`) && !says(`"agent_message"`) {
		return Line{}, false
	}
	var rec codexRecord
	if json.Unmarshal(text, &rec) != nil {
		return Line{}, false
	}
	p := &rec.Payload
	switch {
	case rec.Type == "turn_context":
		return Line{Model: p.Model, Mode: p.Approval}, true
	case p.Type == "token_count" && p.Info != nil:
		return Line{When: rec.Timestamp.Time, Total: p.Info.Total.reply(), Reply: p.Info.Last.reply(), Window: p.Info.Window, Filled: p.Info.Last.Input}, true
	}
	e := codexEvent(&rec)
	return Line{Event: e}, e.Prompt != "" || e.Said != "" || e.Calls != nil || e.Results != nil
}

// rejected reports whether an output says that the user has denied its call. What a command
// has printed begins with something else.
func rejected(output json.RawMessage) bool {
	var text string
	if json.Unmarshal(output, &text) != nil || !strings.Contains(text, codexRejected) {
		return false
	}
	return strings.HasPrefix(text, "exec command ") || strings.HasPrefix(text, "patch ") || strings.HasPrefix(text, "exec_command failed for ")
}
