// Package mcpserver offers Pencil's tools to agents over MCP.
package mcpserver

import (
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
)

// New makes the server of a Pencil.
func New(p *pencil.Pencil) *upstream.Adapter {
	return upstream.NewAdapter(p.Card, upstream.AdapterOptions{
		Plain: true, Brief: p.Brief, Stays: true,
		Status: "Report whether Pencil mode is on and what its design tools are connected to. Only the user can turn the mode on or off; no tool can.",
		Gateway: "Pencil's design tools through one tool, for use while Pencil mode is on: " +
			"action tools lists them, describe explains one, call (default) runs one.",
	})
}
