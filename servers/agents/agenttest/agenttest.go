// Package agenttest plays Claude Code, as a deck sees it, in tests and measurements: its files and
// its hooks; and holds what other programs wrote to what the deck reads of them.
package agenttest
