// Package mcpserver offers Pencil's tools to agents over MCP.
package mcpserver

import (
	card "github.com/mcpdeck/mcpdeck/servers/backend/upstream/offer"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
)

// New makes the server of a Pencil.
func New(p *pencil.Pencil) *card.Adapter {
	return card.New(p.Card, card.Options{
		Plain: true, Brief: p.Brief, Stays: true,
		Status: "Report whether Pencil mode is on and what its design tools are connected to. Only the user can turn the mode on or off; no tool can.",
		Gateway: "Pencil's design tools through one tool, for use while Pencil mode is on: " +
			"action tools lists them, describe explains one, call (default) runs one.",
	})
}
