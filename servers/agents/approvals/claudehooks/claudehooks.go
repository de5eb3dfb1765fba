// Package claudehooks is what the hooks of Claude Code have in common with those of the
// programs that took over their format: what a hook is told, and what it prints.
package claudehooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Decision is what a PermissionRequest hook prints: several agents' programs read it.
type Decision struct {
	Behavior    string            `json:"behavior"` // "allow" or "deny"
	Message     string            `json:"message,omitempty"`
	Interrupt   bool              `json:"interrupt,omitempty"`
	Input       json.RawMessage   `json:"updatedInput,omitempty"`
	Permissions []json.RawMessage `json:"updatedPermissions,omitempty"`
}

// Deny returns the decision that denies, for the reason that the user gave, if any.
func Deny(reason string) Decision {
	return Decision{Behavior: "deny", Message: cmp.Or(strings.TrimSpace(reason), approvals.Denied)}
}

// Answer returns what the hook prints for the user's reply to a permission, and what was
// chosen; false if it cannot be told, so that the terminal asks.
func Answer(all []approvals.Choice, r ask.Reply) (d Decision, c approvals.Choice, ok bool) {
	c, note, ok := approvals.Chosen(all, r)
	if d = Deny(note); c.Grant.Allow {
		d = Decision{Behavior: "allow"}
	}
	return d, c, ok
}

// Printed returns what the hook prints.
func (d Decision) Printed() string {
	return HookOutput(map[string]any{"hookEventName": "PermissionRequest", "decision": d})
}

// HookOutput returns what a hook prints. Members that came as JSON keep their bytes.
func HookOutput(v any) string {
	b, err := rpc.Raw(map[string]any{"hookSpecificOutput": v})
	if err != nil {
		return ""
	}
	return string(b)
}

// Questions reads the input of the tool by which an agent asks its own questions.
func Questions(input json.RawMessage) ([]ask.Question, error) {
	var in struct {
		Questions []struct {
			Question, Header string
			MultiSelect      bool
			Several          bool `json:"multi_select"` // the same, of another program
			Options          []ask.Option
		}
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, approvals.ErrShape
	}
	var out []ask.Question
	texts := map[string]bool{}
	for _, one := range in.Questions {
		if texts[one.Question] {
			return nil, approvals.ErrShape // an answer could be to either
		}
		texts[one.Question] = true
		out = append(out, ask.Question{Question: one.Question, Header: one.Header, Options: one.Options, Multi: one.MultiSelect || one.Several, AllowOther: true})
	}
	return approvals.OwnQuestions(out)
}

// SameInput reports whether what the model wrote as a tool's input is in what a hook is
// told, to which defaults are added.
func SameInput(wrote, told json.RawMessage) bool {
	var a, b any
	if decode(wrote, &a) != nil || decode(told, &b) != nil {
		return false
	}
	return holds(b, a)
}

func decode(raw json.RawMessage, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// holds reports whether a value is another one, apart from further members of objects.
func holds(whole, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		w, ok := whole.(map[string]any)
		for k, v := range part {
			if other, has := w[k]; !ok || !has || !holds(other, v) {
				return false
			}
		}
		return ok
	case []any:
		w, ok := whole.([]any)
		if !ok || len(w) != len(part) {
			return false
		}
		for i := range part {
			if !holds(w[i], part[i]) {
				return false
			}
		}
		return true
	}
	return whole == part
}
