package tui

import "github.com/mcpdeck/mcpdeck/servers/support/snapshot"

// Cost is the size of definitions in bytes, and about how many tokens those are.
func Cost(bytes int) string { return Bytes(bytes) + " ≈ " + snapshot.AboutTokens(bytes) + " tokens" }
