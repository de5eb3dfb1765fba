package claude

import (
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
)

// grants are how Claude Code keeps what it was allowed: deny, ask and allow rules, joined from all its files.
func grants() *granted.Model {
	return &granted.Model{Sources: func(in granted.Where) []granted.Source {
		system := filepath.Join(in.System, "/etc/claude-code")
		all := []granted.Source{
			{Root: system, Name: "managed-settings.json", Scope: granted.Managed, Parse: parseSettings},
			{Root: filepath.Join(in.System, "/Library/Application Support/ClaudeCode"), Name: "managed-settings.json", Scope: granted.Managed, Parse: parseSettings},
		}
		drops, _ := filepath.Glob(filepath.Join(system, "managed-settings.d", "*.json")) // the pattern is good
		for _, path := range drops {
			all = append(all, granted.Source{Root: system, Name: "managed-settings.d/" + filepath.Base(path), Scope: granted.Managed, Parse: parseSettings})
		}
		all = append(all, granted.Source{Root: in.Folders.Program(agent), Name: "settings.json", Scope: granted.User, Parse: parseSettings})
		for _, root := range in.Projects {
			all = append(all,
				granted.Source{Root: root, Name: ".claude/settings.json", Scope: granted.Project, Parse: parseSettings},
				granted.Source{Root: root, Name: ".claude/settings.local.json", Scope: granted.Local, Parse: parseSettings})
		}
		return all
	}, Exact: &granted.Exact{File: ".claude/settings.local.json", List: []string{"permissions", "allow"}, Entry: exactEntry}}
}

// exactEntry is the rule for one command. A star stands for other texts, and how brackets and what
// is escaped are read is not known.
func exactEntry(tool, command string) string {
	if tool != "Bash" || strings.TrimSpace(command) != command || strings.ContainsAny(command, "*()\\\n\r\t") {
		return ""
	}
	return "Bash(" + command + ")"
}

func parseSettings(text []byte) (all []granted.Entry, err error) {
	root, err := granted.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	permissions, _ := root.At(text, "permissions")
	if permissions.Value == nil {
		return nil, nil
	}
	for _, verdict := range []granted.Verdict{granted.Deny, granted.Ask, granted.Allow} {
		list, ok := permissions.At(text, string(verdict))
		if !ok {
			continue
		}
		for _, p := range list.Parts(text) {
			if rule, ok := p.String(); ok {
				e := ruleEntry(rule)
				e.Verdict, e.Cuts = verdict, p.Cuts
				all = append(all, e)
			}
		}
	}
	if list, ok := permissions.At(text, "additionalDirectories"); ok {
		for _, p := range list.Parts(text) {
			if dir, ok := p.String(); ok {
				all = append(all, granted.Entry{Verdict: granted.Allow, Text: dir, Says: "this folder as if it were of the project", Cuts: p.Cuts})
			}
		}
	}
	if p, ok := permissions.At(text, "defaultMode"); ok {
		if mode, _ := p.String(); modeSays(mode) != "" {
			all = append(all, granted.Entry{
				Verdict: granted.Allow, Text: "defaultMode: " + mode, Says: modeSays(mode), Cuts: p.Cuts,
				Covers: func(c granted.Call) bool {
					return mode == "bypassPermissions" || mode == "acceptEdits" && c.Tool == granted.Edit
				},
			})
		}
	}
	return all, nil
}

// modeSays is what a mode lets through by itself; "" if nothing.
func modeSays(mode string) string {
	switch mode {
	case "acceptEdits":
		return "edits of files in the project, in each session"
	case "bypassPermissions":
		return "everything, in each session"
	case "auto":
		return "what its classifier lets through, in each session"
	}
	return ""
}

// ruleEntry is a rule as its program matches it: Tool, or Tool(what).
func ruleEntry(rule string) granted.Entry {
	tool, what, has := strings.Cut(rule, "(")
	what = strings.TrimSuffix(what, ")")
	if what == "*" || what == ":*" {
		has = false
	}
	e := granted.Entry{Text: rule}
	switch {
	case tool == "Bash" && !has:
		e.Says, e.Covers = "every command", func(c granted.Call) bool { return c.Tool == granted.Command }
		e.Like = granted.Call{Tool: granted.Command}
	case tool == "Bash":
		e.Says, e.Covers = commandRule(what)
		e.Like = granted.Call{Tool: granted.Command, Words: strings.Fields(strings.ReplaceAll(strings.TrimSuffix(what, ":*"), "*", "x"))}
	case tool == "Edit" || tool == "Write" || tool == "MultiEdit" || tool == "NotebookEdit":
		e.Says, e.Like = "edits of every file of the project", granted.Call{Tool: granted.Edit}
		if has {
			e.Says, e.Like.Words = "edits of "+what, []string{what}
		}
		e.Covers = func(c granted.Call) bool {
			return c.Tool == granted.Edit && (!has || len(c.Words) == 1 && c.Words[0] == what)
		}
	default:
		e.Like = granted.Call{Tool: rule}
		e.Says = toolSays(tool, what, has)
		e.Covers = func(c granted.Call) bool {
			return c.Tool == rule || !has && (strings.HasPrefix(c.Tool, tool+"(") || strings.HasPrefix(tool, "mcp__") && strings.HasPrefix(c.Tool, tool+"__"))
		}
	}
	return e
}

func commandRule(what string) (says string, covers func(granted.Call) bool) {
	if words, ok := strings.CutSuffix(what, ":*"); ok {
		return "commands that begin with " + words, func(c granted.Call) bool {
			return c.Tool == granted.Command && (c.Text() == words || strings.HasPrefix(c.Text(), words+" "))
		}
	}
	if strings.Contains(what, "*") {
		return "commands such as " + what + ", where * is anything", func(c granted.Call) bool {
			bare, ok := strings.CutSuffix(what, " *")
			return c.Tool == granted.Command && (granted.Wild(what, c.Text()) || ok && c.Text() == bare)
		}
	}
	return "this command alone", func(c granted.Call) bool { return c.Tool == granted.Command && c.Text() == what }
}

func toolSays(tool, what string, has bool) string {
	if server, ok := strings.CutPrefix(tool, "mcp__"); ok {
		if server, name, one := strings.Cut(server, "__"); one && name != "*" {
			return "the tool " + name + " of the server " + server
		}
		return "all tools of the server " + strings.TrimSuffix(server, "__*")
	}
	host, fetch := strings.CutPrefix(what, "domain:")
	switch {
	case fetch:
		return "pages of " + host
	case tool == "Read" && has:
		return "reading " + what
	case has:
		return tool + ", for " + what
	}
	return "every use of " + tool
}
