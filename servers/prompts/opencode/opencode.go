// Package opencode brings what OpenCode asks in its terminal to the deck: a plugin in
// OpenCode's process reports permissions and questions, and posts the answers there.
package opencode
