// Package router runs the deck's MCP servers and offers views of them to connected
// agents.
//
// A [Module] is one server. The [Host] starts modules, merges those that a
// connection asks for into a view, and keeps the state the screen shows. State
// is pulled as a versioned [deck.Snapshot]; what the host pushes are only hints to
// look again.
//
// A handler that returns an [rpc.Error] chooses what the client gets; any other error of
// a tool becomes a result that the model can read, any other of a prompt or a resource
// an internal error.
package router
