// Package pencil drives Pencil's own MCP server as a child process and has its
// tools offered while Pencil mode is on.
//
// A [Pencil] finds the program, starts it, reads its tools and forwards calls
// to it, all as raw JSON: what the program says about its tools and what it
// answers reach the agent as they are, apart from names, which get the prefix
// "pencil_". Nothing here knows which tools there are.
package pencil
