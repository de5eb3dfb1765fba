// Package calllog is the log of agents' tool calls: the state of each call, its
// arguments and result, its pictures, and figures for each agent and server.
package calllog
