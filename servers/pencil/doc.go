// Package pencil finds Pencil's own MCP server and makes a card of it, so that its tools
// are offered while Pencil mode is on.
//
// What any card does is in package card; here is where the program may be, what its
// answers say about the app that it talks to, and the words for that.
package pencil
