package copilot

import (
	_ "embed"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
)

//go:embed extension.mjs
var extensionText string

// extension returns the JavaScript that Copilot CLI loads.
func extension() approvals.Script {
	return approvals.Script{Line: "// mcpdeck extension %d SHA-256 %s", Version: 4, Text: extensionText}
}
