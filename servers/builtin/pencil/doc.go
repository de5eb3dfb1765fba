// Package pencil finds Pencil's own MCP server and brings it into the deck, so that its
// tools are offered while Pencil mode is on.
//
// Package upstream has what every such server does; this package knows where the program may be
// and what its results say about the app it is connected to, and has the texts for it.
package pencil
