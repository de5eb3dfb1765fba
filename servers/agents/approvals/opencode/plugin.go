package opencode

import (
	_ "embed"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
)

//go:embed plugin.js
var script string

//go:embed next.js
var nextScript string

// next is the way of OpenCode 2 by what is published of it; it was never run with mcpdeck.
func next() *approvals.Next {
	plugin := approvals.Script{Line: "// mcpdeck plugin for OpenCode 2 %d, SHA-256 %s", Version: 1, Text: nextScript}
	says, terminal := approvals.Contract(""), approvals.Impossible("in its terminal")
	return &approvals.Next{
		Plugin: plugin.Plugin(),
		Cells:  approvals.Cells{State: says, Prompt: says, Answer: approvals.Contract("shared"), Question: terminal, Usage: approvals.Impossible("not read"), Last: approvals.Impossible("not read"), Send: terminal, Editor: approvals.Contract("shared")},
	}
}

// plugin returns the JavaScript that the program loads.
func (f family) plugin() approvals.Script {
	return approvals.Script{Line: "// mcpdeck plugin %d, SHA-256 %s", Version: 11, Text: strings.NewReplacer("opencode", f.id, "OpenCode", f.title).Replace(script)}
}
