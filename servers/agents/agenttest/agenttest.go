// Package agenttest plays Claude Code, as a deck sees it, in tests and measurements: its files and
// its hooks.
package agenttest
