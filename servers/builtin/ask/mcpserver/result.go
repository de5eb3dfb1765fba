package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// structured is the result for programs. Message repeats in words how to go on,
// since some clients show the model nothing else.
type structured struct {
	Status  string   `json:"status"`
	Message string   `json:"message"`
	ID      string   `json:"id,omitempty"` // of a pending question, for ask_wait
	Answers []answer `json:"answers"`
}

type answer struct {
	questions.Result
	Question string `json:"question"`
}

func result(s structured, text string) *mcp.CallToolResult {
	if s.Answers == nil {
		s.Answers = []answer{}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}, StructuredContent: s}
}

// outcome is what the agent is told about how a request ended.
func outcome(r questions.Reply) *mcp.CallToolResult {
	s := structured{Status: string(r.Status)}
	switch r.Status {
	case questions.Declined:
		s.Message = "The user declined to answer"
		if r.Reason != "" {
			s.Message += ", saying: " + flat(r.Reason)
		}
		s.Message = strings.TrimRight(s.Message, ".") + ". Nothing was chosen: do not assume an answer, and do not ask again. " +
			"Continue without it where you can, or stop and say what is blocked."
		return result(s, s.Message)
	case questions.TimedOut:
		s.Message = fmt.Sprintf("Nobody answered within %s. Nothing was chosen: do not assume an answer, and do not ask again. "+
			"Continue without it where you can, or stop and say what is blocked.", humanize.Words(r.After))
		return result(s, s.Message)
	default:
	}
	lines := []string{"User answers:"}
	for i, res := range r.Results {
		var q questions.Question
		if i < len(r.Questions) {
			q = r.Questions[i]
		}
		s.Answers = append(s.Answers, answer{Result: res, Question: q.Question})
		lines = append(lines, flat(res.ID)+": "+inWords(res, q.Multi))
	}
	s.Message = "The user answered."
	if r.Status == questions.Partial {
		s.Message = guidance(r.Results)
		lines = append(lines, s.Message)
	}
	return result(s, strings.Join(lines, "\n"))
}

func guidance(results []questions.Result) string {
	var skipped, asked []string
	for _, r := range results {
		switch {
		case r.Clarify != "":
			asked = append(asked, flat(r.ID))
		case r.Skipped:
			skipped = append(skipped, flat(r.ID))
		}
	}
	var out []string
	if len(skipped) > 0 {
		out = append(out, "The user skipped "+strings.Join(skipped, ", ")+": do not assume an answer there.")
	}
	if len(asked) > 0 {
		out = append(out, "The user asks back about "+strings.Join(asked, ", ")+
			": answer that first, then ask again if you still need to know.")
	}
	return strings.Join(out, " ")
}

// inWords is one answer on one line.
func inWords(r questions.Result, multi bool) string {
	switch {
	case r.Clarify != "":
		return fmt.Sprintf("(asks back: %q)", flat(r.Clarify))
	case r.Skipped:
		return "(skipped)"
	}
	labels := make([]string, len(r.SelectedOptions))
	for i, l := range r.SelectedOptions {
		labels[i] = flat(l)
		if note := r.Notes[l]; note != "" {
			labels[i] += " (note: " + flat(note) + ")"
		}
	}
	chosen := strings.Join(labels, ", ")
	if multi {
		chosen = "[" + chosen + "]"
	}
	switch {
	case r.CustomInput == "":
		return chosen
	case len(labels) == 0:
		return `"` + flat(r.CustomInput) + `"`
	}
	return chosen + ` + Other: "` + flat(r.CustomInput) + `"`
}

// flat makes s one line without control characters.
func flat(s string) string {
	return strings.Join(strings.Fields(sanitize.Bare(s)), " ")
}

// pending ends the call but not the question. One that no deck has at the moment
// is on nobody's screen.
func pending(key string, waited time.Duration, unreached time.Time) *mcp.CallToolResult {
	where := "the question waits for them in mcpdeck"
	if !unreached.IsZero() {
		where = "mcpdeck is not running, so the user cannot see the question; it appears when mcpdeck is opened"
	}
	msg := fmt.Sprintf("The user has not answered yet (waited %s); %s. "+
		"Call ask_wait with id %q now to keep waiting. Do not assume an answer and do not ask again.",
		waited.Round(time.Second), where, key)
	return result(structured{Status: "pending", Message: msg, ID: key}, msg)
}

// failure is for questions that could not be put to the user.
func failure(err error) *mcp.CallToolResult {
	var e *questions.Error
	if !errors.As(err, &e) {
		return refusal("The question could not be shown to the user because of an internal error. Ask in the chat instead.")
	}
	msg := ""
	switch e.Code {
	case "unavailable":
		msg = "mcpdeck is not running, so nobody saw the question. Ask in the chat instead; call ask again only when you are told to."
	case "shutdown":
		msg = "mcpdeck was closed while the question waited; the user may have seen it. Ask in the chat instead; call ask again only when you are told to."
	case "unknown":
		return refusal("There is " + e.Message + ".")
	case "invalid":
		return refusal("The question was not shown to the user: " + strings.TrimPrefix(e.Message, "invalid request: ") + ". Correct this and call ask again.")
	case "busy":
		return refusal("The question was not shown to the user: " + flat(e.Message) + ". Wait for answers to those you asked before, or ask in the chat.")
	case "superseded":
		return refusal("A newer call asked the same question; that call gets the answer.")
	default:
		return refusal("The question could not be shown to the user: " + flat(e.Message) + ". Ask in the chat instead.")
	}
	res := result(structured{Status: "unavailable", Message: msg}, msg)
	res.IsError = true
	if e.Retry {
		res.Meta = mcp.NewMetaFromMap(map[string]any{backend.RetryMeta: true})
	}
	return res
}

func refusal(text string) *mcp.CallToolResult { return mcp.NewToolResultError(text) }

// encode is for results that leave in another form than mcp-go's.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}
