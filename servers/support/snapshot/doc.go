// Package snapshot is plain data about a running deck: its servers, the connected
// agents, their calls, and who they are.
//
// The host fills it in and the screen reads it; it knows no protocol.
package snapshot
