package claude

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/prompts"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// questions reads the input of AskUserQuestion.
func (q *asked) questions() ([]ask.Question, error) {
	var in struct {
		Questions []struct {
			Question, Header string
			MultiSelect      bool
			Options          []ask.Option
		}
	}
	if err := json.Unmarshal(q.raw, &in); err != nil || len(in.Questions) == 0 || len(in.Questions) > ask.MaxQuestions {
		return nil, errShape
	}
	var out []ask.Question
	texts := map[string]bool{}
	for i, one := range in.Questions {
		if one.Question == "" || texts[one.Question] || !prompts.Answerable(one.Options) {
			return nil, errShape // an answer could be to either
		}
		texts[one.Question] = true
		next := ask.Question{
			ID: "q" + strconv.Itoa(i+1), Question: one.Question, Header: one.Header, Kind: ask.Choice, Options: one.Options,
			Multi: one.MultiSelect, AllowOther: true, Required: true,
		}
		if len(one.Options) == 0 {
			next.Kind, next.AllowOther = ask.Text, false
		}
		out = append(out, next)
	}
	return out, nil
}

// elicitation reads what an MCP server asks.
func (q *asked) elicitation(p *ask.Prompt, payload rawjson.Object) ([]ask.Question, error) {
	p.Kind, p.Tool = ask.ServerForm, payload.Str("mcp_server_name")
	message := payload.Str("message")
	if payload.Str("mode") == "url" {
		u, err := url.Parse(payload.Str("url"))
		if err != nil || u.Host == "" {
			return nil, errShape
		}
		return []ask.Question{{
			ID: "url", Question: message, Kind: ask.Choice, Required: true,
			Description: "The server " + p.Tool + " asks you to open a page of " + u.Host + ":\n\n    " + u.String() + "\n\nmcpdeck does not open it.",
			Options:     []ask.Option{{Label: "Yes", Description: "I open this page myself"}, {Label: "No"}},
		}}, nil
	}
	return ask.FormQuestions(message, payload.Some("requested_schema"))
}

// answers are the answers to AskUserQuestion as Claude Code takes them: the original
// input, with the answers and notes by the text of their questions.
func (q *asked) answers(qs []ask.Question, results []ask.Result) (json.RawMessage, bool) {
	answers, notes := map[string]string{}, map[string]map[string]string{}
	for i, r := range results {
		if i >= len(qs) || r.Skipped {
			continue
		}
		chosen := make([]string, 0, len(r.SelectedOptions)+1)
		for _, label := range r.SelectedOptions {
			if !offers(qs[i], label) {
				return nil, false
			}
			chosen = append(chosen, label)
		}
		if r.CustomInput != "" {
			chosen = append(chosen, r.CustomInput)
		}
		if len(chosen) == 0 {
			continue
		}
		answers[qs[i].Question] = joined(chosen)
		if note := prompts.Note(r); note != "" {
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

func offers(q ask.Question, label string) bool {
	for _, o := range q.Options {
		if o.Label == label {
			return true
		}
	}
	return false
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
