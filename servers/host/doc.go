// Package host runs the deck's MCP servers and offers views of them to the agents
// that are connected.
//
// A [Module] is one server. The [Host] starts modules, merges those that a
// connection asks for into a view, and keeps the state the screen shows. State
// is pulled as a versioned [deck.Snapshot]; what the host pushes are only hints to
// look again.
package host
