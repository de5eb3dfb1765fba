// Package transport carries MCP between agents and the host: over byte streams (the
// Unix socket, stdio, a pipe in a test), over HTTP behind a guard, and through
// the relay that an agent's client starts.
//
// The byte-stream transport is our own, on top of mcp-go's HandleMessage. The
// packaged stdio server keeps one session for the whole process, answers
// cancelled requests, changes ids, and sends progress after the result.
package transport
