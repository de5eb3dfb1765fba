// Package deck is plain data about a running deck: its servers, the agents that are
// connected, what they call, and who they are.
//
// The host fills it in and the screen reads it; it knows no protocol.
package deck
