package claude

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// choicesOf are the options of a permission: those that always are, and one for each of
// Claude Code's suggestions whose effect can be told exactly.
func choicesOf(suggestions json.RawMessage, plan bool, home string) ([]approvals.Choice, error) {
	allow, denials := approvals.AllowOnce(nil), approvals.Denials(nil)
	if plan {
		allow.Label, denials[0].Label, denials[1].Label = "Accept the plan", "Keep planning", "Keep planning, with a message"
	} else {
		denials = append(denials, approvals.DenyAndStop(nil))
	}
	lasting, err := lastingChoices(suggestions, plan, home)
	return slices.Concat([]approvals.Choice{allow}, lasting, denials), err
}

func lastingChoices(suggestions json.RawMessage, plan bool, home string) (all []approvals.Choice, err error) {
	if suggestions == nil {
		return nil, nil
	}
	list, ok := rawjson.SplitArray(suggestions)
	if !ok {
		return nil, approvals.ErrShape
	}
	for _, raw := range list {
		kind, effect, where, known := effectOf(raw, home)
		if !known {
			continue
		}
		all = append(all, approvals.Choice{
			Label: lastingLabel(plan, where.scope, kind, effect), Grant: ask.Grant{Allow: true, Scope: where.scope, Effect: effect + " " + where.words}, Result: raw,
		})
	}
	return all, nil
}

// lastingLabel names what a suggestion of a type does. The screen shows its exact effect
// beside it. There is no option that gives several: each is read and given by itself.
func lastingLabel(plan bool, scope ask.Scope, kind, effect string) string {
	words := map[string][2]string{
		"addRules":       {"Allow for this session", "Always allow"},
		"addDirectories": {"Allow this folder for this session", "Always allow this folder"},
		"setMode":        {"Use this mode in this session", "Use this mode"},
	}[kind]
	if strings.Contains(effect, "acceptEdits") {
		words = [2]string{"Allow all edits in this session", "Allow all edits"}
	}
	label := words[0]
	if scope == ask.Always {
		label = words[1]
	}
	if plan {
		label = "Accept the plan. " + label
	}
	return label
}

// place is where a suggestion is kept.
type place struct {
	scope ask.Scope
	words string
}

func placeOf(destination, home string) (place, bool) {
	switch destination {
	case "session":
		return place{ask.ForSession, "in this session"}, true
	case "localSettings":
		return place{ask.Always, "in this project (writes .claude/settings.local.json)"}, true
	case "projectSettings":
		return place{ask.Always, "in this project, for everyone (writes .claude/settings.json)"}, true
	case "userSettings":
		return place{ask.Always, "everywhere (writes " + humanize.Tilde(filepath.Join(home, ".claude", "settings.json"), home) + ")"}, true
	}
	return place{}, false
}

// effectOf tells exactly what a suggestion does and where it is kept; false for one that
// is not known.
func effectOf(raw json.RawMessage, home string) (kind, effect string, where place, known bool) {
	var s struct {
		Type, Mode, Behavior, Destination string
		Directories                       []string
		Rules                             []struct{ ToolName, RuleContent string }
	}
	o, err := rawjson.SplitObject(raw)
	oneReading := &rawjson.Rule{Fold: true}
	oneReading.Rest = oneReading
	if err != nil || oneReading.Check(raw) != nil || json.Unmarshal(raw, &s) != nil {
		return "", "", place{}, false
	}
	if where, known = placeOf(s.Destination, home); !known {
		return "", "", place{}, false
	}
	keys := func(names ...string) bool { return len(o.Only(names...)) == len(o) }
	switch {
	case s.Type == "addRules" && s.Behavior == "allow" && len(s.Rules) > 0 && keys("type", "rules", "behavior", "destination"):
		var rules []string
		for _, r := range s.Rules {
			if r.ToolName == "" {
				return "", "", place{}, false
			}
			rule := r.ToolName
			if r.RuleContent != "" {
				rule += "(" + r.RuleContent + ")"
			}
			rules = append(rules, rule)
		}
		return s.Type, strings.Join(rules, ", "), where, true
	case s.Type == "addDirectories" && len(s.Directories) > 0 && keys("type", "directories", "destination"):
		return s.Type, "work in the folder " + strings.Join(s.Directories, ", "), where, true
	case s.Type == "setMode" && keys("type", "mode", "destination"):
		words, known := modes()[s.Mode]
		return s.Type, words, where, known
	}
	return "", "", place{}, false
}

// modes are what Claude Code's modes of permissions do.
func modes() map[string]string {
	return map[string]string{
		"acceptEdits":       "stop asking for edits (mode acceptEdits)",
		"bypassPermissions": "stop asking for anything (mode bypassPermissions)",
		"auto":              "let Claude decide what to ask (mode auto)",
		"default":           "ask before edits and commands (mode default)",
		"plan":              "plan only (mode plan)",
		"dontAsk":           "deny instead of asking (mode dontAsk)",
	}
}
