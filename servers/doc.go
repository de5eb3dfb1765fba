// Package servers hosts the deck's MCP servers: which exist, how they are,
// which views of them agents are connected to, and what is being called.
//
// A [Module] is one server. The [Host] starts modules, merges those that a
// connection asks for into a view, and keeps the state the screen shows. State
// is pulled as a versioned [Snapshot]; what the host pushes are only hints to
// look again.
package servers
