// Package calls is the log of what agents call: how each call stands, what it carried,
// its pictures, and the figures of each agent and server.
package calls
