package opencode

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// grants are how OpenCode keeps what it was allowed: patterns by tool, of which the last one counts that matches,
// those of a project after the user's.
func grants() *granted.Model {
	return &granted.Model{LastWins: true, Refine: redirected, Sources: func(in granted.Where) (all []granted.Source) {
		c, _ := clients.Find("opencode")
		for _, path := range c.User(in.Folders) {
			all = append(all, granted.Source{Root: filepath.Dir(path), Name: filepath.Base(path), Scope: granted.User, Parse: parsePermission})
		}
		for _, root := range in.Projects {
			for _, name := range []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"} {
				all = append(all, granted.Source{Root: root, Name: name, Scope: granted.Project, Parse: parsePermission})
			}
		}
		return all
	}}
}

// redirected marks the patterns that take a redirection for more words of a command.
func redirected(all []granted.Entry) {
	for i := range all {
		e := &all[i]
		to := granted.Call{Tool: granted.Command, Words: append(slices.Clone(e.Like.Words), ">", "x")}
		if e.Verdict == granted.Allow && e.Like.Tool == granted.Command && e.Covers(to) {
			e.Mark(granted.WritesFiles)
		}
	}
}

func parsePermission(text []byte) (all []granted.Entry, err error) {
	root, err := granted.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	permission, ok := root.At(text, "permission")
	if !ok {
		return nil, nil
	}
	if action, ok := permission.String(); ok {
		return []granted.Entry{patternEntry("*", "*", action, permission.Raw(text), permission.Cuts)}, nil
	}
	for _, tool := range permission.Parts(text) {
		if action, ok := tool.String(); ok {
			all = append(all, patternEntry(tool.Name, "*", action, tool.Raw(text), tool.Cuts))
			continue
		}
		for _, p := range tool.Parts(text) {
			if action, ok := p.String(); ok && p.Name != "" {
				all = append(all, patternEntry(tool.Name, p.Name, action, tool.Name+": "+p.Raw(text), p.Cuts))
			}
		}
	}
	return all, nil
}

// patternEntry is a pattern of a tool. Both may have *.
func patternEntry(tool, pattern, action, text string, cuts []granted.Span) granted.Entry {
	called := tool
	if tool == "bash" {
		called = granted.Command
	}
	e := granted.Entry{Verdict: granted.Verdict(action), Text: text, Cuts: cuts, Like: granted.Call{Tool: called, Words: strings.Fields(strings.ReplaceAll(pattern, "*", "x"))}}
	switch {
	case tool == "*":
		e.Says, e.Like.Words = "every tool", nil
	case tool == "bash" && pattern == "*":
		e.Says, e.Like.Words = "every command", nil
	case tool == "bash":
		e.Says = "commands such as " + pattern
	case pattern == "*":
		e.Says = "every use of " + tool
	default:
		e.Says = tool + ", for " + pattern
	}
	if strings.Contains(strings.Trim(pattern, "*"), "*") || pattern != "*" && strings.Contains(pattern, "*") {
		e.Says += ", where * is anything, also > FILE"
	}
	e.Covers = func(c granted.Call) bool {
		bare, ok := strings.CutSuffix(pattern, " *")
		return granted.Wild(tool, c.Tool) && (granted.Wild(pattern, c.Text()) || ok && c.Text() == bare) ||
			called == c.Tool && (granted.Wild(pattern, c.Text()) || ok && c.Text() == bare)
	}
	return e
}
