// Package router runs the deck's MCP servers and offers views of them to connected
// agents.
//
// The [Host] starts servers, each a [backend.Server], merges those that a connection asks for
// into a view, and keeps the state the screen shows. State is pulled as a versioned
// [snapshot.Snapshot]; what the host pushes are only hints to look again.
package router
