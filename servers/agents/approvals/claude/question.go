package claude

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// elicitation reads what an MCP server asks.
func (q *asked) elicitation(p *ask.Prompt, o rawjson.Object) ([]ask.Question, error) {
	p.Kind, p.Tool = ask.ServerForm, o.Str("mcp_server_name")
	return approvals.ServerForm(p.Tool, o.Str("mode"), o.Str("message"), o.Str("url"), o.Some("requested_schema"))
}

// answers are the answers to AskUserQuestion as Claude Code takes them: the original
// input, with the answers and notes by the text of their questions.
func (q *asked) answers(qs []ask.Question, results []ask.Result) (json.RawMessage, bool) {
	answers, notes := map[string]string{}, map[string]map[string]string{}
	if !approvals.Offered(qs, results) {
		return nil, false
	}
	for i, r := range results {
		if i >= len(qs) || r.Skipped {
			continue
		}
		chosen := slices.Clone(r.SelectedOptions)
		if r.CustomInput != "" {
			chosen = append(chosen, r.CustomInput)
		}
		if len(chosen) == 0 {
			continue
		}
		answers[qs[i].Question] = joined(chosen)
		if note := approvals.Note(r); note != "" {
			notes[qs[i].Question] = map[string]string{"notes": note}
		}
	}
	if len(answers) == 0 {
		return nil, false
	}
	out := q.input
	for _, extra := range []struct {
		key   string
		value any
		some  bool
	}{{"answers", answers, true}, {"annotations", notes, len(notes) > 0}} {
		raw, err := json.Marshal(extra.value)
		if err != nil || out.Get(extra.key) != nil {
			return nil, false // the model wrote an answer of its own
		}
		if extra.some {
			out = append(out[:len(out):len(out)], rawjson.Member{Key: extra.key, Value: raw})
		}
	}
	return out.JSON(), true
}

// joined writes several answers as one.
func joined(chosen []string) string {
	if len(chosen) == 1 {
		return chosen[0]
	}
	if strings.Contains(strings.Join(chosen, ""), ",") {
		quoted := make([]string, len(chosen))
		for i, c := range chosen {
			quoted[i] = `"` + c + `"`
		}
		chosen = quoted
	}
	return strings.Join(chosen, ", ")
}
