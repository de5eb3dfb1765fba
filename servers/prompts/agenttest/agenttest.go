// Package agenttest plays agents' programs, as a deck sees them, in tests and
// measurements: the files and hooks of Claude Code, the daemon of Codex, and the plugin in
// OpenCode.
package agenttest
